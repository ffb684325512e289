//! Starts and stops the bridge.
use super::assembly::{Assembly, Guard};
use super::context::Context;
use super::error::NodeError;
use super::senders::Senders;
use super::settings::Settings;
use super::subsystem::Subsystem;
use super::threads::Running;
use super::{
    diagnostics, frames, motion, params, record, redis, reports, scene, sensors, terrain, time,
    vehicles, view,
};
#[cfg(has_rfly_bridge_msgs)]
use super::{model, netsim};
use crate::ros::Middleware;
use std::sync::Arc;

/// The parts of the bridge in the order of opening: a part that uses the sources, frames or topics of the others comes
/// after them.
pub(super) const SUBSYSTEMS: &[Subsystem] = &[
    record::SUBSYSTEM,
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
    redis::SUBSYSTEM,
    motion::SUBSYSTEM,
    view::SUBSYSTEM,
    diagnostics::SUBSYSTEM,
    params::SUBSYSTEM,
];

/// A running bridge; stops on drop.
pub struct Bridge {
    guards: Vec<Guard>,
    threads: Running,
    middleware: Middleware,
}

impl Bridge {
    /// Opens topics and ports, requests the sensors and starts publishing.
    pub fn start(settings: &Settings, middleware: &Middleware) -> Result<Self, NodeError> {
        let senders = Arc::new(Senders::new(&settings.params));
        let settings = &vehicles::with_found(settings, &senders)?;
        let _all_at_once = middleware.hold_graph();
        let context = Context::new(settings, middleware, senders)?;
        let mut assembly = Assembly::default();
        for subsystem in SUBSYSTEMS {
            (subsystem.open)(&context, &mut assembly)?;
        }
        assembly.binder.finish()?;
        Ok(Self {
            threads: assembly.threads.start()?,
            guards: assembly.guards,
            middleware: middleware.clone(),
        })
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _all_at_once = self.middleware.hold_graph();
        self.threads.stop();
        // In reverse order: a guard may use what was opened before it.
        while self.guards.pop().is_some() {}
        self.threads.join();
    }
}
