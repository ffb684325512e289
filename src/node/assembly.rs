//! What the subsystems register with the bridge and with the subsystems opened after them.
use super::binder::Binder;
use super::section::Section;
use super::settings::Settings;
use super::stats::{LinkState, SourceStats, Sources};
use super::threads::Threads;
use crate::config::Problems;
use std::any::Any;
use std::sync::Arc;

/// Waits until a change is in effect; called where waiting harms nobody.
pub(super) type InEffect = Box<dyn FnOnce() + Send>;

/// Makes a change that was prepared.
pub(super) type Change = Box<dyn FnOnce() -> InEffect>;

/// Called with the settings before and after a change, before anything changes. It may refuse.
pub(super) type Prepare =
    Box<dyn Fn(&Arc<Settings>, &Arc<Settings>) -> Result<Change, Problems> + Send>;

/// Resources that end on drop, in reverse order of opening.
pub(super) type Guard = Box<dyn Any + Send + Sync>;

/// Resources opened so far.
#[derive(Default)]
pub(super) struct Assembly {
    pub(super) binder: Binder,
    pub(super) threads: Threads,
    /// Everything with figures, in the order of `/diagnostics`.
    pub(super) sources: Sources,
    /// Other parts with a status in `/diagnostics`.
    pub(super) sections: Vec<Box<dyn Section>>,
    /// Frames that messages name; each needs a path to the map.
    pub(super) frame_ids: Vec<String>,
    /// Absolute prefixes with dozens of topics: reported together, and their QoS is not listed as parameters.
    pub(super) crowds: Vec<String>,
    /// Callbacks that open again what a parameter change needs, and apply it.
    pub(super) prepare: Vec<Prepare>,
    /// Resources without a thread that live as long as the bridge.
    pub(super) guards: Vec<Guard>,
}

impl Assembly {
    /// Adds a source, and returns its figures.
    pub(super) fn source(&mut self, name: String) -> Arc<SourceStats> {
        let stats = Arc::new(SourceStats::new(name));
        self.sources.push(stats.clone());
        stats
    }

    /// As [`Self::source`], of one whose silence means nothing: services, topics that users send.
    pub(super) fn source_on_demand(&mut self, name: String) -> Arc<SourceStats> {
        let stats = self.source(name);
        stats.lock().state = Some(LinkState::Idle);
        stats
    }
}

/// Whether a topic is below one of these prefixes.
pub(super) fn is_crowded(crowds: &[String], topic: &str) -> bool {
    crowds.iter().any(|prefix| is_below(topic, prefix))
}

/// Whether a full topic name is below a prefix; `/mavros2/state` is not below `/mavros`.
pub(super) fn is_below(topic: &str, prefix: &str) -> bool {
    let rest = topic.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.starts_with('/'))
}
