//! `control.read_only`: everything is told, nothing is done.
use super::fcu::Fcu;
use super::rig::Rig;
use rfly_bridge::msgs::Message;
use rfly_bridge::msgs::geometry_msgs::msg::{PoseStamped, TwistStamped};
use rfly_bridge::msgs::mavros_msgs::msg::{
    AttitudeTarget, CompanionProcessStatus, ManualControl, OverrideRCIn, PositionTarget, State,
    WaypointList,
};
use rfly_bridge::msgs::mavros_msgs::srv::*;
use rfly_bridge::vehicle::VehicleSettings;
use rfly_bridge::wire::mavlink::frames;
use std::time::Duration;

fn connected() -> (Rig, Fcu) {
    let mut rig = Rig::new(VehicleSettings { read_only: true, ..VehicleSettings::default() });
    let mut fcu = Fcu::new();
    // Long enough for what the bridge asks by itself.
    for _ in 0..8 {
        fcu.beat(&mut rig);
        fcu.serve(&mut rig, Duration::from_secs(1));
    }
    rig.sent_bytes();
    (rig, fcu)
}

fn refused(rig: &Rig) -> u64 {
    rig.counted("unsupported")
}

/// Ids of the messages that were sent since the last call, without the heartbeat.
fn ids(rig: &Rig) -> Vec<u32> {
    let bytes = rig.sent_bytes();
    let ids = frames(&bytes).map(|frame| frame.expect("a frame").id);
    ids.filter(|id| *id != 0).collect()
}

#[test]
fn telemetry_is_as_ever() {
    let (rig, _) = connected();
    assert!(rig.messages::<State>("state").iter().any(|state| state.connected));
    assert!(!rig.messages::<WaypointList>("mission/waypoints").is_empty());
}

fn topic_is_refused<M: Message>(rig: &Rig, topic: &str, message: &M) {
    let before = refused(rig);
    rig.publish(topic, message);
    rig.poll();
    assert_eq!(ids(rig), Vec::<u32>::new(), "{topic}");
    assert_eq!(refused(rig), before + 1, "{topic}");
}

#[test]
fn every_setpoint_is_refused() {
    let (rig, _) = connected();
    let mut attitude = AttitudeTarget { thrust: 0.5, ..AttitudeTarget::default() };
    attitude.orientation.w = 1.0;
    let target =
        PositionTarget { coordinate_frame: 1, type_mask: 0x9F8, ..PositionTarget::default() };
    topic_is_refused(&rig, "setpoint_raw/local", &target);
    topic_is_refused(&rig, "setpoint_raw/attitude", &attitude);
    topic_is_refused(&rig, "setpoint_position/local", &PoseStamped::default());
    topic_is_refused(&rig, "setpoint_velocity/cmd_vel", &TwistStamped::default());
    topic_is_refused(&rig, "manual_control/send", &ManualControl::default());
    topic_is_refused(&rig, "rc/override", &OverrideRCIn::default());
}

#[test]
fn nobody_else_is_announced() {
    let (rig, _) = connected();
    let message =
        CompanionProcessStatus { state: 4, component: 197, ..CompanionProcessStatus::default() };
    let before = refused(&rig);
    rig.publish("companion_process/status", &message);
    let sent = rig.sent_bytes();
    assert!(frames(&sent).all(|frame| frame.expect("a frame").component != 197));
    assert_eq!(refused(&rig), before + 1);
}

#[test]
fn every_command_is_refused_at_once_and_questions_are_answered() {
    let (mut rig, mut fcu) = connected();
    let arm = rig.call_later::<CommandBool>("cmd/arming", CommandBoolRequest { value: true });
    let mode = SetModeRequest { custom_mode: "OFFBOARD".to_owned(), ..SetModeRequest::default() };
    let mode = rig.call_later::<SetMode>("set_mode", mode);
    let command = |command| CommandLongRequest { command, ..CommandLongRequest::default() };
    let reboot = rig.call_later::<CommandLong>("cmd/command", command(246));
    let land = rig.call_later::<CommandTOL>("cmd/land", CommandTOLRequest::default());
    let push = rig.call_later::<WaypointPush>("mission/push", WaypointPushRequest::default());
    let clear = rig.call_later::<WaypointClear>("mission/clear", WaypointClearRequest::default());
    let mut set =
        ParamSetV2Request { param_id: "MPC_XY_VEL_MAX".to_owned(), ..ParamSetV2Request::default() };
    (set.value.type_, set.value.double_value) = (3, 1.0);
    let set = rig.call_later::<ParamSetV2>("param/set", set);
    rig.poll();
    assert_eq!(ids(&rig), Vec::<u32>::new());
    assert!(!arm.expect().success && !mode.expect().mode_sent);
    assert!(!reboot.expect().success && !land.expect().success);
    assert!(!push.expect().success && !clear.expect().success && !set.expect().success);
    let pull = rig.call_later::<WaypointPull>("mission/pull", WaypointPullRequest::default());
    let home = rig.call_later::<CommandLong>("cmd/command", command(410));
    fcu.serve(&mut rig, Duration::from_secs(1));
    assert!(pull.expect().success && home.expect().success);
}
