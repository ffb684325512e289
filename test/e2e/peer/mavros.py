"""Messages and services of `mavros_msgs` 2.12, `geographic_msgs` 1.0 and `std_srvs`, which `rosbags` does not ship: the
types and names of their fields, as far as the bridge uses them. Humble and Jazzy have the same."""

MESSAGES = {
    "geographic_msgs/msg/GeoPoint": "float64 latitude; float64 longitude; float64 altitude",
    "geographic_msgs/msg/GeoPointStamped": "std_msgs/Header header; geographic_msgs/GeoPoint position",
    "geographic_msgs/msg/GeoPose": "geographic_msgs/GeoPoint position; geometry_msgs/Quaternion orientation",
    "geographic_msgs/msg/GeoPoseStamped": "std_msgs/Header header; geographic_msgs/GeoPose pose",
    "mavros_msgs/msg/ActuatorControl": "std_msgs/Header header; uint8 group_mix; float32[8] controls",
    "mavros_msgs/msg/Altitude": (
        "std_msgs/Header header; float32 monotonic; float32 amsl; float32 local; float32 relative; "
        "float32 terrain; float32 bottom_clearance"
    ),
    "mavros_msgs/msg/AttitudeTarget": (
        "std_msgs/Header header; uint8 type_mask; geometry_msgs/Quaternion orientation; "
        "geometry_msgs/Vector3 body_rate; float32 thrust"
    ),
    "mavros_msgs/msg/CompanionProcessStatus": "std_msgs/Header header; uint8 state; uint8 component",
    "mavros_msgs/msg/DebugValue": (
        "std_msgs/Header header; int32 index; int32 array_id; string name; float32 value_float; "
        "int32 value_int; float32[] data; uint8 type"
    ),
    "mavros_msgs/msg/EstimatorStatus": (
        "std_msgs/Header header; bool attitude_status_flag; bool velocity_horiz_status_flag; "
        "bool velocity_vert_status_flag; bool pos_horiz_rel_status_flag; bool pos_horiz_abs_status_flag; "
        "bool pos_vert_abs_status_flag; bool pos_vert_agl_status_flag; bool const_pos_mode_status_flag; "
        "bool pred_pos_horiz_rel_status_flag; bool pred_pos_horiz_abs_status_flag; "
        "bool gps_glitch_status_flag; bool accel_error_status_flag"
    ),
    "mavros_msgs/msg/ExtendedState": "std_msgs/Header header; uint8 vtol_state; uint8 landed_state",
    "mavros_msgs/msg/GPSRAW": (
        "std_msgs/Header header; uint8 fix_type; int32 lat; int32 lon; int32 alt; uint16 eph; "
        "uint16 epv; uint16 vel; uint16 cog; uint8 satellites_visible; int32 alt_ellipsoid; "
        "uint32 h_acc; uint32 v_acc; uint32 vel_acc; int32 hdg_acc; uint16 yaw; uint8 dgps_numch; "
        "uint32 dgps_age"
    ),
    "mavros_msgs/msg/GlobalPositionTarget": (
        "std_msgs/Header header; uint8 coordinate_frame; uint16 type_mask; float64 latitude; "
        "float64 longitude; float32 altitude; geometry_msgs/Vector3 velocity; "
        "geometry_msgs/Vector3 acceleration_or_force; float32 yaw; float32 yaw_rate"
    ),
    "mavros_msgs/msg/HilActuatorControls": (
        "std_msgs/Header header; float32[16] controls; uint8 mode; uint64 flags"
    ),
    "mavros_msgs/msg/HomePosition": (
        "std_msgs/Header header; geographic_msgs/GeoPoint geo; geometry_msgs/Point position; "
        "geometry_msgs/Quaternion orientation; geometry_msgs/Vector3 approach"
    ),
    "mavros_msgs/msg/ManualControl": (
        "std_msgs/Header header; float32 x; float32 y; float32 z; float32 r; uint16 buttons; "
        "uint16 buttons2; uint8 enabled_extensions; float32 s; float32 t; float32 aux1; float32 aux2; "
        "float32 aux3; float32 aux4; float32 aux5; float32 aux6"
    ),
    "mavros_msgs/msg/Mavlink": (
        "std_msgs/Header header; uint8 framing_status; uint8 magic; uint8 len; uint8 incompat_flags; "
        "uint8 compat_flags; uint8 seq; uint8 sysid; uint8 compid; uint32 msgid; uint16 checksum; "
        "uint64[<=33] payload64; uint8[<=13] signature"
    ),
    "mavros_msgs/msg/MountControl": (
        "std_msgs/Header header; uint8 mode; float32 pitch; float32 roll; float32 yaw; float32 altitude; "
        "float32 latitude; float32 longitude"
    ),
    "mavros_msgs/msg/NavControllerOutput": (
        "std_msgs/Header header; float32 nav_roll; float32 nav_pitch; int16 nav_bearing; "
        "int16 target_bearing; uint16 wp_dist; float32 alt_error; float32 aspd_error; "
        "float32 xtrack_error"
    ),
    "mavros_msgs/msg/OverrideRCIn": "uint16[18] channels",
    "mavros_msgs/msg/ParamEvent": (
        "std_msgs/Header header; string param_id; rcl_interfaces/ParameterValue value; "
        "uint16 param_index; uint16 param_count"
    ),
    "mavros_msgs/msg/ParamValue": "int64 integer; float64 real",
    "mavros_msgs/msg/PositionTarget": (
        "std_msgs/Header header; uint8 coordinate_frame; uint16 type_mask; geometry_msgs/Point position; "
        "geometry_msgs/Vector3 velocity; geometry_msgs/Vector3 acceleration_or_force; float32 yaw; "
        "float32 yaw_rate"
    ),
    "mavros_msgs/msg/RCIn": "std_msgs/Header header; uint8 rssi; uint16[] channels",
    "mavros_msgs/msg/RCOut": "std_msgs/Header header; uint16[] channels",
    "mavros_msgs/msg/State": (
        "std_msgs/Header header; bool connected; bool armed; bool guided; bool manual_input; "
        "string mode; uint8 system_status"
    ),
    "mavros_msgs/msg/StatusEvent": (
        "std_msgs/Header header; uint8 severity; uint32 px4_id; uint8[40] arguments; uint16 sequence"
    ),
    "mavros_msgs/msg/StatusText": "std_msgs/Header header; uint8 severity; string text",
    "mavros_msgs/msg/SysStatus": (
        "std_msgs/Header header; uint32 sensors_present; uint32 sensors_enabled; uint32 sensors_health; "
        "uint16 load; uint16 voltage_battery; int16 current_battery; int8 battery_remaining; "
        "uint16 drop_rate_comm; uint16 errors_comm; uint16 errors_count1; uint16 errors_count2; "
        "uint16 errors_count3; uint16 errors_count4"
    ),
    "mavros_msgs/msg/Thrust": "std_msgs/Header header; float32 thrust",
    "mavros_msgs/msg/TimesyncStatus": (
        "std_msgs/Header header; uint64 remote_timestamp_ns; int64 observed_offset_ns; "
        "int64 estimated_offset_ns; float32 round_trip_time_ms"
    ),
    "mavros_msgs/msg/VehicleInfo": (
        "std_msgs/Header header; uint8 available_info; uint8 sysid; uint8 compid; uint8 autopilot; "
        "uint8 type; uint8 system_status; uint8 base_mode; uint32 custom_mode; string mode; "
        "uint32 mode_id; uint64 capabilities; uint32 flight_sw_version; uint32 middleware_sw_version; "
        "uint32 os_sw_version; uint32 board_version; string flight_custom_version; uint16 vendor_id; "
        "uint16 product_id; uint64 uid"
    ),
    "mavros_msgs/msg/VfrHud": (
        "std_msgs/Header header; float32 airspeed; float32 groundspeed; int16 heading; float32 throttle; "
        "float32 altitude; float32 climb"
    ),
    "mavros_msgs/msg/Vibration": (
        "std_msgs/Header header; geometry_msgs/Vector3 vibration; float32[3] clipping"
    ),
    "mavros_msgs/msg/Waypoint": (
        "uint8 frame; uint16 command; bool is_current; bool autocontinue; float32 param1; "
        "float32 param2; float32 param3; float32 param4; float64 x_lat; float64 y_long; float64 z_alt"
    ),
    "mavros_msgs/msg/WaypointList": "uint16 current_seq; mavros_msgs/Waypoint[] waypoints",
    "mavros_msgs/msg/WaypointReached": "std_msgs/Header header; uint16 wp_seq",
}

