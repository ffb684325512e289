//! A live table of topics as an independent subscriber sees them.
use super::degraded::DEGRADED;
use super::health::SHORT;
use crate::msgs::diagnostic_msgs::msg::DiagnosticArray;
use crate::node::clock::host_now;
use crate::node::error::NodeError;
use crate::ros::{Middleware, Qos, RosError, Subscription, TopicInfo};
use comfy_table::{Cell, CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time between two tables.
const REFRESH: Duration = Duration::from_secs(1);

struct Row {
    type_name: String,
    seen: Arc<Mutex<Seen>>,
    _subscription: Subscription,
}

struct Seen {
    messages: u64,
    bytes: u64,
    /// Age of the stamp on arrival, for messages that begin with a header.
    age_us: Histogram<u64>,
    total: u64,
}

/// Losses reported by the bridge: name in `/diagnostics` to the sum over all causes.
type Drops = Arc<Mutex<BTreeMap<String, u64>>>;

/// What `/diagnostics` says besides: data that is worse on purpose, sources below their requested rate; one line each.
type Remarks = Arc<Mutex<Vec<String>>>;

/// Subscribes to every topic below `prefix` and prints a table each second, for `limit` or for ever.
pub async fn run(
    middleware: &Middleware,
    prefix: &str,
    limit: Option<Duration>,
) -> Result<(), NodeError> {
    let start = Instant::now();
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let (drops, remarks) = (Drops::default(), Remarks::default());
    let (writer, remarker) = (drops.clone(), remarks.clone());
    let _diagnostics =
        middleware.subscribe::<DiagnosticArray>("/diagnostics", Qos::DEFAULT, move |message| {
            *lock(&remarker) = remarks_of(&message);
            note_drops(&mut lock(&writer), message);
        })?;
    let mut tick = tokio::time::interval(REFRESH);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut last = Instant::now();
    loop {
        tick.tick().await;
        for topic in middleware.topics() {
            if topic.name.starts_with(prefix) && !rows.contains_key(&topic.name) {
                let row = subscribe(middleware, &topic)?;
                rows.insert(topic.name, row);
            }
        }
        let seconds = last.elapsed().as_secs_f64().max(1e-3);
        last = Instant::now();
        let ended = limit.is_some_and(|limit| start.elapsed() >= limit);
        let table = table(&rows, &lock(&drops), seconds);
        show(&table, &lock(&remarks), start.elapsed(), ended).map_err(NodeError::Output)?;
        if ended {
            let shown = summary(&rows, &lock(&drops), start.elapsed());
            return shown.map_err(NodeError::Output);
        }
    }
}

/// Returns a line for what is worse on purpose, and one for each source below its requested rate.
pub fn remarks_of(message: &DiagnosticArray) -> Vec<String> {
    let lines = message.status.iter().filter_map(|status| {
        let name = &status.name;
        let name = name.strip_prefix("rfly_bridge: ").unwrap_or(name);
        if name == DEGRADED && status.level > 0 {
            let counts: Vec<_> = (status.values.iter())
                .map(|v| format!("{} {}", v.key, v.value))
                .collect();
            return Some(format!(
                "{name}: {} ({})",
                status.message,
                counts.join(", ")
            ));
        }
        let short = status.values.iter().find(|v| v.key == SHORT)?;
        Some(format!("below the requested rate: {name}: {}", short.value))
    });
    lines.collect()
}

fn note_drops(drops: &mut BTreeMap<String, u64>, message: DiagnosticArray) {
    let counts = |key: &str| key.starts_with("drop_") || key == "dropped" || key == "torn";
    for status in message.status {
        let values = status.values.iter().filter(|v| counts(&v.key));
        let sum = values.filter_map(|v| v.value.parse::<u64>().ok()).sum();
        drops.insert(status.name, sum);
    }
}

fn subscribe(middleware: &Middleware, topic: &TopicInfo) -> Result<Row, RosError> {
    let histogram = Histogram::new_with_bounds(1, 60_000_000, 2).unwrap_or_else(|_| unreachable!());
    let seen = Arc::new(Mutex::new(Seen {
        messages: 0,
        bytes: 0,
        age_us: histogram,
        total: 0,
    }));
    let writer = seen.clone();
    // Latched messages were published before this program started.
    let latched = ["/tf_static", "/robot_description", "/ground_truth/path"];
    let qos = match latched.iter().any(|name| topic.name.ends_with(name)) {
        true => Qos::LATCHED,
        false => Qos::DEFAULT,
    };
    let subscription = middleware.watch(&topic.name, &topic.type_name, qos, move |message| {
        let mut seen = lock(&writer);
        seen.messages += 1;
        seen.total += 1;
        seen.bytes += message.bytes as u64;
        if let Some(stamp) = message.stamp {
            let us = (host_now().0 - stamp.0) / 1000;
            seen.age_us
                .saturating_record(u64::try_from(us).unwrap_or(0).max(1));
        }
    })?;
    Ok(Row {
        type_name: topic.type_name.clone(),
        seen,
        _subscription: subscription,
    })
}

fn table(rows: &BTreeMap<String, Row>, drops: &BTreeMap<String, u64>, seconds: f64) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED);
    table.set_header([
        "topic",
        "type",
        "Hz",
        "MB/s",
        "latency p50 ms",
        "p99 ms",
        "received",
        "drops",
    ]);
    for column in 2..8 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for (name, row) in rows {
        let mut seen = lock(&row.seen);
        let ms = |quantile| match seen.age_us.is_empty() {
            true => "-".to_owned(),
            false => format!(
                "{:.2}",
                seen.age_us.value_at_quantile(quantile) as f64 * 1e-3
            ),
        };
        table.add_row([
            Cell::new(name),
            Cell::new(&row.type_name),
            Cell::new(format!("{:.1}", seen.messages as f64 / seconds)),
            Cell::new(format!("{:.2}", seen.bytes as f64 / seconds * 1e-6)),
            Cell::new(ms(0.5)),
            Cell::new(ms(0.99)),
            Cell::new(seen.total),
            Cell::new(drops_of(drops, name)),
        ]);
        seen.messages = 0;
        seen.bytes = 0;
        seen.age_us.reset();
    }
    table
}

