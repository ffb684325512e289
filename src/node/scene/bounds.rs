//! `GetEntityBounds`: the response waits for a description by the renderer.
use super::server::SceneServer;
use crate::msgs::simulation_interfaces::srv::{GetEntityBounds, GetEntityBoundsRequest};
use crate::node::assembly::Assembly;
use crate::node::error::NodeError;
use crate::node::tasks::{self, Endless};
use crate::node::threads::REPORT;
use crate::ros::{Middleware, Responder, RosError, ServiceHandle};
use crate::scene::standard::{describe, entity_bounds, no_bounds};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The row of the documentation.
pub(super) const ROW: &str = "\
| `/rfly_bridge/get_entity_bounds` | `simulation_interfaces/srv/GetEntityBounds` | box around an entity, requested from the renderer |
";

/// Time limit of the renderer.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Interval of checks.
const CHECK_PERIOD: Duration = Duration::from_millis(20);
/// Limit of waiting requests; further ones are refused at once.
const MAX_PENDING: usize = 100;

/// Requests that wait for the renderer.
#[derive(Clone, Default)]
pub(super) struct PendingBounds {
    requests: Arc<Mutex<Vec<PendingRequest>>>,
    added: Arc<Notify>,
}

struct PendingRequest {
    request: GetEntityBoundsRequest,
    responder: Responder<GetEntityBounds>,
    until: Instant,
}

impl PendingBounds {
    /// Starts the task that responds.
    pub(super) fn open(assembly: &mut Assembly, server: &SceneServer) -> Result<Self, NodeError> {
        let pending = Self::default();
        let runtime = assembly.threads.runtime(REPORT)?;
        let task = BoundsTask { server: server.clone(), pending: pending.clone() };
        tasks::start(&runtime, task);
        Ok(pending)
    }

    /// Offers the service.
    pub(super) fn serve(
        &self,
        server: &SceneServer,
        middleware: &Middleware,
        name: &str,
    ) -> Result<ServiceHandle, RosError> {
        let (server, pending) = (server.clone(), self.clone());
        middleware.service::<GetEntityBounds>(name, move |request, responder| {
            server.stats.lock().received += 1;
            let answer = server.run_with_reports(|scene, call| {
                let answer = entity_bounds(scene, &request);
                if answer.is_none() {
                    describe(scene, &request.entity, call);
                }
                answer
            });
            let mut requests = pending.lock();
            match answer {
                Some(answer) => responder.respond(answer),
                None if requests.len() >= MAX_PENDING => {
                    responder.respond(no_bounds(&request.entity, 0.0))
                }
                None => {
                    requests.push(PendingRequest {
                        request,
                        responder,
                        until: Instant::now() + TIMEOUT,
                    });
                    pending.added.notify_one();
                }
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<PendingRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Task that responds as soon as the renderer has described the entity.
struct BoundsTask {
    server: SceneServer,
    pending: PendingBounds,
}

impl Endless for BoundsTask {
    fn name(&self) -> String {
        "bounds of entities".to_owned()
    }

    async fn work(&mut self) {
        loop {
            self.pending.added.notified().await;
            while !self.pending.lock().is_empty() {
                tokio::time::sleep(CHECK_PERIOD).await;
                self.answer_ready();
            }
        }
    }
}

impl BoundsTask {
    fn answer_ready(&self) {
        let now = Instant::now();
        let mut requests = self.pending.lock();
        for pending in std::mem::take(&mut *requests) {
            let answer =
                self.server.run_with_reports(|scene, _| entity_bounds(scene, &pending.request));
            let entity = &pending.request.entity;
            let late = || no_bounds(entity, TIMEOUT.as_secs_f64());
            match answer.or_else(|| (now >= pending.until).then(late)) {
                Some(answer) => pending.responder.respond(answer),
                None => requests.push(pending),
            }
        }
    }
}
