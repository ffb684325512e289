//! Opens the topics and services of a vehicle and passes their messages to its [`Autopilot`].
use super::autopilot::{Autopilot, SubscriberCount};
use super::{fcu::Now, topics::TOPICS};
use crate::config::params::QosGroup;
use crate::config::{Direction, PluginLists, TopicRow};
use crate::msgs::{Message, Service};
use crate::ros::{
    Middleware, NodeHandle, Publisher, Qos, Responder, RosError, ServiceHandle, Subscription,
};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::{cell::RefCell, time::Duration};

/// Returns the present time.
pub type Clock = Arc<dyn Fn() -> Now + Send + Sync>;

/// QoS of subscriptions: matches every writer's, and keeps only the newest messages.
const SUBSCRIPTION: Qos = Qos { depth: 5, ..Qos::SENSOR_DATA };

/// Access to the autopilot from any thread: callbacks of topics and services, and the receiving task.
#[derive(Clone)]
pub struct Handle(Arc<SharedAutopilot>);

struct SharedAutopilot {
    autopilot: Mutex<Option<Autopilot>>,
    clock: Clock,
    /// Wakes the polling task after a call from another thread, because deadlines may have changed.
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Handle {
    /// Runs `f` on the autopilot with the present time; `None` while topics are being opened.
    pub fn with<R>(&self, f: impl FnOnce(&mut Autopilot) -> R) -> Option<R> {
        self.0.with(f)
    }

    /// As [`Self::with`], from a thread other than the polling task's; wakes that task.
    pub fn tell(&self, f: impl FnOnce(&mut Autopilot)) {
        self.0.with(f);
        (self.0.wake)();
    }
}

impl SharedAutopilot {
    fn with<R>(&self, f: impl FnOnce(&mut Autopilot) -> R) -> Option<R> {
        let mut guard = self.autopilot.lock();
        let autopilot = guard.as_mut()?;
        autopilot.fcu.now = (self.clock)();
        autopilot.fcu.waited = Duration::ZERO;
        Some(f(autopilot))
    }

    /// Runs `f` for a message or a request from ROS.
    fn call(&self, f: impl FnOnce(&mut Autopilot)) {
        self.with(|autopilot| {
            autopilot.fcu.last_call = Some(autopilot.fcu.now.mono);
            f(autopilot);
        });
        (self.wake)();
    }
}

/// Which topics and services a vehicle has, and their names.
#[derive(Clone, Copy)]
pub struct VehicleNames<'a> {
    /// CopterID.
    pub id: u16,
    /// Prefix of the names.
    pub prefix: &'a str,
    /// The served plugins.
    pub plugins: &'a PluginLists,
}

/// Topics and services of a vehicle; they are closed when this is dropped.
pub struct VehicleInterface {
    // Drop order: subscriptions and services first, so that no callback runs on a dropped autopilot.
    _subscriptions: Vec<Subscription>,
    _services: Vec<ServiceHandle>,
    handle: Handle,
}

impl VehicleInterface {
    /// The autopilot behind the topics.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Opens the topics and services of a vehicle; `autopilot` opens them and creates the autopilot.
    pub fn open(
        middleware: &Middleware,
        names: VehicleNames<'_>,
        qos: &dyn Fn(QosGroup, &str) -> Qos,
        clock: Clock,
        wake: impl Fn() + Send + Sync + 'static,
        autopilot: impl FnOnce(&Open<'_>) -> Result<Autopilot, RosError>,
    ) -> Result<Self, RosError> {
        let shared =
            Arc::new(SharedAutopilot { autopilot: Mutex::new(None), clock, wake: Box::new(wake) });
        let open = Open {
            middleware,
            names,
            qos,
            shared: Arc::downgrade(&shared),
            subscriber_counts: RefCell::default(),
            subscriptions: RefCell::default(),
            services: RefCell::default(),
        };
        let mut autopilot = autopilot(&open)?;
        autopilot.subscriber_counts = open.subscriber_counts.into_inner();
        let (subscriptions, services) = (open.subscriptions, open.services);
        *shared.autopilot.lock() = Some(autopilot);
        Ok(Self {
            _subscriptions: subscriptions.into_inner(),
            _services: services.into_inner(),
            handle: Handle(shared),
        })
    }
}

/// Opens single topics and services of a vehicle.
pub struct Open<'a> {
    middleware: &'a Middleware,
    names: VehicleNames<'a>,
    qos: &'a dyn Fn(QosGroup, &str) -> Qos,
    shared: Weak<SharedAutopilot>,
    subscriber_counts: RefCell<Vec<SubscriberCount>>,
    subscriptions: RefCell<Vec<Subscription>>,
    services: RefCell<Vec<ServiceHandle>>,
}

