//! The only unsafe code of the ROS side: owners for Cyclone DDS entities, nothing else.
//!
//! Every entity deletes itself, and holds what must outlive it. Callbacks run on Cyclone's receive thread; deleting
//! an entity waits for callbacks in flight, so what a callback points to is freed after its entity.
#![expect(unsafe_code, reason = "foreign function interface to Cyclone DDS")]

use super::super::{
    Durability, History, Policy, Qos, RawSample, Reliability, RosError, subscription::Callback,
};
use crate::time::RosTime;
use cyclors as c;
use std::{
    collections::BTreeMap,
    ffi::{CStr, CString, c_char, c_void},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
};

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

/// Ranges that one sample may be gathered from.
const MAX_PARTS: usize = 4;

/// An entity's GUID in network byte order.
pub(super) type Guid = [u8; 16];

fn check(
    call: &'static str,
    subject: &str,
    code: c::dds_return_t,
) -> Result<c::dds_return_t, RosError> {
    if code >= 0 {
        return Ok(code);
    }
    // SAFETY: the function accepts every code and returns a static, terminated string.
    let message = unsafe { CStr::from_ptr(c::dds_strretcode(code)) }
        .to_string_lossy()
        .into_owned();
    Err(RosError::Dds {
        call,
        subject: subject.to_owned(),
        message,
    })
}

fn c_string(text: &str) -> Result<CString, RosError> {
    CString::new(text).map_err(|_nul| RosError::Name {
        name: text.to_owned(),
        reason: "contains a NUL byte",
    })
}

/// Handle of a DDS entity; deleting it deletes its children.
struct Entity(c::dds_entity_t);

impl Entity {
    fn new(call: &'static str, subject: &str, code: c::dds_entity_t) -> Result<Self, RosError> {
        check(call, subject, code).map(Self)
    }

    fn guid(&self) -> Guid {
        let mut guid = c::dds_guid_t { v: [0; 16] };
        // SAFETY: `guid` is a valid place to write to; a failed call leaves it zero.
        unsafe { c::dds_get_guid(self.0, &raw mut guid) };
        guid.v
    }
}

impl Drop for Entity {
    fn drop(&mut self) {
        // SAFETY: handles are checked by the library; this one was not deleted before, `Entity` is not `Clone`.
        unsafe { c::dds_delete(self.0) };
    }
}

/// A DDS domain of this process. Domains of the same number share one configuration: that of the first.
pub(super) struct Domain {
    id: u32,
}

static DOMAINS: Mutex<BTreeMap<u32, (Entity, usize)>> = Mutex::new(BTreeMap::new());

impl Domain {
    /// `configuration`: XML fragments or `file://` URIs, comma separated; later ones win.
    pub(super) fn new(id: u32, configuration: &str) -> Result<Self, RosError> {
        let mut domains = DOMAINS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, users)) = domains.get_mut(&id) {
            *users += 1;
            return Ok(Self { id });
        }
        let xml = c_string(configuration)?;
        // SAFETY: `xml` is terminated and outlives the call.
        let code = unsafe { c::dds_create_domain(id, xml.as_ptr()) };
        domains.insert(
            id,
            (Entity::new("dds_create_domain", &id.to_string(), code)?, 1),
        );
        Ok(Self { id })
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        let mut domains = DOMAINS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, users)) = domains.get_mut(&self.id) {
            *users -= 1;
            if *users == 0 {
                domains.remove(&self.id);
            }
        }
    }
}

/// Owned `dds_qos_t`.
struct NativeQos(*mut c::dds_qos_t);

impl NativeQos {
    fn new(user_data: &str) -> Self {
        // SAFETY: no arguments; the library aborts when out of memory, so the pointer is valid.
        let qos = unsafe { c::dds_create_qos() };
        // SAFETY: `qos` is valid, the bytes are copied during the call.
        unsafe { c::dds_qset_userdata(qos, user_data.as_ptr().cast(), user_data.len()) };
        Self(qos)
    }