SERVICES = {
    "mavros_msgs/srv/CommandAck": (
        "uint16 command; uint8 result; uint8 progress; uint32 result_param2",
        "bool success; uint8 result",
    ),
    "mavros_msgs/srv/CommandBool": ("bool value", "bool success; uint8 result"),
    "mavros_msgs/srv/CommandHome": (
        "bool current_gps; float32 yaw; float32 latitude; float32 longitude; float32 altitude",
        "bool success; uint8 result",
    ),
    "mavros_msgs/srv/CommandInt": (
        (
            "bool broadcast; uint8 frame; uint16 command; uint8 current; uint8 autocontinue; "
            "float32 param1; float32 param2; float32 param3; float32 param4; int32 x; int32 y; float32 z"
        ),
        "bool success",
    ),
    "mavros_msgs/srv/CommandLong": (
        (
            "bool broadcast; uint16 command; uint8 confirmation; float32 param1; float32 param2; "
            "float32 param3; float32 param4; float32 param5; float32 param6; float32 param7"
        ),
        "bool success; uint8 result",
    ),
    "mavros_msgs/srv/CommandTOL": (
        "float32 min_pitch; float32 yaw; float32 latitude; float32 longitude; float32 altitude",
        "bool success; uint8 result",
    ),
    "mavros_msgs/srv/CommandTOLLocal": (
        "float32 min_pitch; float32 offset; float32 rate; float32 yaw; geometry_msgs/Vector3 position",
        "bool success; uint8 result",
    ),
    "mavros_msgs/srv/CommandTriggerControl": (
        "bool trigger_enable; bool sequence_reset; bool trigger_pause",
        "bool success; uint8 result",
    ),
    "mavros_msgs/srv/CommandTriggerInterval": (
        "float32 cycle_time; float32 integration_time",
        "bool success; uint8 result",
    ),
    "mavros_msgs/srv/CommandVtolTransition": (
        "std_msgs/Header header; uint8 state",
        "bool success; uint8 result",
    ),
    "mavros_msgs/srv/LogRequestData": ("uint16 id; uint32 offset; uint32 count", "bool success"),
    "mavros_msgs/srv/LogRequestEnd": ("", "bool success"),
    "mavros_msgs/srv/LogRequestList": ("uint16 start; uint16 end", "bool success"),
    "mavros_msgs/srv/MessageInterval": ("uint32 message_id; float32 message_rate", "bool success"),
    "mavros_msgs/srv/MountConfigure": (
        (
            "std_msgs/Header header; uint8 mode; bool stabilize_roll; bool stabilize_pitch; "
            "bool stabilize_yaw; uint8 roll_input; uint8 pitch_input; uint8 yaw_input"
        ),
        "bool success; uint8 result",
    ),
    "mavros_msgs/srv/ParamPull": ("bool force_pull", "bool success; uint32 param_received"),
    "mavros_msgs/srv/ParamSetV2": (
        "bool force_set; string param_id; rcl_interfaces/ParameterValue value",
        "bool success; rcl_interfaces/ParameterValue value",
    ),
    "mavros_msgs/srv/SetMavFrame": ("uint8 mav_frame", "bool success"),
    "mavros_msgs/srv/SetMode": ("uint8 base_mode; string custom_mode", "bool mode_sent"),
    "mavros_msgs/srv/StreamRate": ("uint8 stream_id; uint16 message_rate; bool on_off", ""),
    "mavros_msgs/srv/VehicleInfoGet": (
        "uint8 sysid; uint8 compid; bool get_all",
        "bool success; mavros_msgs/VehicleInfo[] vehicles",
    ),
    "mavros_msgs/srv/WaypointClear": ("", "bool success"),
    "mavros_msgs/srv/WaypointPull": ("", "bool success; uint32 wp_received"),
    "mavros_msgs/srv/WaypointPush": (
        "uint16 start_index; mavros_msgs/Waypoint[] waypoints",
        "bool success; uint32 wp_transfered",
    ),
    "mavros_msgs/srv/WaypointSetCurrent": ("uint16 wp_seq", "bool success"),
    "std_srvs/srv/SetBool": ("bool data", "bool success; string message"),
    "std_srvs/srv/Trigger": ("", "bool success; string message"),
}
"""Request and response."""
