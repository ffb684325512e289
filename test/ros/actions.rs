//! Actions: with the recorder, and on DDS with a client that shares no code with the bridge.
use super::probe::node;
use crate::support::python;
use rfly_bridge::{
    msgs::{
        Action, Service,
        action_msgs::{
            msg::{GoalInfo, GoalStatus, GoalStatusArray},
            srv::{CancelGoal, CancelGoalRequest, CancelGoalResponse},
        },
        simulation_interfaces::{
            action::{
                SimulateSteps, SimulateSteps_Feedback, SimulateSteps_FeedbackMessage,
                SimulateSteps_GetResult_Request, SimulateSteps_GetResult_Response,
                SimulateSteps_Goal, SimulateSteps_Result, SimulateSteps_SendGoal_Request,
            },
            msg::Result as Outcome,
        },
        unique_identifier_msgs::msg::UUID,
    },
    ros::{
        ActionHandle, Distro, GoalRequest, KEPT_RESULTS, Middleware, Options, PendingResponse,
        Recorder, RunningGoal, ServiceReport,
    },
    time::RosTime,
};
use serde_json::{Value, json};
use std::{path::Path, process::Command, sync::mpsc, time::Duration};

type SendGoal = <SimulateSteps as Action>::SendGoal;
type GetResult = <SimulateSteps as Action>::GetResult;

fn outcome(text: &str) -> SimulateSteps_Result {
    SimulateSteps_Result {
        result: Outcome { result: Outcome::RESULT_OK, error_message: text.to_owned() },
    }
}

fn uuid(n: u8) -> UUID {
    UUID { uuid: [n; 16] }
}

/// An action on a recorder. Its clock stands still at the number of goals that were decided on.
struct Rig {
    recorder: Recorder,
    requests: mpsc::Receiver<GoalRequest<SimulateSteps>>,
    clock: mpsc::SyncSender<RosTime>,
    _action: ActionHandle,
}

impl Rig {
    fn new() -> Self {
        let options = Options::new("bridge");
        let (middleware, recorder) = Middleware::recorder(&options).expect("a recorder");
        let (hand_on, requests) = mpsc::channel();
        let (clock, times) = mpsc::sync_channel(1000);
        let times = std::sync::Mutex::new(times);
        let now = move || times.lock().unwrap().recv().expect("a time");
        let action = middleware
            .action::<SimulateSteps>("~/steps", now, move |request| {
                let _ = hand_on.send(request); // after the test nobody listens
            })
            .expect("an action");
        Self { recorder, requests, clock, _action: action }
    }

    fn ask<S: Service>(&self, part: &str, request: &S::Request) -> PendingResponse<S::Response> {
        let name = format!("/bridge/steps/_action/{part}");
        self.recorder.ask::<S>(&name, request).expect("a service")
    }

    fn send(&self, id: u8) -> PendingResponse<<SendGoal as Service>::Response> {
        let request = SimulateSteps_SendGoal_Request {
            goal_id: uuid(id),
            goal: SimulateSteps_Goal { steps: id.into() },
        };
        self.ask::<SendGoal>("send_goal", &request)
    }

    /// A goal that runs since `second`.
    fn run(&self, id: u8, second: i64) -> RunningGoal<SimulateSteps> {
        let asked = self.send(id);
        self.clock.send(RosTime(second * 1_000_000_000)).unwrap();
        let running = self.requests.try_recv().expect("a request").accept();
        let response = asked.response().expect("a response");
        assert_eq!((response.accepted, i64::from(response.stamp.sec)), (true, second));
        running
    }

    fn result(&self, id: u8) -> PendingResponse<SimulateSteps_GetResult_Response> {
        let request = SimulateSteps_GetResult_Request { goal_id: uuid(id) };
        self.ask::<GetResult>("get_result", &request)
    }

    fn cancel(&self, id: u8, second: i32) -> (i8, Vec<u8>) {
        let mut info = GoalInfo { goal_id: uuid(id), ..GoalInfo::default() };
        info.stamp.sec = second;
        let request = CancelGoalRequest { goal_info: info };
        let response = self.ask::<CancelGoal>("cancel_goal", &request);
        let response = response.response().expect("a response");
        let goals = response.goals_canceling.iter();
        (response.return_code, goals.map(|goal| goal.goal_id.uuid[0]).collect())
    }

    /// Ids and states that were published last.
    fn states(&self) -> Vec<(u8, i8)> {
        let name = "/bridge/steps/_action/status";
        let all = self.recorder.messages::<GoalStatusArray>(name);
        let last = all.expect("states").pop().unwrap_or_default();
        let goals = last.status_list.iter();
        goals.map(|goal| (goal.goal_info.goal_id.uuid[0], goal.status)).collect()
    }
}

