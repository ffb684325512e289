//! A DDS writer, its events and its statistics.
use super::super::identity::{CYCLONE, FAST_DDS, SampleIdentity};
use super::sertype::SampleKind;
use super::{Entity, Guid, Listener, NativeQos, Participant, Peer, check, identity, sample};
use crate::ros::{Cdr, Policy, Qos, RosError, pacing};
use cyclors as c;
use parking_lot::Mutex;
use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::{ptr, sync::Arc, time::Duration};

// In the library, not in the crate's bindings (dds/ddsc/dds_statistics.h).
unsafe extern "C" {
    fn dds_create_statistics(entity: c::dds_entity_t) -> *mut Statistics;
    fn dds_refresh_statistics(statistics: *mut Statistics) -> c::dds_return_t;
    fn dds_delete_statistics(statistics: *mut Statistics);
    fn dds_lookup_statistic(statistics: *const Statistics, name: *const c_char) -> *const KeyValue;
}

/// `struct dds_statistics`, only handled by pointer.
#[repr(C)]
struct Statistics {
    _opaque: [u8; 0],
}

/// `struct dds_stat_keyvalue`.
#[repr(C)]
struct KeyValue {
    name: *const c_char,
    kind: u32,
    value: u64,
}

/// `DDS_STAT_KIND_UINT64`.
const KIND_UINT64: u32 = 1;

/// Counts from a writer's listener; read without a lock.
#[derive(Default)]
pub(in super::super) struct Events {
    matched: AtomicUsize,
    /// Number of changes of the matched readers.
    changes: AtomicU32,
    incompatible: AtomicU32,
    last_policy: AtomicU32,
}

impl Events {
    pub(in super::super) fn matched(&self) -> usize {
        self.matched.load(Ordering::Relaxed)
    }

    pub(in super::super) fn incompatible(&self) -> (u32, Option<Policy>) {
        let policy = match self.last_policy.load(Ordering::Relaxed) {
            c::dds_qos_policy_id_DDS_INVALID_QOS_POLICY_ID => None,
            c::dds_qos_policy_id_DDS_RELIABILITY_QOS_POLICY_ID => Some(Policy::Reliability),
            c::dds_qos_policy_id_DDS_DURABILITY_QOS_POLICY_ID => Some(Policy::Durability),
            other => Some(Policy::Other(other)),
        };
        (self.incompatible.load(Ordering::Relaxed), policy)
    }
}

extern "C" fn on_matched(
    _: c::dds_entity_t,
    status: c::dds_publication_matched_status_t,
    arg: *mut c_void,
) {
    // SAFETY: `arg` points to the `Events` of a writer whose entity still exists (see the docs of `ffi`).
    let events = unsafe { &*arg.cast::<Events>() };
    events.matched.store(status.current_count as usize, Ordering::Relaxed);
    events.changes.fetch_add(1, Ordering::Release);
}

extern "C" fn on_incompatible(
    _: c::dds_entity_t,
    status: c::dds_offered_incompatible_qos_status_t,
    arg: *mut c_void,
) {
    // SAFETY: as in `on_matched`.
    let events = unsafe { &*arg.cast::<Events>() };
    events.last_policy.store(status.last_policy_id, Ordering::Relaxed);
    events.incompatible.store(status.total_count, Ordering::Relaxed);
}

/// Result of a write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in super::super) enum Written {
    /// The sample was sent; pauses of `paused` in total let the readers empty their receive buffers.
    Sent { paused: Duration },
    /// The library would have had to block.
    Refused,
}

/// A DDS writer. Fields are dropped in this order.
pub(in super::super) struct Writer {
    statistics: Mutex<StatisticsPointer>,
    entity: Entity,
    sertype: *const c::ddsi_sertype,
    events: Arc<Events>,
    pace: Mutex<PacingState>,
    _topic: Entity,
    _participant: Arc<Participant>,
}

