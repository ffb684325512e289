//! Cyclone's log goes where ours goes.
use super::super::log::{self, Gravity};
use cyclors as c;
use std::{
    ffi::{CStr, c_char, c_void},
    panic::catch_unwind,
    ptr,
};

/// Takes the library's log over, for all domains of this process. Its trace, which a user asks for, stays where it is.
pub(super) fn take_over() {
    // SAFETY: the function can be called at any time from any thread; there is no argument for it.
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
        unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned()
    };
    let gravity = match data.priority {
        c::DDS_LC_FATAL | c::DDS_LC_ERROR => Gravity::Error,
        c::DDS_LC_WARNING => Gravity::Warning,
        _ => Gravity::Info,
    };
    // SAFETY: has no preconditions.
    let now_ns = unsafe { c::dds_time() };
    // A panic must not unwind into C; the panic hook has printed it.
    let _ = catch_unwind(|| {
        log::line(
            gravity,
            &text(data.function),
            data.line,
            &text(data.message),
            now_ns,
        );
    });
}
