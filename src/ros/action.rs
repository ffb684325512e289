//! Action servers: three services and two topics below `<name>/_action`, as in rcl_action.
//!
//! This module reads no clock: the caller passes one; results are kept by count, not by age.
use super::{Middleware, Publisher, Qos, Responder, RosError, ServiceHandle};
use crate::msgs::action_msgs::msg::{GoalInfo, GoalStatus, GoalStatusArray};
use crate::msgs::action_msgs::srv::{CancelGoal, CancelGoalRequest, CancelGoalResponse};
use crate::msgs::{Action, Service};
use crate::{msgs::unique_identifier_msgs::msg::UUID, time::RosTime};
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::watch;

/// Maximum number of ended goals with a stored result.
pub const KEPT_RESULTS: usize = 64;

type Id = [u8; 16];

/// An action offered by this node; ends on drop. Running goals can still be ended.
pub struct ActionHandle {
    _services: [ServiceHandle; 3],
}

/// A goal to accept or reject. If dropped it is rejected, and counted as an unanswered request.
#[must_use = "dropping it rejects the goal"]
pub struct GoalRequest<A: Action> {
    undecided: UndecidedId<A>,
    goal: A::Goal,
    responder: Responder<A::SendGoal>,
}

/// Keeps an id from being requested again until its request is dropped, accepted or rejected.
struct UndecidedId<A: Action> {
    id: Id,
    server: Arc<ActionServer<A>>,
}

impl<A: Action> Drop for UndecidedId<A> {
    fn drop(&mut self) {
        self.server.undecided.lock().retain(|id| *id != self.id);
    }
}

/// A running goal. If dropped it is aborted with the default result.
#[must_use = "dropping it aborts the goal"]
pub struct RunningGoal<A: Action> {
    id: Id,
    goal: A::Goal,
    canceling: watch::Receiver<bool>,
    server: Arc<ActionServer<A>>,
}

struct ActionServer<A: Action> {
    clock: Box<dyn Fn() -> RosTime + Send + Sync>,
    feedback: Publisher<A::FeedbackMessage>,
    status: Publisher<GoalStatusArray>,
    /// Sorted by time of acceptance.
    goals: Mutex<Vec<ServedGoal<A>>>,
    /// Ids of requests that are neither accepted nor rejected; an accepted id is in `goals` before it leaves.
    undecided: Mutex<Vec<Id>>,
}

struct ServedGoal<A: Action> {
    id: Id,
    accepted: RosTime,
    status: i8,
    result: A::Result,
    cancel: watch::Sender<bool>,
    waiting: Vec<Responder<A::GetResult>>,
}

impl<A: Action> ServedGoal<A> {
    fn info(&self) -> GoalInfo {
        GoalInfo { goal_id: UUID { uuid: self.id }, stamp: self.accepted.to_msg() }
    }

    fn has_ended(&self) -> bool {
        !matches!(self.status, GoalStatus::STATUS_EXECUTING | GoalStatus::STATUS_CANCELING)
    }

    fn can_be_canceled(&self) -> bool {
        self.status == GoalStatus::STATUS_EXECUTING
    }
}

impl Middleware {
    /// Offers an action. `handler` runs on the middleware's receive thread and must return quickly: it accepts or
    /// rejects, or hands the request on. `clock` stamps goals.
    pub fn action<A: Action>(
        &self,
        name: &str,
        clock: impl Fn() -> RosTime + Send + Sync + 'static,
        mut handler: impl FnMut(GoalRequest<A>) + Send + 'static,
    ) -> Result<ActionHandle, RosError> {
        // The name is remapped as a whole, as rcl_action does.
        let name = self.resolve(name)?;
        let full = |part: &str| format!("{name}/_action/{part}");
        let server = Arc::new(ActionServer::<A> {
            clock: Box::new(clock),
            feedback: self.publisher(&full("feedback"), Qos::DEFAULT)?,
            status: self.publisher(&full("status"), Qos::LATCHED)?,
            goals: Mutex::default(),
            undecided: Mutex::default(),
        });
        let (goal_server, cancel_server, result_server) = (server.clone(), server.clone(), server);
        let send = self.service::<A::SendGoal>(&full("send_goal"), move |request, responder| {
            let (id, goal) = A::goal(request);
            let is_undecided = goal_server.undecided.lock().contains(&id);
            if is_undecided || goal_server.goals.lock().iter().any(|goal| goal.id == id) {
                return responder.respond(A::accepted(false, goal_server.now().to_msg()));
            }
            goal_server.undecided.lock().push(id);
            let undecided = UndecidedId { id, server: goal_server.clone() };
            handler(GoalRequest { undecided, goal, responder });
        })?;
        let cancel =
            self.service::<CancelGoal>(&full("cancel_goal"), move |request, responder| {
                cancel_server.cancel(&request, responder);
            })?;
        let result =
            self.service::<A::GetResult>(&full("get_result"), move |request, answer| {
                result_server.send_result(&request, answer);
            })?;
        Ok(ActionHandle { _services: [send, cancel, result] })
    }
}

impl<A: Action> ActionServer<A> {
    fn now(&self) -> RosTime {
        (self.clock)()
    }

    /// Publishes all states. Called with `goals` locked, so that states are published in their order.
    fn publish(&self, goals: &[ServedGoal<A>]) {
        let state =
            |goal: &ServedGoal<A>| GoalStatus { goal_info: goal.info(), status: goal.status };
        // The publisher counts failures.
        let _counted = self
            .status
            .publish(&GoalStatusArray { status_list: goals.iter().map(state).collect() });
    }

