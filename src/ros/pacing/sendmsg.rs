//! Wraps `sendmsg` to pause between the fragments of a paced sample.
//!
//! The embedded Cyclone DDS alone is linked to this function (`build.rs`). In a workspace the middleware is
//! a library loaded at run time: there the programs export `sendmsg`, and a program's symbols take precedence over those of
//! its libraries.
#![expect(unsafe_code, reason = "wraps a function of the C library")]

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
mod imp {
    /// Referenced so that the linker keeps it.
    pub(in crate::ros) fn link() {
        std::hint::black_box(paced_sendmsg as *const ());
    }

    /// Returns the replacement for a small packet, if it changes.
    fn changed(ranges: &[libc::iovec], length: usize) -> Option<Vec<u8>> {
        let change = super::super::CHANGE.get()?;
        let mut packet = [0; super::super::CHANGEABLE_BYTES];
        let mut rest = packet.get_mut(..length)?;
        for range in ranges.iter().filter(|range| range.iov_len > 0) {
            // SAFETY: sendmsg(2) requires that the ranges are valid for reads.
            let bytes =
                unsafe { std::slice::from_raw_parts(range.iov_base.cast::<u8>(), range.iov_len) };
            let (part, next) = rest.split_at_mut(range.iov_len);
            part.copy_from_slice(bytes);
            rest = next;
        }
        change(packet.get(..length)?)
    }

    /// Wraps the C library's `sendmsg`, because no DDS has a hook for pauses between the fragments of a sample. Outside a
    /// paced write, which only a publisher starts on its own thread ([`paced`](super::super::paced)), it only makes the
    /// system call, and changes small packets of the embedded back end
    /// ([`change_small_packets`](super::super::change_small_packets)).
    #[cfg_attr(feature = "dds", unsafe(export_name = "__wrap_sendmsg"))]
    #[cfg_attr(not(feature = "dds"), unsafe(export_name = "sendmsg"))]
    unsafe extern "C" fn paced_sendmsg(
        socket: libc::c_int,
        message: *const libc::msghdr,
        flags: libc::c_int,
    ) -> libc::ssize_t {
        // SAFETY: sendmsg(2) requires a valid message with `msg_iovlen` ranges; a null list has length 0.
        let ranges = unsafe {
            match (*message).msg_iov {
                iov if iov.is_null() => &[],
                iov => std::slice::from_raw_parts(iov, (*message).msg_iovlen),
            }
        };
        let length = ranges.iter().map(|range| range.iov_len).sum();
        super::super::before_send(length);
        if let Some(mut packet) = changed(ranges, length) {
            let mut range =
                libc::iovec { iov_base: packet.as_mut_ptr().cast(), iov_len: packet.len() };
            // SAFETY: the caller's message with another range, which lives as long as the call.
            let sent = unsafe {
                let message = libc::msghdr { msg_iov: &raw mut range, msg_iovlen: 1, ..*message };
                libc::syscall(libc::SYS_sendmsg, socket, &raw const message, flags)
            };
            // The caller expects the length of its own packet.
            return if sent < 0 { -1 } else { length as libc::ssize_t };
        }
        // SAFETY: the caller's own arguments; the result is that of sendmsg(2), with errno.
        unsafe { libc::syscall(libc::SYS_sendmsg, socket, message, flags) as libc::ssize_t }
    }
}

/// Other platforms: no pacing.
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
mod imp {
    pub(in crate::ros) const fn link() {}
}

pub(in crate::ros) use imp::link;
