//! What an independent subscriber sees of a running bridge, by sensor and vehicle.
mod groups;
mod screen;
mod summary;
mod watched;

pub use groups::{Group, Order, State, TopicLine, TopicSeen, groups_of, sort};
pub use screen::Screen;
pub use summary::{head, line_of, summary, topic_line};

use crate::msgs::diagnostic_msgs::msg::DiagnosticArray;
use crate::node::diagnostics::degraded::DEGRADED;
use crate::node::diagnostics::health::SHORT;
use crate::node::error::NodeError;
use crate::ros::{Middleware, Qos};
use groups::short_name;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use serde_json::json;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use watched::Watchers;

/// Time between two tables.
const REFRESH: Duration = Duration::from_secs(1);
/// Time between two looks at the keyboard.
const KEYS: Duration = Duration::from_millis(50);

/// How the table is shown.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Only topics with this prefix.
    pub prefix: String,
    /// Ends after this time, with a summary.
    pub limit: Option<Duration>,
    /// One object of JSON each second, or at the end of the limit.
    pub json: bool,
}

/// Subscribes to every topic below the prefix and shows a table until the limit, a key or for ever.
pub async fn run(middleware: &Middleware, shown: &Shown) -> Result<(), NodeError> {
    let start = Instant::now();
    let report = Arc::new(Mutex::new(DiagnosticArray::default()));
    let writer = report.clone();
    let _diagnostics =
        middleware.subscribe::<DiagnosticArray>("/diagnostics", Qos::DEFAULT, move |message| {
            *lock(&writer) = message;
        })?;
    let mut watchers = Watchers::default();
    let interactive = !shown.json && io::stdout().is_terminal() && io::stdin().is_terminal();
    let mut terminal = match interactive {
        true => Some(OnTerminal::open().map_err(NodeError::Output)?),
        false => None,
    };
    let mut due = Instant::now();
    loop {
        if Instant::now() >= due {
            due = Instant::now() + REFRESH;
            watchers.subscribe(middleware, &shown.prefix)?;
            let elapsed = start.elapsed();
            let ended = shown.limit.is_some_and(|limit| elapsed >= limit);
            let seen = watchers.look();
            let (groups, remarks) = {
                let report = lock(&report);
                (groups_of(&seen, &report), remarks_of(&report))
            };
            if ended {
                // The terminal is left as it was, and keeps the summary.
                drop(terminal.take());
            }
            let text = match (&mut terminal, shown.json) {
                (_, true) if ended || shown.limit.is_none() => {
                    Some(json_of(&groups, &remarks, elapsed))
                }
                (None, false) if ended => Some(summary(&groups, &remarks, elapsed)),
                (Some(on), _) => {
                    on.screen.update(groups, remarks, elapsed);
                    None
                }
                _ => None,
            };
            if let Some(text) = text {
                print(&text).map_err(NodeError::Output)?;
            }
            if ended {
                return Ok(());
            }
        }
        match &mut terminal {
            Some(on) => {
                if !on.serve().map_err(NodeError::Output)? {
                    return Ok(());
                }
                tokio::time::sleep(KEYS).await;
            }
            None => tokio::time::sleep_until(due.into()).await,
        }
    }
}

fn json_of(groups: &[Group], remarks: &[String], elapsed: Duration) -> String {
    let groups: Vec<_> = groups.iter().map(Group::to_json).collect();
    let all = json!({"seconds": elapsed.as_secs_f64(), "groups": groups, "remarks": remarks});
    format!("{all}\n")
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The terminal, which is left as it was found.
struct OnTerminal {
    terminal: DefaultTerminal,
    screen: Screen,
}

impl OnTerminal {
    fn open() -> io::Result<Self> {
        Ok(Self {
            terminal: ratatui::try_init()?,
            screen: Screen::default(),
        })
    }

    /// Takes the keys that were pressed, and draws; false if one ends the program.
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

impl Drop for OnTerminal {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Returns a line for what is worse on purpose, and one for each source below its requested rate.
pub fn remarks_of(message: &DiagnosticArray) -> Vec<String> {
    let lines = message.status.iter().filter_map(|status| {
        let name = short_name(status);
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
