//! A live table of topics as an independent subscriber sees them.
use super::clock::host_now;
use crate::msgs::diagnostic_msgs::msg::DiagnosticArray;
use crate::ros::{Middleware, Qos, RosError, Subscription, TopicInfo};
use comfy_table::{Cell, CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
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
    latency_us: Histogram<u64>,
    total: u64,
}

/// What the bridge itself says about losses: source to drops by cause.
type Drops = Arc<Mutex<BTreeMap<String, u64>>>;

/// Subscribes to every topic below `prefix` and prints a table each second, for `limit` or for ever.
pub async fn run(
    middleware: &Middleware,
    prefix: &str,
    limit: Option<Duration>,
) -> Result<(), RosError> {
    let start = Instant::now();
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let drops = Drops::default();
    let writer = drops.clone();
    let _diagnostics = middleware.subscribe::<DiagnosticArray>(
        "/diagnostics",
        Qos::DEFAULT,
        move |message, _| {
            let mut drops = writer.lock().unwrap_or_else(PoisonError::into_inner);
            for status in message.status {
                let dropped =
                    |key: &str| key.starts_with("drop_") || key == "dropped" || key == "torn";
                let sum = status
                    .values
                    .iter()
                    .filter(|v| dropped(&v.key))
                    .filter_map(|v| v.value.parse::<u64>().ok())
                    .sum();
                drops.insert(status.name, sum);
            }
        },
    )?;
    let mut tick = tokio::time::interval(REFRESH);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut last = Instant::now();
    loop {
        tick.tick().await;
        for topic in middleware.topics() {
            let own =
                topic.name.starts_with("/ros_discovery_info") || !topic.name.starts_with(prefix);
            if !own && !rows.contains_key(&topic.name) {
                let row = subscribe(middleware, &topic)?;
                rows.insert(topic.name, row);
            }
        }
        let seconds = last.elapsed().as_secs_f64().max(1e-3);
        last = Instant::now();
        let ended = limit.is_some_and(|limit| start.elapsed() >= limit);
        show(&table(&rows, seconds), start.elapsed(), ended);
        if ended {
            summary(&rows, &drops, start.elapsed());
            return Ok(());
        }
    }
}

fn subscribe(middleware: &Middleware, topic: &TopicInfo) -> Result<Row, RosError> {
    let histogram = Histogram::new_with_bounds(1, 60_000_000, 2).unwrap_or_else(|_| unreachable!());
    let seen = Arc::new(Mutex::new(Seen {
        messages: 0,
        bytes: 0,
        latency_us: histogram,
        total: 0,
    }));
    let writer = seen.clone();
    let subscription =
        middleware.subscribe_raw(&topic.name, &topic.type_name, Qos::DEFAULT, move |sample| {
            let mut seen = writer.lock().unwrap_or_else(PoisonError::into_inner);
            seen.messages += 1;
            seen.total += 1;
            seen.bytes += sample.cdr.len() as u64;
            let us = (host_now().0 - sample.source_stamp.0) / 1000;
            seen.latency_us
                .saturating_record(u64::try_from(us).unwrap_or(0).max(1));
        })?;
    Ok(Row {
        type_name: topic.type_name.clone(),
        seen,
        _subscription: subscription,
    })
}

fn table(rows: &BTreeMap<String, Row>, seconds: f64) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED);
    table.set_header([
        "topic",
        "type",
        "Hz",
        "MB/s",
        "transport p50 ms",
        "p99 ms",
        "received",
    ]);
    for column in 2..7 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for (name, row) in rows {
        let mut seen = row.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let ms = |quantile| match seen.latency_us.is_empty() {
            true => "-".to_owned(),
            false => format!(
                "{:.2}",
                seen.latency_us.value_at_quantile(quantile) as f64 * 1e-3
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
        ]);
        seen.messages = 0;
        seen.bytes = 0;
        seen.latency_us.reset();
    }
    table
}

fn show(table: &Table, elapsed: Duration, last: bool) {
    let mut out = std::io::stdout().lock();
    let clear = if out.is_terminal() {
        "\x1b[H\x1b[2J"
    } else {
        ""
    };
    if out.is_terminal() || last {
        // Nobody can read a table when the output is gone.
        let _gone = writeln!(
            out,
            "{clear}{table}\n{:.0} s, Ctrl-C ends",
            elapsed.as_secs_f64()
        );
    }
}

fn summary(rows: &BTreeMap<String, Row>, drops: &Drops, elapsed: Duration) {
    let drops = drops.lock().unwrap_or_else(PoisonError::into_inner);
    let silent: Vec<_> = rows
        .iter()
        .filter(|(_, row)| {
            row.seen
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .total
                == 0
        })
        .map(|(name, _)| name.as_str())
        .collect();
    let total: u64 = drops.values().sum();
    println!(
        "{} topics in {:.0} s, {total} drops counted by the bridge",
        rows.len(),
        elapsed.as_secs_f64()
    );
    for (name, count) in drops.iter().filter(|(_, count)| **count > 0) {
        println!("  {count:6} {name}");
    }
    if !silent.is_empty() {
        println!("nothing received on: {}", silent.join(", "));
    }
}
