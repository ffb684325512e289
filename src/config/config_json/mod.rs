//! Reads the simulator's `Config.json` with the quirks of the vendor's loader, but with error messages.
//!
//! Where the vendor's loader silently skips a sensor or gives up, [`load`] returns a [`Problem`], or a warning if the meaning is
//! clear; it returns all problems of all files. The format is documented in `docs/config_json.md`.
//!
//! ```
//! use rfly_bridge::config::config_json::{VendorOverrides, load};
//! let file = ("Config.json".to_owned(), r#"{"VisionSensors": [{"TypeID": 1, "DataWith": 640}]}"#.to_owned());
//! let problems = load(&[file], &VendorOverrides::default()).unwrap_err();
//! assert!(problems.to_string().contains(r#"did you mean "DataWidth"?"#));
//! ```
mod entry;
mod entry_change;
mod fields;
mod normalise;
mod orientation;
mod relations;
mod text;
mod types;

use super::{Problem, Problems, SensorConfig, TransportMode};
pub use entry_change::EntryChange;
use fields::{Findings, SensorEntry};
use text::JsonValue;
pub use text::without_comments;
pub(crate) use types::check_fov;

/// Parameter `transport_mode`: override of `SendProtocol[0]`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum TransportOverride {
    /// As in the file; mode 0 is shared memory.
    File,
    /// As the vendor's loader on Linux: mode 0 becomes 1, others are unchanged.
    #[default]
    Vendor,
    /// This mode for every sensor whose type supports it, mode 1 for the others.
    Mode(TransportMode),
}

/// Overrides of the file by ROS parameters.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct VendorOverrides {
    /// Parameter `transport_mode`.
    pub transport: TransportOverride,
    /// Parameter `receive_address`: overwrites `SendProtocol[1..=4]`.
    pub receive_address: Option<[u8; 4]>,
    /// Parameter `request.piece_bytes`: overwrites `SendProtocol[6]`.
    pub piece_bytes: Option<u16>,
    /// Parameter `cloud.segmentation`: overwrites `SendProtocol[7]`.
    pub segmentation: Option<u16>,
    /// Parameter `unsupported_sensors`: whether a sensor that the bridge cannot read is a problem; otherwise it is left out.
    pub refuse_unsupported: bool,
}

/// The loaded sensors, with warnings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// Sensors in the order of the files.
    pub sensors: Vec<SensorConfig>,
    /// Valid but suspicious settings.
    pub warnings: Vec<Problem>,
    /// Sensors of the simulator that the bridge cannot read, which are left out.
    pub skipped: Vec<Problem>,
}

/// Maximum number of sensors of a file, and of keys of a sensor. Bounds the time: each is compared with all others.
const MAX_ITEMS: usize = 1000;

/// Reads `(name, text)` of one or more files, as if the vendor's loader were called once per file: the sensors
/// are appended, automatic numbering restarts in each file, and one `EularOrQuat` switches all to the new layout.
/// Errors: all problems of all files.
pub fn load(files: &[(String, String)], overrides: &VendorOverrides) -> Result<Loaded, Problems> {
    let (loaded, problems) = inspect(files, overrides);
    problems.or(loaded)
}

/// As [`load`], but returns the valid sensors along with the problems.
pub fn inspect(files: &[(String, String)], overrides: &VendorOverrides) -> (Loaded, Problems) {
    let mut findings = Findings::default();
    let mut drafts = Vec::new();
    for (name, text) in files {
        let mut last_id = None;
        let Some(root) = read_root(name, text, &mut findings) else { continue };
        let list = read_list(name, &root, &mut findings);
        if list.len() > MAX_ITEMS {
            let why = format!("has {} sensors; only the first {MAX_ITEMS} are checked", list.len());
            findings.problems.push(format!("{name}: VisionSensors"), why);
        }
        for (i, node) in list.iter().take(MAX_ITEMS).enumerate() {
            let path = format!("{name}: VisionSensors[{i}]");
            let why = match node {
                JsonValue::Object(pairs) if pairs.len() <= MAX_ITEMS => {
                    let draft = read_entry((path, pairs), overrides, &mut last_id, &mut findings);
                    drafts.push(draft);
                    continue;
                }
                JsonValue::Object(pairs) => {
                    format!("has {} keys; at most {MAX_ITEMS} are read", pairs.len())
                }
                other => format!("must be an object, is {other}"),
            };
            findings.problems.push(path, why);
        }
    }
    relations::check(&mut drafts, &mut findings);
    let mut sensors: Vec<SensorConfig> =
        drafts.into_iter().filter_map(|draft| draft.sensor).collect();
    let layout_new = sensors.iter().any(|sensor| sensor.layout_new);
    for sensor in &mut sensors {
        sensor.layout_new = layout_new;
    }
    (Loaded { sensors, warnings: findings.warnings, skipped: findings.skipped }, findings.problems)
}

