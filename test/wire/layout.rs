//! Offsets and sizes of every struct, against `structs.json`, which was not derived from this code.
use crate::support::golden;
use rfly_bridge::wire::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::mem::offset_of;

/// Layouts of the protocol that documents show, but nothing sends or reads.
const WITHOUT_CODEC: &[&str] = &[
    "Multi3DData",
    "Multi3DData1",
    "Multi3DData100",
    "Multi3DData1New",
    "Multi3DData2",
    "Multi3DDataNew",
];
/// Layouts that have one.
const WITH_CODEC: &[&str] = &[
    "VisionSensorReq-old",
    "VisionSensorReq-new",
    "VisionSensorReq-type9",
    "ImageHeader-A",
    "ImageHeader-B",
    "CloudHeader",
    "CloudHeader-f32",
    "RangeRecord",
    "BoxEntry (type 30)",
    "TargetEntry (type 31)",
    "RflyTimeStmp",
    "SensorReqCopterSim",
    "ImuData",
    "netDataShort",
    "SOut2SimulatorOld",
    "SOut2Simulator",
    "SOut2SimulatorSimpleTime-112",
    "outCopterStruct",
    "Ue4CMDGPS",
    "CopterSimCrash",
    "Ue4CMD0",
    "Ue4CMD",
    "Ue4CMDNet",
    "inOffboardShortData",
    "outHILStateShort",
    "UDP_Full command (netDataShortShort + inHILCMDData)",
    "UDP_Full state (netDataShortShort + outHILStateData)",
    "reCopterSimMsg",
    "CptSimCMD",
    "startSignal",
    "PX4ExtMsg",
    "CameraData-72",
    "CoptReqData-80",
    "CustomData",
    "DllInDoubCtrls",
    "Multi3DData100New",
    "Multi3DData100Time",
    "Multi3DData10Time",
    "Multi3DData20Time",
    "Multi3DData2New",
    "NetSimHeader",
    "NetSimState",
    "ObjReqData-112",
    "PX4DynModiParams",
    "PX4ModelInParams",
    "PX4SILIntFloat",
    "PX4UorbRflyCtrl",
    "SOut2SimulatorSimple",
    "SOut2SimulatorSimple1",
    "SOut2SimulatorSimpleTime-104",
    "SOut2SimulatorSimpleTimeF",
    "UEToCopterDataD",
    "Ue4Coll20d / terrain",
    "Ue4CopterMsg",
    "Ue4ExtMsg",
    "Ue4RayTraceDrone",
    "VehicleAttatch25",
    "reqVeCrashData",
];

fn structs() -> Vec<Value> {
    golden::json("structs.json")["structs"].as_array().unwrap().clone()
}

fn named(name: &str) -> Value {
    let found = structs().into_iter().find(|s| s["name"] == name);
    found.unwrap_or_else(|| panic!("structs.json has no {name}"))
}

fn field_len(field: &Value) -> usize {
    let unit = match field["type"].as_str().unwrap() {
        "i8" | "u8" | "char" | "pad" => 1,
        "u16" => 2,
        "i32" | "u32" | "f32" => 4,
        "f64" | "i64" | "u64" => 8,
        other => panic!("unknown type {other}"),
    };
    unit * usize::try_from(field["count"].as_u64().unwrap()).unwrap()
}

/// Compares `(name, offset, size)` of every field with the reference.
fn check(name: &str, size: usize, fields: &[(&str, usize, usize)]) {
    let wanted = named(name);
    assert_eq!(wanted["size"], size, "size of {name}");
    let wanted: Vec<_> = wanted["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| {
            let offset = usize::try_from(f["offset"].as_u64().unwrap()).unwrap();
            (f["name"].as_str().unwrap(), offset, field_len(f))
        })
        .collect();
    assert_eq!(fields, wanted, "fields of {name}");
}

fn size_behind<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// `layout!(Struct, "name in structs.json", field => "its name there", ...)`
macro_rules! layout {
    ($struct:ty, $name:literal, $($field:ident => $field_name:literal),+ $(,)?) => {
        check(
            $name,
            size_of::<$struct>(),
            &[$(($field_name, offset_of!($struct, $field), size_behind(|s: &$struct| &s.$field))),+],
        );
        assert_eq!(<$struct as Packet>::LEN, size_of::<$struct>());
        assert_eq!(align_of::<$struct>(), 1, "{} must be readable anywhere", $name);
    };
}

