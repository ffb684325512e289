//! Samples with their identity, which the API of Cyclone DDS does not expose: it neither returns nor accepts sequence
//! numbers and inline QoS.
//!
//! *Reading:* the request topics have their own functions to take a sample from a packet. They put [`RequestHead`] in front
//! of the payload.
//!
//! *Writing:* the library adds inline QoS to a sample whose `statusinfo` is not 0, in one function. A reply has a number as its
//! `statusinfo`, and `build.rs` makes the linker replace that function (`--wrap`) by [`__wrap_ddsi_xmsg_addpar_statusinfo`],
//! which turns the number into `related_sample_identity`. This also covers retransmissions.
//!
//! Both depend on internals of the vendored library: `Cargo.toml` pins its exact version; `test/ros/services.rs` (Cyclone) and
//! `test/e2e/ros_graph/test_services.py` (Fast DDS) detect a change.
use super::super::identity::{RELATED_SAMPLE_IDENTITY, RequestHead, SampleIdentity};
use super::opaque;
use cyclors as c;
use parking_lot::Mutex;
use std::{collections::BTreeMap, ffi::c_void, hint::black_box, ptr};

/// Requests beyond this size arrive without payload, and count as undecodable.
const MAX_REQUEST: usize = 16 << 20;

/// `struct ddsi_xmsg`, a message under construction.
#[repr(C)]
pub(super) struct OutgoingMessage {
    _opaque: [u8; 0],
}

// In the library, not in the crate's bindings (ddsi__xmsg.h).
unsafe extern "C" {
    fn ddsi_xmsg_addpar(
        message: *mut OutgoingMessage,
        parameter: u16,
        length: usize,
    ) -> *mut c_void;
    fn ddsi_xmsg_addpar_statusinfo(message: *mut OutgoingMessage, statusinfo: u32);
}

/// Whether this program was linked as in `build.rs`; a program that uses the bridge as a library is not.
pub(in super::super) fn can_answer() -> bool {
    type Add = unsafe extern "C" fn(*mut OutgoingMessage, u32);
    let [called, ours] =
        [ddsi_xmsg_addpar_statusinfo as Add, __wrap_ddsi_xmsg_addpar_statusinfo as Add];
    black_box(called as usize) == black_box(ours as usize)
}

/// Bit of `statusinfo` that marks our numbers. The library uses only the two lowest bits.
const OURS: u32 = 1 << 31;
const PID_STATUSINFO: u16 = 0x0071;

#[derive(Default)]
struct Replies {
    last: u32,
    identities: BTreeMap<u32, SampleIdentity>,
}

/// For each reply in a writer's history the identity of its request, by the reply's `statusinfo`.
static REPLIES: Mutex<Replies> = Mutex::new(Replies { last: 0, identities: BTreeMap::new() });

/// Sets the identity of the request that `sample`, a reply, answers.
///
/// # Safety
/// `sample` is valid, of the type of `SampleKind::Replies`, and exclusive to the caller.
pub(super) unsafe fn set_request(sample: *mut c::ddsi_serdata, identity: SampleIdentity) {
    let mut replies = REPLIES.lock();
    let number = loop {
        replies.last = (replies.last + 1) & 0x00ff_ffff;
        let number = OURS | replies.last << 2;
        if !replies.identities.contains_key(&number) {
            break number;
        }
    };
    replies.identities.insert(number, identity);
    // SAFETY: valid and exclusive, by the caller's contract.
    unsafe { (*sample).statusinfo = number };
}

/// Replaces the function that adds the parameters of a sample with `statusinfo` not 0.
///
/// # Safety
/// `message` is under construction, and its last submessage takes parameters.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_ddsi_xmsg_addpar_statusinfo(
    message: *mut OutgoingMessage,
    statusinfo: u32,
) {
    if statusinfo & OURS == 0 {
        // SAFETY: caller's contract; the space has the requested four bytes. Same as the function that this one
        // replaces, for the two bits that Cyclone sets (OpenSplice has a third).
        unsafe {
            let space = ddsi_xmsg_addpar(message, PID_STATUSINFO, 4).cast::<[u8; 4]>();
            space.write_unaligned(statusinfo.to_be_bytes());
        }
        return;
    }
    let identity = REPLIES.lock().identities.get(&statusinfo).copied();
    let Some(identity) = identity else { return };
    for id in RELATED_SAMPLE_IDENTITY {
        // SAFETY: caller's contract; the space has the requested number of bytes.
        unsafe {
            let space = ddsi_xmsg_addpar(message, id, SampleIdentity::BYTES);
            space.cast::<[u8; SampleIdentity::BYTES]>().write_unaligned(identity.parameter());
        }
    }
}