    /// Cancels the goal with the id and the goals accepted until the stamp; all goals if the request has neither.
    fn cancel(&self, request: &CancelGoalRequest, responder: Responder<CancelGoal>) {
        let CancelGoalRequest { goal_info } = request;
        let id = goal_info.goal_id.uuid;
        let until = RosTime::from_msg(&goal_info.stamp);
        let (has_id, has_stamp) = (id != Id::default(), until != RosTime(0));
        let mut goals = self.goals.lock();
        let mut response = CancelGoalResponse::default();
        if has_id && !has_stamp {
            match goals.iter().find(|goal| goal.id == id) {
                None => response.return_code = CancelGoalResponse::ERROR_UNKNOWN_GOAL_ID,
                Some(goal) if !goal.can_be_canceled() => {
                    response.return_code = CancelGoalResponse::ERROR_GOAL_TERMINATED;
                }
                Some(_) => {}
            }
        }
        let mut canceled = Vec::new();
        for goal in goals.iter_mut().filter(|goal| goal.can_be_canceled()) {
            let selected = (has_id && goal.id == id)
                || (has_stamp && goal.accepted <= until)
                || !(has_id || has_stamp);
            if selected {
                goal.status = GoalStatus::STATUS_CANCELING;
                response.goals_canceling.push(goal.info());
                canceled.push(goal.cancel.clone());
            }
        }
        for cancel in &canceled {
            cancel.send_replace(true);
        }
        responder.respond(response);
        if !canceled.is_empty() {
            self.publish(&goals);
        }
    }

    fn send_result(
        &self,
        request: &<A::GetResult as Service>::Request,
        responder: Responder<A::GetResult>,
    ) {
        let id = A::goal_id(request);
        match self.goals.lock().iter_mut().find(|goal| goal.id == id) {
            Some(goal) if goal.has_ended() => {
                responder.respond(A::result(goal.status, goal.result.clone()));
            }
            Some(goal) => goal.waiting.push(responder),
            None => responder.respond(A::result(GoalStatus::STATUS_UNKNOWN, A::Result::default())),
        }
    }

    fn end(&self, id: Id, status: i8, result: A::Result) {
        let mut goals = self.goals.lock();
        let Some(goal) = goals.iter_mut().find(|goal| goal.id == id) else { return };
        if goal.has_ended() {
            return;
        }
        goal.status = status;
        for responder in goal.waiting.drain(..) {
            responder.respond(A::result(status, result.clone()));
        }
        goal.result = result;
        let ended = goals.iter().filter(|goal| goal.has_ended()).count();
        let oldest = goals.iter().position(ServedGoal::has_ended);
        if let Some(oldest) = oldest.filter(|_| ended > KEPT_RESULTS) {
            goals.remove(oldest);
        }
        self.publish(&goals);
    }
}

impl<A: Action> GoalRequest<A> {
    /// The requested goal.
    pub fn goal(&self) -> &A::Goal {
        &self.goal
    }

    /// Rejects the goal; the response has no field for a reason.
    pub fn reject(self) {
        let now = self.undecided.server.now();
        self.responder.respond(A::accepted(false, now.to_msg()));
    }

    /// Accepts the goal and starts it.
    pub fn accept(self) -> RunningGoal<A> {
        let (id, server) = (self.undecided.id, &self.undecided.server);
        let accepted = server.now();
        let (cancel, canceling) = watch::channel(false);
        let mut goals = server.goals.lock();
        goals.push(ServedGoal {
            id,
            accepted,
            status: GoalStatus::STATUS_EXECUTING,
            result: A::Result::default(),
            cancel,
            waiting: Vec::new(),
        });
        self.responder.respond(A::accepted(true, accepted.to_msg()));
        server.publish(&goals);
        drop(goals);
        RunningGoal { id, goal: self.goal, canceling, server: server.clone() }
    }
}

impl<A: Action> RunningGoal<A> {
    /// The requested goal.
    pub fn goal(&self) -> &A::Goal {
        &self.goal
    }

    /// Whether a client requested cancellation.
    pub fn is_canceling(&self) -> bool {
        *self.canceling.borrow()
    }

    /// Waits until a client requests cancellation.
    pub async fn canceling(&mut self) {
        // Fails if the goal has ended; then no client can cancel it.
        if self.canceling.wait_for(|canceling| *canceling).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Publishes feedback.
    pub fn feedback(&self, feedback: A::Feedback) {
        // The publisher counts failures.
        let _counted = self.server.feedback.publish(&A::feedback(self.id, feedback));
    }

    /// Ends it as succeeded.
    pub fn succeed(self, result: A::Result) {
        self.server.end(self.id, GoalStatus::STATUS_SUCCEEDED, result);
    }

    /// Ends it as aborted.
    pub fn abort(self, result: A::Result) {
        self.server.end(self.id, GoalStatus::STATUS_ABORTED, result);
    }

    /// Ends it as canceled if a client requested that, otherwise as aborted.
    pub fn cancel(self, result: A::Result) {
        let status = if self.is_canceling() {
            GoalStatus::STATUS_CANCELED
        } else {
            GoalStatus::STATUS_ABORTED
        };
        self.server.end(self.id, status, result);
    }
}

impl<A: Action> Drop for RunningGoal<A> {
    fn drop(&mut self) {
        self.server.end(self.id, GoalStatus::STATUS_ABORTED, A::Result::default());
    }
}
