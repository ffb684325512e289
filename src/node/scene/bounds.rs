//! `GetEntityBounds`: the renderer knows them, and is asked.
use super::desk::Desk;
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
| `/rfly_bridge/get_entity_bounds` | `simulation_interfaces/srv/GetEntityBounds` | box around an entity, which the renderer is asked for |
";

/// How long the renderer may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(20);
/// Requests that wait at a time; more are refused at once.
const MOST: usize = 100;

/// Requests that wait for the renderer.
#[derive(Clone, Default)]
pub(super) struct Waiting {
    requests: Arc<Mutex<Vec<Request>>>,
    came: Arc<Notify>,
}

struct Request {
    request: GetEntityBoundsRequest,
    responder: Responder<GetEntityBounds>,
    until: Instant,
}

impl Waiting {
    /// Starts the task that answers.
    pub(super) fn open(assembly: &mut Assembly, desk: &Desk) -> Result<Self, NodeError> {
        let waiting = Self::default();
        let runtime = assembly.threads.runtime(REPORT)?;
        let task = Answers {
            desk: desk.clone(),
            waiting: waiting.clone(),
        };
        tasks::start(&runtime, task);
        Ok(waiting)
    }

    /// Offers the service.
    pub(super) fn serve(
        &self,
        desk: &Desk,
        middleware: &Middleware,
        name: &str,
    ) -> Result<ServiceHandle, RosError> {
        let (desk, waiting) = (desk.clone(), self.clone());
        middleware.service::<GetEntityBounds>(name, move |request, responder| {
            desk.stats.lock().received += 1;
            let answer = desk.ask_anew(|scene, call| {
                let answer = entity_bounds(scene, &request);
                if answer.is_none() {
                    describe(scene, &request.entity, call);
                }
                answer
            });
            let mut requests = waiting.lock();
            match answer {
                Some(answer) => responder.respond(answer),
                None if requests.len() >= MOST => {
                    responder.respond(no_bounds(&request.entity, 0.0))
                }
                None => {
                    requests.push(Request {
                        request,
                        responder,
                        until: Instant::now() + PATIENCE,
                    });
                    waiting.came.notify_one();
                }
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers as soon as the renderer has.
struct Answers {
    desk: Desk,
    waiting: Waiting,
}

impl Endless for Answers {
    fn name(&self) -> String {
        "bounds of entities".to_owned()
    }

    async fn work(&mut self) {
        loop {
            self.waiting.came.notified().await;
            while !self.waiting.lock().is_empty() {
                tokio::time::sleep(LOOK).await;
                self.look();
            }
        }
    }
}

impl Answers {
    fn look(&self) {
        let now = Instant::now();
        let mut requests = self.waiting.lock();
        for waiting in std::mem::take(&mut *requests) {
            let answer = self
                .desk
                .ask_anew(|scene, _| entity_bounds(scene, &waiting.request));
            let entity = &waiting.request.entity;
            let late = || no_bounds(entity, PATIENCE.as_secs_f64());
            match answer.or_else(|| (now >= waiting.until).then(late)) {
                Some(answer) => waiting.responder.respond(answer),
                None => requests.push(waiting),
            }
        }
    }
}
