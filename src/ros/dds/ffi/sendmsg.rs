//! The place where a paced write pauses: between the fragments of a sample.
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
mod imp {
    use crate::ros::dds::pacing;

    /// A reference, or the linker would take the C library's function.
    pub(in super::super) fn link() {
        std::hint::black_box(sendmsg as *const ());
    }

    /// Stands in front of the C library's function of this name in programs that contain the bridge, because Cyclone has
    /// no other place to put a pause between the fragments of a sample ([`pacing`]). Outside of a paced write, which only
    /// [`Writer::write`](super::super::Writer::write) begins and only on its own thread, it is the system call and nothing else.
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
        pacing::before_send(length);
        // SAFETY: the caller's own arguments; the result is that of sendmsg(2), with errno.
        unsafe { libc::syscall(libc::SYS_sendmsg, socket, message, flags) as libc::ssize_t }
    }
}

/// Elsewhere samples are not paced.
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
mod imp {
    pub(in super::super) const fn link() {}
}

pub(super) use imp::link;
