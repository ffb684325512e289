use crate::sensors::{FrameKind, SensorSpec, TopicSpec, specs};
use crate::vehicle::{Direction, SERVICES, TOPICS, TRUTH_TOPICS};
use std::fmt::Write as _;

/// Returns `docs/topics.md`, made of [`specs`] and [`TRUTH_TOPICS`].
pub fn topics_markdown() -> String {
    let mut text = String::from(HEAD);
    for spec in specs() {
        for (i, topic) in spec.topics.iter().enumerate() {
            row(&mut text, spec, topic, i == 0);
        }
    }
    text += VEHICLES;
    for topic in TRUTH_TOPICS {
        let _ = writeln!(
            text,
            "| `/rflysim/{}` | `{}` | `{}` | {} |",
            topic.name,
            topic.interface,
            topic.group.name(),
            topic.doc
        );
    }
    text += TAIL;
    text += MAVROS;
    for topic in TOPICS {
        let (direction, qos) = match topic.direction {
            Direction::Published => ("out", format!("`{}`", topic.group.name())),
            Direction::Subscribed => ("in", String::new()),
        };
        let _ = writeln!(
            text,
            "| `{}` | {direction} | `{}` | {qos} | {} |",
            topic.name, topic.interface, topic.doc
        );
    }
    text += MAVROS_SERVICES;
    for service in SERVICES {
        let _ = writeln!(
            text,
            "| `{}` | `{}` | {} |",
            service.name, service.interface, service.doc
        );
    }
    text
}

const HEAD: &str = "\
# Topics

Made from the table of sensors (`src/sensors/mod.rs`) by `make docs`; a test compares. Why the messages look as they do:
[sensors.md](sensors.md).

* `<N>` is the sensor's `SeqID`, `<prefix>` the frame prefix of its vehicle (empty for a single vehicle).
* *QoS* is the name in `qos.<group>.*` parameters.
* *Modes* are the values of `SendProtocol[0]`: 0 shared memory, 1 and 3 UDP compressed, 2 UDP raw.
* Nothing is converted for a topic without subscribers.

| TypeID | Sensor | Topic | Type | Frame | QoS | Modes | Content |
|---|---|---|---|---|---|---|---|
";

const VEHICLES: &str = "\
| IMU | imu | `/rflysim/imu` | `sensor_msgs/msg/Imu` | `<prefix>imu_link` | `imu` | all | FLU, m/s², rad/s; no orientation (REP 145) |

Of the vehicles and of the bridge itself; with several vehicles `imu`, `ground_truth` and `robot_description` are below
`/rflysim/copter<id>`:

| Topic | Type | QoS | Content |
|---|---|---|---|
";

const TAIL: &str = "\
| `/tf`, `/tf_static` | `tf2_msgs/msg/TFMessage` | `tf`, `tf_static` | every frame that a topic names ([frames.md](frames.md)) |
| `/rflysim/robot_description` | `std_msgs/msg/String` | `robot_description` | the vehicle with its sensors as URDF, latched |
| `/clock` | `rosgraph_msgs/msg/Clock` | `clock` | simulation time, with `time.mode: sim` only |
| `/diagnostics` | `diagnostic_msgs/msg/DiagnosticArray` | `diagnostics` | one status per source, topic and clock, one of all services and one of the frames |
| `~/stats` | `rfly_bridge_msgs/msg/BridgeStats` | `diagnostics` | the figures of the sources and clocks as numbers |
";

const MAVROS: &str = "
# Control of vehicles, as mavros has it

Below the prefix of the vehicle (`control.prefix`; `/mavros`, `/mavros2`, ...), made from the table `TOPICS` of
`src/vehicle/topics.rs`. What differs from mavros and why: [mavros.md](mavros.md). Subscriptions are best effort, volatile,
depth 5: they match every writer.

| Topic | | Type | QoS | Content |
|---|---|---|---|---|
";

const MAVROS_SERVICES: &str = "
| Service | Type | What it does |
|---|---|---|
";

fn row(text: &mut String, spec: &SensorSpec, topic: &TopicSpec, first: bool) {
    let frame = match topic.frame {
        FrameKind::Optical => "`<prefix>sensor<N>_optical_frame`",
        FrameKind::Link => "`<prefix>sensor<N>_link`",
        FrameKind::World => "`map`",
    };
    let modes: Vec<String> = spec
        .modes()
        .iter()
        .filter(|m| !topic.compressed_only || [1, 3].contains(*m))
        .map(u16::to_string)
        .collect();
    let (type_id, name) = if first {
        (spec.kind.type_id().to_string(), spec.name)
    } else {
        (String::new(), "")
    };
    let _ = writeln!(
        text,
        "| {type_id} | {name} | `/rflysim/sensor<N>/{}` | `{}` | {frame} | `{}` | {} | {} |",
        topic.suffix,
        topic.interface,
        topic.group.name(),
        modes.join(", "),
        topic.doc,
    );
}
