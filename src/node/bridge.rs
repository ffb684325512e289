//! Starts and stops the bridge.
use super::assembly::{Assembly, DropGuard};
use super::binder::{Binder, ReceiveEndpoints};
use super::settings::{NODE_NAME, Settings};
use super::{
    context::Context, error::NodeError, senders::Senders, subsystem::Subsystem,
    threads::RunningThreads,
};
use super::{
    diagnostics, frames, motion, params, record, redis, reports, scene, sensors, terrain, time,
    vehicles, view,
};
#[cfg(has_rfly_bridge_msgs)]
use super::{model, netsim};
use crate::ros::{Departure, Middleware, Options};
use std::sync::Arc;

/// The subsystems in the order of opening: each follows those whose sources, frames, topics or ports it uses.
pub(super) const SUBSYSTEMS: &[Subsystem] = &[
    record::SUBSYSTEM,
    // These two receive in the simulator's place, so they open before anything sends to it: Zenoh announces a service at once.
    redis::SUBSYSTEM,
    motion::SUBSYSTEM,
    sensors::SUBSYSTEM,
    vehicles::SUBSYSTEM,
    reports::SUBSYSTEM,
    frames::SUBSYSTEM,
    terrain::SUBSYSTEM,
    time::SUBSYSTEM,
    scene::SUBSYSTEM,
    #[cfg(has_rfly_bridge_msgs)]
    model::SUBSYSTEM,
    #[cfg(has_rfly_bridge_msgs)]
    netsim::SUBSYSTEM,
    view::SUBSYSTEM,
    diagnostics::SUBSYSTEM,
    params::SUBSYSTEM,
];

/// A running bridge; stops on drop.
pub struct Bridge {
    guards: Vec<DropGuard>,
    threads: RunningThreads,
    middleware: Middleware,
}

impl Bridge {
    /// Opens topics and ports, requests the sensors and starts publishing.
    pub fn start(settings: &Settings, middleware: &Middleware) -> Result<Self, NodeError> {
        let senders = Arc::new(Senders::new(&settings.params));
        let settings = &vehicles::with_discovered(settings, &senders)?;
        let _one_graph_update = middleware.hold_graph();
        let mut assembly = Assembly::default();
        assemble(settings, middleware, senders, &mut assembly)?;
        assembly.binder.finish()?;
        Ok(Self {
            threads: assembly.threads.start()?,
            guards: assembly.guards,
            middleware: middleware.clone(),
        })
    }

    /// Handle to wait for the end of the bridge's node.
    pub fn departure(&self) -> Departure {
        self.middleware.departure()
    }

    /// Returns the endpoints of a bridge with these settings, and the settings with discovered vehicles, or why it cannot start.
    /// Starts nothing, joins no graph, and opens no port except to discover vehicles (`control.discover_s`).
    pub fn endpoints(settings: &Settings) -> Result<(Settings, ReceiveEndpoints), NodeError> {
        let mut params = settings.params.clone();
        (params.record.ros, params.record.raw) = (None, None);
        // With Redis the bridge binds the ports of CopterSim, not those of a client.
        params.redis.address = None;
        let settings = &Settings { params, ..settings.clone() };
        let senders = Arc::new(Senders::new(&settings.params));
        let settings = vehicles::with_discovered(settings, &senders)?;
        let (middleware, _recorder) = Middleware::recorder(&Options::new(NODE_NAME))?;
        let mut assembly = Assembly { binder: Binder::recording(), ..Assembly::default() };
        assemble(&settings, &middleware, senders, &mut assembly)?;
        Ok((settings, assembly.binder.recorded.unwrap_or_default()))
    }
}

fn assemble(
    settings: &Settings,
    middleware: &Middleware,
    senders: Arc<Senders>,
    assembly: &mut Assembly,
) -> Result<(), NodeError> {
    let context = Context::new(settings, middleware, senders)?;
    for subsystem in SUBSYSTEMS {
        (subsystem.open)(&context, assembly)?;
    }
    Ok(())
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _one_graph_update = self.middleware.hold_graph();
        self.threads.stop();
        // In reverse order: a guard may use what was opened before it.
        while self.guards.pop().is_some() {}
        self.threads.join();
    }
}
