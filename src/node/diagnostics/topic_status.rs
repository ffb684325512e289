//! The statuses of the published topics.
use crate::node::assembly::{is_below, is_grouped};
use crate::node::section::{Finding, Level, value};
use crate::ros::WriterReport;

/// One status per topic, but only one per group of topics: a group has dozens, most without subscribers. A topic with a
/// problem always gets its own status.
pub(super) fn findings(reports: &[WriterReport], groups: &[String]) -> Vec<(String, Finding)> {
    let (grouped, ungrouped): (Vec<_>, Vec<_>) = reports.iter().partition(|writer| {
        is_grouped(groups, &writer.topic)
            && writer.stats.dropped == 0
            && writer.incompatible.count == 0
    });
    let mut found: Vec<_> = ungrouped.into_iter().map(finding).collect();
    for prefix in groups {
        let members = grouped.iter().filter(|writer| is_below(&writer.topic, prefix));
        let (mut topics, mut with_subscribers, mut published, mut bytes) = (0, 0, 0, 0);
        for writer in members {
            topics += 1;
            with_subscribers += usize::from(writer.subscribers > 0);
            published += writer.stats.published;
            bytes += writer.stats.bytes;
        }
        let values = vec![
            value("topics", topics),
            value("with_subscribers", with_subscribers),
            value("published", published),
            value("bytes", bytes),
        ];
        let finding = Finding {
            level: Level::Ok,
            message: format!("{with_subscribers} of {topics} topics have subscribers"),
            values,
        };
        found.push((format!("topics of {prefix}"), finding));
    }
    found
}

fn finding(writer: &WriterReport) -> (String, Finding) {
    let mut values = vec![
        value("type", writer.type_name),
        value("qos", writer.qos),
        value("subscribers", writer.subscribers),
        value("published", writer.stats.published),
        value("bytes", writer.stats.bytes),
        value("dropped", writer.stats.dropped),
        value("torn", writer.stats.torn),
        value("incompatible_qos", writer.incompatible.count),
    ];
    if writer.stats.unshared > 0 {
        values.push(value("not_in_shared_memory", writer.stats.unshared));
    }
    if let Some(bytes) = writer.stats.retransmitted_bytes {
        values.push(value("retransmitted_bytes", bytes));
    }
    let (level, message) = match writer.incompatible.last_policy {
        Some(_) => (Level::Warn, writer.incompatible.to_string()),
        None if writer.stats.dropped > 0 => {
            (Level::Warn, format!("{} messages dropped", writer.stats.dropped))
        }
        None => (Level::Ok, format!("{} subscribers", writer.subscribers)),
    };
    let finding = Finding { level, message, values };
    (format!("topic {}", writer.topic), finding)
}