    /// The same settings as rmw_cyclonedds_cpp, except that writing never waits.
    fn for_endpoint(qos: Qos, user_data: &str) -> Self {
        let native = Self::new(user_data);
        let (history, depth) = match qos.history {
            History::KeepLast => (
                c::dds_history_kind_DDS_HISTORY_KEEP_LAST,
                i32::from(qos.depth.max(1)),
            ),
            History::KeepAll => (c::dds_history_kind_DDS_HISTORY_KEEP_ALL, -1),
        };
        let reliability = match qos.reliability {
            Reliability::Reliable => c::dds_reliability_kind_DDS_RELIABILITY_RELIABLE,
            Reliability::BestEffort => c::dds_reliability_kind_DDS_RELIABILITY_BEST_EFFORT,
        };
        // SAFETY: `native.0` is a valid `dds_qos_t`; all other arguments are plain numbers.
        unsafe {
            c::dds_qset_writer_data_lifecycle(native.0, false);
            c::dds_qset_history(native.0, history, depth);
            c::dds_qset_reliability(native.0, reliability, 0);
            match qos.durability {
                Durability::Volatile => {
                    c::dds_qset_durability(
                        native.0,
                        c::dds_durability_kind_DDS_DURABILITY_VOLATILE,
                    );
                }
                Durability::TransientLocal => {
                    c::dds_qset_durability(
                        native.0,
                        c::dds_durability_kind_DDS_DURABILITY_TRANSIENT_LOCAL,
                    );
                    c::dds_qset_durability_service(native.0, 0, history, depth, -1, -1, -1);
                }
            }
        }
        native
    }
}

impl Drop for NativeQos {
    fn drop(&mut self) {
        // SAFETY: created by `dds_create_qos`, deleted once.
        unsafe { c::dds_delete_qos(self.0) };
    }
}

/// Owned `dds_listener_t`; entities copy it when they are created.
struct Listener(*mut c::dds_listener_t);

impl Drop for Listener {
    fn drop(&mut self) {
        // SAFETY: created by `dds_create_listener`, deleted once.
        unsafe { c::dds_delete_listener(self.0) };
    }
}

/// A DDS participant.
pub(super) struct Participant {
    entity: Entity,
    _domain: Domain,
}

impl Participant {
    pub(super) fn new(domain: Domain, user_data: &str) -> Result<Self, RosError> {
        let qos = NativeQos::new(user_data);
        // SAFETY: `qos.0` is valid during the call; no listener.
        let code = unsafe { c::dds_create_participant(domain.id, qos.0, ptr::null()) };
        let entity = Entity::new("dds_create_participant", &domain.id.to_string(), code)?;
        Ok(Self {
            entity,
            _domain: domain,
        })
    }

    pub(super) fn guid(&self) -> Guid {
        self.entity.guid()
    }

    /// A topic whose samples are opaque bytes.
    fn topic(&self, topic: &str, type_name: &str) -> Result<Entity, RosError> {
        let (name, type_name) = (c_string(topic)?, c_string(type_name)?);
        // SAFETY: both strings are terminated, outlive the call, and are only read (`char *` lacks a `const`).
        let code = unsafe {
            c::cdds_create_blob_topic(
                self.entity.0,
                name.as_ptr().cast_mut(),
                type_name.as_ptr().cast_mut(),
                true,
            )
        };
        Entity::new("cdds_create_blob_topic", topic, code)
    }

    /// Topic and type name of every writer that discovery knows, this process included.
    pub(super) fn publications(&self) -> Result<Vec<(String, String)>, RosError> {
        const BATCH: usize = 64;
        // SAFETY: a pseudo handle of the library, default QoS, no listener.
        let code = unsafe {
            c::dds_create_reader(
                self.entity.0,
                c::DDS_BUILTIN_TOPIC_DCPSPUBLICATION,
                ptr::null(),
                ptr::null(),
            )
        };
        let reader = Entity::new("dds_create_reader", "DCPSPublication", code)?;
        let mut publications = Vec::new();
        loop {
            let mut samples = [ptr::null_mut::<c_void>(); BATCH];
            // SAFETY: all-zero is a valid `dds_sample_info_t` (numbers and a bool).
            let mut infos: [c::dds_sample_info_t; BATCH] = unsafe { std::mem::zeroed() };
            // SAFETY: both arrays have BATCH elements; null samples ask the library to lend its own.
            let code = unsafe {
                c::dds_take(
                    reader.0,
                    samples.as_mut_ptr(),
                    infos.as_mut_ptr(),
                    BATCH,
                    BATCH as u32,
                )
            };
            let count = check("dds_take", "DCPSPublication", code)? as usize;
            if count == 0 {
                return Ok(publications);
            }
            for (sample, info) in samples.iter().zip(&infos).take(count) {
                if info.valid_data && info.instance_state == c::dds_instance_state_DDS_IST_ALIVE {
                    // SAFETY: samples of this builtin topic have this type, and stay valid until the loan is returned.
                    let endpoint = unsafe { &*sample.cast::<c::dds_builtintopic_endpoint_t>() };
                    let text = |name| {
                        // SAFETY: a valid sample has both names, terminated.
                        unsafe { CStr::from_ptr(name) }
                            .to_string_lossy()
                            .into_owned()
                    };
                    publications.push((text(endpoint.topic_name), text(endpoint.type_name)));
                }
            }
            // SAFETY: returns exactly what was lent.
            unsafe { c::dds_return_loan(reader.0, samples.as_mut_ptr(), count as i32) };
        }
    }
}

