//! Byte arrays that are shorter than their memory, so that one array serves messages of any size.
#![expect(unsafe_code, reason = "sets the length of a C sequence")]
use crate::ros::Bytes;
use rclrs::rosidl_runtime_rs::Sequence;
use std::ptr;

pub(super) type Array = Sequence<u8>;

/// Makes the array as long as its memory, at least `room` bytes; its contents are then arbitrary.
pub(super) fn make_room(array: &mut Array, room: usize) {
    let capacity = capacity(array);
    if capacity < room {
        *array = Sequence::new(room);
    } else {
        set_len(array, capacity);
    }
}

/// The first fields of `rosidl_runtime_c__uint8__Sequence` and of [`Sequence`]; from Lyrical on, flags follow. The interface of
/// [`Sequence`] hides that a sequence may be shorter than its memory.
#[repr(C)]
struct RawSequence {
    data: *mut u8,
    size: usize,
    capacity: usize,
}

const _: () = assert!(
    size_of::<RawSequence>() <= size_of::<Array>()
        && align_of::<RawSequence>() == align_of::<Array>()
);

fn capacity(array: &Array) -> usize {
    // SAFETY: `Sequence` is `repr(C)` and begins with these fields, to be passed to C.
    unsafe { (*ptr::from_ref(array).cast::<RawSequence>()).capacity }
}

/// Sets the length of the array, at most its capacity.
pub(super) fn set_len(array: &mut Array, len: usize) {
    // SAFETY: as in `capacity`; `Sequence::new` initialised the whole memory, and a shorter length leaves it so.
    unsafe {
        let raw = &mut *ptr::from_mut(array).cast::<RawSequence>();
        raw.size = len.min(raw.capacity);
    }
}

/// Copies once; allocates only if the array is too small.
pub(super) fn copy(from: Bytes<'_>, to: &mut Array) {
    make_room(to, from.len());
    from.copy_to(to.as_mut_slice());
    set_len(to, from.len());
}
