//! Interface of a subsystem: a folder of `node`, and a row in the table of `bridge.rs`.
use super::{assembly::Assembly, context::Context, error::NodeError};
use crate::config::{Direction, ServiceRow, TopicRow, params::QosGroup};
use std::fmt::Write as _;

/// A part of the bridge that does not name the others.
pub(super) struct Subsystem {
    /// Opens topics and ports, and registers tasks and figures.
    pub(super) open: fn(&Context<'_>, &mut Assembly) -> Result<(), NodeError>,
    pub(super) topics: fn(&mut TopicPage),
}

/// Head of a table of services.
pub(super) const SERVICE_HEAD: &str = "
| Service | Type | What it does |
|---|---|---|
";

/// `docs/topics.md` under construction.
#[derive(Default)]
pub(super) struct TopicPage {
    /// Rows of the table of sensors.
    pub(super) sensors: String,
    /// Rows of the table of vehicles and of the bridge itself.
    pub(super) others: String,
    /// Chapters with tables of their own.
    pub(super) chapters: String,
}

impl TopicPage {
    /// Adds a row of the table of vehicles and of the bridge itself: names, type, QoS of each name, content.
    pub(super) fn topic(&mut self, names: &[&str], interface: &str, qos: &[QosGroup], doc: &str) {
        let quoted = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            names.join(", ")
        };
        let groups: Vec<_> = qos.iter().map(|group| group.name()).collect();
        let (names, groups) = (quoted(names), quoted(&groups));
        let _ = writeln!(self.others, "| {names} | `{interface}` | {groups} | {doc} |");
    }

    /// Adds rows to the table of topics at the end of the chapters: name, direction, type, QoS, content.
    pub(super) fn topic_rows(&mut self, prefix: &str, rows: &[TopicRow]) {
        for row in rows {
            let (direction, qos) = match row.direction {
                Direction::Published(group) => ("out", format!("`{}`", group.name())),
                Direction::Subscribed => ("in", String::new()),
            };
            let TopicRow { name, interface, doc, .. } = row;
            let _ = writeln!(
                self.chapters,
                "| `{prefix}{name}` | {direction} | `{interface}` | {qos} | {doc} |"
            );
        }
    }

    /// Adds rows to the table of services: name, type, effect.
    pub(super) fn service_rows(&mut self, prefix: &str, rows: &[ServiceRow]) {
        for row in rows {
            let ServiceRow { name, interface, doc } = row;
            let _ = writeln!(self.chapters, "| `{prefix}{name}` | `{interface}` | {doc} |");
        }
    }
}