/// Returns the bridge's drops for this topic: in its source, and in its publisher.
fn drops_of(drops: &BTreeMap<String, u64>, topic: &str) -> u64 {
    let source = topic.split('/').find(|part| part.starts_with("sensor"));
    let concerns = |name: &str| {
        let name = name.strip_prefix("rfly_bridge: ").unwrap_or(name);
        match name.strip_prefix("topic ") {
            Some(published) => published == topic,
            None => source.is_some_and(|s| name.split(' ').next() == Some(s)),
        }
    };
    drops
        .iter()
        .filter(|(name, _)| concerns(name))
        .map(|(_, count)| count)
        .sum()
}

fn show(table: &Table, remarks: &[String], elapsed: Duration, last: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let clear = if out.is_terminal() {
        "\x1b[H\x1b[2J"
    } else {
        ""
    };
    if !out.is_terminal() && !last {
        return Ok(());
    }
    writeln!(
        out,
        "{clear}{table}\n{:.0} s; latency: age of the stamp on arrival, from the simulator's tick to this subscriber",
        elapsed.as_secs_f64()
    )?;
    for line in remarks {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn summary(
    rows: &BTreeMap<String, Row>,
    drops: &BTreeMap<String, u64>,
    elapsed: Duration,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let total: u64 = drops.values().sum();
    writeln!(
        out,
        "{} topics in {:.0} s, {total} drops counted by the bridge",
        rows.len(),
        elapsed.as_secs_f64()
    )?;
    for (name, count) in drops.iter().filter(|(_, count)| **count > 0) {
        writeln!(out, "  {count:6} {name}")?;
    }
    let silent = rows.iter().filter(|(_, row)| lock(&row.seen).total == 0);
    let silent: Vec<_> = silent.map(|(name, _)| name.as_str()).collect();
    if !silent.is_empty() {
        writeln!(out, "nothing received on: {}", silent.join(", "))?;
    }
    out.flush()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
