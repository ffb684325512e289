//! The context that all subsystems share: settings, names, QoS, clocks, frames.
use super::settings::{Settings, SettingsWatch};
use super::tf::{StaticTf, Tf};
use super::{
    axes::AxesReport, clock::SimClocks, error::NodeError, parameter_requests::ParameterRequests,
    pose_history::PoseHistory, presence::Presence, senders::Senders, sensor_views::SensorViews,
    shared_reports::SharedReports, shared_scene::SharedScene,
};
use crate::ros::{Middleware, Publisher, Qos};
use crate::{config::params::QosGroup, frames::FrameTree, msgs::Message};
use std::{sync::Arc, time::Instant};
use tokio::sync::watch;

/// Passed to each subsystem when it opens.
pub(super) struct Context<'a> {
    pub(super) settings: &'a Settings,
    pub(super) changes: watch::Sender<Arc<Settings>>,
    pub(super) middleware: &'a Middleware,
    pub(super) senders: Arc<Senders>,
    pub(super) clocks: SimClocks,
    pub(super) presence: Presence,
    pub(super) tree: FrameTree,
    /// `None` if TF is switched off.
    pub(super) tf: Option<Tf>,
    /// `None` if TF is switched off.
    pub(super) static_tf: Option<StaticTf>,
    pub(super) scene: SharedScene,
    pub(super) reported: SharedReports,
    pub(super) poses: PoseHistory,
    pub(super) axes_report: AxesReport,
    pub(super) views: SensorViews,
    pub(super) parameter_requests: ParameterRequests,
    /// Origin of monotonic time.
    pub(super) start: Instant,
}

impl<'a> Context<'a> {
    /// Opens `/tf` and `/tf_static`, which several subsystems publish, unless TF is switched off.
    pub(super) fn new(
        settings: &'a Settings,
        middleware: &'a Middleware,
        senders: Arc<Senders>,
    ) -> Result<Self, NodeError> {
        let vehicles = settings.vehicles();
        let tree = settings.frame_tree()?;
        let names = tree.names();
        let scene = SharedScene::new(settings, &names.map, names.world);
        let views = SensorViews::new(settings, &tree);
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
            poses: PoseHistory::default(),
            axes_report: AxesReport::default(),
            views,
            parameter_requests: ParameterRequests::default(),
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

    pub(super) fn watch(&self) -> SettingsWatch {
        self.changes.subscribe()
    }

    pub(super) fn qos(&self, group: QosGroup, topic: &str) -> Qos {
        qos_of(self.settings, self.middleware, group, topic)
    }

    pub(super) fn publisher<M: Message>(
        &self,
        group: QosGroup,
        topic: &str,
    ) -> Result<Publisher<M>, NodeError> {
        let qos = self.qos(group, topic);
        Ok(self.middleware.publisher(topic, qos)?)
    }
}

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
