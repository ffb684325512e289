//! `GetEntityBounds`: the response waits for a description by the renderer.
use super::server::SceneServer;
use crate::msgs::simulation_interfaces::srv::{GetEntityBounds, GetEntityBoundsRequest};
use crate::node::tasks::{self, Endless};
use crate::node::{assembly::Assembly, error::NodeError, threads::REPORT};
use crate::ros::{Middleware, Responder, RosError, ServiceHandle};
use crate::scene::standard::{describe, entity_bounds, no_bounds, too_many_bounds};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The row of the documentation.
pub(super) const ROW: &str = "\
| `/rfly_bridge/get_entity_bounds` | `simulation_interfaces/srv/GetEntityBounds` | box around an entity, requested from the renderer |
";

/// Longest wait for a description by the renderer.
const TIMEOUT: Duration = Duration::from_secs(2);
const CHECK_PERIOD: Duration = Duration::from_millis(20);
/// Limit of waiting requests; further requests are refused at once.
const MAX_PENDING: usize = 100;

/// Requests that wait for the renderer's description; the task responds as soon as it arrives.
#[derive(Clone)]
pub(super) struct PendingBounds {
    server: SceneServer,
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
        let (requests, added) = (Arc::default(), Arc::default());
        let pending = Self { server: server.clone(), requests, added };
        tasks::start(&assembly.threads.runtime(REPORT)?, pending.clone());
        Ok(pending)
    }

    pub(super) fn serve(
        &self,
        middleware: &Middleware,
        name: &str,
    ) -> Result<ServiceHandle, RosError> {
        let pending = self.clone();
        middleware.service::<GetEntityBounds>(name, move |request, responder| {
            pending.server.stats.lock().received += 1;
            let answer = pending.server.run_with_reports(|call| {
                let answer = entity_bounds(call.scene, &request);
                if answer.is_none() {
                    describe(call, &request.entity);
                }
                answer
            });
            let mut requests = pending.requests.lock();
            match answer {
                Some(answer) => responder.respond(answer),
                None if requests.len() >= MAX_PENDING => {
                    responder.respond(too_many_bounds(MAX_PENDING))
                }
                None => {
                    let until = Instant::now() + TIMEOUT;
                    requests.push(PendingRequest { request, responder, until });
                    pending.added.notify_one();
                }
            }
        })
    }

    fn answer_ready(&self) {
        let now = Instant::now();
        let mut requests = self.requests.lock();
        for pending in std::mem::take(&mut *requests) {
            let answer =
                self.server.run_with_reports(|call| entity_bounds(call.scene, &pending.request));
            let late = || no_bounds(&pending.request.entity, TIMEOUT.as_secs_f64());
            match answer.or_else(|| (now >= pending.until).then(late)) {
                Some(answer) => pending.responder.respond(answer),
                None => requests.push(pending),
            }
        }
    }
}

impl Endless for PendingBounds {
    fn name(&self) -> String {
        "bounds of entities".to_owned()
    }

    async fn work(&mut self) {
        loop {
            self.added.notified().await;
            while !self.requests.lock().is_empty() {
                tokio::time::sleep(CHECK_PERIOD).await;
                self.answer_ready();
            }
        }
    }
}
