//! Shared by both programs: the log, signals, and output that may block.
mod files;
mod limits;
mod line;
mod log;
mod manual;
mod panics;
mod signals;
mod supervisor;

pub use files::{SetError, write_set};
pub use limits::{Needs, TooLittle, limit_behind, limits};
pub use line::{LONGEST_MESSAGE, Message, OneLineFields};
pub use log::{OutputLog, lost_lines};
pub use manual::{completions, man_page, man_pages};
pub use panics::{Panic, note_panics, panics};
pub use signals::{Ended, Signals, within};
pub use supervisor::{Watchdog, tell_ready, tell_stopping};
