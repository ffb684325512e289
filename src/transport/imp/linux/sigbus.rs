#![expect(
    unsafe_code,
    reason = "a signal handler that maps memory; every block says why it is sound"
)]
//! A mapped file that another process makes shorter raises SIGBUS where its missing pages are touched, and that would end
//! the whole process. Here the pages become zeros and the mapping is marked as lost, as Wayland compositors do it
//! (`wl_shm_buffer_begin_access`, smithay's pool). ADR 0013 compares it with reading by `pread`.
use std::io;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering, compiler_fence};

/// A mapping and whether its file has been cut off.
#[derive(Debug)]
pub(in crate::transport) struct Range {
    start: usize,
    len: usize,
    lost: AtomicBool,
}

thread_local! {
    /// What this thread is touching. SIGBUS comes to the thread that causes it, so nobody else's access is seen here. No
    /// destructor and a constant start value: the handler may read it at any moment.
    static TOUCHED: AtomicPtr<Range> = const { AtomicPtr::new(ptr::null_mut()) };
}

/// What was there before us; set before our handler is.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

impl Range {
    /// Makes the handler known to the system, once. `start` is page-aligned, as every mapping's is.
    pub(in crate::transport) fn new(start: usize, len: usize) -> io::Result<Self> {
        /// The error's number, if the system refuses.
        static INSTALLED: OnceLock<Option<i32>> = OnceLock::new();
        let refused = INSTALLED.get_or_init(|| install().err().and_then(|e| e.raw_os_error()));
        if let Some(number) = refused {
            return Err(io::Error::from_raw_os_error(*number));
        }
        Ok(Self {
            start,
            len,
            lost: AtomicBool::new(false),
        })
    }

    /// Whether the file became shorter than the mapping while it was touched; what is mapped now is zeros for ever.
    pub(in crate::transport) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Runs `touch`, which may read and write the mapping on this thread without regard to the length of its file.
    pub(in crate::transport) fn touch<R>(&self, touch: impl FnOnce() -> R) -> R {
        struct Outer(*mut Range);
        impl Drop for Outer {
            fn drop(&mut self) {
                // The handler is on this thread: order of the program is all that is needed, but that is.
                compiler_fence(Ordering::SeqCst);
                TOUCHED.with(|touched| touched.store(self.0, Ordering::Relaxed));
            }
        }
        let own = ptr::from_ref(self).cast_mut();
        let _outer = Outer(TOUCHED.with(|touched| touched.swap(own, Ordering::Relaxed)));
        compiler_fence(Ordering::SeqCst);
        touch()
    }

    /// Puts zeros in place of the file; true if it worked. Async-signal-safe.
    fn replace(&self) -> bool {
        self.lost.store(true, Ordering::Relaxed);
        // SAFETY: the range is a mapping that belongs to the block which is borrowed by `touch` on this very thread, so
        // nothing else can have taken its place; the bytes are handed out as volatile only. mmap(2) is a plain system
        // call; errno is put back, because the interrupted code may be about to look at it.
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
    // SAFETY: zeros are a valid `sigaction`. The first call only asks. The handler of the second makes async-signal-safe
    // calls alone: atomics, mmap(2), sigaction(2), raise(3), and the handler that was there before.
    unsafe {
        let mut before = std::mem::zeroed::<libc::sigaction>();
        if libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut before) != 0 {
            return Err(io::Error::last_os_error());
        }
        BEFORE.get_or_init(|| before);
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
    // SAFETY: the kernel passes a valid siginfo; `si_addr` is set for the codes of a fault, and only read for those.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    // BUS_ADRERR: no such page in the file. Broken hardware and kill(2) have other codes.
    if code == libc::BUS_ADRERR {
        let touched = TOUCHED.try_with(|touched| touched.load(Ordering::Relaxed));
        // SAFETY: null, or the range that `touch` borrows for as long as the pointer stands there.
        let touched = unsafe { touched.unwrap_or(ptr::null_mut()).as_ref() };
        if touched
            .is_some_and(|range| address.wrapping_sub(range.start) < range.len && range.replace())
        {
            return;
        }
    }
    not_ours(signal, info, context, code);
}

/// Does what would have been done without us.
fn not_ours(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
    code: libc::c_int,
) {
    let before = BEFORE.get();
    let handler = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
    // A signal that somebody sent may be ignored; an instruction that faults would fault again for ever.
    if handler == libc::SIG_IGN && code <= 0 {
        return;
    }
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        end(signal);
    } else if before.is_some_and(|before| before.sa_flags & libc::SA_SIGINFO != 0) {
        // SAFETY: the address of a handler of this signature, by SA_SIGINFO; its own arguments.
        unsafe {
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                std::mem::transmute(handler);
            handler(signal, info, context);
        }
    } else {
        // SAFETY: the address of a handler of this signature, by the absence of SA_SIGINFO.
        unsafe {
            let handler: extern "C" fn(libc::c_int) = std::mem::transmute(handler);
            handler(signal);
        }
    }
    // A handler may take itself away, as Rust's does, so that the instruction faults again and ends the process. A signal
    // that was sent does not come again by itself.
    let mut now = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: asks only; what it fills is read where it says that it did.
    let given_up = unsafe {
        libc::sigaction(signal, ptr::null(), now.as_mut_ptr()) == 0
            && now.assume_init().sa_sigaction == libc::SIG_DFL
    };
    if given_up && code <= 0 {
        end(signal);
    }
}

/// Ends the process by the signal's default action, once the handler returns: until then the signal is blocked.
fn end(signal: libc::c_int) {
    // SAFETY: zeros are the default action; both calls are async-signal-safe.
    unsafe {
        let default = std::mem::zeroed::<libc::sigaction>();
        libc::sigaction(signal, &raw const default, ptr::null_mut());
        libc::raise(signal);
    }
}
