//! The table of `rfly_bridge top`: groups, text of 80 columns, screen and keys.
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rfly_bridge::msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};
use rfly_bridge::node::top::{Group, GroupState, Screen, TopicFigures, groups_of, qos_of, summary};
use rfly_bridge::ros::{Qos, TopicInfo};
use std::time::Duration;

fn status(name: &str, level: u8, values: &[(&str, &str)]) -> DiagnosticStatus {
    let value = |(key, value): &(&str, &str)| KeyValue {
        key: (*key).to_owned(),
        value: (*value).to_owned(),
    };
    DiagnosticStatus {
        level,
        name: format!("rfly_bridge: {name}"),
        message: if level == 1 { "3 drops, 30.0 Hz".to_owned() } else { String::new() },
        values: values.iter().map(value).collect(),
        ..DiagnosticStatus::default()
    }
}

fn seen(name: &str, hz: f64) -> TopicFigures {
    TopicFigures {
        name: name.to_owned(),
        type_name: "sensor_msgs/msg/Image".to_owned(),
        hz,
        mb_per_s: hz * 0.1,
        age_ms: (hz > 0.0).then_some([2.5, 7.25]),
        total: (hz * 10.0) as u64,
    }
}

/// A camera, one that drops, one that is slow, one that is gone, and a vehicle.
fn groups() -> Vec<Group> {
    let sensor = |name: &str, level, hz: &str, more: &[(&str, &str)]| {
        let own = [("state", "up"), ("rate_hz", hz), ("asked_hz", "30")];
        let values: Vec<_> = more.iter().chain(&own).copied().collect();
        status(name, level, &values)
    };
    let topic = [
        ("subscribers", "3"),
        ("qos", "reliable, volatile, keep last 2"),
        ("dropped", "0"),
        ("incompatible_qos", "0"),
    ];
    let best_effort = [
        ("subscribers", "0"),
        ("qos", "best effort, volatile, keep last 5"),
        ("dropped", "4"),
        ("incompatible_qos", "2"),
    ];
    let report = DiagnosticArray {
        status: vec![
            sensor("sensor0 img_rgb", 0, "30.0", &[]),
            sensor("sensor2 img_depth", 1, "30.0", &[("drop_incomplete", "5"), ("drop_late", "9")]),
            sensor("sensor10 range", 1, "2.4", &[("below_asked", "2.4 Hz, 30.0 Hz requested")]),
            sensor("sensor11 range", 2, "0.0", &[("state", "lost")]),
            status(
                "autopilot of vehicle 1",
                0,
                &[
                    ("state", "up"),
                    ("rate_hz", "412.0"),
                    ("drop_late", "0"),
                    ("ignored_timesync", "7"),
                    ("ignored_foreign_system", "0"),
                    ("command_retransmitted", "2"),
                ],
            ),
            status("imu of vehicle 1", 0, &[("state", "up"), ("rate_hz", "200.0")]),
            status("clock of vehicle 1", 0, &[("offset_s", "1")]),
            status("topic /rflysim/sensor0/img_rgb", 0, &topic),
            status("topic /rflysim/imu", 1, &best_effort),
        ],
        ..DiagnosticArray::default()
    };
    let topics = [
        seen("/rflysim/sensor0/img_rgb", 30.0),
        seen("/rflysim/sensor0/camera_info", 30.0),
        seen("/rflysim/sensor10/range", 2.4),
        seen("/rflysim/imu", 199.7),
        seen("/mavros/imu/data", 50.0),
        seen("/mavros/rc/in", 0.0),
        seen("/tf", 100.0),
    ];
    groups_of(&topics, &report)
}

#[test]
fn topics_are_read_as_their_publishers_offer_them() {
    let topic = |name: &str, offered| TopicInfo {
        name: name.to_owned(),
        type_name: "std_msgs/msg/String".to_owned(),
        publishers: 1,
        offered,
    };
    let latched = topic("/rflysim/fleet/ready", Qos::LATCHED);
    assert_eq!(qos_of(&latched), Qos::LATCHED);
    assert_eq!(qos_of(&topic("/rflysim/imu", Qos::SENSOR_DATA)), Qos::SENSOR_DATA);
    // A workspace does not tell what is offered.
    assert_eq!(qos_of(&topic("/tf_static", Qos::DEFAULT)), Qos::LATCHED);
}

fn find<'a>(groups: &'a [Group], name: &str) -> &'a Group {
    let found = groups.iter().find(|group| group.name == name);
    found.unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn topics_are_grouped_by_sensor_and_vehicle_the_worst_first() {
    let groups = groups();
    let names: Vec<_> = groups.iter().map(|g| (g.name.as_str(), g.state)).collect();
    assert_eq!(
        names,
        [
            ("sensor11 range", GroupState::Lost),
            ("sensor10 range", GroupState::Slow),
            ("sensor2 img_depth", GroupState::Drops),
            ("vehicle 1", GroupState::Drops),
            ("sensor0 img_rgb", GroupState::Ok),
            ("bridge", GroupState::Ok),
        ]
    );
    let camera = find(&groups, "sensor0 img_rgb");
    assert_eq!((camera.hz, camera.asked_hz), (30.0, Some(30.0)));
    assert_eq!((camera.subscribers, camera.topics.len()), (2, 2), "without this one");
    let depth = find(&groups, "sensor2 img_depth");
    assert_eq!(depth.dropped(), 14);
    let vehicle = find(&groups, "vehicle 1");
    let topics: Vec<_> = vehicle.topics.iter().map(|line| line.figures.name.as_str()).collect();
    assert_eq!(topics, ["/mavros/imu/data", "/mavros/rc/in", "/rflysim/imu"]);
    assert_eq!(vehicle.drops["published"], 4);
    assert_eq!((vehicle.dropped(), &vehicle.ignored), (4, &[("timesync".to_owned(), 7)].into()));
}

