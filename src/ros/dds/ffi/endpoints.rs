//! Discovered writers and readers.
use super::super::super::{Qos, RosError};
use super::{Entity, Guid, Participant, announced_qos, c, check};
use std::ffi::{CStr, c_void};
use std::{ptr, sync::Arc};

/// Kind of endpoints to discover.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in super::super) enum Side {
    Writers,
    Readers,
}

/// A discovered writer or reader.
pub(in super::super) struct Endpoint {
    pub(in super::super) topic: String,
    pub(in super::super) type_name: String,
    /// Offered or requested reliability and durability.
    pub(in super::super) qos: Qos,
}

/// Reader of the discovered writers or readers, including those of this process.
pub(in super::super) struct Endpoints {
    reader: Entity,
    name: &'static str,
    _participant: Arc<Participant>,
}

impl Endpoints {
    pub(in super::super) fn new(
        participant: &Arc<Participant>,
        side: Side,
    ) -> Result<Self, RosError> {
        let (topic, name) = match side {
            Side::Writers => (c::DDS_BUILTIN_TOPIC_DCPSPUBLICATION, "DCPSPublication"),
            Side::Readers => (c::DDS_BUILTIN_TOPIC_DCPSSUBSCRIPTION, "DCPSSubscription"),
        };
        // SAFETY: a pseudo handle of the library, default QoS, no listener.
        let code =
            unsafe { c::dds_create_reader(participant.entity.0, topic, ptr::null(), ptr::null()) };
        Ok(Self {
            reader: Entity::new("dds_create_reader", name, code)?,
            name,
            _participant: participant.clone(),
        })
    }

    /// Calls `changed` for each endpoint that was discovered or has left (`None`) since the last call.
    pub(in super::super) fn changes(
        &self,
        mut changed: impl FnMut(Guid, Option<Endpoint>),
    ) -> Result<(), RosError> {
        const BATCH: usize = 64;
        loop {
            let mut samples = [ptr::null_mut::<c_void>(); BATCH];
            // SAFETY: all-zero is a valid `dds_sample_info_t` (numbers and a bool).
            let mut infos: [c::dds_sample_info_t; BATCH] = unsafe { std::mem::zeroed() };
            // SAFETY: both arrays have BATCH elements; null samples ask the library to lend its own.
            let code = unsafe {
                c::dds_take(
                    self.reader.0,
                    samples.as_mut_ptr(),
                    infos.as_mut_ptr(),
                    BATCH,
                    BATCH as u32,
                )
            };
            let count = check("dds_take", self.name, code)? as usize;
            if count == 0 {
                return Ok(());
            }
            for (sample, info) in samples.iter().zip(&infos).take(count) {
                // SAFETY: samples of both builtin topics have this type, and stay valid until the loan is returned.
                let endpoint = unsafe { &*sample.cast::<c::dds_builtintopic_endpoint_t>() };
                let alive = info.instance_state == c::dds_instance_state_DDS_IST_ALIVE;
                // The key is valid in every sample, the rest only in one with data.
                let present = (info.valid_data && alive).then(|| Endpoint {
                    topic: text(endpoint.topic_name),
                    type_name: text(endpoint.type_name),
                    qos: announced_qos(endpoint.qos),
                });
                changed(endpoint.key.v, present);
            }
            // SAFETY: returns exactly what was lent.
            unsafe { c::dds_return_loan(self.reader.0, samples.as_mut_ptr(), count as i32) };
        }
    }
}

fn text(name: *const std::ffi::c_char) -> String {
    // SAFETY: a sample with data has both names, terminated.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}
