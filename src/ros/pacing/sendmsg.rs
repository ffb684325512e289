//! The place where a paced write pauses: between the fragments of a sample.
//!
//! In a workspace the middleware is a library that is loaded at run time. It finds this function because `build.rs` has
//! the programs export it, and a program's symbols come before those of its libraries.
#![expect(unsafe_code, reason = "stands in front of a function of the C library")]

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
mod imp {
    /// A reference, or the linker would take the C library's function.
    pub(in crate::ros) fn link() {
        std::hint::black_box(sendmsg as *const ());
    }

    /// Stands in front of the C library's function of this name in programs that contain the bridge, because no DDS has
    /// another place to put a pause between the fragments of a sample. Outside of a paced write, which only a publisher
    /// begins and only on its own thread ([`paced`](super::super::paced)), it is the system call and nothing else.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn sendmsg(
        socket: libc::c_int,
        message: *const libc::msghdr,
        flags: libc::c_int,
    ) -> libc::ssize_t {
        // SAFETY: sendmsg(2) asks its callers for a valid message with `msg_iovlen` ranges; a null list has length 0.
        let length = unsafe {
            match (*message).msg_iov {
                iov if iov.is_null() => 0,
                iov => std::slice::from_raw_parts(iov, (*message).msg_iovlen)
                    .iter()
                    .map(|range| range.iov_len)
                    .sum(),
            }
        };
        super::super::before_send(length);
        // SAFETY: the caller's own arguments; the result is that of sendmsg(2), with errno.
        unsafe { libc::syscall(libc::SYS_sendmsg, socket, message, flags) as libc::ssize_t }
    }
}

/// Elsewhere samples are not paced.
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
mod imp {
    pub(in crate::ros) const fn link() {}
}

pub(in crate::ros) use imp::link;