/// Functions of requests: [`RequestHead`] precedes the payload.
pub(super) fn requests(plain: &c::ddsi_serdata_ops) -> c::ddsi_serdata_ops {
    c::ddsi_serdata_ops {
        from_ser: Some(request_from_packet),
        from_ser_iov: Some(request_from_memory),
        ..*plain
    }
}

/// Functions of replies.
pub(super) fn replies(plain: &c::ddsi_serdata_ops) -> c::ddsi_serdata_ops {
    c::ddsi_serdata_ops { free: Some(free_reply), ..*plain }
}

/// `struct ddsi_rdata`, the fields in use (ddsi_radmin.h).
#[repr(C)]
struct SampleFragment {
    packet: *const ReceivedPacket,
    next: *const Self,
    min: u32,
    maxp1: u32,
    submessage: u16,
    payload: u16,
}

/// `struct ddsi_rmsg`; the packet's bytes follow it.
#[repr(C)]
struct ReceivedPacket {
    references: u32,
    last_chunk: *const c_void,
    trace: bool,
    buffer: *const c_void,
    next: *const c_void,
    size: PacketSize,
}

#[repr(C)]
union PacketSize {
    size: u32,
    integer: i64,
    real: f64,
    pointer: *const c_void,
}

/// Reads the head of a received sample from its packet.
///
/// # Safety
/// A valid chain of fragments, the first of which begins the sample.
unsafe fn head(chain: *const c::ddsi_rdata) -> Option<RequestHead> {
    // SAFETY: valid, and has this layout (see the docs of this module). The packet's bytes follow its administration, are
    // contiguous up to the payload at least, and are not written after delivery.
    let (packet, submessage) = unsafe {
        let first = &*chain.cast::<SampleFragment>();
        let bytes = first.packet.add(1).cast::<u8>();
        let packet = std::slice::from_raw_parts(bytes, usize::from(first.payload));
        (packet, usize::from(first.submessage))
    };
    RequestHead::read(packet, submessage)
}

/// `from_ser` of requests.
unsafe extern "C" fn request_from_packet(
    sertype: *const c::ddsi_sertype,
    kind: c::ddsi_serdata_kind,
    chain: *const c::ddsi_rdata,
    size: usize,
) -> *mut c::ddsi_serdata {
    let Some((from_ser, to_ser, from_memory)) = opaque::samples()
        .and_then(|plain| Some((plain.from_ser?, plain.to_ser?, plain.from_ser_iov?)))
    else {
        return ptr::null_mut();
    };
    let copied = if size > MAX_REQUEST { 0 } else { size };
    let mut bytes = vec![0; RequestHead::BYTES + copied];
    let (space, payload) = bytes.split_at_mut(RequestHead::BYTES);
    // SAFETY: the library's arguments; the copy has room for the whole sample; the sample that the
    // crate's function creates is ours and freed here.
    unsafe {
        space.copy_from_slice(&head(chain).unwrap_or_default().bytes());
        if copied > 0 {
            let sample = from_ser(sertype, kind, chain, size);
            to_ser(sample, 0, size, payload.as_mut_ptr().cast());
            c::ddsi_serdata_unref(sample);
        }
        let whole = c::ddsrt_iovec_t { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        from_memory(sertype, kind, 1, &raw const whole, bytes.len())
    }
}

/// `from_ser_iov` of requests: from a writer of this process, without identity; the payload has the client id of our clients.
unsafe extern "C" fn request_from_memory(
    sertype: *const c::ddsi_sertype,
    kind: c::ddsi_serdata_kind,
    count: c::ddsrt_msg_iovlen_t,
    ranges: *const c::ddsrt_iovec_t,
    size: usize,
) -> *mut c::ddsi_serdata {
    let Some(from_memory) = opaque::samples().and_then(|plain| plain.from_ser_iov) else {
        return ptr::null_mut();
    };
    let mut head = RequestHead::default().bytes();
    let mut gather =
        vec![c::ddsrt_iovec_t { iov_base: head.as_mut_ptr().cast(), iov_len: head.len() }];
    // SAFETY: the library's arguments are valid during the call, as is `head`.
    unsafe {
        gather.extend_from_slice(std::slice::from_raw_parts(ranges, count));
        from_memory(sertype, kind, count + 1, gather.as_ptr(), RequestHead::BYTES + size)
    }
}

/// `free` of replies: also removes the identity.
unsafe extern "C" fn free_reply(sample: *mut c::ddsi_serdata) {
    // SAFETY: no other references to the sample exist.
    let statusinfo = unsafe { (*sample).statusinfo };
    if statusinfo & OURS != 0 {
        REPLIES.lock().identities.remove(&statusinfo);
    }
    if let Some(free) = opaque::samples().and_then(|plain| plain.free) {
        // SAFETY: created by the opaque functions.
        unsafe { free(sample) };
    }
}