#[test]
fn every_fixed_struct_has_the_offsets_of_the_reference() {
    layout!(FragmentHeaderA, "ImageHeader-A", checksum => "checksum", len => "PackLen", seq => "PackSeq",
        count => "PackNum", sim_time => "timestamp");
    layout!(FragmentHeaderB, "ImageHeader-B", checksum => "checksum", len => "PackLen", seq => "PackSeq",
        count => "PackNum", frame_id => "FrameID", reserved => "reserved", sim_time => "timestamp");
    layout!(CloudHeader, "CloudHeader", pose => "posAng", count => "N");
    layout!(OdometryCloudHeader, "CloudHeader-f32", copter_id => "copterID", axis_type => "axis_type", pose => "posAng",
        count => "N");
    layout!(RangeRecord, "RangeRecord", distance => "Distance", copter_id => "CopterID", ray_start => "RayStart",
        ray_angles => "Ang", impact_point => "ImpactPoint", box_origin => "BoxOri");
    layout!(BoxEntry, "BoxEntry (type 30)", copter_id => "CopterID", credibility => "credibility", min_x => "MinX",
        min_y => "MinY", max_x => "MaxX", max_y => "MaxY");
    layout!(HeartbeatPacket, "RflyTimeStmp", checksum => "checksum", copter_id => "copterID",
        start_ms => "SysStartTime", now_ms => "SysCurrentTime", count => "HeartCount");
    layout!(ImuRequestPacket, "SensorReqCopterSim", checksum => "checksum", sensor_type => "sensorType",
        rate_hz => "updateFreq", port => "port", ip => "IP", params => "Params");
    layout!(ImuPacket, "ImuData", checksum => "checksum", seq => "seq", sim_time => "timestamp", acc => "acc",
        rate => "rate");
    layout!(FullStatePacket, "SOut2Simulator", checksum => "checksum", copter_id => "copterID",
        vehicle_type => "vehicleType", reserved => "reserv", velocity => "VelE", euler => "AngEuler",
        quaternion => "AngQuatern", motor_rpm => "MotorRPMS", acc => "AccB", rate => "RateB",
        sim_time => "runnedTime", position => "PosE", gps => "PosGPS");
    layout!(TimedStatePacket, "SOut2SimulatorSimpleTime-112", checksum => "checksum", copter_id => "copterID",
        vehicle_type => "vehicleType", gps => "PosGpsInt", motor_rpm => "MotorRPMS", velocity => "VelE",
        euler => "AngEuler", position => "PosE", sim_time => "runnedTime");
    layout!(ModelOutputPacket, "outCopterStruct", checksum => "checksum", copter_id => "CopterID", data => "data");
    layout!(MapCentrePacket, "Ue4CMDGPS", checksum => "checksum", copter_id => "CopterID", gps => "GPS");
    layout!(CrashPacket, "CopterSimCrash", checksum => "checksum", copter_id => "CopterID",
        target_id => "TargetID");
}

