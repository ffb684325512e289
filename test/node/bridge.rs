//! A whole bridge in this process: its start and end, and that it goes on.
use super::rig::{IMAGE, IMU, INFO, Rig, start, start_with};
use crate::support::ports::free_ports;
use crate::support::wait::wait_until;
use rfly_bridge::config::ros_args;
use rfly_bridge::msgs::builtin_interfaces::msg::Time;
use rfly_bridge::msgs::diagnostic_msgs::msg::DiagnosticArray;
use rfly_bridge::msgs::geometry_msgs::msg::TransformStamped;
use rfly_bridge::msgs::sensor_msgs::msg::{CameraInfo, Image, Imu};
use rfly_bridge::msgs::tf2_msgs::msg::TFMessage;
use rfly_bridge::node::{Bridge, Settings};
use rfly_bridge::ros::{self, Middleware};
use rfly_bridge::wire::Ports;
use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn nanoseconds(stamp: &Time) -> i64 {
    i64::from(stamp.sec) * 1_000_000_000 + i64::from(stamp.nanosec)
}

#[test]
fn nothing_of_a_bridge_that_has_stopped_keeps_its_node() {
    let [page] = free_ports();
    let page = format!("view.port:={page}");
    let Rig { bridge, middleware, .. } = start(&[&page, "view.control:=true"], |_, _| {});
    let departure = bridge.departure();
    drop(middleware);
    assert!(!departure.is_over());
    drop(bridge);
    assert!(departure.is_over());
}

#[test]
fn the_first_frame_has_its_camera_info_and_its_place_in_tf() {
    let seen = (0..20).find_map(|_| the_first_frame());
    assert!(seen.is_some(), "this machine never ran for a second");
}

/// The simulator says 300 ms late where the vehicle is. `None` if the machine stood still for longer than the bridge waits
/// for that: then nothing is proved.
fn the_first_frame() -> Option<()> {
    let begin = Instant::now();
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let port = socket.local_addr().expect("it is bound").port();
    let rig = start_with(Some(port), &[], |_, _| {});
    std::thread::sleep(Duration::from_millis(300));
    let to = ("127.0.0.1", rig.ports.true_state);
    let late = std::thread::Builder::new().name("late states".to_owned());
    let forward = move || {
        let mut datagram = [0; 2048];
        while let Ok(len) = socket.recv(&mut datagram) {
            // The bridge may have ended.
            let _ = socket.send_to(&datagram[..len], to);
        }
    };
    late.spawn(forward).expect("a thread");
    wait_until(|| !rig.recorder.raw("/tf").is_empty());
    if begin.elapsed() > Duration::from_secs(1) {
        return None;
    }
    wait_until(|| rig.messages::<Image>(IMAGE).len() > 2);
    let first = rig.messages::<Image>(IMAGE)[0].header.clone();
    let stamp = nanoseconds(&first.stamp);
    wait_until(|| {
        let infos = rig.messages::<CameraInfo>(INFO);
        infos.iter().any(|info| info.header == first)
    });
    let transforms = |topic: &str| -> Vec<_> {
        let messages = rig.messages::<TFMessage>(topic);
        messages.into_iter().flat_map(|tf| tf.transforms).collect()
    };
    let at = |transform: &TransformStamped| nanoseconds(&transform.header.stamp);
    wait_until(|| transforms("/tf").iter().any(|t| at(t) >= stamp));
    // From the frame of the image up to the map: each transform is static, or known from before the image until after it.
    let (fixed, moving) = (transforms("/tf_static"), transforms("/tf"));
    let (mut frame, mut passed) = (first.frame_id, BTreeSet::new());
    while frame != "map" {
        assert!(passed.insert(frame.clone()), "a circle at {frame}");
        let mut known = fixed.iter().chain(&moving);
        let edge = known.find(|t| t.child_frame_id == frame);
        let edge = edge.unwrap_or_else(|| panic!("no way up from {frame}"));
        let late = at(edge) - stamp;
        assert!(
            fixed.contains(edge) || late <= 0,
            "{frame} is known {late} ns after the first image"
        );
        frame.clone_from(&edge.header.frame_id);
    }
    Some(())
}

