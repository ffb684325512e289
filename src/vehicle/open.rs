//! Opens the topics and services of a vehicle and brings what arrives there to its [`Autopilot`].
use super::autopilot::Autopilot;
use super::fcu::Now;
use super::topics::{SERVICES, TOPICS, TopicSpec};
use crate::config::params::QosGroup;
use crate::msgs::{Message, Service};
use crate::ros::{
    Middleware, NodeHandle, Publisher, Qos, Responder, RosError, ServiceHandle, Subscription,
};
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Now + Send + Sync>;

/// Subscribed topics take what every writer offers, and only the newest.
const SETPOINTS: Qos = Qos {
    depth: 5,
    ..Qos::SENSOR_DATA
};

/// The autopilot, from every thread: callbacks of topics and services, and the task that receives.
#[derive(Clone)]
pub struct Handle(Arc<Shared>);

struct Shared {
    autopilot: Mutex<Option<Autopilot>>,
    clock: Clock,
    /// Called after each call from outside the task that polls, because deadlines may have changed.
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Handle {
    /// Runs `f` on the autopilot with the present time; `None` while it is being opened.
    pub fn with<R>(&self, f: impl FnOnce(&mut Autopilot) -> R) -> Option<R> {
        self.0.with(f)
    }
}

impl Shared {
    fn with<R>(&self, f: impl FnOnce(&mut Autopilot) -> R) -> Option<R> {
        let mut guard = self
            .autopilot
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let autopilot = guard.as_mut()?;
        autopilot.fcu.now = (self.clock)();
        Some(f(autopilot))
    }
}

/// Topics and services of a vehicle; they are closed when this is dropped.
pub struct Interface {
    // In this order: no callback runs any more when the autopilot goes.
    _subscriptions: Vec<Subscription>,
    _services: Vec<ServiceHandle>,
    handle: Handle,
}

impl Interface {
    /// The autopilot behind the topics.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Opens everything of vehicle `id` below `prefix`; `autopilot` makes the autopilot once its topics can be opened.
    pub fn open(
        middleware: &Middleware,
        id: u16,
        prefix: &str,
        qos: &dyn Fn(QosGroup, &str) -> Qos,
        clock: Clock,
        wake: impl Fn() + Send + Sync + 'static,
        autopilot: impl FnOnce(&Open<'_>) -> Result<Autopilot, RosError>,
    ) -> Result<Self, RosError> {
        let shared = Arc::new(Shared {
            autopilot: Mutex::new(None),
            clock,
            wake: Box::new(wake),
        });
        let open = Open {
            middleware,
            id,
            prefix,
            qos,
            shared: Arc::downgrade(&shared),
            subscriptions: RefCell::default(),
            services: RefCell::default(),
        };
        let autopilot = autopilot(&open)?;
        let (subscriptions, services) = (open.subscriptions, open.services);
        *shared
            .autopilot
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(autopilot);
        Ok(Self {
            _subscriptions: subscriptions.into_inner(),
            _services: services.into_inner(),
            handle: Handle(shared),
        })
    }
}

/// Opens single topics and services.
pub struct Open<'a> {
    middleware: &'a Middleware,
    id: u16,
    prefix: &'a str,
    qos: &'a dyn Fn(QosGroup, &str) -> Qos,
    shared: Weak<Shared>,
    subscriptions: RefCell<Vec<Subscription>>,
    services: RefCell<Vec<ServiceHandle>>,
}

impl Open<'_> {
    /// Opens a published topic of [`TOPICS`].
    pub fn publisher<M: Message>(&self, name: &str) -> Result<Publisher<M>, RosError> {
        let group = spec::<M>(name).map_or(QosGroup::Telemetry, |spec| spec.group);
        let topic = self.below(name);
        self.middleware.publisher(&topic, (self.qos)(group, &topic))
    }

    /// Opens a subscribed topic of [`TOPICS`].
    pub fn subscribe<M: Message>(
        &self,
        name: &str,
        mut callback: impl FnMut(&mut Autopilot, M) + Send + 'static,
    ) -> Result<(), RosError> {
        debug_assert!(spec::<M>(name).is_some(), "{name} is in no table");
        let shared = self.shared.clone();
        let subscription =
            self.middleware
                .subscribe(&self.below(name), SETPOINTS, move |message: M| {
                    if let Some(shared) = shared.upgrade() {
                        shared.with(|autopilot| callback(autopilot, message));
                        (shared.wake)();
                    }
                })?;
        self.subscriptions.borrow_mut().push(subscription);
        Ok(())
    }

    /// Opens a service of [`SERVICES`]. The responder may be kept and used later.
    pub fn service<S: Service>(
        &self,
        name: &str,
        mut callback: impl FnMut(&mut Autopilot, S::Request, Responder<S>) + Send + 'static,
    ) -> Result<(), RosError> {
        debug_assert!(
            SERVICES
                .iter()
                .any(|s| s.name == name && s.interface == S::TYPE),
            "{name} is in no table"
        );
        let shared = self.shared.clone();
        let service =
            self.middleware
                .service::<S>(&self.below(name), move |request, responder| {
                    if let Some(shared) = shared.upgrade() {
                        shared.with(|autopilot| callback(autopilot, request, responder));
                        (shared.wake)();
                    }
                })?;
        self.services.borrow_mut().push(service);
        Ok(())
    }

    /// Opens a node of this name, for services that belong to one.
    pub fn node(&self, name: &str) -> Result<NodeHandle, RosError> {
        self.middleware.node(&self.below(name))
    }

    fn below(&self, name: &str) -> String {
        // As with mavros, what is numbered itself stands beside the prefix.
        if name.contains("{id}") {
            return name.replace("{id}", &self.id.to_string());
        }
        format!("{}/{name}", self.prefix.trim_end_matches('/'))
    }
}

fn spec<M: Message>(name: &str) -> Option<&'static TopicSpec> {
    let spec = TOPICS.iter().find(|spec| spec.name == name);
    debug_assert!(
        spec.is_some_and(|spec| spec.interface == M::TYPE),
        "{name} is in no table with this type"
    );
    spec
}