#[test]
fn structs_of_the_control_port_have_the_offsets_of_the_reference() {
    layout!(SimpleCommandPacket, "inOffboardShortData", checksum => "checksum", mode => "ctrlMode",
        controls => "controls");
    layout!(SimpleEstimatePacket, "outHILStateShort", checksum => "checksum", home => "gpsHome", euler => "AngEular",
        position => "localPos", velocity => "localVel");
    layout!(FullSetpointPacket, "UDP_Full command (netDataShortShort + inHILCMDData)", tag => "tg", len => "len",
        time_boot_ms => "time_boot_ms", copter_id => "copterID", type_mask => "modes", frame => "flags",
        position => "pos", velocity => "vel", acceleration => "acc", yaw => "yaw", yaw_rate => "yawrate",
        reserved => "reserved", padding => "padding");
    layout!(FullEstimatePacket, "UDP_Full state (netDataShortShort + outHILStateData)", collided_with => "tg",
        len => "len", time_boot_ms => "time_boot_ms", copter_id => "copterID", gps => "GpsPos",
        gps_velocity => "GpsVel", home => "gpsHome", relative_altitude => "relative_alt", heading => "hdg",
        satellites => "satellites_visible", fix_type => "fix_type", reserved => "resrveInit", euler => "AngEular",
        position => "localPos", velocity => "localVel", horizontal_accuracy => "pos_horiz_accuracy",
        vertical_accuracy => "pos_vert_accuracy", estimator_fixed => "resrveFloat");
    layout!(Px4ExtPacket, "PX4ExtMsg", checksum => "checksum", copter_id => "CopterID", sim_time => "runnedTime",
        controls => "controls");
    layout!(CopterSimRequestPacket, "reCopterSimMsg", checksum => "checksum", copter_id => "CopterID",
        reply_to_sender => "isReqIP", place => "isXyYaw", stand => "isZRP", udp_mode => "UDP_mode",
        params => "otherParams", z_roll_pitch => "zRollPitch", yaw => "yaw", xy => "xy");
    layout!(CopterSimLoadPacket, "CptSimCMD", checksum => "checksum", copter_id => "CopterID", what => "flag",
        index => "index", name => "name");
    layout!(StartSignalPacket, "startSignal", checksum => "checksum", start => "isStart", copter_id => "copterID");
}

#[test]
fn structs_of_the_scene_have_the_offsets_of_the_reference() {
    layout!(ObjectStatePacket, "SOut2SimulatorSimple", checksum => "checksum", copter_id => "copterID",
        vehicle_type => "vehicleType", motor_rpm => "MotorRPMSMean", position => "PosE", euler => "AngEuler");
    layout!(ScaledStatePacket, "SOut2SimulatorSimple1", checksum => "checksum", copter_id => "copterID",
        vehicle_type => "vehicleType", motor_rpm => "MotorRPMSMean", position => "PosE", euler => "AngEuler",
        scale => "Scale");
    layout!(MotorStatePacket, "SOut2SimulatorSimpleTimeF", checksum => "checksum", copter_id => "copterID",
        vehicle_type => "vehicleType", motor_rpm => "PWMs", position => "PosE", velocity => "VelE",
        euler => "AngEuler", sim_time => "runnedTime");
    layout!(PointMassStatePacket, "SOut2SimulatorSimpleTime-104", checksum => "checksum", copter_id => "copterID",
        vehicle_type => "vehicleType", motor_rpm => "PWMs", velocity => "VelE", euler => "AngEuler", pad => "_pad",
        position => "PosE", sim_time => "runnedTime");
    layout!(Swarm20Packet, "Multi3DData2New", checksum => "checksum", ids => "IDs", vehicle_types => "VehileTypes",
        positions => "PosE", eulers => "AngEuler", scales => "ScaleXYZ", motor_rpm => "PWMs");
    layout!(Swarm100Packet, "Multi3DData100New", checksum => "checksum", ids => "IDs", vehicle_types => "VehileTypes",
        positions => "PosE", eulers => "AngEuler", scales => "ScaleXYZ", motor_rpm => "MotorRPMSMean");
    macro_rules! moving {
        ($struct:ty, $name:literal) => {
            layout!($struct, $name, checksum => "checksum", ids => "IDs", vehicle_types => "VehileTypes",
                positions => "PosE", velocities => "VelE", eulers => "AngEuler", motor_rpm => "PWMs", pad => "_pad",
                sim_times => "runnedTime");
        };
    }
    moving!(Moving10Packet, "Multi3DData10Time");
    moving!(Moving20Packet, "Multi3DData20Time");
    moving!(Moving100Packet, "Multi3DData100Time");
    layout!(LabelPacket, "Ue4CopterMsg", checksum => "checksum", copter_id => "CopterID", row => "dispFlag",
        colour => "RGB", duration => "dispTime", font_size => "fontSize", text => "data");
    layout!(AttachPacket, "VehicleAttatch25", checksum => "checksum", copter_ids => "CopterIDs",
        carrier_ids => "AttatchIDs", kinds => "AttatchTypes");
    layout!(ExtActuatorsPacket, "Ue4ExtMsg", checksum => "checksum", copter_id => "CopterID", time => "runnedTime",
        values => "ExtToUE4");
    layout!(VehicleReportPacket, "reqVeCrashData", checksum => "checksum", copter_id => "copterID",
        vehicle_type => "vehicleType", crash_type => "CrashType", sim_time => "runnedTime", velocity => "VelE",
        position => "PosE", contact => "CrashPos", target => "targetPos", euler => "AngEuler",
        motor_rpm => "MotorRPMS", rays => "ray", name => "CrashedName");
    layout!(CameraReportPacket, "CameraData-72", checksum => "checksum", seq_id => "SeqID", type_id => "TypeID",
        height => "DataHeight", width => "DataWidth", fov_deg => "CameraFOV", position => "PosUE",
        euler => "angEuler", quaternion => "angQuat", sim_time => "timestmp");
    layout!(VehicleBoundsPacket, "CoptReqData-80", checksum => "checksum", copter_id => "CopterID",
        position => "PosUE", euler => "angEuler", quaternion => "angQuat", centre => "boxOrigin",
        half_size => "BoxExtent", sim_time => "timestmp");
    layout!(ObjectBoundsPacket, "ObjReqData-112", checksum => "checksum", seq_id => "seqID", position => "PosUE",
        euler => "angEuler", quaternion => "angQuat", centre => "boxOrigin", half_size => "BoxExtent",
        sim_time => "timestmp", name => "ObjName");
}