/// Reads one more entry of `VisionSensors` beside the loaded sensors `others`; also returns its warnings. SeqID 0 means the
/// greatest SeqID plus 1. Errors: all problems, also conflicts with the loaded sensors.
pub fn load_one(
    row: &str,
    others: &[SensorConfig],
    overrides: &VendorOverrides,
) -> Result<(SensorConfig, Vec<Problem>), Problems> {
    const ROW: &str = "row";
    let mut findings = Findings::default();
    let mut drafts: Vec<_> = others.iter().map(entry::Draft::of).collect();
    match read_root(ROW, row, &mut findings) {
        Some(JsonValue::Object(pairs)) if pairs.len() <= MAX_ITEMS => {
            let strict = VendorOverrides { refuse_unsupported: true, ..*overrides };
            let mut last_id = others.iter().map(|sensor| sensor.seq_id).max();
            let row = (ROW.to_owned(), &pairs);
            drafts.push(read_entry(row, &strict, &mut last_id, &mut findings));
            relations::check(&mut drafts, &mut findings);
        }
        Some(other) => findings
            .problems
            .push(ROW, format!("must be an object with at most {MAX_ITEMS} keys, is {other}")),
        None => {}
    }
    let sensor = drafts.pop().and_then(|draft| draft.sensor);
    let (sensor, warnings) = findings.problems.or((sensor, findings.warnings))?;
    let mut sensor = sensor.ok_or_else(Problems::default)?;
    sensor.layout_new |= others.iter().any(|sensor| sensor.layout_new);
    Ok((sensor, warnings))
}

/// Normalises and reads an entry; `last_id` is the SeqID of the entry before it.
fn read_entry(
    (path, pairs): (String, &Vec<(String, JsonValue)>),
    overrides: &VendorOverrides,
    last_id: &mut Option<u16>,
    findings: &mut Findings,
) -> entry::Draft {
    let (pairs, notes) = normalise::normalise(pairs);
    let mut entry = SensorEntry { path, pairs: &pairs, findings };
    for (key, message) in notes {
        entry.warning(key, message);
    }
    entry::read(&mut entry, overrides, last_id)
}

fn read_root(name: &str, text: &str, findings: &mut Findings) -> Option<JsonValue> {
    let parsed = text::parse(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string().replace(&format!(" at line {line} column {column}"), "");
        findings
            .problems
            .push(format!("{name}:{line}:{column}"), format!("invalid JSON: {message}"));
    });
    parsed.ok()
}

fn read_list<'a>(name: &str, root: &'a JsonValue, findings: &mut Findings) -> &'a [JsonValue] {
    const LIST: &str = "VisionSensors";
    let JsonValue::Object(pairs) = root else {
        findings
            .problems
            .push(name, format!("must be an object with the key \"{LIST}\", is {root}"));
        return &[];
    };
    // The path of top-level keys is `Config.json: key`, without the dot that entries have.
    let value = fields::value_of(pairs, LIST);
    let mut problem = Some("is missing".to_owned());
    for (key, _) in pairs.iter().filter(|(key, _)| key != LIST) {
        let path = format!("{name}: {key}");
        if value.is_none() && super::problem::closest(key, [LIST]).is_some() {
            problem = None;
            let why = format!("unknown key, and \"{LIST}\" is missing; did you mean \"{LIST}\"?");
            findings.problems.push(path, why);
        } else {
            findings.warnings.push(Problem::new(path, "unknown key, ignored"));
        }
    }
    match value {
        Some(JsonValue::Array(list)) if !list.is_empty() => return list,
        Some(JsonValue::Array(_)) => {
            problem = Some("is empty, at least one sensor is needed".to_owned())
        }
        Some(other) => problem = Some(format!("must be an array, is {other}")),
        None => {}
    }
    if let Some(problem) = problem {
        findings.problems.push(format!("{name}: {LIST}"), problem);
    }
    &[]
}
