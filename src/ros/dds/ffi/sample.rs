//! Samples in our own memory: Cyclone sends and resends them in place, and the memory returns to its pool when no reader needs it
//! any more. Only writers have topics of this kind, so nothing here deserialises.
use crate::ros::Cdr;
use cyclors as c;
use std::{ffi::c_void, ptr, sync::Arc};

// In the library, not in the crate's bindings (ddsi_serdata.h).
unsafe extern "C" {
    fn ddsi_serdata_ref(data: *const c::ddsi_serdata) -> *mut c::ddsi_serdata;
}

/// `struct ddsi_serdata` with our data behind it.
#[repr(C)]
struct Sample {
    base: c::ddsi_serdata,
    /// `None` for the library's record of an instance of a keyless topic.
    cdr: Option<Arc<Cdr>>,
}

impl Sample {
    fn bytes(&self) -> &[u8] {
        self.cdr.as_deref().map_or(&[], Cdr::as_ref)
    }
}

/// Returns the `ddsi_serdata_ops` of these samples. Functions not replaced here do not access a sample.
pub(super) fn functions(plain: &c::ddsi_serdata_ops) -> c::ddsi_serdata_ops {
    c::ddsi_serdata_ops {
        get_size: Some(get_size),
        from_ser: None,
        from_ser_iov: None,
        to_ser: Some(to_ser),
        to_ser_ref: Some(to_ser_ref),
        to_ser_unref: Some(to_ser_unref),
        to_untyped: Some(to_untyped),
        free: Some(free),
        from_psmx: None,
        ..*plain
    }
}

/// A sample with one reference, held by the caller.
///
/// # Safety
/// `sertype` is valid, lives as long as the sample, and has [`functions`].
pub(super) unsafe fn new(sertype: *const c::ddsi_sertype, cdr: Arc<Cdr>) -> *mut c::ddsi_serdata {
    // SAFETY: caller's contract.
    unsafe { create(sertype, c::ddsi_serdata_kind_SDK_DATA, Some(cdr)) }
}

/// # Safety
/// As [`new`].
unsafe fn create(
    sertype: *const c::ddsi_sertype,
    kind: c::ddsi_serdata_kind,
    cdr: Option<Arc<Cdr>>,
) -> *mut c::ddsi_serdata {
    // SAFETY: all-zero is a valid `ddsi_serdata` (numbers and pointers), which the library then fills in.
    let base = unsafe { std::mem::zeroed() };
    let sample = Box::into_raw(Box::new(Sample { base, cdr }));
    // SAFETY: valid and ours; the type is valid by the caller's contract.
    unsafe { c::ddsi_serdata_init(&raw mut (*sample).base, sertype, kind) };
    sample.cast()
}

/// # Safety
/// `data` is a sample of [`create`] that lives as long as the result is used.
unsafe fn sample<'a>(data: *const c::ddsi_serdata) -> &'a Sample {
    // SAFETY: caller's contract; `base` is the first field. Its bytes are immutable.
    unsafe { &*data.cast::<Sample>() }
}

unsafe extern "C" fn get_size(data: *const c::ddsi_serdata) -> u32 {
    // SAFETY: the library passes a sample of ours.
    unsafe { sample(data) }.bytes().len() as u32
}

unsafe extern "C" fn to_ser(data: *const c::ddsi_serdata, at: usize, size: usize, to: *mut c_void) {
    // SAFETY: the library passes a sample of ours, a part inside it, and room for that part.
    unsafe {
        let from = sample(data).bytes().as_ptr().add(at);
        ptr::copy_nonoverlapping(from, to.cast(), size);
    }
}

unsafe extern "C" fn to_ser_ref(
    data: *const c::ddsi_serdata,
    offset: usize,
    size: usize,
    range: *mut c::ddsrt_iovec_t,
) -> *mut c::ddsi_serdata {
    // SAFETY: as in `to_ser`; the library reads the range until it gives the reference back. It may round
    // `size` up to a multiple of four; the length of a sample is one (`Block::gather`, `Tail`), so that the range stays inside.
    unsafe {
        let from = sample(data).bytes().as_ptr().add(offset);
        *range = c::ddsrt_iovec_t { iov_base: from.cast_mut().cast(), iov_len: size };
        ddsi_serdata_ref(data)
    }
}

unsafe extern "C" fn to_ser_unref(data: *mut c::ddsi_serdata, _: *const c::ddsrt_iovec_t) {
    // SAFETY: gives back the reference that `to_ser_ref` took.
    unsafe { c::ddsi_serdata_unref(data) };
}

unsafe extern "C" fn to_untyped(data: *const c::ddsi_serdata) -> *mut c::ddsi_serdata {
    // SAFETY: the library passes a sample of ours, with its type; an untyped sample has none.
    unsafe {
        let untyped = create((*data).type_, c::ddsi_serdata_kind_SDK_KEY, None);
        (*untyped).type_ = ptr::null();
        untyped
    }
}

unsafe extern "C" fn free(data: *mut c::ddsi_serdata) {
    // SAFETY: made by `create`; no other references exist.
    drop(unsafe { Box::from_raw(data.cast::<Sample>()) });
}
