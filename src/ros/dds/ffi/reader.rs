//! A DDS reader that passes each sample to a callback.
use super::super::identity::RequestHead;
use super::{Entity, Guid, Listener, NativeQos, Participant, Peer, sertype::SampleKind};
use crate::ros::{Qos, RawSample, RosError};
use crate::time::RosTime;
use cyclors as c;
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ffi::c_void, ptr, sync::Arc};

/// A DDS reader. Fields are dropped in this order.
pub(in super::super) struct Reader {
    entity: Entity,
    _handler: Arc<Handler>,
    _topic: Entity,
    _participant: Arc<Participant>,
}

struct Handler {
    callback: Mutex<Callback>,
    /// Samples start with their [`RequestHead`].
    has_head: bool,
}

pub(in super::super) type Callback = Box<dyn FnMut(&RawSample<'_>, Origin) + Send>;

/// Origin of a sample; valid only inside the callback.
#[derive(Clone, Copy)]
pub(in super::super) struct Origin {
    reader: c::dds_entity_t,
    writer: c::dds_instance_handle_t,
    /// The head before the payload; only for requests.
    pub(in super::super) head: RequestHead,
}

impl Origin {
    /// The writer, if it still exists.
    pub(in super::super) fn writer(self) -> Option<Peer> {
        // SAFETY: both handles are checked by the library; the result is null or ours.
        unsafe { Peer::take(c::dds_get_matched_publication_data(self.reader, self.writer)) }
    }
}

impl Reader {
    /// A reader of [`SampleKind::Opaque`] or of [`SampleKind::Requests`], whose [`RequestHead`] is in the [`Origin`].
    pub(in super::super) fn new(
        participant: &Arc<Participant>,
        samples: SampleKind,
        topic_name: &str,
        type_name: &str,
        qos: Qos,
        user_data: &str,
        callback: Callback,
    ) -> Result<Self, RosError> {
        let topic = participant.topic_of(samples, topic_name, type_name)?;
        let qos = NativeQos::for_endpoint(qos, user_data);
        let has_head = samples == SampleKind::Requests;
        let handler = Arc::new(Handler { callback: Mutex::new(callback), has_head });
        let arg = Arc::as_ptr(&handler).cast_mut().cast::<c_void>();
        // SAFETY: no preconditions; `arg` is dereferenced only by the callback.
        let listener = Listener(unsafe { c::dds_create_listener(arg) });
        // SAFETY: listener and QoS are valid during the calls; `arg` outlives the entity (order of the fields).
        let code = unsafe {
            c::dds_lset_data_available_arg(listener.0, Some(on_data), arg, true);
            c::dds_create_reader(participant.entity.0, topic.0, qos.0, listener.0)
        };
        let entity = Entity::new("dds_create_reader", topic_name, code)?;
        Ok(Self { entity, _handler: handler, _topic: topic, _participant: participant.clone() })
    }

    pub(in super::super) fn guid(&self) -> Guid {
        self.entity.guid()
    }

    /// Whether a writer is matched.
    pub(in super::super) fn is_matched(&self) -> bool {
        // SAFETY: without room for handles the call only counts.
        unsafe { c::dds_get_matched_publications(self.entity.0, ptr::null_mut(), 0) > 0 }
    }
}

extern "C" fn on_data(reader: c::dds_entity_t, arg: *mut c_void) {
    // SAFETY: `arg` points to the `Handler` of a reader whose entity still exists (see the docs of `ffi`).
    let handler = unsafe { &*arg.cast::<Handler>() };
    let mut callback = handler.callback.lock();
    loop {
        let mut sample = ptr::null_mut::<c::ddsi_serdata>();
        // SAFETY: all-zero is a valid `dds_sample_info_t` (numbers and a bool).
        let mut info: c::dds_sample_info_t = unsafe { std::mem::zeroed() };
        // SAFETY: room for one sample and one info.
        let taken =
            unsafe { c::dds_takecdr(reader, &raw mut sample, 1, &raw mut info, c::DDS_ANY_STATE) };
        if taken <= 0 || sample.is_null() {
            return;
        }
        if info.valid_data {
            let mut range = c::ddsrt_iovec_t { iov_base: ptr::null_mut(), iov_len: 0 };
            // SAFETY: `sample` is valid, the range covers it, and the reference taken here keeps the bytes alive.
            let bytes = unsafe {
                let size = c::ddsi_serdata_size(sample) as usize;
                c::ddsi_serdata_to_ser_ref(sample, 0, size, &raw mut range);
                std::slice::from_raw_parts(range.iov_base.cast::<u8>(), range.iov_len)
            };
            let (head, cdr) = if handler.has_head {
                RequestHead::split(bytes).unwrap_or_default()
            } else {
                (RequestHead::default(), bytes)
            };
            let raw = RawSample { cdr, source_stamp: RosTime(info.source_timestamp) };
            let origin = Origin { reader, writer: info.publication_handle, head };
            // A panic must not unwind into C; the panic hook has printed it.
            let _ = catch_unwind(AssertUnwindSafe(|| callback(&raw, origin)));
            // SAFETY: gives back the reference taken above; `bytes` is not used any more.
            unsafe { c::ddsi_serdata_to_ser_unref(sample, &raw const range) };
        }
        // SAFETY: the reference that `dds_takecdr` gave us.
        unsafe { c::ddsi_serdata_unref(sample) };
    }
}
