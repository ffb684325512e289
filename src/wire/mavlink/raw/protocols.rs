//! Messages of the parameter, mission and time protocols, whose enumerations may grow.
use super::{Frame, Outbound, PayloadField, RawMessage};

raw_messages! {
    Timesync(111) {
        tc1: i64 = 0 "Time of the responder in ns; 0 in a request.",
        ts1: i64 = 8 "Time of the requester in ns.",
        target_system: u8 = 16 "System; 0 for all.",
        target_component: u8 = 17 "Component; 0 for all.",
    }
    ParamRequestRead(20) {
        index: i16 = 0 "Index; -1 to request by name.",
        target_system: u8 = 2, target_component: u8 = 3,
        id: [u8; 16] = 4 "Name, padded with zeros.",
    }
    ParamRequestList(21) { target_system: u8 = 0, target_component: u8 = 1, }
    ParamValue(22) {
        value: [u8; 4] = 0 "The float as sent; it may carry the bytes of an integer.",
        count: u16 = 4 "Number of parameters.",
        index: u16 = 6 "Index; 65535 if none.",
        id: [u8; 16] = 8 "Name, padded with zeros.",
        kind: u8 = 24 "MAV_PARAM_TYPE.",
    }
    ParamSet(23) {
        value: [u8; 4] = 0 "As in [`ParamValue`].",
        target_system: u8 = 4, target_component: u8 = 5,
        id: [u8; 16] = 6 "Name, padded with zeros.",
        kind: u8 = 22 "MAV_PARAM_TYPE.",
    }
    ParamError(345) {
        index: i16 = 0 "Index; -1 if `id` names the parameter.",
        target_system: u8 = 2, target_component: u8 = 3,
        id: [u8; 16] = 4 "Name, padded with zeros.",
        error: u8 = 20 "MAV_PARAM_ERROR.",
    }
    AutopilotVersion(148) {
        capabilities: u64 = 0 "MAV_PROTOCOL_CAPABILITY bits.",
        uid: u64 = 8 "Hardware id.",
        flight_sw: u32 = 16 "Version: major, minor, patch, release type from the most significant byte.",
        middleware_sw: u32 = 20 "Version of the middleware.",
        os_sw: u32 = 24 "Version of the operating system.",
        board: u32 = 28 "Version of the board.",
        vendor_id: u16 = 32 "Vendor.",
        product_id: u16 = 34 "Product.",
        flight_custom: [u8; 8] = 36 "Hash of the source.",
    }
    SystemTime(2) { unix_us: u64 = 0 "Time since 1970 in us.", boot_ms: u32 = 8 "Time since boot in ms.", }
    RequestDataStream(66) {
        rate: u16 = 0 "Rate in Hz.",
        target_system: u8 = 2, target_component: u8 = 3,
        stream: u8 = 4 "MAV_DATA_STREAM.",
        start: u8 = 5 "1 starts, 0 stops.",
    }
    /// MISSION_REQUEST, for items as floats.
    MissionRequest(40) {
        seq: u16 = 0 "Index.",
        target_system: u8 = 2, target_component: u8 = 3,
        mission_type: u8 = 4 "MAV_MISSION_TYPE.",
    }
    MissionRequestInt(51) {
        seq: u16 = 0 "Index.",
        target_system: u8 = 2, target_component: u8 = 3,
        mission_type: u8 = 4 "MAV_MISSION_TYPE.",
    }
    MissionSetCurrent(41) { seq: u16 = 0 "Index.", target_system: u8 = 2, target_component: u8 = 3, }
    MissionCurrent(42) {
        seq: u16 = 0 "Index.",
        total: u16 = 2 "Number of items without home; 65535 without a mission, 0 if not supported.",
        state: u8 = 4 "MISSION_STATE.",
        mode: u8 = 5 "0 unknown, 1 in mission mode, 2 not.",
        mission_id: u32 = 6 "Changes with the mission; 0 if not supported or without one.",
        fence_id: u32 = 10 "Changes with the fence; 0 if not supported or without one.",
        rally_points_id: u32 = 14 "Changes with the rally points; 0 if not supported or without any.",
    }
    MissionRequestList(43) {
        target_system: u8 = 0, target_component: u8 = 1,
        mission_type: u8 = 2 "MAV_MISSION_TYPE.",
    }
    MissionCount(44) {
        count: u16 = 0 "Number of items.",
        target_system: u8 = 2, target_component: u8 = 3,
        mission_type: u8 = 4 "MAV_MISSION_TYPE.",
        opaque_id: u32 = 5 "Id of the mission, fence or rally points, as in [`MissionCurrent`].",
    }
    MissionClearAll(45) {
        target_system: u8 = 0, target_component: u8 = 1,
        mission_type: u8 = 2 "MAV_MISSION_TYPE.",
    }
    MissionItemReached(46) { seq: u16 = 0 "Index.", }
    MissionAck(47) {
        target_system: u8 = 0, target_component: u8 = 1,
        result: u8 = 2 "MAV_MISSION_RESULT.",
        mission_type: u8 = 3 "MAV_MISSION_TYPE.",
        opaque_id: u32 = 4 "Id of the mission, fence or rally points, as in [`MissionCurrent`].",
    }
}
