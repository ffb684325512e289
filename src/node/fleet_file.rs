//! `fleet.file`: its entries for this host become parameters; parameters that are given override them.
use super::files::Files;
use crate::config::{Fleet, FleetHost, ParamValue};
use crate::transport::is_local_address;
use std::{path::Path, sync::Arc};

/// The fleet, and the host of this bridge.
#[derive(Clone, Debug)]
pub struct FleetPart {
    /// All hosts.
    pub fleet: Fleet,
    /// The host of this bridge.
    pub host: FleetHost,
}

impl FleetPart {
    /// Reads the file that the values name, and puts the values of this host before them. Problems are in `files`.
    pub(super) fn expand(
        values: &mut Vec<(String, ParamValue)>,
        files: &mut Files,
    ) -> Option<Arc<Self>> {
        let given = |name: &str| {
            let mut values = values.iter().rev();
            match values.find(|(other, _)| other == name) {
                Some((_, ParamValue::Str(text))) => text.clone(),
                _ => String::new(), // of another type: the check of parameters reports it
            }
        };
        let (path, name) = (given("fleet.file"), given("fleet.host"));
        if path.is_empty() {
            return None;
        }
        let (file, text) = files.load_text("fleet.file", Path::new(&path))?;
        let fleet = files.problems.keep(Fleet::parse(&file, &text))?;
        let host = fleet.host(&name, is_local_address).cloned();
        let host = host.map_err(|why| files.problems.push("fleet.host", why)).ok()?;
        let folder = Path::new(&path).parent().unwrap_or(Path::new(""));
        values.splice(0..0, fleet.parameters(&host, folder));
        Some(Arc::new(Self { fleet, host }))
    }
}
