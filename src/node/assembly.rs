//! What the subsystems hand over to the bridge, and to those that are opened after them.
use super::binder::Binder;
use super::section::Section;
use super::settings::Settings;
use super::stats::SourceStats;
use super::threads::Threads;
use std::any::Any;
use std::sync::Arc;

/// Called with the settings before and after a change, before anybody else learns of it.
pub(super) type OnChange = Box<dyn Fn(&Settings, &Settings) + Send>;

/// What ends by being dropped, the last opened first.
pub(super) type Guard = Box<dyn Any + Send + Sync>;

/// What has been opened so far.
#[derive(Default)]
pub(super) struct Assembly {
    pub(super) binder: Binder,
    pub(super) threads: Threads,
    /// Everything with figures, in the order of `/diagnostics`.
    pub(super) sources: Vec<Arc<SourceStats>>,
    /// Other parts with a status in `/diagnostics`.
    pub(super) sections: Vec<Box<dyn Section>>,
    /// Frames that messages name; each needs a path to the map.
    pub(super) frame_ids: Vec<String>,
    /// Absolute prefixes of topics that are dozens: they are reported together, and their QoS is not listed as parameters.
    pub(super) crowds: Vec<String>,
    /// What follows parameters at once.
    pub(super) on_change: Vec<OnChange>,
    /// What is there as long as the bridge, without a thread of it.
    pub(super) guards: Vec<Guard>,
}

impl Assembly {
    /// Adds a source, and returns its figures.
    pub(super) fn source(&mut self, name: String) -> Arc<SourceStats> {
        let stats = Arc::new(SourceStats::new(name));
        self.sources.push(stats.clone());
        stats
    }
}

/// Whether a topic is one of dozens below one of these prefixes.
pub(super) fn is_crowded(crowds: &[String], topic: &str) -> bool {
    crowds.iter().any(|prefix| is_below(topic, prefix))
}

/// Whether a full topic name is below a prefix; `/mavros2/state` is not below `/mavros`.
pub(super) fn is_below(topic: &str, prefix: &str) -> bool {
    let rest = topic.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.starts_with('/'))
}
