//! Wraps the C library's `recvmsg`, as `ros/pacing` wraps `sendmsg` (`build.rs`): DDS packets pass through
//! [`early`](super::super::early) before Cyclone reads them.

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
mod imp {
    use super::super::super::early;

    /// Referenced so that the linker keeps it.
    pub(in super::super) fn link() {
        std::hint::black_box(changing_recvmsg as *const ());
    }

    /// The system call; then DDS packets may be changed. Other packets have a different prefix.
    #[unsafe(export_name = "__wrap_recvmsg")]
    unsafe extern "C" fn changing_recvmsg(
        socket: libc::c_int,
        message: *mut libc::msghdr,
        flags: libc::c_int,
    ) -> libc::ssize_t {
        // SAFETY: the caller's own arguments; the result is that of recvmsg(2), with errno.
        let received =
            unsafe { libc::syscall(libc::SYS_recvmsg, socket, message, flags) } as libc::ssize_t;
        if received > 0 {
            // SAFETY: the call has succeeded, so that the message is valid, and its first range has been written up to the
            // smaller of its length and the received length. The caller's buffer is not shared.
            unsafe {
                let message = &*message;
                if message.msg_iovlen > 0 {
                    let range = *message.msg_iov;
                    let length = range.iov_len.min(received as usize);
                    if length > 0 {
                        let base = range.iov_base.cast::<u8>();
                        early::received(std::slice::from_raw_parts_mut(base, length));
                    }
                }
            }
        }
        received
    }
}

/// Other platforms: no wrapping.
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
mod imp {
    pub(in super::super) const fn link() {}
}

pub(super) use imp::link;
