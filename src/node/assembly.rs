//! Registrations of the subsystems, for the bridge and for subsystems that open later.
use super::stats::{LinkState, SourceStats, Sources};
use super::{binder::Binder, section::Section, settings::Settings, threads::Threads};
use crate::{config::Problems, doctor::SourceRole};
use std::{any::Any, sync::Arc};

/// Waits until a change is in effect; called on a thread that may block.
pub(super) type AwaitEffect = Box<dyn FnOnce() + Send>;

pub(super) type PreparedChange = Box<dyn FnOnce() -> AwaitEffect>;

/// Prepares a change from the old to the new settings, or refuses it; nothing changes yet.
pub(super) type PrepareChange =
    Box<dyn Fn(&Arc<Settings>, &Arc<Settings>) -> Result<PreparedChange, Problems> + Send>;

/// Resources that end on drop, in reverse order of opening.
pub(super) type DropGuard = Box<dyn Any + Send + Sync>;

#[derive(Default)]
pub(super) struct Assembly {
    pub(super) binder: Binder,
    pub(super) threads: Threads,
    /// Counters of all sources, in the order of `/diagnostics`.
    pub(super) sources: Sources,
    /// Names and checks of the other statuses in `/diagnostics`.
    pub(super) sections: Vec<(&'static str, Box<dyn Section>)>,
    /// Frame ids in messages; each needs a path to the map.
    pub(super) frame_ids: Vec<String>,
    /// Absolute prefixes. The topics below one share a status in `/diagnostics`, and the parameters do not list their QoS.
    pub(super) topic_groups: Vec<String>,
    /// Callbacks that prepare a change of parameters.
    pub(super) prepare: Vec<PrepareChange>,
    /// Resources without a thread that live as long as the bridge.
    pub(super) guards: Vec<DropGuard>,
}

impl Assembly {
    pub(super) fn add_section(&mut self, name: &'static str, section: impl Section + 'static) {
        self.sections.push((name, Box::new(section)));
    }

    pub(super) fn add_source(&mut self, name: String) -> Arc<SourceStats> {
        self.add_source_of(SourceRole::Other, name)
    }

    /// As [`Self::add_source`], for a source that `doctor` checks.
    pub(super) fn add_source_of(&mut self, kind: SourceRole, name: String) -> Arc<SourceStats> {
        let stats = Arc::new(SourceStats::new(kind, name));
        self.sources.push(stats.clone());
        stats
    }

    /// As [`Self::add_source`], for a source that may be silent: services, topics that users publish.
    pub(super) fn add_source_on_demand(&mut self, name: String) -> Arc<SourceStats> {
        let stats = self.add_source(name);
        stats.lock().state = Some(LinkState::Idle);
        stats
    }
}

/// Whether a topic is below one of these prefixes.
pub(super) fn is_grouped(topic_groups: &[String], topic: &str) -> bool {
    topic_groups.iter().any(|prefix| is_below(topic, prefix))
}

/// Whether a full topic name is below a prefix; `/mavros2/state` is not below `/mavros`.
pub(super) fn is_below(topic: &str, prefix: &str) -> bool {
    let rest = topic.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.starts_with('/'))
}