#[test]
fn structs_of_model_inputs_have_the_offsets_of_the_reference() {
    layout!(SilInputsPacket, "PX4SILIntFloat", checksum => "checksum", copter_id => "CopterID", ints => "inSILInts",
        floats => "inSILFloats");
    layout!(DoubleInputsPacket, "DllInDoubCtrls", checksum => "checksum", copter_id => "CopterID",
        values => "inDoubCtrls");
    layout!(ModelParametersPacket, "PX4ModelInParams", checksum => "checksum", mask => "Bitmask",
        values => "InParams");
    layout!(DynamicParametersPacket, "PX4DynModiParams", checksum => "checksum", copter_id => "CopterID",
        mask => "Bitmask", values => "InParams");
    layout!(RendererInputsPacket, "UEToCopterDataD", checksum => "checksum", copter_id => "CopterID",
        values => "inFromUE");
    layout!(RayInputsPacket, "Ue4RayTraceDrone", checksum => "checksum", copter_id => "CopterID", size => "size",
        velocity => "velE", rays => "ray", position => "posE");
    layout!(SurroundingsPacket, "Ue4Coll20d / terrain", checksum => "checksum", copter_id => "CopterID",
        values => "values");
    layout!(UorbInputsPacket, "PX4UorbRflyCtrl", checksum => "checksum", copter_id => "CopterID", modes => "modes",
        flags => "flags", data => "data");
    layout!(CustomDataPacket, "CustomData", checksum => "checksum", copter_id => "CopterID", data => "data");
    layout!(NetSimHeader, "NetSimHeader", checksum => "checkSum", copter_id => "CopterID", mode => "sendMode",
        first_id => "StartIdx", mask => "SendMask", unix_time => "TimeUnix");
    layout!(NetSimState, "NetSimState", time => "uavTimeStmp", euler => "uavAngEular", velocity => "uavVelNED",
        home => "uavPosGPSHome", position => "uavPosNED", global_position => "uavGlobalPos");
}

