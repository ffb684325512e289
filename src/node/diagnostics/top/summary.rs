//! The table as text of 80 columns, for terminals and for files.
use super::groups::{Group, TopicLine};
use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

/// The head of the table of groups; 80 columns.
pub fn head() -> String {
    row("group", ["state", "Hz", "of", "p50 ms", "p99 ms", "MB/s", "drops", "subs"])
}

fn row(name: &str, cells: [&str; 8]) -> String {
    let [state, hz, asked, p50, p99, mb, drops, subscribers] = cells;
    format!(
        "{name:<24} {state:<7} {hz:>6} {asked:>4} {p50:>7} {p99:>7} {mb:>7} {drops:>6} {subscribers:>4}"
    )
}

/// One line of the table of groups.
pub fn line_of(group: &Group) -> String {
    let [p50, p99] = match group.age_ms {
        Some(age) => age.map(|ms| short(ms, 2)),
        None => ["-", "-"].map(str::to_owned),
    };
    let asked = group.asked_hz;
    row(
        &cut(&group.name, 24),
        [
            group.state.name(),
            &short(group.hz, 1),
            &asked.map_or_else(|| "-".to_owned(), |hz| format!("{hz:.0}")),
            &p50,
            &p99,
            &short(group.mb_per_s, 2),
            &group.dropped().to_string(),
            &group.subscribers.to_string(),
        ],
    )
}

/// The head of the table of topics; 80 columns.
pub(super) fn topic_head() -> String {
    topic_row("topic", ["Hz", "p50 ms", "MB/s", "subs", "drops", "QoS"])
}

fn topic_row(name: &str, cells: [&str; 6]) -> String {
    let [hz, p50, mb, subscribers, drops, qos] = cells;
    format!("{name:<31} {hz:>6} {p50:>7} {mb:>7} {subscribers:>4} {drops:>5} {qos:<14}")
}

/// One line of the table of topics, without the common prefix of the group.
pub fn topic_line(line: &TopicLine, prefix: usize) -> String {
    let figures = &line.figures;
    let name = figures.name.get(prefix..).unwrap_or(&figures.name);
    let p50 = figures.age_ms.map_or_else(|| "-".to_owned(), |[p50, _]| short(p50, 2));
    let subscribers = line.subscribers.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let qos = match (line.incompatible, &line.qos) {
        (0, qos) => qos.as_deref().unwrap_or("-").to_owned(),
        (n, _) => format!("{n} ASK FOR MORE"),
    };
    topic_row(
        &cut(name, 31),
        [
            &short(figures.hz, 1),
            &p50,
            &short(figures.mb_per_s, 2),
            &subscribers,
            &line.dropped.to_string(),
            &cut(&qos, 14),
        ],
    )
}

/// The whole summary.
pub fn summary(groups: &[Group], remarks: &[String], elapsed: Duration) -> String {
    let mut text = head() + "\n";
    for group in groups {
        let _ = writeln!(text, "{}", line_of(group));
    }
    let topics: usize = groups.iter().map(|group| group.topics.len()).sum();
    let drops: u64 = groups.iter().map(Group::dropped).sum();
    let seconds = elapsed.as_secs_f64();
    let _ = writeln!(
        text,
        "{topics} topics in {seconds:.0} s, {drops} drops counted by the bridge; ms: age of the stamp on arrival"
    );
    for group in groups.iter().filter(|group| group.dropped() > 0) {
        let _ = writeln!(text, "  {}: dropped {}", group.name, causes(&group.drops));
    }
    for group in groups.iter().filter(|group| !group.ignored.is_empty()) {
        let _ = writeln!(text, "  {}: ignored {}", group.name, causes(&group.ignored));
    }
    for line in groups.iter().flat_map(|group| &group.topics) {
        if line.incompatible > 0 {
            let (name, n) = (&line.figures.name, line.incompatible);
            let qos = line.qos.as_deref().unwrap_or("less");
            let _ = writeln!(text, "  {name}: {n} subscribers need more than {qos}");
        }
    }
    for remark in remarks {
        let _ = writeln!(text, "{remark}");
    }
    let lines = groups.iter().flat_map(|group| &group.topics);
    let mut silent = lines.filter(|line| line.figures.total == 0);
    if let Some(first) = silent.next() {
        let count = 1 + silent.count();
        let name = &first.figures.name;
        let _ = writeln!(text, "nothing received on {count} topics, such as {name}");
    }
    text
}

/// Counts by cause, the most frequent first.
pub(super) fn causes(counts: &BTreeMap<String, u64>) -> String {
    let mut causes: Vec<_> = counts.iter().collect();
    causes.sort_by(|a, b| b.1.cmp(a.1));
    let causes: Vec<_> = causes.iter().map(|(cause, n)| format!("{n} {cause}")).collect();
    causes.join(", ")
}

/// A number in at most 7 characters.
fn short(number: f64, decimals: usize) -> String {
    match number.abs() {
        large if large >= 100_000.0 => format!("{number:.0e}"),
        large if large >= 1000.0 => format!("{number:.0}"),
        _ => format!("{number:.decimals$}"),
    }
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        text.to_owned()
    } else {
        text.chars().take(width - 1).chain(['…']).collect()
    }
}
