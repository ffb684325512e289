//! Messages of the parameter, mission and time protocols, whose enumerations may grow.
use super::{Field, Frame, Outbound, Payload, RawMessage};

raw_messages! {
    /// TIMESYNC.
    Timesync(111, 18) {
        /// Time of the responder in ns; 0 in a request.
        tc1: i64 = 0,
        /// Time of the requester in ns.
        ts1: i64 = 8,
        /// System; 0 for all.
        target_system: u8 = 16,
        /// Component; 0 for all.
        target_component: u8 = 17,
    }
    /// PARAM_REQUEST_READ.
    ParamRequestRead(20, 20) {
        /// Index; -1 to request by name.
        index: i16 = 0,
        /// System.
        target_system: u8 = 2,
        /// Component.
        target_component: u8 = 3,
        /// Name, padded with zeros.
        id: [u8; 16] = 4,
    }
    /// PARAM_REQUEST_LIST.
    ParamRequestList(21, 2) {
        /// System.
        target_system: u8 = 0,
        /// Component.
        target_component: u8 = 1,
    }
    /// PARAM_VALUE.
    ParamValue(22, 25) {
        /// The float as sent; it may carry the bytes of an integer.
        value: [u8; 4] = 0,
        /// Number of parameters.
        count: u16 = 4,
        /// Index; 65535 if none.
        index: u16 = 6,
        /// Name, padded with zeros.
        id: [u8; 16] = 8,
        /// MAV_PARAM_TYPE.
        kind: u8 = 24,
    }
    /// PARAM_SET.
    ParamSet(23, 23) {
        /// As in [`ParamValue`].
        value: [u8; 4] = 0,
        /// System.
        target_system: u8 = 4,
        /// Component.
        target_component: u8 = 5,
        /// Name, padded with zeros.
        id: [u8; 16] = 6,
        /// MAV_PARAM_TYPE.
        kind: u8 = 22,
    }
    /// PARAM_ERROR.
    ParamError(345, 21) {
        /// Index, -1 if unknown.
        index: i16 = 0,
        /// System.
        target_system: u8 = 2,
        /// Component.
        target_component: u8 = 3,
        /// Name, padded with zeros.
        id: [u8; 16] = 4,
        /// MAV_PARAM_ERROR.
        error: u8 = 20,
    }
    /// AUTOPILOT_VERSION.
    AutopilotVersion(148, 78) {
        /// MAV_PROTOCOL_CAPABILITY bits.
        capabilities: u64 = 0,
        /// Hardware id.
        uid: u64 = 8,
        /// Version: major, minor, patch, release type from the most significant byte.
        flight_sw: u32 = 16,
        /// Version of the middleware.
        middleware_sw: u32 = 20,
        /// Version of the operating system.
        os_sw: u32 = 24,
        /// Version of the board.
        board: u32 = 28,
        /// Vendor.
        vendor_id: u16 = 32,
        /// Product.
        product_id: u16 = 34,
        /// Hash of the source.
        flight_custom: [u8; 8] = 36,
    }
    /// SYSTEM_TIME.
    SystemTime(2, 12) {
        /// Time since 1970 in us.
        unix_us: u64 = 0,
        /// Time since boot in ms.
        boot_ms: u32 = 8,
    }
    /// REQUEST_DATA_STREAM.
    RequestDataStream(66, 6) {
        /// Rate in Hz.
        rate: u16 = 0,
        /// System.
        target_system: u8 = 2,
        /// Component.
        target_component: u8 = 3,
        /// MAV_DATA_STREAM.
        stream: u8 = 4,
        /// 1 starts, 0 stops.
        start: u8 = 5,
    }
    /// MISSION_REQUEST, for items as floats.
    MissionRequest(40, 5) {
        /// Index.
        seq: u16 = 0,
        /// System.
        target_system: u8 = 2,
        /// Component.
        target_component: u8 = 3,
        /// MAV_MISSION_TYPE.
        mission_type: u8 = 4,
    }
    /// MISSION_REQUEST_INT.
    MissionRequestInt(51, 5) {
        /// Index.
        seq: u16 = 0,
        /// System.
        target_system: u8 = 2,
        /// Component.
        target_component: u8 = 3,
        /// MAV_MISSION_TYPE.
        mission_type: u8 = 4,
    }
    /// MISSION_SET_CURRENT.
    MissionSetCurrent(41, 4) {
        /// Index.
        seq: u16 = 0,
        /// System.
        target_system: u8 = 2,
        /// Component.
        target_component: u8 = 3,
    }
    /// MISSION_CURRENT.
    MissionCurrent(42, 18) {
        /// Index.
        seq: u16 = 0,
        /// Number of items without home; 65535 if unknown, 0 if not supported.
        total: u16 = 2,
        /// MISSION_STATE.
        state: u8 = 4,
        /// 0 unknown, 1 in mission mode, 2 not.
        mode: u8 = 5,
        /// Changes with the mission; 0 if not supported.
        mission_id: u32 = 6,
        /// Changes with the fence; 0 if not supported.
        fence_id: u32 = 10,
        /// Changes with the rally points; 0 if not supported.
        rally_points_id: u32 = 14,
    }
    /// MISSION_REQUEST_LIST.
    MissionRequestList(43, 3) {
        /// System.
        target_system: u8 = 0,
        /// Component.
        target_component: u8 = 1,
        /// MAV_MISSION_TYPE.
        mission_type: u8 = 2,
    }
    /// MISSION_COUNT.
    MissionCount(44, 9) {
        /// Number of items.
        count: u16 = 0,
        /// System.
        target_system: u8 = 2,
        /// Component.
        target_component: u8 = 3,
        /// MAV_MISSION_TYPE.
        mission_type: u8 = 4,
        /// As `mission_id` of [`MissionCurrent`].
        opaque_id: u32 = 5,
    }
    /// MISSION_CLEAR_ALL.
    MissionClearAll(45, 3) {
        /// System.
        target_system: u8 = 0,
        /// Component.
        target_component: u8 = 1,
        /// MAV_MISSION_TYPE.
        mission_type: u8 = 2,
    }
    /// MISSION_ITEM_REACHED.
    MissionItemReached(46, 2) {
        /// Index.
        seq: u16 = 0,
    }
    /// MISSION_ACK.
    MissionAck(47, 8) {
        /// System.
        target_system: u8 = 0,
        /// Component.
        target_component: u8 = 1,
        /// MAV_MISSION_RESULT.
        result: u8 = 2,
        /// MAV_MISSION_TYPE.
        mission_type: u8 = 3,
        /// As `mission_id` of [`MissionCurrent`].
        opaque_id: u32 = 4,
    }
}
