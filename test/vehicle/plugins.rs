//! `control.plugin_allowlist` and `control.plugin_denylist`: names and rules of mavros' plugins.
use super::{fcu::Fcu, rig::Rig};
use rfly_bridge::config::{PluginLists, plugin_of};
use rfly_bridge::msgs::mavros_msgs::msg::State;
use rfly_bridge::msgs::mavros_msgs::srv::{CommandBool, CommandBoolRequest};
use rfly_bridge::vehicle::{SERVICES, TOPICS};
use rfly_bridge::wire::mavlink::{frames, raw};
use std::collections::BTreeSet;
use std::time::Duration;

/// Plugins of mavros and mavros_extras for ROS 2 (their `mavros_plugins.xml`), less what has no topic here, and `uas`.
const OF_MAVROS: &str = "actuator_control altitude command companion_process_status debug_value distance_sensor geofence \
    global_position gps_status hil home_position imu local_position log_transfer manual_control mocap_pose_estimate mount_control \
    nav_controller_output odometry param rallypoint rc_io setpoint_accel setpoint_attitude setpoint_position setpoint_raw \
    setpoint_trajectory setpoint_velocity sys_status sys_time uas vfr_hud vibration vision_pose vision_speed waypoint wind_estimation";

fn lists(allowed: &[&str], denied: &[&str]) -> PluginLists {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    PluginLists::new(owned(allowed), owned(denied))
}

/// Names of all topics and services.
fn names() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().map(|row| row.name).chain(SERVICES.iter().map(|row| row.name))
}

#[test]
fn every_topic_and_service_is_of_a_plugin_of_mavros() {
    let found: BTreeSet<&str> = names().map(plugin_of).collect();
    assert_eq!(found, OF_MAVROS.split_whitespace().collect());
}

#[test]
fn the_rules_are_those_of_mavros() {
    let served = |lists: &PluginLists| -> BTreeSet<&str> {
        names().filter(|name| lists.serve(name)).map(plugin_of).collect()
    };
    let all = served(&lists(&[], &[]));
    assert_eq!(all.len(), 37);
    assert_eq!(served(&lists(&["sys_status", "command"], &[])), ["command", "sys_status"].into());
    let less = served(&lists(&[], &["vision_*", "rc_io"]));
    let missing: Vec<_> = all.difference(&less).copied().collect();
    assert_eq!(missing, ["rc_io", "vision_pose", "vision_speed"]);
    // Allowing wins, and only over what is denied.
    let both = served(&lists(&["setpoint_raw", "imu"], &["setpoint_*"]));
    assert!(both.contains("setpoint_raw") && both.contains("altitude"));
    assert!(!both.contains("setpoint_velocity"));
}

#[test]
fn what_is_denied_is_not_in_the_graph_and_the_rest_works() {
    let mut rig = Rig::with_plugins(&lists(&["sys_status", "command"], &[]));
    let served = |name: &str| {
        let name = name.strip_prefix("/mavros/").unwrap_or("uas{id}");
        matches!(plugin_of(name), "sys_status" | "command")
    };
    let services = rig.recorder.services();
    assert!(services.iter().all(|(name, _)| served(name)), "{services:?}");
    assert_eq!(services.iter().filter(|(name, _)| name.contains("/cmd/")).count(), 12);
    let subscribed = rig.recorder.subscribed();
    assert_eq!(subscribed, ["/mavros/statustext/send"]);
    let published = rig.ros.report();
    assert!(published.iter().all(|writer| served(&writer.topic)));
    assert!(published.iter().any(|writer| writer.topic == "/mavros/state"));

    // What is not served is not read either.
    for _ in 0..12 {
        rig.beat();
        rig.pass(Duration::from_secs(1));
    }
    let bytes = rig.sent_bytes();
    let ids: Vec<_> = frames(&bytes).map(|frame| frame.expect("a frame").id).collect();
    assert!(!ids.is_empty());
    for id in [raw::ParamRequestList::ID, raw::MissionRequestList::ID] {
        assert!(!ids.contains(&id), "{ids:?}");
    }

    let mut fcu = Fcu::new();
    for _ in 0..3 {
        fcu.beat(&mut rig);
        fcu.serve(&mut rig, Duration::from_secs(1));
    }
    assert!(rig.messages::<State>("state").iter().any(|state| state.connected));
    let arming = rig.call_later::<CommandBool>("cmd/arming", CommandBoolRequest { value: true });
    fcu.serve(&mut rig, Duration::from_secs(3));
    assert!(arming.expect().success);
}
