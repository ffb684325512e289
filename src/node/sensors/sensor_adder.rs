//! Sensors that are added while the bridge runs ([ADR 0016](docs/adr/0016-sensors-opened-again.md)).
use super::opened_sensor::{OpenedSensor, Successor};
use super::supervisor::{AddedLinks, SensorLink};
use super::{Reception, set_camera_info::CameraInfoServices};
use crate::node::stats::{SourceStats, Sources};
use crate::node::threads::{RunningThreads, Threads};
use crate::node::{
    assembly::Assembly, binder::Binder, context::Context, error::NodeError, senders::Senders,
    settings::Settings,
};
use crate::{
    config::SensorConfig, doctor::SourceRole, ros::ServiceHandle, transport::PacketTapSlot,
};
use parking_lot::Mutex;
use std::sync::{Arc, mpsc};

/// Opens and starts sensors that are added at run time.
pub(super) struct SensorAdder {
    senders: Arc<Senders>,
    packet_tap: PacketTapSlot,
    sources: Sources,
    services: CameraInfoServices,
    /// Queue to the supervisor.
    links: AddedLinks,
    /// Threads and services of added sensors; they end with the bridge.
    running: Mutex<Vec<(RunningThreads, Option<ServiceHandle>)>>,
}

/// An added sensor whose thread does not run yet.
pub(super) struct AddedSensor {
    pub(super) seq_id: u16,
    stats: Arc<SourceStats>,
    link: SensorLink,
    successor: mpsc::Sender<Successor>,
    threads: Threads,
    service: Option<ServiceHandle>,
}

impl SensorAdder {
    pub(super) fn new(
        context: &Context<'_>,
        assembly: &Assembly,
        services: CameraInfoServices,
        links: AddedLinks,
    ) -> Self {
        Self {
            senders: context.senders.clone(),
            packet_tap: assembly.binder.packet_tap.clone(),
            sources: assembly.sources.clone(),
            services,
            links,
            running: Mutex::default(),
        }
    }

    /// Binds the port of an open sensor, and opens its service.
    pub(super) fn open(
        &self,
        settings: &Settings,
        config: &SensorConfig,
        opened: OpenedSensor,
    ) -> Result<AddedSensor, NodeError> {
        let params = &settings.params;
        let service = self.services.open(settings, config)?;
        let stats =
            Arc::new(SourceStats::new(SourceRole::Sensor(config.seq_id), opened.name.clone()));
        let link = SensorLink::new(config, stats.clone(), params.request.timeout, true);
        let (successor, successors) = mpsc::channel();
        let mut binder = Binder::with_tap(self.packet_tap.clone());
        let mut threads = Threads::default();
        let reception = Reception {
            params,
            senders: &self.senders,
            binder: &mut binder,
            threads: &mut threads,
        };
        reception.add_thread(config, (opened, successors), stats.clone());
        binder.finish()?;
        Ok(AddedSensor { seq_id: config.seq_id, stats, link, successor, threads, service })
    }

    /// Starts the thread of a sensor; returns the SeqID and the queue for sensors that replace it.
    pub(super) fn start(&self, added: AddedSensor) -> (u16, mpsc::Sender<Successor>) {
        match added.threads.start() {
            Ok(threads) => {
                self.running.lock().push((threads, added.service));
                tracing::info!("added: {}", added.stats.name());
            }
            Err(error) => tracing::error!(%error, "{} is not received", added.stats.name()),
        }
        self.sources.push(added.stats);
        self.links.lock().push(added.link);
        (added.seq_id, added.successor)
    }
}
