//! Runs requests on the scene.
use super::scene_socket::SceneSocket;
use crate::msgs::Service;
use crate::node::assembly::Assembly;
use crate::node::clock::{HeaderClock, SimClocks};
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::shared_reports::SharedReports;
use crate::node::shared_scene::SharedScene;
use crate::node::stats::SourceStats;
use crate::node::tasks::{Endless, next_moment};
use crate::reports::ReportedEntity;
use crate::ros::{Middleware, RosError, ServiceHandle};
use crate::scene::{Call, Description, Outbox, Scene};
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
        let stats = assembly.source_on_demand("scene".to_owned());
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
    pub(super) fn run<R>(&self, request: impl FnOnce(&mut Scene, &mut Call<'_>) -> R) -> R {
        let mut out = Outbox { to_network: self.to_network, ..Outbox::default() };
        let mut call = Call {
            now: self.clock.now(),
            uptime_s: self.start.elapsed().as_secs_f64(),
            playing: { self.clocks.iter() }.any(|(_, clock)| clock.status().observations > 0),
            out: &mut out,
        };
        let answer = request(&mut self.scene.lock(), &mut call);
        if self.has_keep_alive() {
            self.keep_alive_added.notify_one();
        }
        self.socket.send(&out.datagrams);
        if out.map_changed {
            self.scene.change_map();
        }
        answer
    }

    fn has_keep_alive(&self) -> bool {
        let scene = self.scene.lock();
        let mut all = scene.entities.iter();
        all.any(|(_, entity)| entity.keep_alive.is_some())
    }

    /// As [`Self::run`], with the current reports of the renderer.
    pub(super) fn run_with_reports<R>(
        &self,
        request: impl FnOnce(&mut Scene, &mut Call<'_>) -> R,
    ) -> R {
        self.run(|scene, call| {
            self.add_reports(scene);
            request(scene, call)
        })
    }

    fn add_reports(&self, scene: &mut Scene) {
        let reported = self.reported.lock();
        scene.begin_descriptions();
        for (entity, described) in &reported.entities {
            let description = Description {
                pose: described.pose,
                bounds: Some((described.centre, described.size)),
                stamp: described.stamp,
            };
            match entity {
                ReportedEntity::Vehicle(id) => scene.described(*id, &description),
                ReportedEntity::Object(name) => scene.object(name, &description),
            }
        }
        for (seq_id, camera) in &reported.cameras {
            let description = Description { pose: camera.pose, bounds: None, stamp: camera.stamp };
            scene.camera(*seq_id, &description);
        }
    }

    /// Offers a service that responds at once.
    pub(super) fn serve<S: Service>(
        &self,
        middleware: &Middleware,
        name: &str,
        answer: fn(&mut Scene, S::Request, &mut Call<'_>) -> S::Response,
    ) -> Result<ServiceHandle, RosError> {
        let server = self.clone();
        middleware.service::<S>(name, move |request, responder| {
            server.stats.lock().received += 1;
            responder.respond(server.run_with_reports(|scene, call| answer(scene, request, call)));
        })
    }
}

/// Interval of checks for abandoned objects.
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
            for name in self.0.run(|scene, call| scene.remove_abandoned(call)) {
                tracing::info!("{name:?} was removed: no request renewed it within its keep_alive");
            }
        }
    }
}
