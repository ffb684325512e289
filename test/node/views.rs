//! Changes of a running camera: each frame has the camera_info and the place of what it shows.
use super::rig::{IMAGE, INFO, Rig, start_in};
use crate::support::wait::{wait_for, wait_until};
use rfly_bridge::doctor::{Code, from_values};
use rfly_bridge::emulator::world::World;
use rfly_bridge::msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};
use rfly_bridge::msgs::rcl_interfaces::msg::{Parameter, ParameterValue};
use rfly_bridge::msgs::rcl_interfaces::srv::{
    SetParametersAtomically, SetParametersAtomicallyRequest,
};
use rfly_bridge::msgs::sensor_msgs::msg::{CameraInfo, Image};
use rfly_bridge::msgs::tf2_msgs::msg::TFMessage;
use rfly_bridge::ros;
use std::net::UdpSocket;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What is published, in this order.
#[derive(Clone, Debug)]
enum Event {
    Mount([f64; 4], [f64; 3]),
    Image(Vec<u8>),
    Info(f64),
}

type Events = Arc<Mutex<Vec<Event>>>;

/// A camera over a world in which nothing moves.
fn watched(more: &[&str]) -> (Rig, Events, Vec<ros::Subscription>) {
    let events = Events::default();
    let mut subscriptions = Vec::new();
    let rig = start_in(World::still(1), None, more, |middleware, _| {
        let add = |events: &Events| {
            let events = events.clone();
            move |event| events.lock().unwrap().push(event)
        };
        let push = add(&events);
        let tf = move |message: TFMessage| {
            let link = message.transforms.iter().find(|t| t.child_frame_id == "sensor0_link");
            if let Some(link) = link {
                let q = &link.transform.rotation;
                let t = &link.transform.translation;
                push(Event::Mount([q.w, q.x, q.y, q.z], [t.x, t.y, t.z]));
            }
        };
        let qos = ros::Qos::SENSOR_DATA;
        subscriptions.push(middleware.subscribe("/tf_static", qos, tf).unwrap());
        let push = add(&events);
        let image = move |image: Image| push(Event::Image(image.data.to_vec()));
        subscriptions.push(middleware.subscribe(IMAGE, qos, image).unwrap());
        let push = add(&events);
        let info = move |info: CameraInfo| push(Event::Info(info.k[0]));
        subscriptions.push(middleware.subscribe(INFO, qos, info).unwrap());
    });
    (rig, events, subscriptions)
}

fn set(rig: &Rig, fov_deg: f64, pitch_deg: f64) {
    let real =
        |name: &str, value: ParameterValue| Parameter { name: format!("sensor0.{name}"), value };
    let parameters = vec![
        real(
            "fov_deg",
            ParameterValue { type_: 3, double_value: fov_deg, ..ParameterValue::default() },
        ),
        real(
            "orientation_deg",
            ParameterValue {
                type_: 8,
                double_array_value: vec![0.0, pitch_deg, 0.0],
                ..ParameterValue::default()
            },
        ),
    ];
    let name = "/rfly_bridge/set_parameters_atomically";
    let request = SetParametersAtomicallyRequest { parameters };
    let answer = rig.recorder.call::<SetParametersAtomically>(name, &request).unwrap();
    assert!(answer.result.successful, "{}", answer.result.reason);
}

fn images(events: &Events) -> usize {
    let events = events.lock().unwrap();
    events.iter().filter(|e| matches!(e, Event::Image(_))).count()
}

fn difference(a: &[u8], b: &[u8]) -> f64 {
    let sum: u64 = a.iter().zip(b).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    sum as f64 / a.len() as f64
}

/// Focal length in px of an image 64 px wide.
fn focal(fov_deg: f64) -> f64 {
    32.0 / (fov_deg.to_radians() / 2.0).tan()
}