/// What a writer's listener learns; read without a lock.
#[derive(Default)]
pub(super) struct Events {
    matched: AtomicUsize,
    incompatible: AtomicU32,
    last_policy: AtomicU32,
}

impl Events {
    pub(super) fn matched(&self) -> usize {
        self.matched.load(Ordering::Relaxed)
    }

    pub(super) fn incompatible(&self) -> (u32, Option<Policy>) {
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
    // SAFETY: `arg` points to the `Events` of a writer whose entity still exists (see the module's head).
    let events = unsafe { &*arg.cast::<Events>() };
    events
        .matched
        .store(status.current_count as usize, Ordering::Relaxed);
}

extern "C" fn on_incompatible(
    _: c::dds_entity_t,
    status: c::dds_offered_incompatible_qos_status_t,
    arg: *mut c_void,
) {
    // SAFETY: as in `on_matched`.
    let events = unsafe { &*arg.cast::<Events>() };
    events
        .last_policy
        .store(status.last_policy_id, Ordering::Relaxed);
    events
        .incompatible
        .store(status.total_count, Ordering::Relaxed);
}

/// What became of a write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Written {
    Sent,
    /// `intact` denied.
    Torn,
    /// The library would have had to wait.
    Refused,
}

/// A DDS writer of opaque samples. Fields are dropped in this order.
pub(super) struct Writer {
    statistics: Mutex<StatisticsPointer>,
    entity: Entity,
    sertype: *const c::ddsi_sertype,
    events: Arc<Events>,
    _topic: Entity,
    _participant: Arc<Participant>,
}

struct StatisticsPointer(*mut Statistics);

// SAFETY: the entity is a handle that the library synchronises; `sertype` is immutable and kept alive by the topic;
// the statistics are behind a mutex; the rest is `Send + Sync`.
unsafe impl Send for Writer {}
// SAFETY: see `Send`.
unsafe impl Sync for Writer {}

impl Writer {
    pub(super) fn new(
        participant: &Arc<Participant>,
        topic_name: &str,
        type_name: &str,
        qos: Qos,
        user_data: &str,
    ) -> Result<Self, RosError> {
        let topic = participant.topic(topic_name, type_name)?;
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
        // SAFETY: `sertype` is a valid place to write to.
        let code = unsafe { c::dds_get_entity_sertype(entity.0, &raw mut sertype) };
        check("dds_get_entity_sertype", topic_name, code)?;
        // SAFETY: any handle is allowed; null on failure, which is checked at use.
        let statistics = Mutex::new(StatisticsPointer(unsafe {
            dds_create_statistics(entity.0)
        }));
        Ok(Self {
            statistics,
            entity,
            sertype,
            events,
            _topic: topic,
            _participant: participant.clone(),
        })
    }

    pub(super) fn guid(&self) -> Guid {
        self.entity.guid()
    }

    pub(super) fn events(&self) -> &Events {
        &self.events
    }

