use super::{bridge::SUBSYSTEMS, subsystem::TopicPage};

/// Returns `docs/topics.md`, assembled from the tables of all subsystems.
pub fn topics_markdown() -> String {
    let mut page = TopicPage::default();
    for subsystem in SUBSYSTEMS {
        (subsystem.topics)(&mut page);
    }
    let TopicPage { sensors, others, chapters } = page;
    format!("{SENSORS}{sensors}{OTHERS}{others}{chapters}")
}

const SENSORS: &str = "\
# Topics

`make docs` generates this page from tables in the source (sensors: `src/sensors/mod.rs`); a test compares them. Why the messages
look as they do: [sensors.md](sensors.md).

* `<N>` is the sensor's `SeqID`, `<prefix>` the frame prefix of its vehicle (empty for a single vehicle).
* *QoS* is the name in `qos.<group>.*` parameters.
* *Modes* are the values of `SendProtocol[0]`: 0 shared memory, 1 and 3 UDP compressed, 2 UDP raw.
* Nothing is converted for a topic without subscribers.

| TypeID | Sensor | Topic | Type | Frame | QoS | Modes | Content |
|---|---|---|---|---|---|---|---|
";

const OTHERS: &str = "
Topics of the vehicles and of the bridge itself. With several vehicles `imu`, `ground_truth` and `robot_description` are below
`/rflysim/copter<id>`:

| Topic | Type | QoS | Content |
|---|---|---|---|
";