#[test]
fn structs_that_group_fields_differently_have_the_offsets_of_the_reference() {
    let position = offset_of!(TargetEntry, position);
    check(
        "TargetEntry (type 31)",
        size_of::<TargetEntry>(),
        &[
            ("CopterID", offset_of!(TargetEntry, copter_id), 4),
            ("x", position, 4),
            ("y", position + 4, 4),
            ("z", position + 8, 4),
        ],
    );
    // `payload` is split into the state and the reserve behind it.
    let state = offset_of!(ShortStatePacket, state);
    assert_eq!(offset_of!(ShortStatePacket, reserved), state + size_of::<StateInner>());
    check(
        "netDataShort",
        size_of::<ShortStatePacket>(),
        &[
            ("tg", offset_of!(ShortStatePacket, collided_with), 4),
            ("len", offset_of!(ShortStatePacket, len), 4),
            ("payload", state, size_of::<ShortStatePacket>() - state),
        ],
    );
    let inner = [
        ("copterID", offset_of!(StateInner, copter_id), 4),
        ("vehicleType", offset_of!(StateInner, vehicle_type), 4),
        ("runnedTime", offset_of!(StateInner, sim_time), 8),
        ("VelE", offset_of!(StateInner, velocity), 12),
        ("PosE", offset_of!(StateInner, position), 12),
        ("AngEuler", offset_of!(StateInner, euler), 12),
        ("AngQuatern", offset_of!(StateInner, quaternion), 16),
        ("MotorRPMS", offset_of!(StateInner, motor_rpm), 32),
        ("AccB", offset_of!(StateInner, acc), 12),
        ("RateB", offset_of!(StateInner, rate), 12),
        ("_pad", offset_of!(StateInner, pad), 4),
        ("PosGPS", offset_of!(StateInner, gps), 24),
    ];
    check("SOut2SimulatorOld", size_of::<StateInner>(), &inner);
}

#[test]
fn console_datagrams_have_the_offsets_of_the_reference() {
    let mut buffer = [0xff; CONSOLE_LONG_LEN];
    let long_text = "x".repeat(249);
    let network = console_command_for_network("x").unwrap();
    for (name, text, bytes) in [
        ("Ue4CMD0", "x", console_command("x", &mut buffer).unwrap().to_vec()),
        ("Ue4CMD", &*long_text, console_command(&long_text, &mut buffer).unwrap().to_vec()),
        ("Ue4CMDNet", "x", network.to_vec()),
    ] {
        let layout = named(name);
        assert_eq!(layout["size"], bytes.len(), "{name}");
        assert_eq!(
            layout["fields"][0]["note"].as_str().unwrap(),
            i32::from_le_bytes(bytes[..4].try_into().unwrap()).to_string()
        );
        let at = usize::try_from(layout["fields"][1]["offset"].as_u64().unwrap()).unwrap();
        assert_eq!(&bytes[at..at + text.len()], text.as_bytes(), "{name}");
        assert!(bytes[at + text.len()..].iter().all(|b| *b == 0), "{name} is padded with zeros");
    }
}

/// The request has no `repr(C)` struct: every field is written alone and must appear at its offset, alone.
#[test]
fn sensor_requests_have_the_offsets_of_the_reference() {
    for (name, layout) in [
        ("VisionSensorReq-old", RequestLayout::Old),
        ("VisionSensorReq-new", RequestLayout::New),
        ("VisionSensorReq-type9", RequestLayout::Gimbal),
        ("VisionSensorReq-type9", RequestLayout::Long),
    ] {
        let wanted = named(name);
        assert_eq!(wanted["size"], layout.len(), "{name}");
        let empty = empty_request(layout);
        for field in wanted["fields"].as_array().unwrap() {
            let field_name = field["name"].as_str().unwrap();
            if field_name == "checksum" {
                continue;
            }
            let mut request = empty;
            mark(&mut request, field_name);
            assert_ne!(request, empty, "{field_name} is marked");
            let (mut a, mut b) = ([0; 148], [0; 148]);
            let (marked, plain) = (request.emit(&mut a), empty.emit(&mut b));
            let changed: BTreeSet<usize> =
                (0..plain.len()).filter(|i| marked[*i] != plain[*i]).collect();
            let at = usize::try_from(field["offset"].as_u64().unwrap()).unwrap();
            let all: BTreeSet<usize> = (at..at + field_len(field)).collect();
            assert_eq!(changed, all, "bytes of {field_name} in {name}");
            assert_eq!(
                SensorRequest::parse(marked),
                Ok(request),
                "{field_name} of {name} is read back"
            );
        }
    }
}