#[test]
fn camera_info_and_tf_change_with_the_first_frame_that_shows_it() {
    let (rig, events, _subscriptions) = watched(&[]);
    wait_until(|| images(&events) > 5);
    let views = [(90.0, 0.0), (60.0, -20.0), (110.0, 15.0), (75.0, 0.0)];
    let (mut references, mut begins) = (Vec::new(), Vec::new());
    for (i, (fov, pitch)) in views.into_iter().enumerate() {
        if i > 0 {
            set(&rig, fov, pitch);
        }
        begins.push(events.lock().unwrap().len());
        // Long after the change: what this view looks like.
        let before = images(&events);
        wait_until(|| images(&events) > before + 40);
        let last = events.lock().unwrap();
        let last = last.iter().rev().find_map(|e| match e {
            Event::Image(data) => Some(data.clone()),
            _ => None,
        });
        references.push(last.unwrap());
    }
    for (i, a) in references.iter().enumerate() {
        assert!(references[i + 1..].iter().all(|b| difference(a, b) > 3.0), "views look alike");
    }
    // Each image is followed by its camera_info, and the last mount in TF is that of what it shows.
    let events = events.lock().unwrap();
    let (mut mount, mut shown, mut seen) = (None, None, [0; 4]);
    for event in events.iter() {
        match event {
            Event::Mount(wxyz, _) => mount = Some(*wxyz),
            Event::Image(data) => {
                let distance = |i: &usize| difference(data, &references[*i]);
                let nearest = (0..4).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
                assert!(
                    shown.is_none_or(|before| nearest >= before),
                    "an image of an earlier view"
                );
                shown = Some(nearest);
                seen[nearest] += 1;
                // FRD to FLU turns the sign of the pitch.
                let half = -views[nearest].1.to_radians() / 2.0;
                let [w, x, y, z] = mount.expect("TF comes first");
                let known = [half.cos(), 0.0, half.sin(), 0.0];
                let off = [w, x, y, z].into_iter().zip(known);
                let off = off.map(|(a, b): (f64, f64)| (a - b).abs());
                assert!(off.fold(0.0, f64::max) < 1e-6, "view {nearest}: TF has {mount:?}");
            }
            Event::Info(fx) => {
                let known = focal(views[shown.expect("the image comes first")].0);
                assert!((fx - known).abs() < 1e-3, "view {shown:?}: camera_info has {fx}");
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 5), "{seen:?}");
}

#[test]
fn a_camera_that_nobody_reads_moves_in_tf_as_well() {
    let (rig, events, subscriptions) = watched(&[]);
    wait_until(|| images(&events) > 2);
    drop(subscriptions);
    for topic in [IMAGE, INFO] {
        rig.recorder.set_subscribers(topic, 0);
    }
    rig.recorder.clear();
    set(&rig, 90.0, 30.0);
    let moved = |message: &TFMessage| {
        let mut links = message.transforms.iter().filter(|t| t.child_frame_id == "sensor0_link");
        links.any(|t| (t.transform.rotation.y + 15f64.to_radians().sin()).abs() < 1e-6)
    };
    wait_until(|| rig.messages::<TFMessage>("/tf_static").iter().any(moved));
}

/// What another program sends to change the field of view of sensor 0, and nothing else.
fn asks_elsewhere(rig: &Rig, fov_deg: f32) {
    let numbers =
        |numbers: &[u16]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>();
    let mut request = numbers(&[12345, 0]);
    request.extend((1_u32 << 6).to_le_bytes());
    request.extend(numbers(&[1, 1, 0, 64, 48, 30]));
    request.extend([0; 16]);
    request.extend(fov_deg.to_le_bytes());
    request.resize(148, 0);
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.send_to(&request, ("127.0.0.1", rig.ports.window)).expect("sent");
}

/// What another program sends to have sensor 0 at this place (FRD, m) with this pitch, and the field of view of the bridge.
fn places_elsewhere(rig: &Rig, position: [f32; 3], pitch_deg: f32) {
    let port = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let mut request = Vec::new();
    let camera = rig.camera;
    for number in [12345, 0, 1, 1, 0, 64, 48, 30, 1, 127, 0, 0, 1, camera, 0, 0] {
        request.extend(u16::to_le_bytes(number));
    }
    let [x, y, z] = position;
    for number in [90.0, x, y, z, 0.0, 0.0, pitch_deg, 0.0] {
        request.extend(f32::to_le_bytes(number));
    }
    request.resize(144, 0);
    port.send_to(&request, ("127.0.0.1", rig.ports.window)).expect("sent");
}

fn last_picture(events: &Events) -> Option<Vec<u8>> {
    let events = events.lock().unwrap();
    events.iter().rev().find_map(|event| match event {
        Event::Image(pixels) => Some(pixels.clone()),
        _ => None,
    })
}

fn last_mount(events: &Events) -> Option<([f64; 3], [f64; 4])> {
    let events = events.lock().unwrap();
    events.iter().rev().find_map(|event| match event {
        Event::Mount(wxyz, place) => Some((*place, *wxyz)),
        _ => None,
    })
}

/// TF has the camera at this place (FLU, m), pitched up by this angle.
fn is_at(events: &Events, place: [f64; 3], pitch_deg: f64) -> bool {
    let Some((xyz, [w, x, y, z])) = last_mount(events) else {
        return false;
    };
    let half = -pitch_deg.to_radians() / 2.0;
    let known = [half.cos(), 0.0, half.sin(), 0.0];
    let off = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.02);
    off(&xyz, &place) && off(&[w, x, y, z], &known)
}

#[test]
fn tf_follows_a_camera_that_another_program_moves_and_comes_back_with_it() {
    let (rig, events, _subscriptions) = watched(&[]);
    let shows = |place: [f64; 3], pitch_deg: f64| {
        wait_for(&format!("{place:?}, {pitch_deg} degrees"), || {
            is_at(&events, place, pitch_deg).then_some(())
        });
    };
    shows([0.3, 0.0, 0.0], 0.0);
    std::thread::sleep(Duration::from_secs(3));
    places_elsewhere(&rig, [0.5, 0.2, -0.4], -20.0);
    shows([0.5, -0.2, 0.4], -20.0);
    // A change of the field of view asks for the own place as well.
    set(&rig, 60.0, 0.0);
    shows([0.3, 0.0, 0.0], 0.0);
}

