//! Starts the bridge and ends it.
use super::discover;
use super::live::Live;
use super::parameters::{self, ParameterServer};
use super::plan::{Plan, publishers};
use super::senders::Senders;
use super::sources::Binder;
use super::{NodeError, Settings, tasks};
use crate::ros::Middleware;
use crate::vehicle::Interface;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// A running bridge; it ends when this is dropped.
pub struct Bridge {
    interfaces: Vec<Interface>,
    running: Threads,
    parameters: Option<ParameterServer>,
    middleware: Middleware,
}

impl Bridge {
    /// Opens topics and ports, asks for the sensors, and publishes from then on.
    pub fn start(settings: &Settings, middleware: &Middleware) -> Result<Self, NodeError> {
        let prompt = runtime("the IMU runtime")?;
        let senders = Arc::new(Senders::new(&settings.params));
        let settings = &discover::with_found(settings, &prompt, &senders)?;
        let _all_at_once = middleware.hold_graph();
        let shared = Arc::new(settings.clone());
        let (changes, watch) = tokio::sync::watch::channel(shared.clone());
        let plan = Plan::new(settings, watch, middleware, senders)?;
        let mut running = Threads::default();
        let mut binder = Binder::default();

        let mut others = Vec::new();
        {
            let _guard = prompt.enter();
            plan.vehicle_tasks(&prompt, &mut binder, &mut others)?;
        }
        let control = runtime("the control runtime")?;
        let static_tf = plan.publish_static_tf()?;
        let interfaces = {
            let _guard = control.enter();
            plan.control_tasks(&control, &mut binder, &mut others, static_tf.as_ref())?
        };
        let mut links = Vec::new();
        let (mut streams, mut blocks) = (Vec::new(), Vec::new());
        plan.sensor_tasks(&mut binder, &mut links, &mut streams, &mut blocks)?;
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
        let report = runtime("the report runtime")?;
        tasks::start(&report, supervisor);

        running.serve("rfly-prompt", prompt)?;
        running.serve("rfly-report", report)?;
        if !interfaces.is_empty() {
            running.serve("rfly-control", control)?;
        }
        for mut stream in streams {
            running.start("rfly-stream", move |stop| stream.serve(stop))?;
        }
        for mut block in blocks {
            running.start("rfly-shm", move |stop| block.serve(stop))?;
        }
        Ok(Self {
            interfaces,
            running,
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
        self.running.stop();
        self.interfaces.clear();
        self.running.join();
    }
}

/// The threads of a bridge.
#[derive(Default)]
struct Threads {
    stop: Arc<AtomicBool>,
    quit: Vec<oneshot::Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl Threads {
    /// Runs the tasks of a runtime.
    fn serve(&mut self, name: &'static str, runtime: Runtime) -> Result<(), NodeError> {
        let (quit, mut quitting) = oneshot::channel();
        self.quit.push(quit);
        self.threads.push(tasks::thread(name, move || {
            // Dropping the runtime afterwards ends its tasks.
            let _quit_or_dropped = runtime.block_on(&mut quitting);
        })?);
        Ok(())
    }

    /// Runs what ends by itself soon after it is told to.
    fn start(
        &mut self,
        name: &'static str,
        mut body: impl FnMut(&AtomicBool) + Send + 'static,
    ) -> Result<(), NodeError> {
        let stop = self.stop.clone();
        self.threads.push(tasks::thread(name, move || body(&stop))?);
        Ok(())
    }

    fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Also ends the thread if it is told nothing: it sees that the sender is gone.
        self.quit.clear();
    }

    fn join(&mut self) {
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the bridge panicked");
            }
        }
    }
}

fn runtime(what: &'static str) -> Result<Runtime, NodeError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|source| NodeError::Start { what, source })
}
