//! Runs requests on the scene.
use super::scene_socket::SceneSocket;
use crate::node::clock::{HeaderClock, SimClocks};
use crate::node::tasks::{Endless, next_moment};
use crate::node::{
    assembly::Assembly, context::Context, error::NodeError, shared_reports::SharedReports,
    shared_scene::SharedScene, stats::SourceStats,
};
use crate::ros::{Middleware, RosError, ServiceHandle};
use crate::scene::{EntityKind, Extent, Outbox, Scene, SceneCall};
use crate::{msgs::Service, reports::ReportedEntity};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Handle that all services of the scene share.
#[derive(Clone)]
pub(super) struct SceneServer {
    scene: SharedScene,
    reported: SharedReports,
    socket: Arc<SceneSocket>,
    clock: HeaderClock,
    clocks: SimClocks,
    start: Instant,
    /// Notified when the scene has an object with `keep_alive`.
    keep_alive_added: Arc<Notify>,
    /// `scene.network`.
    to_network: bool,
    pub(super) stats: Arc<SourceStats>,
}

impl SceneServer {
    pub(super) fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<Self, NodeError> {
        let stats = assembly.add_source_on_demand("scene".to_owned());
        Ok(Self {
            scene: context.scene.clone(),
            reported: context.reported.clone(),
            socket: Arc::new(SceneSocket::open(context, stats.clone())?),
            clock: context.clocks.headers(None),
            clocks: context.clocks.clone(),
            start: context.start,
            keep_alive_added: Arc::default(),
            to_network: context.settings.params.scene.network,
            stats,
        })
    }

    /// Runs a request on the scene and sends its datagrams.
    pub(super) fn run<R>(&self, request: impl FnOnce(&mut SceneCall<'_>) -> R) -> R {
        let (now, uptime_s) = (self.clock.now(), self.start.elapsed().as_secs_f64());
        let playing = self.clocks.iter().any(|(_, clock)| clock.status().observations > 0);
        let out = Outbox { to_network: self.to_network, ..Outbox::default() };
        let mut scene = self.scene.lock();
        let mut call = SceneCall { scene: &mut scene, out, now, uptime_s, playing };
        let answer = request(&mut call);
        let out = call.out;
        if scene.entities.iter().any(|(_, entity)| entity.keep_alive.is_some()) {
            self.keep_alive_added.notify_one();
        }
        drop(scene);
        self.socket.send(&out.datagrams);
        if out.map_changed {
            self.scene.change_map();
        }
        answer
    }

    /// As [`Self::run`], with the current reports of the renderer.
    pub(super) fn run_with_reports<R>(&self, request: impl FnOnce(&mut SceneCall<'_>) -> R) -> R {
        self.run(|call| {
            self.add_reports(call.scene);
            request(call)
        })
    }

    fn add_reports(&self, scene: &mut Scene) {
        let reported = self.reported.lock();
        scene.entities.forget(&[EntityKind::Object, EntityKind::Camera]);
        for (entity, described) in &reported.entities {
            let Some(pose) = scene.reported_pose(&described.pose) else { continue };
            let (entities, stamp) = (&mut scene.entities, described.stamp);
            let extent = Extent::around(&described.pose, &described.centre, described.size);
            match entity {
                ReportedEntity::Vehicle(id) => entities.describe(*id, pose, extent, stamp),
                ReportedEntity::Object(name) => entities.object(name, pose, extent, stamp),
            }
        }
        for (seq_id, camera) in &reported.cameras {
            if let Some(pose) = scene.reported_pose(&camera.pose) {
                scene.entities.camera(*seq_id, pose, camera.stamp);
            }
        }
    }

    /// Offers a service that responds at once.
    pub(super) fn serve<S: Service>(
        &self,
        middleware: &Middleware,
        name: &str,
        answer: fn(&mut SceneCall<'_>, S::Request) -> S::Response,
    ) -> Result<ServiceHandle, RosError> {
        let server = self.clone();
        middleware.service::<S>(name, move |request, responder| {
            server.stats.lock().received += 1;
            responder.respond(server.run_with_reports(|call| answer(call, request)));
        })
    }
}

const CHECK_PERIOD: Duration = Duration::from_millis(100);

/// Task that removes objects whose clients stopped renewing them.
pub(super) struct AbandonedObjects(pub(super) SceneServer);

impl Endless for AbandonedObjects {
    fn name(&self) -> String {
        "abandoned objects of the scene".to_owned()
    }

    async fn work(&mut self) {
        loop {
            self.0.keep_alive_added.notified().await;
            tokio::time::sleep(next_moment(CHECK_PERIOD)).await;
            for name in self.0.run(|call| call.remove_abandoned()) {
                tracing::info!("{name:?} was removed: no request renewed it within its keep_alive");
            }
        }
    }
}