impl Open<'_> {
    /// Opens a publisher of [`TOPICS`].
    pub fn publisher<M: Message>(&self, name: &str) -> Result<Publisher<M>, RosError> {
        let group = match row::<M>(name).map(|row| row.direction) {
            Some(Direction::Published(group)) => group,
            _ => QosGroup::Telemetry,
        };
        let topic = self.full_name(name);
        let qos = (self.qos)(group, &topic);
        if !self.serves(name) {
            return Ok(Publisher::closed(&topic, qos));
        }
        let publisher = self.middleware.publisher(&topic, qos)?;
        let counted = publisher.clone();
        let count = Box::new(move || counted.subscribers());
        self.subscriber_counts.borrow_mut().push(count);
        Ok(publisher)
    }

    /// Opens a subscription of [`TOPICS`].
    pub fn subscribe<M: Message>(
        &self,
        name: &str,
        mut callback: impl FnMut(&mut Autopilot, M) + Send + 'static,
    ) -> Result<(), RosError> {
        debug_assert!(row::<M>(name).is_some(), "{name} is not in TOPICS");
        if !self.serves(name) {
            return Ok(());
        }
        let shared = self.shared.clone();
        let subscription =
            self.middleware.subscribe(&self.full_name(name), SUBSCRIPTION, move |message: M| {
                if let Some(shared) = shared.upgrade() {
                    shared.call(|autopilot| callback(autopilot, message));
                }
            })?;
        self.subscriptions.borrow_mut().push(subscription);
        Ok(())
    }

    /// Opens a service. The callback may keep the responder and answer later.
    pub fn service<S: Service>(
        &self,
        name: &str,
        mut callback: impl FnMut(&mut Autopilot, S::Request, Responder<S>) + Send + 'static,
    ) -> Result<(), RosError> {
        if !self.serves(name) {
            return Ok(());
        }
        let shared = self.shared.clone();
        let service =
            self.middleware.service::<S>(&self.full_name(name), move |request, responder| {
                if let Some(shared) = shared.upgrade() {
                    shared.call(|autopilot| callback(autopilot, request, responder));
                }
            })?;
        self.services.borrow_mut().push(service);
        Ok(())
    }

    /// Adds a node name to the graph, for tools that look for a node before they call its services.
    pub fn node(&self, name: &str) -> Result<Option<NodeHandle>, RosError> {
        let node = || self.middleware.node(&self.full_name(name));
        self.serves(name).then(node).transpose()
    }

    /// Whether the topic or service is served.
    pub fn serves(&self, name: &str) -> bool {
        self.names.plugins.serve(name)
    }

    fn full_name(&self, name: &str) -> String {
        // As in mavros, a name with the vehicle's number does not get the prefix.
        if name.contains("{id}") {
            return name.replace("{id}", &self.names.id.to_string());
        }
        format!("{}/{name}", self.names.prefix.trim_end_matches('/'))
    }
}

fn row<M: Message>(name: &str) -> Option<&'static TopicRow> {
    let row = TOPICS.iter().find(|row| row.name == name);
    debug_assert!(
        row.is_some_and(|row| row.interface == M::TYPE),
        "{name} is not in TOPICS with this type"
    );
    row
}
