//! Sensors that are added while the bridge runs ([ADR 0017](docs/adr/0017-sensors-opened-again.md)).
use super::Place;
use super::opened::{Opened, Successor};
use super::set_camera_info::Services;
use super::supervisor::{Added, Link};
use crate::config::SensorConfig;
use crate::node::assembly::Assembly;
use crate::node::binder::Binder;
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::senders::Senders;
use crate::node::settings::Settings;
use crate::node::stats::{SourceStats, Sources};
use crate::node::threads::{Running, Threads};
use crate::ros::ServiceHandle;
use crate::transport::PacketTapSlot;
use std::sync::{Arc, Mutex, PoisonError, mpsc};

/// What sensors need that are not there at the start.
pub(super) struct More {
    senders: Arc<Senders>,
    packet_tap: PacketTapSlot,
    sources: Sources,
    services: Services,
    /// To the supervisor.
    links: Added,
    /// Of those that were added.
    kept: Mutex<Vec<(Running, Option<ServiceHandle>)>>,
}

/// A sensor that is opened, and not received yet.
pub(super) struct Newcomer {
    pub(super) seq_id: u16,
    name: Arc<str>,
    stats: Arc<SourceStats>,
    link: Link,
    successor: mpsc::Sender<Successor>,
    threads: Threads,
    service: Option<ServiceHandle>,
}

impl More {
    pub(super) fn new(
        context: &Context<'_>,
        assembly: &Assembly,
        services: Services,
        links: Added,
    ) -> Self {
        Self {
            senders: context.senders.clone(),
            packet_tap: assembly.binder.packet_tap.clone(),
            sources: assembly.sources.clone(),
            services,
            links,
            kept: Mutex::default(),
        }
    }

    /// Binds the port of a sensor that is opened.
    pub(super) fn prepare(
        &self,
        settings: &Settings,
        config: &SensorConfig,
        opened: Opened,
    ) -> Result<Newcomer, NodeError> {
        let params = &settings.params;
        let service = self.services.open(settings, config)?;
        let stats = Arc::new(SourceStats::new(opened.name.clone()));
        let link = Link::more(config, stats.clone(), params.request.timeout);
        let (successor, successors) = mpsc::channel();
        let mut binder = Binder::with_tap(self.packet_tap.clone());
        let mut threads = Threads::default();
        let place = Place {
            params,
            senders: &self.senders,
            binder: &mut binder,
            threads: &mut threads,
        };
        place.serve(config, (opened, successors), stats.clone());
        binder.finish()?;
        Ok(Newcomer {
            seq_id: config.seq_id,
            name: stats.name(),
            stats,
            link,
            successor,
            threads,
            service,
        })
    }

    /// Receives it from now on. What takes its place later goes to the sender that is returned.
    pub(super) fn begin(&self, new: Newcomer) -> (u16, mpsc::Sender<Successor>) {
        match new.threads.start() {
            Ok(running) => {
                let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.push((running, new.service));
                tracing::info!("added: {}", new.name);
            }
            Err(error) => tracing::error!(%error, "{} is not received", new.name),
        }
        self.sources.push(new.stats);
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.push(new.link);
        (new.seq_id, new.successor)
    }
}
