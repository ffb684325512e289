//! Telemetry messages of an autopilot with enumerations that may grow: frames, types, states.
use super::{Field, Frame, Outbound, Payload, RawMessage};

raw_messages! {
    /// BATTERY_STATUS.
    BatteryStatus(147, 54) {
        /// Energy drawn in mAh, -1 unknown.
        current_consumed: i32 = 0,
        /// Energy drawn in hJ, -1 unknown.
        energy_consumed: i32 = 4,
        /// Temperature in 0.01 deg C, 32767 unknown.
        temperature: i16 = 8,
        /// Cells 1 to 10 in mV, 65535 not present; 65534: the voltage continues in the next cell.
        voltages: [u16; 10] = 10,
        /// Current in cA, -1 unknown.
        current_battery: i16 = 30,
        /// Battery index.
        id: u8 = 32,
        /// MAV_BATTERY_FUNCTION.
        function: u8 = 33,
        /// MAV_BATTERY_TYPE.
        kind: u8 = 34,
        /// Percent left, -1 unknown.
        battery_remaining: i8 = 35,
        /// Seconds left, 0 unknown.
        time_remaining: i32 = 36,
        /// MAV_BATTERY_CHARGE_STATE.
        charge_state: u8 = 40,
        /// Cells 11 to 14 in mV, 0 not present.
        voltages_ext: [u16; 4] = 41,
    }
    /// EXTENDED_SYS_STATE.
    ExtendedSysState(245, 2) {
        /// MAV_VTOL_STATE.
        vtol_state: u8 = 0,
        /// MAV_LANDED_STATE.
        landed_state: u8 = 1,
    }
    /// STATUSTEXT.
    StatusText(253, 54) {
        /// MAV_SEVERITY.
        severity: u8 = 0,
        /// Text or a chunk of it, padded with zeros.
        text: [u8; 50] = 1,
        /// Equal for all chunks of a text; 0: a single chunk.
        id: u16 = 51,
        /// Number of the chunk.
        chunk: u8 = 53,
    }
    /// GPS_RAW_INT.
    GpsRawInt(24, 52) {
        /// Time since boot or since 1970 in us.
        time_usec: u64 = 0,
        /// Latitude in 1e-7 degrees.
        lat: i32 = 8,
        /// Longitude in 1e-7 degrees.
        lon: i32 = 12,
        /// Altitude above sea level in mm.
        alt: i32 = 16,
        /// 100 times the horizontal dilution, 65535 unknown.
        eph: u16 = 20,
        /// 100 times the vertical dilution, 65535 unknown.
        epv: u16 = 22,
        /// Speed over ground in cm/s, 65535 unknown.
        vel: u16 = 24,
        /// Course over ground in 0.01 degrees, 65535 unknown.
        cog: u16 = 26,
        /// GPS_FIX_TYPE.
        fix_type: u8 = 28,
        /// Satellites, 255 unknown.
        satellites_visible: u8 = 29,
        /// Altitude above the ellipsoid in mm.
        alt_ellipsoid: i32 = 30,
        /// Horizontal uncertainty in mm, 0 unknown.
        h_acc: u32 = 34,
        /// Vertical uncertainty in mm, 0 unknown.
        v_acc: u32 = 38,
        /// Uncertainty of the speed in mm/s.
        vel_acc: u32 = 42,
        /// Uncertainty of the heading in 1e-5 degrees.
        hdg_acc: u32 = 46,
        /// Yaw in 0.01 degrees, 36000 for north, 0 not available.
        yaw: u16 = 50,
    }
    /// GPS2_RAW.
    Gps2Raw(124, 57) {
        /// Time since boot or since 1970 in us.
        time_usec: u64 = 0,
        /// Latitude in 1e-7 degrees.
        lat: i32 = 8,
        /// Longitude in 1e-7 degrees.
        lon: i32 = 12,
        /// Altitude above sea level in mm.
        alt: i32 = 16,
        /// Age of the corrections in ms.
        dgps_age: u32 = 20,
        /// 100 times the horizontal dilution, 65535 unknown.
        eph: u16 = 24,
        /// 100 times the vertical dilution, 65535 unknown.
        epv: u16 = 26,
        /// Speed over ground in cm/s, 65535 unknown.
        vel: u16 = 28,
        /// Course over ground in 0.01 degrees, 65535 unknown.
        cog: u16 = 30,
        /// GPS_FIX_TYPE.
        fix_type: u8 = 32,
        /// Satellites, 255 unknown.
        satellites_visible: u8 = 33,
        /// Satellites with corrections.
        dgps_numch: u8 = 34,
        /// Yaw in 0.01 degrees, 36000 for north, 0 not available.
        yaw: u16 = 35,
        /// Altitude above the ellipsoid in mm.
        alt_ellipsoid: i32 = 37,
        /// Horizontal uncertainty in mm, 0 unknown.
        h_acc: u32 = 41,
        /// Vertical uncertainty in mm, 0 unknown.
        v_acc: u32 = 45,
        /// Uncertainty of the speed in mm/s.
        vel_acc: u32 = 49,
        /// Uncertainty of the heading in 1e-5 degrees.
        hdg_acc: u32 = 53,
    }
    /// LOCAL_POSITION_NED_COV.
    LocalPositionNedCov(64, 225) {
        /// Time since boot or since 1970 in us.
        time_usec: u64 = 0,
        /// Position in m, NED.
        position: [f32; 3] = 8,
        /// Velocity in m/s, NED.
        velocity: [f32; 3] = 20,
        /// Acceleration in m/s2, NED.
        acceleration: [f32; 3] = 32,
        /// Upper triangle, row by row, of the 9x9 covariance of the three above; NaN first: unknown.
        covariance: [f32; 45] = 44,
        /// MAV_ESTIMATOR_TYPE.
        estimator_type: u8 = 224,
    }
    /// POSITION_TARGET_LOCAL_NED.
    PositionTargetLocalNed(85, 51) {
        /// Time since boot in ms.
        time_boot_ms: u32 = 0,
        /// Position in m.
        position: [f32; 3] = 4,
        /// Velocity in m/s.
        velocity: [f32; 3] = 16,
        /// Acceleration in m/s2.
        acceleration: [f32; 3] = 28,
        /// Yaw in rad.
        yaw: f32 = 40,
        /// Yaw rate in rad/s.
        yaw_rate: f32 = 44,
        /// POSITION_TARGET_TYPEMASK.
        type_mask: u16 = 48,
        /// MAV_FRAME.
        coordinate_frame: u8 = 50,
    }
    /// POSITION_TARGET_GLOBAL_INT.
    PositionTargetGlobalInt(87, 51) {
        /// Time since boot in ms.
        time_boot_ms: u32 = 0,
        /// Latitude in 1e-7 degrees.
        lat: i32 = 4,
        /// Longitude in 1e-7 degrees.
        lon: i32 = 8,
        /// Altitude in m; the frame defines its reference.
        alt: f32 = 12,
        /// Velocity in m/s.
        velocity: [f32; 3] = 16,
        /// Acceleration in m/s2.
        acceleration: [f32; 3] = 28,
        /// Yaw in rad.
        yaw: f32 = 40,
        /// Yaw rate in rad/s.
        yaw_rate: f32 = 44,
        /// POSITION_TARGET_TYPEMASK.
        type_mask: u16 = 48,
        /// MAV_FRAME.
        coordinate_frame: u8 = 50,
    }
    /// ODOMETRY.
    OdometryMessage(331, 233) {
        /// Time since boot or since 1970 in us.
        time_usec: u64 = 0,
        /// Position in m.
        position: [f32; 3] = 8,
        /// Attitude, w first.
        q: [f32; 4] = 20,
        /// Velocity in m/s, in the frame of the child.
        velocity: [f32; 3] = 36,
        /// Body rates in rad/s.
        rates: [f32; 3] = 48,
        /// Upper triangle, row by row, of the 6x6 covariance of the pose; NaN first: unknown.
        pose_covariance: [f32; 21] = 60,
        /// Likewise of the twist.
        velocity_covariance: [f32; 21] = 144,
        /// MAV_FRAME of the pose.
        frame_id: u8 = 228,
        /// MAV_FRAME of the twist.
        child_frame_id: u8 = 229,
        /// Number of estimator resets.
        reset_counter: u8 = 230,
        /// MAV_ESTIMATOR_TYPE.
        estimator_type: u8 = 231,
        /// Percent, -1 failed, 0 unknown.
        quality: i8 = 232,
    }
    /// HIL_ACTUATOR_CONTROLS.
    HilActuatorControls(93, 81) {
        /// Time since boot or since 1970 in us.
        time_usec: u64 = 0,
        /// HIL_ACTUATOR_CONTROLS_FLAGS.
        flags: u64 = 8,
        /// Outputs, -1 to 1.
        controls: [f32; 16] = 16,
        /// MAV_MODE_FLAG bits.
        mode: u8 = 80,
    }
    /// DISTANCE_SENSOR.
    DistanceSensor(132, 39) {
        /// Time since boot in ms.
        time_boot_ms: u32 = 0,
        /// Minimum measurable distance in cm.
        min_distance: u16 = 4,
        /// Maximum measurable distance in cm.
        max_distance: u16 = 6,
        /// Distance in cm.
        current_distance: u16 = 8,
        /// MAV_DISTANCE_SENSOR.
        kind: u8 = 10,
        /// Sensor index.
        id: u8 = 11,
        /// MAV_SENSOR_ORIENTATION.
        orientation: u8 = 12,
        /// Variance in cm^2, 255 unknown.
        covariance: u8 = 13,
        /// Field of view in rad, 0 unknown.
        horizontal_fov: f32 = 14,
        /// Field of view in rad, 0 unknown.
        vertical_fov: f32 = 18,
        /// Orientation in the body, w first; zeros if given by `orientation`.
        quaternion: [f32; 4] = 22,
        /// Percent, 0 unknown.
        signal_quality: u8 = 38,
    }
    /// MOUNT_ORIENTATION.
    MountOrientation(265, 20) {
        /// Time since boot in ms.
        time_boot_ms: u32 = 0,
        /// Roll in degrees.
        roll: f32 = 4,
        /// Pitch in degrees.
        pitch: f32 = 8,
        /// Yaw from the vehicle's nose in degrees.
        yaw: f32 = 12,
        /// Yaw from north in degrees.
        yaw_absolute: f32 = 16,
    }
    /// SET_GPS_GLOBAL_ORIGIN; deprecated in the dialect, accepted by PX4.
    SetGpsGlobalOrigin(48, 21) {
        /// Latitude in 1e-7 degrees.
        latitude: i32 = 0,
        /// Longitude in 1e-7 degrees.
        longitude: i32 = 4,
        /// Altitude above sea level in mm.
        altitude: i32 = 8,
        /// System.
        target_system: u8 = 12,
        /// Time in us.
        time_usec: u64 = 13,
    }
    /// SET_HOME_POSITION; deprecated in favour of a command.
    SetHomePosition(243, 61) {
        /// Latitude in 1e-7 degrees.
        latitude: i32 = 0,
        /// Longitude in 1e-7 degrees.
        longitude: i32 = 4,
        /// Altitude above sea level in mm.
        altitude: i32 = 8,
        /// Position in m, NED.
        position: [f32; 3] = 12,
        /// Orientation of the ground, w first.
        q: [f32; 4] = 24,
        /// Approach vector for landing, in m, NED.
        approach: [f32; 3] = 40,
        /// System.
        target_system: u8 = 52,
        /// Time in us.
        time_usec: u64 = 53,
    }
}
