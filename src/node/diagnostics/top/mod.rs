//! `rfly_bridge top`: a table of a running bridge by sensor and vehicle, measured by an independent subscriber.
mod groups;
mod screen;
mod subscriptions;
mod summary;

pub use groups::{Group, GroupState, SortOrder, TopicFigures, TopicLine, groups_of, sort};
pub use screen::Screen;
pub use subscriptions::qos_of;
pub use summary::{head, line_of, summary, topic_line};

use crate::msgs::diagnostic_msgs::msg::DiagnosticArray;
use crate::node::diagnostics::degraded::DEGRADED;
use crate::node::diagnostics::health::BELOW_ASKED;
use crate::node::error::NodeError;
use crate::node::topic_commands::print;
use crate::ros::{Middleware, Qos};
use groups::short_name;
use parking_lot::Mutex;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use serde_json::json;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::{Duration, Instant};
use subscriptions::TopicSubscriptions;

const TABLE_PERIOD: Duration = Duration::from_secs(1);
const KEY_PERIOD: Duration = Duration::from_millis(50);

/// Options of the table.
#[derive(Clone, Debug, clap::Args)]
pub struct TopOptions {
    /// Ends after this many seconds with a summary.
    #[arg(long, value_name = "N")]
    pub seconds: Option<u64>,
    /// Shows only topics with this prefix.
    #[arg(long, default_value = "/")]
    pub prefix: String,
    /// Prints JSON: one object each second, or one at the end of `--seconds`.
    #[arg(long)]
    pub json: bool,
}

/// Subscribes to every topic below the prefix and shows a table until the time limit, the key `q` or a signal. Into a pipe or file
/// without a time limit it prints the summary each second.
pub async fn run(middleware: &Middleware, options: &TopOptions) -> Result<(), NodeError> {
    let (start, limit) = (Instant::now(), options.seconds.map(Duration::from_secs));
    let report = Arc::new(Mutex::new(DiagnosticArray::default()));
    let writer = report.clone();
    let _diagnostics =
        middleware.subscribe::<DiagnosticArray>("/diagnostics", Qos::DEFAULT, move |message| {
            *writer.lock() = message;
        })?;
    let mut subscriptions = TopicSubscriptions::default();
    let is_interactive = !options.json && io::stdout().is_terminal() && io::stdin().is_terminal();
    let mut terminal =
        if is_interactive { Some(LiveTable::open().map_err(NodeError::Output)?) } else { None };
    let mut due = Instant::now();
    loop {
        if Instant::now() >= due {
            due = Instant::now() + TABLE_PERIOD;
            subscriptions.subscribe(middleware, &options.prefix)?;
            let elapsed = start.elapsed();
            let has_ended = limit.is_some_and(|limit| elapsed >= limit);
            let figures = subscriptions.take_figures();
            let (groups, remarks) = {
                let report = report.lock();
                (groups_of(&figures, &report), remarks_of(&report))
            };
            if has_ended {
                // Restores the terminal, which keeps the summary.
                drop(terminal.take());
            }
            let text = match (&mut terminal, options.json) {
                (_, true) if has_ended || limit.is_none() => {
                    Some(json_of(&groups, &remarks, elapsed))
                }
                (None, false) if has_ended || limit.is_none() => {
                    Some(summary(&groups, &remarks, elapsed))
                }
                (Some(table), _) => {
                    table.screen.update(groups, remarks, elapsed);
                    None
                }
                _ => None,
            };
            if let Some(text) = text {
                print(&text).map_err(NodeError::Output)?;
            }
            if has_ended {
                return Ok(());
            }
        }
        match &mut terminal {
            Some(table) => {
                if !table.serve().map_err(NodeError::Output)? {
                    return Ok(());
                }
                tokio::time::sleep(KEY_PERIOD).await;
            }
            None => tokio::time::sleep_until(due.into()).await,
        }
    }
}

fn json_of(groups: &[Group], remarks: &[String], elapsed: Duration) -> String {
    let all = json!({"seconds": elapsed.as_secs_f64(), "groups": groups, "remarks": remarks});
    format!("{all}\n")
}

/// The terminal; dropping it restores its state.
struct LiveTable {
    terminal: DefaultTerminal,
    screen: Screen,
}

impl LiveTable {
    fn open() -> io::Result<Self> {
        Ok(Self { terminal: ratatui::try_init()?, screen: Screen::default() })
    }

    /// Handles pressed keys and draws; false if a key ends the program.
    fn serve(&mut self) -> io::Result<bool> {
        while event::poll(Duration::ZERO)? {
            if let Event::Key(key) = event::read()?
                && key.kind == KeyEventKind::Press
                && !self.screen.key(key)
            {
                return Ok(false);
            }
        }
        self.terminal.draw(|frame| self.screen.draw(frame))?;
        Ok(true)
    }
}

impl Drop for LiveTable {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Returns a line for data degraded on purpose, and one for each source below its requested rate.
pub fn remarks_of(message: &DiagnosticArray) -> Vec<String> {
    let lines = message.status.iter().filter_map(|status| {
        let name = short_name(status);
        if name == DEGRADED && status.level > 0 {
            let counts: Vec<_> =
                (status.values.iter()).map(|v| format!("{} {}", v.key, v.value)).collect();
            return Some(format!("{name}: {} ({})", status.message, counts.join(", ")));
        }
        let shortfall = status.values.iter().find(|v| v.key == BELOW_ASKED)?;
        Some(format!("below the requested rate: {name}: {}", shortfall.value))
    });
    lines.collect()
}
