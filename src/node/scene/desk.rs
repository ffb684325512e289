//! Answers requests about the scene.
use super::outlet::Outlet;
use crate::msgs::Service;
use crate::node::assembly::Assembly;
use crate::node::clock::{HeaderClock, SimClocks};
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::reported::SharedReports;
use crate::node::shared_scene::SharedScene;
use crate::node::stats::SourceStats;
use crate::node::tasks::{Endless, next_moment};
use crate::reports::ReportedEntity;
use crate::ros::{Middleware, RosError, ServiceHandle};
use crate::scene::{Call, Description, Outbox, Scene};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Context of every service of the scene.
#[derive(Clone)]
pub(super) struct Desk {
    scene: SharedScene,
    reported: SharedReports,
    outlet: Arc<Outlet>,
    clock: HeaderClock,
    clocks: SimClocks,
    start: Instant,
    /// An object may have come that is to be removed when nobody asks for it any more.
    kept: Arc<Notify>,
    /// `scene.network`.
    to_network: bool,
    pub(super) stats: Arc<SourceStats>,
}

impl Desk {
    pub(super) fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<Self, NodeError> {
        let stats = assembly.source_on_demand("scene".to_owned());
        Ok(Self {
            scene: context.scene.clone(),
            reported: context.reported.clone(),
            outlet: Arc::new(Outlet::open(context, stats.clone())?),
            clock: context.clocks.headers(None),
            clocks: context.clocks.clone(),
            start: context.start,
            kept: Arc::default(),
            to_network: context.settings.params.scene.network,
            stats,
        })
    }

    /// Runs a request on the scene and sends its datagrams.
    pub(super) fn ask<R>(&self, question: impl FnOnce(&mut Scene, &mut Call<'_>) -> R) -> R {
        let mut out = Outbox {
            to_network: self.to_network,
            ..Outbox::default()
        };
        let mut call = Call {
            now: self.clock.now(),
            uptime_s: self.start.elapsed().as_secs_f64(),
            playing: { self.clocks.iter() }.any(|(_, clock)| clock.status().observations > 0),
            out: &mut out,
        };
        let answer = question(&mut self.scene.lock(), &mut call);
        if self.has_kept() {
            self.kept.notify_one();
        }
        self.outlet.send(&out.datagrams);
        if out.map_changed {
            self.scene.change_map();
        }
        answer
    }

    fn has_kept(&self) -> bool {
        let scene = self.scene.lock();
        let mut all = scene.entities.iter();
        all.any(|(_, entity)| entity.keep_alive.is_some())
    }

    /// As [`Self::ask`], with the current reports of the renderer.
    pub(super) fn ask_anew<R>(&self, question: impl FnOnce(&mut Scene, &mut Call<'_>) -> R) -> R {
        self.ask(|scene, call| {
            self.take_over(scene);
            question(scene, call)
        })
    }

    fn take_over(&self, scene: &mut Scene) {
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
            let description = Description {
                pose: camera.pose,
                bounds: None,
                stamp: camera.stamp,
            };
            scene.camera(*seq_id, &description);
        }
    }

    /// Offers a service that is answered at once.
    pub(super) fn serve<S: Service>(
        &self,
        middleware: &Middleware,
        name: &str,
        answer: fn(&mut Scene, S::Request, &mut Call<'_>) -> S::Response,
    ) -> Result<ServiceHandle, RosError> {
        let desk = self.clone();
        middleware.service::<S>(name, move |request, responder| {
            desk.stats.lock().received += 1;
            responder.respond(desk.ask_anew(|scene, call| answer(scene, request, call)));
        })
    }
}

/// Time between two looks for abandoned objects.
const LOOK: Duration = Duration::from_millis(100);

/// Removes what its clients no longer ask for.
pub(super) struct Caretaker(pub(super) Desk);

impl Endless for Caretaker {
    fn name(&self) -> String {
        "abandoned objects of the scene".to_owned()
    }

    async fn work(&mut self) {
        loop {
            self.0.kept.notified().await;
            tokio::time::sleep(next_moment(LOOK)).await;
            for name in self.0.ask(|scene, call| scene.remove_abandoned(call)) {
                tracing::info!("{name:?} was removed: nobody asked for it within its keep_alive");
            }
        }
    }
}
