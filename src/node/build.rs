//! Starts the bridge and ends it.
use super::discover;
use super::live::Live;
use super::parameters::{self, ParameterServer};
use super::plan::{Plan, publishers};
use super::senders::Senders;
use super::shm_source;
use super::sources::Binder;
use super::{NodeError, Settings, tasks};
use crate::ros::Middleware;
use crate::vehicle::Interface;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use tokio::runtime::{Builder, Runtime};

/// A running bridge; it ends when this is dropped.
pub struct Bridge {
    data: Option<Runtime>,
    stop: Arc<AtomicBool>,
    quit: Vec<tokio::sync::oneshot::Sender<()>>,
    interfaces: Vec<Interface>,
    threads: Vec<JoinHandle<()>>,
    parameters: Option<ParameterServer>,
    middleware: Middleware,
}

impl Bridge {
    /// Opens topics and ports, asks for the sensors, and publishes from then on.
    pub fn start(settings: &Settings, middleware: &Middleware) -> Result<Self, NodeError> {
        let data = Builder::new_multi_thread()
            .worker_threads(workers())
            .thread_name("rfly-data")
            .enable_all()
            .build()
            .map_err(|source| NodeError::Start {
                what: "the data runtime",
                source,
            })?;
        let prompt = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| NodeError::Start {
                what: "the IMU runtime",
                source,
            })?;
        let senders = Arc::new(Senders::new(&settings.params));
        let settings = &discover::with_found(settings, &prompt, &senders)?;
        let _all_at_once = middleware.hold_graph();
        let shared = Arc::new(settings.clone());
        let (changes, watch) = tokio::sync::watch::channel(shared.clone());
        let plan = Plan::new(settings, watch, middleware, senders)?;
        let (quit, mut quitting) = tokio::sync::oneshot::channel();
        let (quit_control, mut control_quits) = tokio::sync::oneshot::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let mut binder = Binder::default();

        let mut others = Vec::new();
        {
            let _guard = prompt.enter();
            plan.vehicle_tasks(&prompt, &mut binder, &mut others)?;
        }
        let control = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| NodeError::Start {
                what: "the control runtime",
                source,
            })?;
        let static_tf = plan.publish_static_tf()?;
        let interfaces = {
            let _guard = control.enter();
            plan.control_tasks(&control, &mut binder, &mut others, static_tf.as_ref())?
        };
        let mut links = Vec::new();
        let mut blocks = Vec::new();
        {
            let _guard = data.enter();
            plan.sensor_tasks(&data, &mut binder, &mut links, &mut blocks)?;
        }
        let neighbours = binder.finish()?;
        let robot_descriptions = plan.publish_robot_descriptions()?;
        let supervisor = plan.supervisor(links, others, neighbours)?;
        let events = parameters::events(middleware)?;
        let live = Live::new(
            shared,
            changes,
            static_tf,
            robot_descriptions,
            &publishers(middleware, &plan.control_prefixes()),
        );
        let parameters =
            ParameterServer::start(middleware, events, plan.clocks.headers(None), live)?;
        tasks::start(&data, supervisor);

        let mut threads = vec![tasks::thread("rfly-prompt", move || {
            // Dropping the runtime afterwards ends its tasks.
            let _quit_or_dropped = prompt.block_on(&mut quitting);
        })?];
        if !interfaces.is_empty() {
            threads.push(tasks::thread("rfly-control", move || {
                let _quit_or_dropped = control.block_on(&mut control_quits);
            })?);
        }
        if !blocks.is_empty() {
            let stop = stop.clone();
            threads.push(tasks::thread("rfly-shm", move || {
                shm_source::poll(&mut blocks, &stop);
            })?);
        }
        Ok(Self {
            data: Some(data),
            stop,
            quit: vec![quit, quit_control],
            interfaces,
            threads,
            parameters: Some(parameters),
            middleware: middleware.clone(),
        })
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _all_at_once = self.middleware.hold_graph();
        // First, so that nothing changes any more; it also keeps the latched messages until now.
        drop(self.parameters.take());
        self.stop.store(true, Ordering::Relaxed);
        // Also ends the thread if it is told nothing: it sees that the sender is gone.
        self.quit.clear();
        self.interfaces.clear();
        if let Some(data) = self.data.take() {
            data.shutdown_timeout(std::time::Duration::from_secs(1));
        }
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the bridge panicked");
            }
        }
    }
}

fn workers() -> usize {
    std::thread::available_parallelism()
        .map_or(2, usize::from)
        .clamp(2, 4)
}
