//! One entry of `VisionSensors`.
use super::{
    TransportOverride, VendorOverrides, fields::SensorEntry, orientation, text::JsonValue, types,
};
use crate::config::{Mount, SensorConfig, TransportMode};
use crate::wire::{Optics, SensorKind};

#[rustfmt::skip] // a table
const MANDATORY: &[&str] = &[
    "SeqID", "TypeID", "TargetCopter", "TargetMountType", "DataWidth", "DataHeight", "DataCheckFreq", "SendProtocol", "CameraFOV",
    "SensorPosXYZ", "SensorAngEular", "otherParams",
];
const OPTIONAL: &[&str] = &["EularOrQuat", "SensorAngQuat"];

/// Largest image edge in px.
const MAX_EDGE: i64 = 8192;
/// Largest number of points in a cloud: 128 MiB of the simulator's 8-byte points.
const MAX_POINTS: u32 = 1 << 24;
/// Port of SeqID 0 if the file gives port 0.
const BASE_PORT: u16 = 9999;

/// The valid parts of an entry, for the checks across sensors.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) path: String,
    pub(super) seq_id: Option<u16>,
    /// The entry has SeqID 0, which stands for the next number, and is not the first.
    pub(super) is_auto: bool,
    pub(super) mount: Option<Mount>,
    /// The bridge cannot read the sensor and leaves it out.
    pub(super) is_skipped: bool,
    /// UDP port, also of an entry with problems in other keys; `None` with shared memory, for a skipped entry, and if
    /// `SendProtocol` has problems.
    pub(super) udp_port: Option<u16>,
    /// `SendProtocol[0]` is 0 in the file and replaced by 1, as in the vendor's loader on Linux.
    pub(super) is_moved_to_udp: bool,
    /// `SendProtocol[0]` is 0 in the file, so the file's port has no meaning.
    pub(super) is_shm_in_file: bool,
    pub(super) sensor: Option<SensorConfig>,
}

impl Draft {
    /// Returns the draft of a loaded sensor.
    pub(super) fn of(sensor: &SensorConfig) -> Self {
        Self {
            path: format!("sensor{}", sensor.seq_id),
            seq_id: Some(sensor.seq_id),
            mount: Some(sensor.mount),
            udp_port: sensor.transport.is_udp().then_some(sensor.port),
            ..Self::default()
        }
    }
}

/// Reads one entry. `last_id` is the SeqID before it, to which SeqID 0 adds 1; an entry with problems advances it, too, as in
/// the vendor's loader.
pub(super) fn read(
    entry: &mut SensorEntry<'_>,
    overrides: &VendorOverrides,
    last_id: &mut Option<u16>,
) -> Draft {
    let before = entry.problem_count();
    entry.warn_duplicates();
    entry.check_spellings();
    entry.check_keys(MANDATORY, OPTIONAL);

    let is_auto = entry.get("SeqID").and_then(JsonValue::integer) == Some(0) && last_id.is_some();
    let seq_id = read_seq_id(entry, last_id);
    let is_skipped = skip_unsupported(entry, overrides);
    let kind = if is_skipped { None } else { read_type(entry) };
    let mount = read_mount(entry);
    let size = read_size(entry, kind);
    let rate_hz = entry.integer("DataCheckFreq", 0..=1000, "Hz");
    let send = read_send_protocol(entry, seq_id, kind, overrides);
    let fov = read_fov(entry, kind);
    let position = entry.numbers::<3>("SensorPosXYZ");
    let is_new_layout = orientation::has_new_layout(entry);
    let orientation = orientation::read(entry, is_new_layout);
    let other_params = read_other_params(entry, is_new_layout, seq_id);
    let mode = send.as_ref().map(|send| send.mode);
    if let (Some(kind), Some(params)) = (kind, &other_params) {
        types::check_other_params(entry, kind, params, mode, size.unwrap_or_default());
    }

    let is_valid = entry.problem_count() == before;
    let sensor = || {
        let (kind, send, orientation) = (kind?, send.as_ref()?, orientation?);
        let (width, height) = size?;
        Some(SensorConfig {
            seq_id: seq_id?,
            kind,
            mount: mount?,
            width,
            height,
            rate_hz: rate_hz?,
            transport: send.mode,
            ip: send.ip,
            port: send.port,
            piece_bytes: send.piece_bytes,
            segmentation: send.segmentation,
            fov_deg: fov? as f32,
            position_frd: position?,
            orientation: orientation.value(),
            other_params: other_params?.map(|v| v as f32),
            layout_new: is_new_layout,
            raw_euler: orientation.euler.map(|v| v as f32),
            raw_quaternion: orientation.quaternion.map(|v| v as f32),
            eular_or_quat: orientation.selector as f32,
        })
    };
    let is_shm = |send: &[JsonValue]| send.first().and_then(JsonValue::integer) == Some(0);
    let is_shm_in_file =
        matches!(entry.get("SendProtocol"), Some(JsonValue::Array(send)) if is_shm(send));
    Draft {
        path: entry.path.clone(),
        seq_id,
        is_auto,
        mount,
        is_skipped,
        udp_port: send.as_ref().filter(|s| s.mode.is_udp() && !is_skipped).map(|s| s.port),
        is_moved_to_udp: !is_skipped && send.as_ref().is_some_and(|send| send.is_moved_to_udp),
        is_shm_in_file,
        sensor: if is_valid { sensor() } else { None },
    }
}

