//! Telemetry messages of an autopilot with enumerations that may grow: frames, types, states.
use super::{Frame, Outbound, PayloadField, RawMessage};

raw_messages! {
    BatteryStatus(147) {
        current_consumed: i32 = 0 "Charge drawn in mAh, -1 unknown.",
        energy_consumed: i32 = 4 "Energy drawn in hJ, -1 unknown.",
        temperature: i16 = 8 "Temperature in 0.01 deg C, 32767 unknown.",
        voltages: [u16; 10] = 10 "Cells 1 to 10 in mV, 65535 not present; 65534: the voltage continues in the next cell.",
        current_battery: i16 = 30 "Current in cA, -1 unknown.",
        id: u8 = 32 "Battery index.",
        function: u8 = 33 "MAV_BATTERY_FUNCTION.",
        kind: u8 = 34 "MAV_BATTERY_TYPE.",
        battery_remaining: i8 = 35 "Percent left, -1 unknown.",
        time_remaining: i32 = 36 "Seconds left, 0 unknown.",
        charge_state: u8 = 40 "MAV_BATTERY_CHARGE_STATE.",
        voltages_ext: [u16; 4] = 41 "Cells 11 to 14 in mV, 0 not present.",
    }
    ExtendedSysState(245) { vtol_state: u8 = 0 "MAV_VTOL_STATE.", landed_state: u8 = 1 "MAV_LANDED_STATE.", }
    StatusText(253) {
        severity: u8 = 0 "MAV_SEVERITY.",
        text: [u8; 50] = 1 "Text or a chunk of it, padded with zeros.",
        id: u16 = 51 "Equal for all chunks of a text; 0: a single chunk.",
        chunk: u8 = 53 "Number of the chunk.",
    }
    GpsRawInt(24) {
        time_usec: u64 = 0 "Time since boot or since 1970 in us.",
        lat: i32 = 8 "Latitude in 1e-7 degrees.",
        lon: i32 = 12 "Longitude in 1e-7 degrees.",
        alt: i32 = 16 "Altitude above sea level in mm.",
        eph: u16 = 20 "100 times the horizontal dilution, 65535 unknown.",
        epv: u16 = 22 "100 times the vertical dilution, 65535 unknown.",
        vel: u16 = 24 "Speed over ground in cm/s, 65535 unknown.",
        cog: u16 = 26 "Course over ground in 0.01 degrees, 65535 unknown.",
        fix_type: u8 = 28 "GPS_FIX_TYPE.",
        satellites_visible: u8 = 29 "Satellites, 255 unknown.",
        alt_ellipsoid: i32 = 30 "Altitude above the ellipsoid in mm.",
        h_acc: u32 = 34 "Horizontal uncertainty in mm, 0 unknown.",
        v_acc: u32 = 38 "Vertical uncertainty in mm, 0 unknown.",
        vel_acc: u32 = 42 "Uncertainty of the speed in mm/s.",
        hdg_acc: u32 = 46 "Uncertainty of the heading in 1e-5 degrees.",
        yaw: u16 = 50 "Yaw in 0.01 degrees, 36000 for north, 0 not provided, 65535 unknown.",
    }
    Gps2Raw(124) {
        time_usec: u64 = 0 "Time since boot or since 1970 in us.",
        lat: i32 = 8 "Latitude in 1e-7 degrees.",
        lon: i32 = 12 "Longitude in 1e-7 degrees.",
        alt: i32 = 16 "Altitude above sea level in mm.",
        dgps_age: u32 = 20 "Age of the corrections in ms.",
        eph: u16 = 24 "100 times the horizontal dilution, 65535 unknown.",
        epv: u16 = 26 "100 times the vertical dilution, 65535 unknown.",
        vel: u16 = 28 "Speed over ground in cm/s, 65535 unknown.",
        cog: u16 = 30 "Course over ground in 0.01 degrees, 65535 unknown.",
        fix_type: u8 = 32 "GPS_FIX_TYPE.",
        satellites_visible: u8 = 33 "Satellites, 255 unknown.",
        dgps_numch: u8 = 34 "Satellites with corrections.",
        yaw: u16 = 35 "Yaw in 0.01 degrees, 36000 for north, 0 not provided, 65535 unknown.",
        alt_ellipsoid: i32 = 37 "Altitude above the ellipsoid in mm.",
        h_acc: u32 = 41 "Horizontal uncertainty in mm, 0 unknown.",
        v_acc: u32 = 45 "Vertical uncertainty in mm, 0 unknown.",
        vel_acc: u32 = 49 "Uncertainty of the speed in mm/s.",
        hdg_acc: u32 = 53 "Uncertainty of the heading in 1e-5 degrees.",
    }
    LocalPositionNedCov(64) {
        time_usec: u64 = 0 "Time since boot or since 1970 in us.",
        position: [f32; 3] = 8 "Position in m, NED.",
        velocity: [f32; 3] = 20 "Velocity in m/s, NED.",
        acceleration: [f32; 3] = 32 "Acceleration in m/s², NED.",
        covariance: [f32; 45] = 44 "Upper triangle, row by row, of the 9x9 covariance of these vectors; unknown if NaN.",
        estimator_type: u8 = 224 "MAV_ESTIMATOR_TYPE.",
    }
    PositionTargetLocalNed(85) {
        time_boot_ms: u32 = 0 "Time since boot in ms.",
        position: [f32; 3] = 4 "Position in m.",
        velocity: [f32; 3] = 16 "Velocity in m/s.",
        acceleration: [f32; 3] = 28 "Acceleration in m/s².",
        yaw: f32 = 40 "Yaw in rad.",
        yaw_rate: f32 = 44 "Yaw rate in rad/s.",
        type_mask: u16 = 48 "POSITION_TARGET_TYPEMASK.",
        coordinate_frame: u8 = 50 "MAV_FRAME.",
    }
    PositionTargetGlobalInt(87) {
        time_boot_ms: u32 = 0 "Time since boot in ms.",
        lat: i32 = 4 "Latitude in 1e-7 degrees.",
        lon: i32 = 8 "Longitude in 1e-7 degrees.",
        alt: f32 = 12 "Altitude in m; the frame defines its reference.",
        velocity: [f32; 3] = 16 "Velocity in m/s.",
        acceleration: [f32; 3] = 28 "Acceleration in m/s².",
        yaw: f32 = 40 "Yaw in rad.",
        yaw_rate: f32 = 44 "Yaw rate in rad/s.",
        type_mask: u16 = 48 "POSITION_TARGET_TYPEMASK.",
        coordinate_frame: u8 = 50 "MAV_FRAME.",
    }
    /// ODOMETRY.
    OdometryMessage(331) {
        time_usec: u64 = 0 "Time since boot or since 1970 in us.",
        position: [f32; 3] = 8 "Position in m.",
        q: [f32; 4] = 20 "Attitude, w first.",
        velocity: [f32; 3] = 36 "Velocity in m/s, in the frame of the child.",
        rates: [f32; 3] = 48 "Body rates in rad/s.",
        pose_covariance: [f32; 21] = 60 "Upper triangle, row by row, of the 6x6 covariance of the pose; unknown if NaN.",
        velocity_covariance: [f32; 21] = 144 "The same for the covariance of the twist.",
        frame_id: u8 = 228 "MAV_FRAME of the pose.",
        child_frame_id: u8 = 229 "MAV_FRAME of the twist.",
        reset_counter: u8 = 230 "Number of estimator resets.",
        estimator_type: u8 = 231 "MAV_ESTIMATOR_TYPE.",
        quality: i8 = 232 "Percent, -1 failed, 0 unknown.",
    }
    HilActuatorControls(93) {
        time_usec: u64 = 0 "Time since boot or since 1970 in us.",
        flags: u64 = 8 "HIL_ACTUATOR_CONTROLS_FLAGS.",
        controls: [f32; 16] = 16 "Outputs, -1 to 1.",
        mode: u8 = 80 "MAV_MODE_FLAG bits.",
    }
    DistanceSensor(132) {
        time_boot_ms: u32 = 0 "Time since boot in ms.",
        min_distance: u16 = 4 "Minimum measurable distance in cm.",
        max_distance: u16 = 6 "Maximum measurable distance in cm.",
        current_distance: u16 = 8 "Distance in cm.",
        kind: u8 = 10 "MAV_DISTANCE_SENSOR.",
        id: u8 = 11 "Sensor index.",
        orientation: u8 = 12 "MAV_SENSOR_ORIENTATION.",
        covariance: u8 = 13 "Variance in cm², 255 unknown.",
        horizontal_fov: f32 = 14 "Horizontal field of view in rad, 0 unknown.",
        vertical_fov: f32 = 18 "Vertical field of view in rad, 0 unknown.",
        quaternion: [f32; 4] = 22 "Orientation in the body, w first; zeros if given by `orientation`.",
        signal_quality: u8 = 38 "Percent, 0 unknown.",
    }
    MountOrientation(265) {
        time_boot_ms: u32 = 0 "Time since boot in ms.",
        roll: f32 = 4 "Roll in degrees.",
        pitch: f32 = 8 "Pitch in degrees.",
        yaw: f32 = 12 "Yaw from the vehicle's nose in degrees.",
        yaw_absolute: f32 = 16 "Yaw from north in degrees.",
    }
    /// SET_GPS_GLOBAL_ORIGIN; deprecated in the dialect, accepted by PX4.
    SetGpsGlobalOrigin(48) {
        latitude: i32 = 0 "Latitude in 1e-7 degrees.",
        longitude: i32 = 4 "Longitude in 1e-7 degrees.",
        altitude: i32 = 8 "Altitude above sea level in mm.",
        target_system: u8 = 12,
        time_usec: u64 = 13 "Time in us.",
    }
    /// SET_HOME_POSITION; deprecated in favour of a command.
    SetHomePosition(243) {
        latitude: i32 = 0 "Latitude in 1e-7 degrees.",
        longitude: i32 = 4 "Longitude in 1e-7 degrees.",
        altitude: i32 = 8 "Altitude above sea level in mm.",
        position: [f32; 3] = 12 "Position in m, NED.",
        q: [f32; 4] = 24 "Orientation of the ground, w first.",
        approach: [f32; 3] = 40 "Approach vector for landing, in m, NED.",
        target_system: u8 = 52,
        time_usec: u64 = 53 "Time in us.",
    }
}