#[test]
fn a_goal_is_accepted_tells_how_it_goes_and_ends_with_a_result() {
    let rig = Rig::new();
    let running = rig.run(7, 12);
    assert_eq!(running.goal().steps, 7);
    assert_eq!(rig.states(), [(7, GoalStatus::STATUS_EXECUTING)]);
    let early = rig.result(7);
    assert_eq!(early.response(), None, "the result is not there yet");

    running.feedback(SimulateSteps_Feedback { completed_steps: 3, remaining_steps: 4 });
    let feedback = rig
        .recorder
        .messages::<SimulateSteps_FeedbackMessage>("/bridge/steps/_action/feedback")
        .expect("feedback");
    assert_eq!(feedback.len(), 1);
    assert_eq!(feedback[0].goal_id, uuid(7));
    assert_eq!(feedback[0].feedback.completed_steps, 3);

    running.succeed(outcome("all seven"));
    assert_eq!(rig.states(), [(7, GoalStatus::STATUS_SUCCEEDED)]);
    let expected = SimulateSteps_GetResult_Response {
        status: GoalStatus::STATUS_SUCCEEDED,
        result: outcome("all seven"),
    };
    assert_eq!(early.response(), Some(expected.clone()));
    assert_eq!(rig.result(7).response(), Some(expected));
}

#[test]
fn a_goal_is_rejected_by_the_server_by_its_silence_and_by_an_id_that_is_known() {
    let rig = Rig::new();
    for decide in [GoalRequest::reject, drop::<GoalRequest<SimulateSteps>>] {
        let asked = rig.send(1);
        rig.clock.send(RosTime(1)).unwrap();
        decide(rig.requests.try_recv().expect("a request"));
        assert!(!asked.response().expect("a response").accepted);
    }
    let rig = Rig::new();
    let running = rig.run(2, 1);
    rig.clock.send(RosTime(1)).unwrap();
    assert!(!rig.send(2).response().expect("a response").accepted);
    assert!(rig.requests.try_recv().is_err(), "nobody is asked about it");
    running.abort(outcome("no"));
    assert_eq!(rig.states(), [(2, GoalStatus::STATUS_ABORTED)]);
    let unknown = rig.result(3).response().expect("a response");
    assert_eq!(unknown.status, GoalStatus::STATUS_UNKNOWN);
}

#[test]
fn an_id_is_requested_once_until_its_request_is_decided() {
    let rig = Rig::new();
    let first = rig.send(1);
    rig.clock.send(RosTime(1)).unwrap();
    assert!(!rig.send(1).response().expect("a response").accepted);
    let request = rig.requests.try_recv().expect("a request");
    assert!(rig.requests.try_recv().is_err(), "the second one is rejected at once");
    rig.clock.send(RosTime(1)).unwrap();
    request.reject();
    assert!(!first.response().expect("a response").accepted);
    rig.run(1, 2).succeed(outcome("a rejected id is free again"));
    assert_eq!(rig.states(), [(1, GoalStatus::STATUS_SUCCEEDED)]);
}

#[test]
fn goals_are_canceled_by_id_by_time_and_all_together() {
    let rig = Rig::new();
    let goals: Vec<_> = (1..=5).map(|id| rig.run(id, i64::from(id) * 10)).collect();
    let canceling = || -> Vec<_> { goals.iter().map(RunningGoal::is_canceling).collect() };

    assert_eq!(rig.cancel(4, 0), (CancelGoalResponse::ERROR_NONE, vec![4]));
    assert_eq!(canceling(), [false, false, false, true, false]);
    assert_eq!(rig.cancel(4, 0), (CancelGoalResponse::ERROR_GOAL_TERMINATED, vec![]));
    assert_eq!(rig.cancel(9, 0), (CancelGoalResponse::ERROR_UNKNOWN_GOAL_ID, vec![]));
    // Those accepted until second 20.
    assert_eq!(rig.cancel(0, 20), (0, vec![1, 2]));
    assert_eq!(canceling(), [true, true, false, true, false]);
    assert_eq!(rig.cancel(0, 0), (0, vec![3, 5]));
    assert_eq!(rig.states().iter().filter(|s| s.1 == 3).count(), 5);

    let mut goals = goals.into_iter();
    goals.next().unwrap().cancel(outcome("stopped"));
    goals.next().unwrap().succeed(outcome("was done already"));
    drop(goals);
    let ends: Vec<_> = rig.states().iter().map(|(_, state)| *state).collect();
    assert_eq!(ends, [5, 4, 6, 6, 6]);
    let running = rig.run(6, 60);
    running.cancel(outcome("nobody asked"));
    assert_eq!(rig.states().last(), Some(&(6, GoalStatus::STATUS_ABORTED)));
}