fn empty_request(layout: RequestLayout) -> SensorRequest {
    SensorRequest {
        layout,
        seq_id: 0,
        bitmask: 0,
        type_id: 0,
        target_copter: 0,
        mount_type: 0,
        width: 0,
        height: 0,
        check_freq: 0,
        send_protocol: SendProtocol::default(),
        fov_deg: 0.0,
        position: [0.0; 3],
        eular_or_quat: 0.0,
        euler: [0.0; 3],
        quaternion: [0.0; 4],
        other_params: [0.0; 16],
    }
}

/// Sets a field to a value of which no byte is 0.
fn mark(request: &mut SensorRequest, field: &str) {
    let real = f32::from_le_bytes([0x11, 0x22, 0x33, 0x44]);
    let word = 0x1122;
    match field {
        "SeqID" => request.seq_id = word,
        "bitmask" => request.bitmask = 0x1122_3344,
        "TypeID" => request.type_id = word,
        "TargetCopter" => request.target_copter = word,
        "TargetMountType" => request.mount_type = word,
        "DataWidth" => request.width = word,
        "DataHeight" => request.height = word,
        "DataCheckFreq" => request.check_freq = word,
        "SendProtocol" => {
            request.send_protocol = SendProtocol {
                mode: word,
                ip: [word; 4],
                port: word,
                piece_bytes: word,
                segmentation: word,
            };
        }
        "CameraFOV" => request.fov_deg = real,
        "SensorPosXYZ" => request.position = [real; 3],
        "EularOrQuat" => request.eular_or_quat = real,
        "SensorAngEular" => request.euler = [real; 3],
        "SensorAngQuat" => request.quaternion = [real; 4],
        "otherParams" if request.layout == RequestLayout::Old => {
            request.other_params[..8].fill(real)
        }
        "otherParams" => request.other_params = [real; 16],
        other => panic!("unknown field {other}"),
    }
}

#[test]
fn every_struct_is_known_to_have_a_codec_or_not() {
    let known: BTreeSet<String> =
        WITH_CODEC.iter().chain(WITHOUT_CODEC).map(ToString::to_string).collect();
    let all: BTreeSet<String> =
        structs().iter().map(|s| s["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(all, known);
}

/// Sources: docs/wire/console.md (handshake) and docs/wire/shared_memory.md, which have no entry in `structs.json`.
#[test]
fn packets_without_an_entry_in_the_reference_have_the_documented_offsets() {
    assert_eq!((size_of::<HandshakePacket>(), offset_of!(HandshakePacket, index)), (8, 4));
    assert_eq!(
        (size_of::<ShmHeader>(), offset_of!(ShmHeader, flag), offset_of!(ShmHeader, sim_time)),
        (9, 0, 1)
    );
    assert_eq!(size_of::<ShmHeader>(), SHM_HEADER_LEN);
    assert_eq!(
        (
            size_of::<ShmDirectory>(),
            offset_of!(ShmDirectory, total),
            offset_of!(ShmDirectory, sizes)
        ),
        (264, 4, 8)
    );
    assert_eq!(HandshakePacket::parse(&[1, 0, 0, 0, 2, 0, 0, 0]), Ok(&HandshakePacket::new(1, 2)));
}

#[test]
fn the_tables_of_the_documentation_have_the_offsets_of_the_reference() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/wire");
    let mut documented = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for table in text.split("<!-- layout: ").skip(1) {
            let (name, rows) = table.split_once(" -->\n").unwrap();
            let rows = rows.lines().skip(2).take_while(|line| line.starts_with('|'));
            let cells = rows
                .map(|row| row.split('|').skip(1).take(2).map(|c| c.trim().to_owned()).collect());
            let found: Vec<Vec<String>> = cells.collect();
            let layout = named(name);
            let wanted = layout["fields"].as_array().unwrap().iter().map(|f| {
                let kind = f["type"].as_str().unwrap();
                let kind = if f["count"] == 1 {
                    kind.to_owned()
                } else {
                    format!("{kind}[{}]", f["count"])
                };
                vec![f["offset"].to_string(), kind]
            });
            assert_eq!(found, wanted.collect::<Vec<_>>(), "{name}");
            assert!(documented.insert(name.to_owned()), "{name} stands once");
        }
    }
    let codecs: BTreeSet<String> = WITH_CODEC.iter().map(ToString::to_string).collect();
    assert_eq!(documented, codecs);
}