/// Pacing state of large samples.
#[derive(Default)]
struct PacingState {
    /// [`Events::changes`] when the readers were last examined.
    changes: u32,
    rate: pacing::PacingRate,
}

struct StatisticsPointer(*mut Statistics);

// SAFETY: the entity is a handle that the library synchronises; `sertype` is immutable and kept alive by the topic;
// the statistics are behind a mutex; the rest is `Send + Sync`.
unsafe impl Send for Writer {}
// SAFETY: see `Send`.
unsafe impl Sync for Writer {}

impl Writer {
    /// A writer of [`SampleKind::Blocks`] for [`Self::write`], or of [`SampleKind::Replies`] for [`Self::write_copy`].
    pub(in super::super) fn new(
        participant: &Arc<Participant>,
        samples: SampleKind,
        topic_name: &str,
        type_name: &str,
        qos: Qos,
        user_data: &str,
    ) -> Result<Self, RosError> {
        let topic = participant.topic_of(samples, topic_name, type_name)?;
        let qos = NativeQos::for_endpoint(qos, user_data);
        let events = Arc::<Events>::default();
        let arg = Arc::as_ptr(&events).cast_mut().cast::<c_void>();
        // SAFETY: no preconditions; `arg` is dereferenced only by the callbacks.
        let listener = Listener(unsafe { c::dds_create_listener(arg) });
        // SAFETY: listener and QoS are valid during the calls; `arg` outlives the entity (order of the fields).
        let code = unsafe {
            c::dds_lset_publication_matched_arg(listener.0, Some(on_matched), arg, true);
            c::dds_lset_offered_incompatible_qos_arg(listener.0, Some(on_incompatible), arg, true);
            c::dds_create_writer(participant.entity.0, topic.0, qos.0, listener.0)
        };
        let entity = Entity::new("dds_create_writer", topic_name, code)?;
        let mut sertype = ptr::null();
        // SAFETY: `sertype` is valid for writes.
        let code = unsafe { c::dds_get_entity_sertype(entity.0, &raw mut sertype) };
        check("dds_get_entity_sertype", topic_name, code)?;
        // SAFETY: any handle is allowed; null on failure, which is checked at use.
        let statistics = Mutex::new(StatisticsPointer(unsafe { dds_create_statistics(entity.0) }));
        Ok(Self {
            statistics,
            entity,
            sertype,
            events,
            pace: Mutex::default(),
            _topic: topic,
            _participant: participant.clone(),
        })
    }

    pub(in super::super) fn guid(&self) -> Guid {
        self.entity.guid()
    }

    /// Matched readers.
    pub(in super::super) fn readers(&self) -> Vec<Peer> {
        let mut handles = vec![0; self.events.matched()];
        // SAFETY: room for the given number of handles; the result may be larger.
        let count = unsafe {
            c::dds_get_matched_subscriptions(self.entity.0, handles.as_mut_ptr(), handles.len())
        };
        let found = handles.iter().take(usize::try_from(count).unwrap_or(0));
        // SAFETY: handles are checked by the library; the result is null or ours.
        let peer = |handle: &u64| unsafe {
            Peer::take(c::dds_get_matched_subscription_data(self.entity.0, *handle))
        };
        found.filter_map(peer).collect()
    }

    pub(in super::super) fn events(&self) -> &Events {
        &self.events
    }

    /// Writes a sample; a large one is paced if `bytes_per_s` is not 0.
    pub(in super::super) fn write(
        &self,
        topic: &str,
        cdr: Arc<Cdr>,
        bytes_per_s: u64,
    ) -> Result<Written, RosError> {
        let size = cdr.as_ref().as_ref().len();
        let paced = bytes_per_s > 0 && size > pacing::SMALL_BYTES;
        let bytes_per_s = if paced { self.pace(bytes_per_s) } else { 0 };
        // SAFETY: the topic keeps `sertype` alive; this writer is of `SampleKind::Blocks`, whose type has the functions.
        let sample = unsafe { sample::new(self.sertype, cdr) };
        let (code, paused) = pacing::paced(bytes_per_s, self.events.matched(), size, || {
            // SAFETY: hands over our reference to `sample`.
            unsafe { c::dds_writecdr(self.entity.0, sample) }
        });
        if code == c::DDS_RETCODE_TIMEOUT {
            return Ok(Written::Refused);
        }
        check("dds_writecdr", topic, code).map(|_| Written::Sent { paused })
    }