fn read_seq_id(entry: &mut SensorEntry<'_>, last_id: &mut Option<u16>) -> Option<u16> {
    let written: u16 = entry.integer("SeqID", 0..=65_535, "")?;
    let seq_id = match (written, *last_id) {
        (0, Some(last)) => last.checked_add(1),
        _ => Some(written),
    };
    if seq_id.is_none() {
        entry.problem("SeqID", "0 means one more than the last SeqID, which is 65535 already");
    }
    *last_id = seq_id.or(*last_id);
    seq_id
}

/// Skips a sensor of a type that the bridge cannot read, unless the overrides refuse such sensors; returns whether it did.
fn skip_unsupported(entry: &mut SensorEntry<'_>, overrides: &VendorOverrides) -> bool {
    let id = entry.get("TypeID").and_then(JsonValue::integer);
    match id.and_then(types::unsupported) {
        Some(type_and_reason) if !overrides.refuse_unsupported => {
            let message =
                format!("{} is the {type_and_reason}; it is left out", id.unwrap_or_default());
            entry.skip("TypeID", message);
            true
        }
        _ => false,
    }
}

fn read_type(entry: &mut SensorEntry<'_>) -> Option<SensorKind> {
    let id: u16 = entry.integer("TypeID", 0..=65_535, "")?;
    let kind = SensorKind::from_type_id(id);
    if kind.is_none() {
        let known = SensorKind::ALL.map(|kind| kind.type_id().to_string());
        let unsupported = types::unsupported(id.into());
        let why = unsupported.map(|type_and_reason| format!("{id} is the {type_and_reason}"));
        let why = why.unwrap_or_else(|| format!("must be one of {}, is {id}", known.join(", ")));
        entry.problem("TypeID", why);
    }
    kind
}

/// Valid CopterIDs; ports of higher ids would overlap.
const COPTER_IDS: std::ops::RangeInclusive<u16> = 1..=10_000;

fn read_mount(entry: &mut SensorEntry<'_>) -> Option<Mount> {
    let target: Option<u16> = entry.integer("TargetCopter", 0..=65_535, "");
    let types = "(0 vehicle centre, 1 vehicle bottom, 2 ground, 3 vehicle level, 4 sensor)";
    let mount_type: Option<u16> = entry.integer("TargetMountType", 0..=4, types);
    let (target, mount_type) = (target?, mount_type?);
    if !COPTER_IDS.contains(&target) && matches!(mount_type, 0 | 1 | 3) {
        let range = "1..=10000 with this TargetMountType (CopterIDs start at 1)";
        entry.problem("TargetCopter", format!("must be in {range}, is {target}"));
        return None;
    }
    Mount::from_numbers(mount_type, target)
}

fn read_size(entry: &mut SensorEntry<'_>, kind: Option<SensorKind>) -> Option<(u16, u16)> {
    let optics = kind.map(|kind| kind.row().optics);
    let is_cloud = matches!(optics, Some(Optics::Rings | Optics::Rosette));
    let (range, unit) = match optics {
        Some(Optics::Pinhole | Optics::Fisheye) => (1..=MAX_EDGE, "px"),
        _ if is_cloud => (1..=65_535, "points"),
        _ => (0..=65_535, ""),
    };
    let width: Option<u16> = entry.integer("DataWidth", range.clone(), unit);
    let height: Option<u16> = entry.integer("DataHeight", range, unit);
    let (width, height) = (width?, height?);
    if is_cloud && u32::from(width) * u32::from(height) > MAX_POINTS {
        let why = format!(
            "DataWidth * DataHeight must be at most {MAX_POINTS} points, is {width} * {height}"
        );
        entry.problem("DataWidth", why);
        return None;
    }
    Some((width, height))
}

fn read_fov(entry: &mut SensorEntry<'_>, kind: Option<SensorKind>) -> Option<f64> {
    let fov = entry.number("CameraFOV")?;
    let kind = kind?;
    let optics = kind.row().optics;
    if matches!(optics, Optics::Pinhole | Optics::Fisheye)
        && let Err(why) = types::check_fov(kind, fov)
    {
        entry.problem("CameraFOV", why);
        return None;
    }
    if optics == Optics::Fisheye && !(180.0..=270.0).contains(&fov) {
        let why =
            format!("the simulator documents 180 to 270 deg for the fisheye camera, is {fov}");
        entry.warning("CameraFOV", why);
    }
    Some(fov)
}