#[test]
fn a_task_that_panics_goes_on_and_diagnostics_name_it() {
    let armed = std::sync::Arc::new(AtomicBool::new(true));
    let trap = armed.clone();
    let mut trapped = None;
    let rig = start(&["diagnostics.period_s:=0.1"], |middleware, recorder| {
        recorder.set_subscribers("/diagnostics", 1);
        // A subscriber of the recorder runs in the task that publishes.
        let fall = move |_: Imu| assert!(!trap.swap(false, Ordering::Relaxed), "in a test");
        trapped = Some(middleware.subscribe(IMU, ros::Qos::SENSOR_DATA, fall));
    });
    wait_until(|| !armed.load(Ordering::Relaxed));
    let before = rig.messages::<Imu>(IMU).len();
    wait_until(|| rig.messages::<Imu>(IMU).len() > before + 10);
    wait_until(|| {
        let reports = rig.messages::<DiagnosticArray>("/diagnostics");
        let mut all = reports.iter().flat_map(|report| &report.status);
        all.any(|status| {
            let failed = |value: &&_| {
                let rfly_bridge::msgs::diagnostic_msgs::msg::KeyValue { key, value } = value;
                key.contains("task_failed") && value == "1"
            };
            status.name.contains("imu of vehicle 1") && status.values.iter().any(|v| failed(&v))
        })
    });
}

#[test]
fn nothing_is_wrong_with_a_bridge_that_nobody_asks_for_anything() {
    let rig = start(&["diagnostics.period_s:=0.1"], |_, recorder| {
        recorder.set_subscribers("/diagnostics", 1);
        for topic in [IMAGE, INFO] {
            recorder.set_subscribers(topic, 0);
        }
    });
    let last = |name: &str| {
        let report = rig.messages::<DiagnosticArray>("/diagnostics").pop()?;
        let found = { report.status.into_iter() }.find(|status| status.name.ends_with(name))?;
        Some((found.level, found.message))
    };
    wait_until(|| last("sensor0 img_rgb").is_some_and(|(level, _)| level == 0));
    for name in ["scene", "scene/set_states", "reports of the renderer"] {
        assert_eq!(last(&format!(": {name}")), Some((0, "idle".to_owned())), "{name}");
    }
}

#[test]
fn a_bridge_that_ends_gives_back_its_ports_and_services() {
    let rig = start(&[], |_, _| {});
    wait_until(|| !rig.messages::<Image>(IMAGE).is_empty());
    assert!(!rig.recorder.services().is_empty());
    let Rig { recorder, middleware, bridge, emulator: _emulator, .. } = rig;
    drop(bridge);
    assert_eq!(recorder.services(), []);
    assert_eq!(recorder.subscribed(), [""; 0]);
    let published: u64 = middleware.report().iter().map(|w| w.stats.published).sum();
    std::thread::sleep(Duration::from_millis(200));
    let later: u64 = middleware.report().iter().map(|w| w.stats.published).sum();
    assert_eq!(published, later, "nothing is published any more");
}

#[test]
fn all_ports_that_are_taken_are_named_at_once_and_nothing_stays_open() {
    let taken = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("a port"));
    let [imu, autopilot_client] =
        taken.each_ref().map(|socket| socket.local_addr().expect("it is bound").port());
    let [heartbeat, true_state] = free_ports();
    let args = ros_args::parse(["--ros-args".to_owned()]).expect("arguments");
    let mut settings = Settings::load(&args).unwrap_or_else(|error| panic!("{error}"));
    settings.ports = Ports { heartbeat, autopilot_client, true_state, imu, ..Ports::default() };
    let (middleware, recorder) =
        Middleware::recorder(&ros::Options::new("rfly_bridge")).expect("a middleware");
    let error = Bridge::start(&settings, &middleware).err();
    let error = error.expect("ports are taken").to_string();
    let lines = [
        format!("IMU of vehicle 1: UDP port {imu}: "),
        format!("control of vehicle 1 (mavlink_full): UDP port {autopilot_client}: "),
    ];
    for line in lines {
        assert!(error.contains(&line), "{line} is missing: {error}");
    }
    assert_eq!(recorder.services(), []);
    assert_eq!(recorder.subscribed(), [""; 0]);
}