#[test]
fn a_place_is_asked_for_again_if_the_parameter_says_so() {
    let (rig, events, _subscriptions) = watched(&["request.foreign:=restore"]);
    let picture = || last_picture(&events);
    wait_until(|| is_at(&events, [0.3, 0.0, 0.0], 0.0) && picture().is_some());
    std::thread::sleep(Duration::from_secs(3));
    let before = picture().unwrap();
    let differs = || picture().is_some_and(|now| difference(&now, &before) > 1.0);
    places_elsewhere(&rig, [0.3, 0.0, 0.0], -20.0);
    wait_until(differs);
    wait_until(|| !differs());
    assert!(is_at(&events, [0.3, 0.0, 0.0], 0.0));
}

fn last_focal(events: &Events) -> Option<f64> {
    let events = events.lock().unwrap();
    events.iter().rev().find_map(|event| match event {
        Event::Info(focal) => Some(*focal),
        _ => None,
    })
}

#[test]
fn camera_info_follows_what_another_program_has_asked_for() {
    let (rig, events, _subscriptions) = watched(&[]);
    let shows = |fov_deg: f64| {
        let focal = focal(fov_deg);
        let same = |f: f64| (f - focal).abs() < 1e-3 * focal;
        wait_for(&format!("{fov_deg} degrees"), || last_focal(&events).filter(|f| same(*f)));
    };
    shows(90.0);
    asks_elsewhere(&rig, 45.0);
    shows(45.0);
    // Another parameter of the sensor is no wish for its field of view; this one is.
    set(&rig, 60.0, 0.0);
    shows(60.0);
    // The bridge repeats its own request a few times.
    wait_for("90 degrees again", || {
        asks_elsewhere(&rig, 90.0);
        std::thread::sleep(Duration::from_millis(500));
        last_focal(&events).filter(|focal_now| (focal_now - focal(90.0)).abs() < 0.01)
    });
}

#[test]
fn a_field_of_view_is_asked_for_again_if_the_parameter_says_so() {
    let (rig, events, _subscriptions) = watched(&["request.foreign:=restore"]);
    let picture = || last_picture(&events);
    wait_until(|| last_focal(&events).is_some() && picture().is_some());
    let (own, before) = (focal(90.0), picture().unwrap());
    let differs = || picture().is_some_and(|now| difference(&now, &before) > 1.0);
    asks_elsewhere(&rig, 45.0);
    wait_until(differs);
    wait_until(|| !differs());
    let events = events.lock().unwrap();
    let infos = events.iter().filter_map(|event| match event {
        Event::Info(focal) => Some(*focal),
        _ => None,
    });
    assert!(infos.into_iter().all(|focal| (focal - own).abs() < 1e-3 * own));
}

/// A status of the newest report; a new one comes ten times a second.
fn status(rig: &Rig, name: &str) -> Option<DiagnosticStatus> {
    std::thread::sleep(Duration::from_millis(50));
    let report = rig.messages::<DiagnosticArray>("/diagnostics").pop()?;
    let mut statuses = report.status.into_iter();
    statuses.find(|status| status.name == format!("rfly_bridge: {name}"))
}

#[test]
fn diagnostics_and_doctor_name_a_camera_that_is_described_with_another_field_of_view() {
    let (rig, events, _subscriptions) = watched(&["diagnostics.period_s:=0.1"]);
    rig.recorder.set_subscribers("/diagnostics", 1);
    let told = || {
        let status = status(&rig, "fields of view")?;
        let values = status.values.into_iter().map(|v| (v.key, v.value));
        Some((status.level, values.collect::<Vec<_>>()))
    };
    let found = || {
        let values = status(&rig, "doctor")?.values;
        let found = from_values(values.iter().map(|v| (v.key.as_str(), v.value.as_str())));
        let fields = found.into_iter().filter(|f| f.code == Code::FovMismatch);
        Some(fields.map(|f| f.remedy).collect::<Vec<_>>())
    };
    let agrees = || told() == Some((0, vec![])) && found() == Some(vec![]);
    wait_for("frames, and nothing to tell", || (images(&events) > 5 && agrees()).then_some(()));
    asks_elsewhere(&rig, 45.0);
    let differs = ("sensor0".to_owned(), "differs: 45, configured 90".to_owned());
    wait_for("45 degrees in /diagnostics", || {
        (told()? == (1, vec![differs.clone()])).then_some(())
    });
    let remedy = wait_for("a finding", || found()?.pop());
    assert!(remedy.ends_with("-p sensor0.fov_deg:=45.0"), "{remedy}");
    // What is asked for instead of it is nobody else's.
    set(&rig, 45.0, 0.0);
    wait_for("nothing to tell again", || agrees().then_some(()));
}