    /// Copies `parts` into one sample, asks `intact`, and writes.
    pub(super) fn write(
        &self,
        topic: &str,
        parts: &[&[u8]],
        intact: &dyn Fn() -> bool,
    ) -> Result<Written, RosError> {
        let empty = c::ddsrt_iovec_t {
            iov_base: ptr::null_mut(),
            iov_len: 0,
        };
        let mut gather = [empty; MAX_PARTS];
        let mut size = 0;
        assert!(
            parts.len() <= MAX_PARTS,
            "a sample has a head, an array and a tail"
        );
        for (iov, part) in gather.iter_mut().zip(parts) {
            *iov = c::ddsrt_iovec_t {
                iov_base: part.as_ptr().cast_mut().cast(),
                iov_len: part.len(),
            };
            size += part.len();
        }
        // SAFETY: the ranges are valid for reads during the call, which copies them; `size` is their sum; `sertype`
        // belongs to this writer. Cyclone reads samples in units of four bytes: callers pad, checked here.
        let sample = unsafe {
            debug_assert!(
                size % 4 == 0 && size >= 4,
                "samples are padded to a multiple of four"
            );
            c::ddsi_serdata_from_ser_iov(
                self.sertype,
                c::ddsi_serdata_kind_SDK_DATA,
                parts.len() as c::ddsrt_msg_iovlen_t,
                gather.as_ptr(),
                size,
            )
        };
        if !intact() {
            // SAFETY: `sample` was just created and has one reference, ours.
            unsafe { c::ddsi_serdata_unref(sample) };
            return Ok(Written::Torn);
        }
        // SAFETY: hands over our reference to `sample`.
        let code = unsafe { c::dds_writecdr(self.entity.0, sample) };
        if code == c::DDS_RETCODE_TIMEOUT {
            return Ok(Written::Refused);
        }
        check("dds_writecdr", topic, code).map(|_| Written::Sent)
    }

    /// Bytes sent again because a reader asked for them.
    pub(super) fn retransmitted_bytes(&self) -> Option<u64> {
        let statistics = self
            .statistics
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if statistics.0.is_null() {
            return None;
        }
        // SAFETY: the pointer is valid and locked; the name is terminated; the result points into the statistics.
        unsafe {
            check(
                "dds_refresh_statistics",
                "writer",
                dds_refresh_statistics(statistics.0),
            )
            .ok()?;
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

/// A DDS reader of opaque samples that hands each one to a callback.
pub(super) struct Reader {
    entity: Entity,
    _handler: Arc<Handler>,
    _topic: Entity,
    _participant: Arc<Participant>,
}

type Handler = Mutex<Callback>;

impl Reader {
    pub(super) fn new(
        participant: &Arc<Participant>,
        topic_name: &str,
        type_name: &str,
        qos: Qos,
        user_data: &str,
        callback: Callback,
    ) -> Result<Self, RosError> {
        let topic = participant.topic(topic_name, type_name)?;
        let qos = NativeQos::for_endpoint(qos, user_data);
        let handler: Arc<Handler> = Arc::new(Mutex::new(callback));
        let arg = Arc::as_ptr(&handler).cast_mut().cast::<c_void>();
        // SAFETY: no preconditions; `arg` is dereferenced only by the callback.
        let listener = Listener(unsafe { c::dds_create_listener(arg) });
        // SAFETY: listener and QoS are valid during the calls; `arg` outlives the entity (order of the fields).
        let code = unsafe {
            c::dds_lset_data_available_arg(listener.0, Some(on_data), arg, true);
            c::dds_create_reader(participant.entity.0, topic.0, qos.0, listener.0)
        };
        let entity = Entity::new("dds_create_reader", topic_name, code)?;
        Ok(Self {
            entity,
            _handler: handler,
            _topic: topic,
            _participant: participant.clone(),
        })
    }

    pub(super) fn guid(&self) -> Guid {
        self.entity.guid()
    }
}

extern "C" fn on_data(reader: c::dds_entity_t, arg: *mut c_void) {
    // SAFETY: `arg` points to the `Handler` of a reader whose entity still exists (see the module's head).
    let handler = unsafe { &*arg.cast::<Handler>() };
    let mut callback = handler.lock().unwrap_or_else(PoisonError::into_inner);
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
            let mut range = c::ddsrt_iovec_t {
                iov_base: ptr::null_mut(),
                iov_len: 0,
            };
            // SAFETY: `sample` is valid, the range covers it, and the reference taken here keeps the bytes alive.
            let bytes = unsafe {
                let size = c::ddsi_serdata_size(sample) as usize;
                c::ddsi_serdata_to_ser_ref(sample, 0, size, &raw mut range);
                std::slice::from_raw_parts(range.iov_base.cast::<u8>(), range.iov_len)
            };
            let raw = RawSample {
                cdr: bytes,
                source_stamp: RosTime(info.source_timestamp),
            };
            // A panic must not unwind into C; the panic hook has printed it.
            let _ = catch_unwind(AssertUnwindSafe(|| callback(&raw)));
            // SAFETY: gives back the reference taken above; `bytes` is not used any more.
            unsafe { c::ddsi_serdata_to_ser_unref(sample, &raw const range) };
        }
        // SAFETY: the reference that `dds_takecdr` gave us.
        unsafe { c::ddsi_serdata_unref(sample) };
    }
}