/// `SendProtocol` after the overrides.
struct SendSettings {
    mode: TransportMode,
    ip: [u8; 4],
    port: u16,
    piece_bytes: u16,
    segmentation: u16,
    is_moved_to_udp: bool,
}

fn read_send_protocol(
    entry: &mut SensorEntry<'_>,
    seq_id: Option<u16>,
    kind: Option<SensorKind>,
    overrides: &VendorOverrides,
) -> Option<SendSettings> {
    const NAMES: &str = " (mode, 4 bytes of the address, port, size of pieces, segmentation)";
    let values = entry.array("SendProtocol", 8, NAMES)?;
    let before = entry.problem_count();
    let mut number = |i: usize, max: i64| -> Option<u16> {
        entry.check_integer(&format!("SendProtocol[{i}]"), values.get(i)?, 0..=max)
    };
    // A value replaced by an override is not checked.
    let is_overridden = matches!(overrides.transport, TransportOverride::Mode(_));
    let written_mode = if is_overridden { Some(0) } else { number(0, 3) };
    let mut ip = [0; 4];
    for (i, byte) in ip.iter_mut().enumerate() {
        *byte = match overrides.receive_address {
            Some(address) => address[i],
            None => number(i + 1, 255).map_or(0, |byte| byte as u8),
        };
    }
    let written_port = number(5, 65_535);
    let [piece_bytes, segmentation] = [(6, overrides.piece_bytes), (7, overrides.segmentation)]
        .map(|(i, given)| given.or_else(|| number(i, 65_535)).unwrap_or(0));

    let written_mode = TransportMode::from_repr(written_mode?)?;
    let (mode, is_moved_to_udp) = match overrides.transport {
        TransportOverride::Vendor if written_mode == TransportMode::SharedMemory => {
            (TransportMode::UdpCompressed, true)
        }
        TransportOverride::File | TransportOverride::Vendor => (written_mode, false),
        TransportOverride::Mode(mode) => (mode, false),
    };
    let mode = check_mode(entry, mode, kind, overrides);
    let port = match (written_port?, seq_id) {
        (0, Some(seq_id)) => default_port(seq_id).unwrap_or_else(|| {
            entry.problem("SendProtocol[5]", format!("port 0 means {BASE_PORT} + SeqID, which is above 65535 for SeqID {seq_id}; give a port"));
            0
        }),
        (port, _) => port,
    };
    (entry.problem_count() == before).then_some(SendSettings {
        mode,
        ip,
        port,
        piece_bytes,
        segmentation,
        is_moved_to_udp,
    })
}

/// Returns the port of a sensor whose file gives port 0.
pub(super) fn default_port(seq_id: u16) -> Option<u16> {
    BASE_PORT.checked_add(seq_id)
}

/// Checks that the type supports the mode. If not, a mode from the file is a problem; an override becomes mode 1, with a warning.
fn check_mode(
    entry: &mut SensorEntry<'_>,
    mode: TransportMode,
    kind: Option<SensorKind>,
    overrides: &VendorOverrides,
) -> TransportMode {
    let number = mode.number();
    let lacks_mode = |kind: &SensorKind| !kind.row().modes.numbers().contains(&number);
    let Some(kind) = kind.filter(lacks_mode) else { return mode };
    let (id, name, modes) = (kind.type_id(), kind.row().name, kind.row().modes);
    if matches!(overrides.transport, TransportOverride::Mode(_)) {
        let why =
            format!("transport_mode {number} does not exist for TypeID {id} ({name}); 1 is used");
        entry.warning("SendProtocol[0]", why);
        return TransportMode::UdpCompressed;
    }
    let why = format!("must be {} for TypeID {id} ({name}), is {number}", types::modes_text(modes));
    entry.problem("SendProtocol[0]", why);
    mode
}

/// Reads 16 values in the new layout, 8 in the old one.
fn read_other_params(
    entry: &mut SensorEntry<'_>,
    is_new_layout: bool,
    seq_id: Option<u16>,
) -> Option<[f64; 16]> {
    if let (false, Some(JsonValue::Array(values))) = (is_new_layout, entry.get("otherParams"))
        && values.len() == 16
    {
        let sensor = seq_id.map_or_else(|| "the sensor".to_owned(), |id| format!("sensor {id}"));
        let missing = match entry.get("SensorAngQuat") {
            Some(_) => "EularOrQuat",
            None => "EularOrQuat and SensorAngQuat",
        };
        let why = "8 otherParams do not";
        let why = format!("is missing: {sensor} has 16 otherParams, which need {missing}; {why}");
        entry.problem("EularOrQuat", why);
        return None;
    }
    let (length, why) = match is_new_layout {
        true => (16, format!(" with {}", entry.spelling_of("EularOrQuat"))),
        false => (8, " without EularOrQuat".to_owned()),
    };
    let values = entry.array("otherParams", length, &why)?;
    let mut numbers = entry.check_numbers("otherParams", values)?;
    numbers.resize(16, 0.0);
    numbers.try_into().ok()
}
