//! The middleware of a sourced ROS 2 workspace, through rclrs.
//!
//! rclrs gets final names and no arguments: the facade expands and remaps, so that all back ends agree.
mod graph;
mod qos;
mod sequence;
mod watch;
mod writer;

pub(super) use writer::{RclWriter, ReusedMessage};

use super::callback::{self, EndingCallback};
use super::{
    Guard, Options, Qos, RosError, ServiceInfo, Subscription, TopicInfo, Watched, WriterReport,
    backend, pacing,
};
use super::{names::Resolver, service::SendResponse};
use crate::msgs::{Message, Service};
use rclrs::{
    Context, CreateBasicExecutor as _, ExecutorCommands, InitOptions, IntoNodeOptions,
    IntoPrimitiveOptions as _, MessageInfo, QoSProfile, SpinOptions,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::{thread::JoinHandle, time::Duration};

pub(super) fn error(call: &'static str, subject: &str, error: &dyn std::fmt::Display) -> RosError {
    RosError::Rcl { call, subject: subject.to_owned(), message: error.to_string() }
}

fn node_options<'a>(namespace: &'a str, name: &'a str) -> rclrs::NodeOptions<'a> {
    name.namespace(namespace)
        .use_global_arguments(false)
        .start_parameter_services(false)
        .enable_rosout(false)
}

/// One rcl node and the thread that runs its callbacks.
pub(super) struct RclNode {
    // Dropped before the executor.
    node: rclrs::Node,
    pacing_bytes_per_s: u64,
    endpoints: Mutex<Vec<Weak<writer::RclEndpoint>>>,
    executor: Executor,
}

/// Thread `rfly-ros`: subscriptions and services.
struct Executor {
    commands: Arc<ExecutorCommands>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl RclNode {
    pub(super) fn new(options: &Options, names: &Resolver) -> Result<Self, RosError> {
        pacing::link();
        let domain = usize::try_from(options.domain_id).ok();
        let context = Context::new([], InitOptions::new().with_domain_id(domain))
            .map_err(|e| error("rcl_init", "", &e))?;
        let executor = context.create_basic_executor();
        // The facade has its own parameters and /rosout, identical on every back end.
        let node = executor
            .create_node(node_options(names.namespace(), names.base_name()))
            .map_err(|e| error("rcl_node_init", names.node(), &e))?;
        Ok(Self {
            node,
            pacing_bytes_per_s: options.pacing_bytes_per_s,
            endpoints: Mutex::default(),
            executor: Executor::start(executor)?,
        })
    }

    pub(super) fn writer<M: Message>(
        &self,
        topic: &str,
        qos: Qos,
    ) -> Result<Arc<RclWriter<M>>, RosError> {
        let writer = RclWriter::new(&self.node, topic, qos, self.pacing_bytes_per_s)?;
        let mut endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        endpoints.retain(|endpoint| endpoint.strong_count() > 0);
        endpoints.push(Arc::downgrade(&writer.endpoint));
        Ok(Arc::new(writer))
    }

    pub(super) fn subscribe<M: Message>(
        &self,
        topic: &str,
        qos: Qos,
        callback: EndingCallback<impl FnMut(M) + Send + 'static>,
    ) -> Result<Subscription, RosError> {
        let subscription = self
            .node
            .create_async_subscription::<M, _>(
                qos::options::<rclrs::SubscriptionOptions<'_>>(topic, qos),
                move |message: M, _: MessageInfo| {
                    callback.run(|callback| callback(message));
                    std::future::ready(())
                },
            )
            .map_err(|e| error("rcl_subscription_init", topic, &e))?;
        Ok(Subscription::new(subscription))
    }

    pub(super) fn service<S: Service>(
        &self,
        name: &str,
        handler: impl FnMut(S::Request, SendResponse<S::Response>) + Send + 'static,
    ) -> Result<Guard, RosError> {
        let (handler, end) = callback::split(handler);
        // The default depth of services is 10; requests of a longer burst would be lost without an answer.
        let options = name.qos(QoSProfile::parameter_services_default());
        let server = self
            .node
            .create_async_service::<S::TypeSupport, _>(options, move |request: S::Request| {
                let (answer, answered) = tokio::sync::oneshot::channel();
                handler.run(|handler| {
                    handler(
                        request,
                        Box::new(move |response| {
                            // Fails only while the node ends.
                            let _unsent = answer.send(response);
                        }),
                    );
                });
                async move { answered.await.unwrap_or_default() }
            })
            .map_err(|e| error("rcl_service_init", name, &e))?;
        Ok(Box::new((end, server)))
    }

    pub(super) fn client<S: Service>(
        &self,
        name: &str,
    ) -> Result<rclrs::Client<S::TypeSupport>, RosError> {
        let options = name.qos(QoSProfile::parameter_services_default());
        let client = self.node.create_client::<S::TypeSupport>(options);
        client.map_err(|e| error("rcl_client_init", name, &e))
    }

    pub(super) fn watch(
        &self,
        topic: &str,
        type_name: &str,
        qos: Qos,
        callback: impl FnMut(Watched) + Send + 'static,
    ) -> Result<Subscription, RosError> {
        watch::subscribe(&self.node, topic, type_name, qos, callback)
    }

    fn endpoints(&self) -> Vec<Arc<writer::RclEndpoint>> {
        let endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        endpoints.iter().filter_map(Weak::upgrade).collect()
    }
}

impl backend::GraphNode for RclNode {
    fn report(&self) -> Vec<WriterReport> {
        self.endpoints()
            .iter()
            .map(|endpoint| endpoint.report(graph::incompatible(&self.node, endpoint)))
            .collect()
    }

    fn topics(&self) -> Vec<TopicInfo> {
        graph::topics(&self.node)
    }

    fn offered(&self, topic: &str) -> Option<Qos> {
        graph::offered(&self.node, topic)
    }

    fn clients(&self) -> Vec<ServiceInfo> {
        graph::clients(&self.node)
    }

    fn servers(&self) -> Vec<ServiceInfo> {
        graph::servers(&self.node)
    }

    fn connections(&self) -> Result<Box<dyn backend::Watch>, RosError> {
        Ok(Box::new(graph::RclConnections(self.node.clone())))
    }

    /// No effect: the middleware announces each endpoint separately.
    fn hold(&self) -> Guard {
        Box::new(())
    }

    fn further_node(&self, namespace: &str, name: &str) -> Result<Guard, RosError> {
        let node = self
            .executor
            .commands
            .create_node(node_options(namespace, name))
            .map_err(|e| error("rcl_node_init", name, &e))?;
        Ok(Box::new(node))
    }
}

impl Executor {
    fn start(mut executor: rclrs::Executor) -> Result<Self, RosError> {
        let commands = executor.commands().clone();
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = stop.clone();
        let thread = std::thread::Builder::new()
            .name("rfly-ros".to_owned())
            .spawn(move || {
                while !stopping.load(Ordering::Acquire) {
                    // Spinning returns at the first error; the node stays usable.
                    let spun =
                        catch_unwind(AssertUnwindSafe(|| executor.spin(SpinOptions::default())));
                    // A panic is in the log already; keep serving the other callbacks.
                    for error in spun.unwrap_or_default() {
                        tracing::warn!(%error, "a callback of the ROS middleware failed");
                    }
                    if !stopping.load(Ordering::Acquire) {
                        std::thread::sleep(Duration::from_millis(10));
                    }
                }
            })
            .map_err(|error| RosError::Rcl {
                call: "spawn",
                subject: "rfly-ros".to_owned(),
                message: error.to_string(),
            })?;
        Ok(Self { commands, stop, thread: Some(thread) })
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // `halt_spinning` has no effect just before the next spin starts, so it is repeated.
            while !thread.is_finished() {
                self.commands.halt_spinning();
                std::thread::sleep(Duration::from_millis(5));
            }
            if thread.join().is_err() {
                tracing::error!("the thread of the ROS callbacks panicked");
            }
        }
    }
}
