//! What all subsystems share: settings, names, QoS, clocks, frames.
use super::clock::SimClocks;
use super::conventions::Conventions;
use super::error::NodeError;
use super::poses::Poses;
use super::presence::Presence;
use super::reported::SharedReports;
use super::senders::Senders;
use super::settings::{Settings, SettingsWatch};
use super::shared_scene::SharedScene;
use super::tf::{StaticTf, Tf};
use super::views::Views;
use super::wishes::Wishes;
use crate::config::params::QosGroup;
use crate::frames::FrameTree;
use crate::msgs::Message;
use crate::ros::{Middleware, Publisher, Qos};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;

/// What subsystems are opened with.
pub(super) struct Context<'a> {
    pub(super) settings: &'a Settings,
    /// Publishes changes of the settings.
    pub(super) changes: watch::Sender<Arc<Settings>>,
    pub(super) middleware: &'a Middleware,
    pub(super) senders: Arc<Senders>,
    pub(super) clocks: SimClocks,
    pub(super) presence: Presence,
    /// The frames at the start.
    pub(super) tree: FrameTree,
    /// `None` if TF is switched off.
    pub(super) tf: Option<Tf>,
    /// `Some` whenever [`Self::tf`] is.
    pub(super) static_tf: Option<StaticTf>,
    /// What is in the scene.
    pub(super) scene: SharedScene,
    /// What the renderer last reported.
    pub(super) reported: SharedReports,
    /// Where the vehicles were.
    pub(super) poses: Poses,
    /// Which axes the simulator means.
    pub(super) conventions: Conventions,
    /// Changes of running sensors.
    pub(super) views: Views,
    /// Parameters that others want changed.
    pub(super) wishes: Wishes,
    /// Origin of monotonic time.
    pub(super) start: Instant,
}

impl<'a> Context<'a> {
    /// Opens `/tf` and `/tf_static`, which several subsystems publish on.
    pub(super) fn new(
        settings: &'a Settings,
        middleware: &'a Middleware,
        senders: Arc<Senders>,
    ) -> Result<Self, NodeError> {
        let vehicles = settings.vehicles();
        let tree = settings.frame_tree()?;
        let names = tree.names();
        let scene = SharedScene::new(settings, &names.map, names.world);
        let views = Views::new(settings, &tree);
        let mut context = Self {
            settings,
            changes: watch::Sender::new(Arc::new(settings.clone())),
            middleware,
            senders,
            clocks: SimClocks::new(&settings.params, &vehicles),
            presence: Presence::default(),
            tree,
            tf: None,
            static_tf: None,
            scene,
            reported: SharedReports::default(),
            poses: Poses::default(),
            conventions: Conventions::default(),
            views,
            wishes: Wishes::default(),
            start: Instant::now(),
        };
        if settings.params.frames.publish_tf {
            let moving = context.publisher(QosGroup::Tf, "/tf")?;
            let fixed = context.publisher(QosGroup::TfStatic, "/tf_static")?;
            let tf = Tf::new(context.tree.clone(), moving);
            let headers = context.clocks.headers(None);
            context.static_tf = Some(StaticTf::new(fixed, tf.clone(), headers));
            context.tf = Some(tf);
        }
        Ok(context)
    }

    /// A receiver of the current settings.
    pub(super) fn watch(&self) -> SettingsWatch {
        self.changes.subscribe()
    }

    /// QoS of a topic from the parameters.
    pub(super) fn qos(&self, group: QosGroup, topic: &str) -> Qos {
        qos_of(self.settings, self.middleware, group, topic)
    }

    /// Opens a topic.
    pub(super) fn publisher<M: Message>(
        &self,
        group: QosGroup,
        topic: &str,
    ) -> Result<Publisher<M>, NodeError> {
        let qos = self.qos(group, topic);
        Ok(self.middleware.publisher(topic, qos)?)
    }

    /// Returns the full name of a vehicle's topic.
    pub(super) fn of_vehicle(&self, vehicle: u16, topic: &str) -> String {
        self.settings.vehicle_topic(vehicle, topic)
    }
}

/// QoS of a topic in these settings.
pub(super) fn qos_of(
    settings: &Settings,
    middleware: &Middleware,
    group: QosGroup,
    topic: &str,
) -> Qos {
    let name = middleware.resolve(topic);
    let name = name.unwrap_or_else(|_| topic.to_owned());
    settings.params.qos.of(group, &name)
}