#[test]
fn a_time_and_an_id_select_the_goal_and_those_before() {
    let rig = Rig::new();
    let _goals: Vec<_> = (1..=4).map(|id| rig.run(id, i64::from(id) * 10)).collect();
    assert_eq!(rig.cancel(4, 15), (0, vec![1, 4]));
}

#[test]
fn results_of_the_last_goals_are_kept_and_goals_that_run_are_never_forgotten() {
    let rig = Rig::new();
    let _runs = rig.run(200, 1);
    for id in 0..=KEPT_RESULTS as u8 {
        rig.run(id, 2).succeed(outcome("done"));
    }
    let state = |id| rig.result(id).response().map(|response| response.status);
    assert_eq!(state(0), Some(GoalStatus::STATUS_UNKNOWN));
    assert_eq!(state(1), Some(GoalStatus::STATUS_SUCCEEDED));
    assert_eq!(state(200), None, "it waits for the result");
    assert_eq!(rig.states().len(), 1 + KEPT_RESULTS);
}

#[tokio::test]
async fn who_waits_for_a_cancellation_hears_of_it() {
    let rig = Rig::new();
    let mut running = rig.run(1, 1);
    assert_eq!(rig.cancel(1, 0).0, 0);
    running.canceling().await;
    running.cancel(outcome("as wanted"));
    assert_eq!(rig.states(), [(1, GoalStatus::STATUS_CANCELED)]);
}

/// Rejects 0 steps, forgets goals of 13, does few steps at once, and many until it is canceled.
fn serve(request: GoalRequest<SimulateSteps>) {
    let steps = request.goal().steps;
    if steps == 0 {
        return request.reject();
    }
    let running = request.accept();
    let thread = std::thread::Builder::new().name("steps".to_owned());
    let work = move || {
        if steps == 13 {
            return;
        }
        for step in 1..=steps.min(3) {
            running.feedback(SimulateSteps_Feedback {
                completed_steps: step,
                remaining_steps: steps - step,
            });
        }
        if steps <= 3 {
            return running.succeed(outcome("done"));
        }
        while !running.is_canceling() {
            std::thread::sleep(Duration::from_millis(1));
        }
        running.cancel(outcome("stopped"));
    };
    thread.spawn(work).expect("a thread");
}

#[test]
fn an_independent_client_sends_follows_and_cancels_goals() {
    let middleware = node(71, Distro::Newer);
    let _action = middleware
        .action::<SimulateSteps>("/steps", || RosTime(5_000_000_000), serve)
        .expect("an action");
    let Some(python) = python::interpreter() else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/ros/action_client.py");
    let client = Command::new(python)
        .arg(script)
        .arg("71")
        .env_remove("CYCLONEDDS_URI")
        .output()
        .expect("python starts");
    let error = String::from_utf8_lossy(&client.stderr);
    assert!(client.status.success(), "{error}");
    let seen: Value = serde_json::from_slice(&client.stdout).expect("JSON");
    let feedback = "simulation_interfaces/action/SimulateSteps_FeedbackMessage";
    assert_eq!(
        seen["types"],
        json!({
            "/steps/_action/feedback": feedback,
            "/steps/_action/status": "action_msgs/msg/GoalStatusArray",
        })
    );
    let short = json!({
        "accepted": true, "end": "succeeded", "message": "done", "feedback": [[1, 2], [2, 1], [3, 0]],
    });
    assert_eq!(seen["short"], short);
    for (what, expected) in [
        ("late", json!("succeeded")),
        ("unknown", json!("unknown")),
        ("again", json!(false)),
        ("none", json!(false)),
        ("cancel_unknown", json!(2)),
        ("cancel_ended", json!(3)),
        ("cancel", json!([0, [true]])),
        ("canceled", json!("canceled")),
        ("cancel_all", json!(2)),
        ("all_canceled", json!(["canceled", "canceled"])),
        ("dropped", json!("aborted")),
    ] {
        assert_eq!(seen[what], expected, "{what}");
    }
    let failed = |s: &ServiceReport| s.stats.undelivered + s.stats.undecodable;
    assert_eq!(middleware.services().iter().map(failed).sum::<u64>(), 0);
}
