//! All unsafe code of this back end: owners for Cyclone DDS entities.
//!
//! Each entity deletes itself, and holds whatever must outlive it. Callbacks run on Cyclone's receive thread, or on the thread
//! of a writer in this process. Deleting an entity waits for running callbacks, so a callback's target is freed after its entity.
#![expect(unsafe_code, reason = "foreign function interface to Cyclone DDS")]

mod addresses;
mod endpoints;
mod identity;
mod log;
mod opaque;
mod peer;
mod reader;
mod recvmsg;
mod sample;
mod sertype;
mod writer;

pub(super) use addresses::own_addresses;
pub(super) use endpoints::{Endpoint, Endpoints, Side};
pub(super) use identity::can_answer;
pub(super) use peer::Peer;
pub(super) use reader::{Origin, Reader};
pub(super) use sertype::SampleKind;
pub(super) use writer::{Writer, Written};

use super::super::{Durability, History, Qos, Reliability, RosError, pacing};
use super::identity::Guid;
use cyclors as c;
use parking_lot::Mutex;
use std::ffi::{CStr, CString};
use std::{collections::BTreeMap, ptr};

fn check(
    call: &'static str,
    subject: &str,
    code: c::dds_return_t,
) -> Result<c::dds_return_t, RosError> {
    if code >= 0 {
        return Ok(code);
    }
    // SAFETY: the function accepts every code and returns a static, terminated string.
    let message = unsafe { CStr::from_ptr(c::dds_strretcode(code)) }.to_string_lossy().into_owned();
    Err(RosError::Dds { call, subject: subject.to_owned(), message })
}

fn c_string(text: &str) -> Result<CString, RosError> {
    CString::new(text).map_err(|_nul| {
        let reason = "it contains a NUL byte".to_owned();
        RosError::Name { name: text.to_owned(), reason }
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
        // SAFETY: `guid` is valid for writes; a failed call leaves it zero.
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

/// A DDS domain of this process. Domains of the same number share the configuration of the first.
pub(super) struct Domain {
    id: u32,
}

static DOMAINS: Mutex<BTreeMap<u32, (Entity, usize)>> = Mutex::new(BTreeMap::new());

impl Domain {
    /// `configuration`: XML fragments or `file://` URIs, comma separated; later ones win.
    pub(super) fn new(id: u32, configuration: &str) -> Result<Self, RosError> {
        let mut domains = DOMAINS.lock();
        if let Some((_, users)) = domains.get_mut(&id) {
            *users += 1;
            return Ok(Self { id });
        }
        let xml = c_string(configuration)?;
        pacing::link();
        recvmsg::link();
        log::redirect();
        // SAFETY: `xml` is terminated and outlives the call.
        let code = unsafe { c::dds_create_domain(id, xml.as_ptr()) };
        domains.insert(id, (Entity::new("dds_create_domain", &id.to_string(), code)?, 1));
        Ok(Self { id })
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        let mut domains = DOMAINS.lock();
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

    /// The settings of rmw_cyclonedds_cpp, except that writing never blocks.
    fn for_endpoint(qos: Qos, user_data: &str) -> Self {
        let native = Self::new(user_data);
        let (history, depth) = match qos.history {
            History::KeepLast => {
                (c::dds_history_kind_DDS_HISTORY_KEEP_LAST, i32::from(qos.depth.max(1)))
            }
            History::KeepAll => (c::dds_history_kind_DDS_HISTORY_KEEP_ALL, -1),
        };
        let reliability = match qos.reliability {
            Reliability::Reliable => c::dds_reliability_kind_DDS_RELIABILITY_RELIABLE,
            Reliability::BestEffort => c::dds_reliability_kind_DDS_RELIABILITY_BEST_EFFORT,
        };
        let durability = match qos.durability {
            Durability::Volatile => c::dds_durability_kind_DDS_DURABILITY_VOLATILE,
            Durability::TransientLocal => c::dds_durability_kind_DDS_DURABILITY_TRANSIENT_LOCAL,
        };
        // SAFETY: `native.0` is a valid `dds_qos_t`; all other arguments are plain numbers.
        unsafe {
            c::dds_qset_writer_data_lifecycle(native.0, false);
            c::dds_qset_history(native.0, history, depth);
            c::dds_qset_reliability(native.0, reliability, 0);
            c::dds_qset_durability(native.0, durability);
            if qos.durability == Durability::TransientLocal {
                c::dds_qset_durability_service(native.0, 0, history, depth, -1, -1, -1);
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

/// Reliability and durability in the QoS of an endpoint; reliable and volatile where it has none.
fn announced_qos(qos: *const c::dds_qos_t) -> Qos {
    let mut reliability = c::dds_reliability_kind_DDS_RELIABILITY_RELIABLE;
    let mut durability = c::dds_durability_kind_DDS_DURABILITY_VOLATILE;
    if !qos.is_null() {
        // SAFETY: the QoS is valid; results have a destination or are not requested.
        unsafe {
            c::dds_qget_reliability(qos, &raw mut reliability, ptr::null_mut());
            c::dds_qget_durability(qos, &raw mut durability);
        }
    }
    Qos {
        reliability: match reliability {
            c::dds_reliability_kind_DDS_RELIABILITY_BEST_EFFORT => Reliability::BestEffort,
            _ => Reliability::Reliable,
        },
        durability: match durability {
            c::dds_durability_kind_DDS_DURABILITY_VOLATILE => Durability::Volatile,
            _ => Durability::TransientLocal,
        },
        ..Qos::DEFAULT
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
        Ok(Self { entity, _domain: domain })
    }

    pub(super) fn guid(&self) -> Guid {
        self.entity.guid()
    }

    /// A topic of opaque samples.
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
}
