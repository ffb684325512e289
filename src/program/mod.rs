//! Parts of the programs: arguments, log, signals, panics, resource limits, sets of files, manual pages, service manager.
mod arguments;
mod files;
mod limits;
mod log;
mod manual;
mod one_line;
mod panics;
mod service_manager;
mod signals;

pub use arguments::parse_seconds;
pub use files::{SetError, write_set};
pub use limits::{LimitTooLow, Needs, limit_that_causes, limits};
pub use log::{OutputLog, lost_lines};
pub use manual::{completions, man_page, man_pages};
pub use one_line::{LONGEST_MESSAGE, LogMessage, OneLineFields};
pub use panics::{PanicReport, note_panics, panics};
pub use service_manager::{Watchdog, tell_ready, tell_stopping};
pub use signals::{Ended, Signals, within};
