#![expect(
    unsafe_code,
    reason = "a signal handler that maps memory; every block says why it is sound"
)]
//! If another process truncates a mapped file, an access to its missing pages raises SIGBUS, which would end
//! the process. This handler replaces the pages with zeros and marks the mapping as lost, as Wayland compositors do
//! (`wl_shm_buffer_begin_access`, smithay's pool). ADR 0012 compares it with reading by `pread`.
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering, compiler_fence};
use std::{io, ptr, sync::OnceLock};

/// A mapping, and whether its file was truncated.
#[derive(Debug)]
pub(in crate::transport) struct Range {
    start: usize,
    len: usize,
    lost: AtomicBool,
}

thread_local! {
    /// The range that this thread is accessing. SIGBUS is delivered to the thread that causes it, so other threads' accesses
    /// do not matter. No destructor and a constant initialiser: the handler may read it at any time.
    static TOUCHED: AtomicPtr<Range> = const { AtomicPtr::new(ptr::null_mut()) };
}

/// The previous handler; set before ours is installed.
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

impl Range {
    /// Installs the handler, once. `start` must be page-aligned, as in every mapping.
    pub(in crate::transport) fn new(start: usize, len: usize) -> io::Result<Self> {
        /// Errno, if the system refuses.
        static INSTALLED: OnceLock<Option<i32>> = OnceLock::new();
        let refused = INSTALLED.get_or_init(|| install().err().and_then(|e| e.raw_os_error()));
        if let Some(number) = refused {
            return Err(io::Error::from_raw_os_error(*number));
        }
        Ok(Self { start, len, lost: AtomicBool::new(false) })
    }

    /// Whether the file was truncated during an access; the mapping then contains only zeros.
    pub(in crate::transport) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Runs `touch`, which may read and write the mapping on this thread even if its file is truncated. The mapping must exist
    /// until this returns.
    pub(in crate::transport) fn touch<R>(&self, touch: impl FnOnce() -> R) -> R {
        struct Outer(*mut Range);
        impl Drop for Outer {
            fn drop(&mut self) {
                // The handler runs on this thread: program order is sufficient, and necessary.
                compiler_fence(Ordering::SeqCst);
                TOUCHED.with(|touched| touched.store(self.0, Ordering::Relaxed));
            }
        }
        let range = ptr::from_ref(self).cast_mut();
        let _outer = Outer(TOUCHED.with(|touched| touched.swap(range, Ordering::Relaxed)));
        compiler_fence(Ordering::SeqCst);
        touch()
    }

    /// Replaces the file's pages with zeros; true on success. Async-signal-safe.
    fn replace(&self) -> bool {
        self.lost.store(true, Ordering::Relaxed);
        // SAFETY: `touch` runs on this very thread, and its caller keeps the mapping until it returns, so
        // no other mapping can have taken its place; its bytes are accessed only as volatile. mmap(2) is a plain system
        // call; errno is restored, because the interrupted code may be about to read it.
        unsafe {
            let errno = *libc::__errno_location();
            let mapped = libc::mmap(
                ptr::without_provenance_mut(self.start),
                self.len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            );
            *libc::__errno_location() = errno;
            mapped != libc::MAP_FAILED
        }
    }
}

fn install() -> io::Result<()> {
    // SAFETY: zeros are a valid `sigaction`. The first call of sigaction(2) only queries; the second installs a handler
    // that uses only what is async-signal-safe: atomics, mmap(2), sigaction(2), raise(3), and the previous handler.
    unsafe {
        let mut before = std::mem::zeroed::<libc::sigaction>();
        if libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut before) != 0 {
            return Err(io::Error::last_os_error());
        }
        PREVIOUS.get_or_init(|| before);
        let mut ours = std::mem::zeroed::<libc::sigaction>();
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
            on_sigbus;
        ours.sa_sigaction = handler as libc::sighandler_t;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        if libc::sigaction(libc::SIGBUS, &raw const ours, ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

extern "C" fn on_sigbus(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes a valid siginfo; `si_addr` is set for fault codes, and used only for those.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    // BUS_ADRERR: the page is not in the file. Hardware errors and kill(2) have other codes.
    if code == libc::BUS_ADRERR {
        let touched = TOUCHED.try_with(|touched| touched.load(Ordering::Relaxed));
        // SAFETY: null, or the range that `touch` borrows while the pointer is set.
        let touched = unsafe { touched.unwrap_or(ptr::null_mut()).as_ref() };
        if touched
            .is_some_and(|range| address.wrapping_sub(range.start) < range.len && range.replace())
        {
            return;
        }
    }
    forward(signal, info, context, code);
}

/// Handles a signal of another cause as if this handler did not exist.
fn forward(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
    code: libc::c_int,
) {
    let before = PREVIOUS.get();
    let handler = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
    // A signal sent by a process may be ignored; a faulting instruction would fault again forever.
    if handler == libc::SIG_IGN && code <= 0 {
        return;
    }
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        end(signal);
    } else if before.is_some_and(|before| before.sa_flags & libc::SA_SIGINFO != 0) {
        // SAFETY: by SA_SIGINFO, the handler has this signature; it gets the kernel's arguments.
        unsafe {
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                std::mem::transmute(handler);
            handler(signal, info, context);
        }
    } else {
        // SAFETY: without SA_SIGINFO, the handler has this signature.
        unsafe {
            let handler: extern "C" fn(libc::c_int) = std::mem::transmute(handler);
            handler(signal);
        }
    }
    // A handler may uninstall itself, as Rust's does, so that the instruction faults again and ends the process. A signal
    // sent by a process does not come again, so it is raised here.
    let mut now = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: only queries; the result is read only on success.
    let is_default = unsafe {
        libc::sigaction(signal, ptr::null(), now.as_mut_ptr()) == 0
            && now.assume_init().sa_sigaction == libc::SIG_DFL
    };
    if is_default && code <= 0 {
        end(signal);
    }
}

/// Ends the process by the signal's default action after the handler returns: until then the signal is blocked.
fn end(signal: libc::c_int) {
    // SAFETY: zeros are the default action; both calls are async-signal-safe.
    unsafe {
        let default = std::mem::zeroed::<libc::sigaction>();
        libc::sigaction(signal, &raw const default, ptr::null_mut());
        libc::raise(signal);
    }
}