    /// Bytes per second for a large sample, adapted to the retransmissions of earlier ones.
    fn pace(&self, usual: u64) -> u64 {
        let changes = self.events.changes.load(Ordering::Acquire);
        let mut pace = self.pace.lock();
        let retransmitted = || self.retransmitted_bytes().unwrap_or(u64::MAX);
        if pace.changes != changes {
            pace.changes = changes;
            pace.rate.reset(self.slowest_reader(), retransmitted());
        } else if pace.rate.learns() {
            pace.rate.learn(retransmitted());
        }
        pace.rate.bytes_per_s(usual)
    }

    fn slowest_reader(&self) -> pacing::SlowestReader {
        let readers = self.readers();
        let is_fast_dds = |reader: &Peer| reader.guid.starts_with(&FAST_DDS);
        if readers.iter().any(|r| r.is_best_effort && is_fast_dds(r)) {
            pacing::SlowestReader::BestEffortFastDds
        } else if readers.iter().all(|r| !r.is_best_effort && r.guid.starts_with(&CYCLONE)) {
            pacing::SlowestReader::ReportsLoss
        } else {
            pacing::SlowestReader::HidesLoss
        }
    }

    /// Writes a copy of a request or a response of a service. `request`: the identity of the request, sent outside the
    /// payload of its response; `None`: the payload contains it.
    pub(in super::super) fn write_copy(
        &self,
        topic: &str,
        cdr: &[u8],
        request: Option<SampleIdentity>,
    ) -> Result<Written, RosError> {
        let range =
            c::ddsrt_iovec_t { iov_base: cdr.as_ptr().cast_mut().cast(), iov_len: cdr.len() };
        // SAFETY: the range is valid for reads during the call, which copies it; Cyclone reads samples in units of four
        // bytes, checked here. The new sample is ours until handed over; unlike `dds_writecdr`
        // `dds_forwardcdr` keeps the fields we set.
        let code = unsafe {
            assert!(cdr.len().is_multiple_of(4), "requests and responses are padded");
            let sample = c::ddsi_serdata_from_ser_iov(
                self.sertype,
                c::ddsi_serdata_kind_SDK_DATA,
                1,
                &raw const range,
                cdr.len(),
            );
            if let Some(request) = request {
                identity::set_request(sample, request);
            }
            (*sample).timestamp.v = c::dds_time();
            c::dds_forwardcdr(self.entity.0, sample)
        };
        if code == c::DDS_RETCODE_TIMEOUT {
            return Ok(Written::Refused);
        }
        let paused = Duration::ZERO;
        check("dds_forwardcdr", topic, code).map(|_| Written::Sent { paused })
    }

    /// Bytes retransmitted at a reader's request.
    pub(in super::super) fn retransmitted_bytes(&self) -> Option<u64> {
        let statistics = self.statistics.lock();
        if statistics.0.is_null() {
            return None;
        }
        // SAFETY: the pointer is valid and locked; the name is terminated; the result points into the statistics.
        unsafe {
            check("dds_refresh_statistics", "writer", dds_refresh_statistics(statistics.0)).ok()?;
            let found = dds_lookup_statistic(statistics.0, c"rexmit_bytes".as_ptr()).as_ref()?;
            (found.kind == KIND_UINT64).then_some(found.value)
        }
    }
}

impl Drop for StatisticsPointer {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: created by `dds_create_statistics`, deleted once.
            unsafe { dds_delete_statistics(self.0) };
        }
    }
}