#[test]
fn without_diagnostics_the_topics_are_there() {
    let topics = [seen("/rflysim/copter2/sensor3/range", 5.0), seen("/rflysim/copter2/imu", 9.0)];
    let groups = groups_of(&topics, &DiagnosticArray::default());
    let names: Vec<_> = groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["sensor3", "vehicle 2"]);
    assert_eq!(groups[1].hz, 9.0);
}

#[test]
fn the_summary_has_80_columns_and_says_causes_readers_and_silence() {
    let remarks =
        ["below the requested rate: sensor10 range: 2.4 Hz, 30.0 Hz requested".to_owned()];
    let text = summary(&groups(), &remarks, Duration::from_secs(5));
    let [head, first, ..] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(head.starts_with("group ") && first.starts_with("sensor11 range "), "{text}");
    let rows: Vec<_> = text.lines().skip(1).take(6).collect();
    let ends = |row: &&str| row.chars().count() == head.chars().count();
    assert!(rows.iter().all(ends), "columns below their heads:\n{text}");
    assert!(text.contains("7 topics in 5 s, 18 drops counted by the bridge"), "{text}");
    assert!(text.contains("sensor2 img_depth: dropped 9 late, 5 incomplete"), "{text}");
    assert!(text.contains("vehicle 1: ignored 7 timesync\n"), "{text}");
    assert!(text.contains("/rflysim/imu: 2 subscribers need more than best effort"), "{text}");
    assert!(text.contains("nothing received on 1 topics, such as /mavros/rc/in\n"), "{text}");
    assert!(text.contains(&remarks[0]), "{text}");
}

#[test]
fn programs_read_groups_and_topics() {
    let groups = groups();
    let json_of = |name| serde_json::to_value(find(&groups, name)).unwrap();
    let json = json_of("sensor0 img_rgb");
    assert_eq!(json["state"], "ok");
    assert_eq!(json["asked_hz"], 30.0);
    assert_eq!(json["age_ms"]["p99"], 7.25);
    assert_eq!(json["topics"][1]["qos"], "reliable, volatile, keep last 2");
    assert_eq!(json_of("sensor2 img_depth")["drops"]["late"], 9);
}

/// A screen on a terminal of 80 by 24.
struct Shown(Screen, Terminal<TestBackend>);

impl Shown {
    fn new() -> Self {
        let mut screen = Screen::default();
        screen.update(groups(), vec!["a remark".to_owned()], Duration::from_secs(3));
        Self(screen, Terminal::new(TestBackend::new(80, 24)).unwrap())
    }

    fn lines(&mut self) -> Vec<String> {
        self.1.draw(|frame| self.0.draw(frame)).unwrap();
        let buffer = self.1.backend().buffer().clone();
        let row = |y| (0..80).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..24).map(row).map(|row| row.trim_end().to_owned()).collect()
    }

    fn type_in(&mut self, keys: &[KeyCode]) -> bool {
        let key = |code: &KeyCode| KeyEvent::new(*code, KeyModifiers::NONE);
        keys.iter().all(|code| self.0.key(key(code)))
    }
}

#[test]
fn the_screen_shows_groups_and_its_keys() {
    let mut shown = Shown::new();
    let lines = shown.lines();
    assert!(lines[0].starts_with("rfly_bridge top  6 of 6 groups, 3 s, by worst"), "{lines:#?}");
    assert!(lines[1].starts_with("group ") && lines[1].ends_with("subs"), "{lines:#?}");
    assert!(lines[2].starts_with("sensor11 range           LOST"), "{lines:#?}");
    assert!(lines[7].starts_with("bridge "), "{lines:#?}");
    assert_eq!(lines[22], "a remark");
    assert!(lines[23].starts_with("q quit"), "{lines:#?}");
}

#[test]
fn keys_filter_sort_open_and_end() {
    let mut shown = Shown::new();
    assert!(shown.type_in(&[KeyCode::Char('s')]));
    let lines = shown.lines();
    assert!(lines[0].ends_with("by name") && lines[2].starts_with("sensor0 "), "{lines:#?}");
    assert!(lines[4].starts_with("sensor10 "), "numbers by value: {lines:#?}");
    // A q within the filter is a letter.
    assert!(shown.type_in(&[KeyCode::Char('/'), KeyCode::Char('q')]));
    assert!(shown.lines()[23].starts_with("filter: q_"));
    let word = "mavros".chars().map(KeyCode::Char);
    let keys: Vec<_> = [KeyCode::Backspace].into_iter().chain(word).collect();
    assert!(shown.type_in(&keys));
    assert!(shown.lines()[0].contains("1 of 6 groups"), "by the names of topics");
    assert!(shown.type_in(&[KeyCode::Enter, KeyCode::Enter]));
    let lines = shown.lines();
    assert!(lines[0].contains("vehicle 1: drops"), "{lines:#?}");
    assert!(
        lines.iter().any(|line| line.contains("imu/data") && line.contains("50.0")),
        "{lines:#?}"
    );
    assert!(lines.iter().any(|line| line.contains("2 ASK FO")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("dropped: 4 published")), "{lines:#?}");
    assert!(lines.iter().any(|line| line == "ignored: 7 timesync"), "{lines:#?}");
    assert!(shown.type_in(&[KeyCode::Esc, KeyCode::Esc]));
    assert!(shown.lines()[0].contains("6 of 6 groups"));
    assert!(!shown.type_in(&[KeyCode::Char('q')]), "it ends");
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert!(!shown.0.key(interrupt), "raw terminals give no signal");
}
