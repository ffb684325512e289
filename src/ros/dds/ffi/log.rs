//! Redirects Cyclone's log to ours.
use super::super::log::{self, LogSeverity};
use cyclors as c;
use std::ffi::{CStr, c_char, c_void};
use std::{panic::catch_unwind, ptr};

/// Redirects the library's log, for all domains of this process. The user's tracing settings stay unchanged.
pub(super) fn redirect() {
    // SAFETY: callable at any time from any thread; the callback takes no argument.
    unsafe { c::dds_set_log_sink(Some(on_line), ptr::null_mut()) };
}

extern "C" fn on_line(_: *mut c_void, data: *const c::dds_log_data_t) {
    // SAFETY: valid during the call.
    let data = unsafe { &*data };
    let text = |text: *const c_char| {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: the library's own strings, terminated.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    };
    let severity = match data.priority {
        c::DDS_LC_FATAL | c::DDS_LC_ERROR => LogSeverity::Error,
        c::DDS_LC_WARNING => LogSeverity::Warning,
        _ => LogSeverity::Info,
    };
    // SAFETY: has no preconditions.
    let now_ns = unsafe { c::dds_time() };
    // A panic must not unwind into C; the panic hook has printed it.
    let _ = catch_unwind(|| {
        log::line(severity, &text(data.function), data.line, &text(data.message), now_ns);
    });
}
