//! Writers that were discovered.
use super::super::super::{Qos, RosError};
use super::{Entity, Guid, Participant, c, check, offered};
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;

/// A writer that was discovered.
pub(in super::super) struct Publication {
    pub(in super::super) topic: String,
    pub(in super::super) type_name: String,
    /// Reliability and durability that it offers.
    pub(in super::super) offered: Qos,
}

/// Reader of the discovery of writers, those of this process included.
pub(in super::super) struct Publications {
    reader: Entity,
    _participant: Arc<Participant>,
}

impl Publications {
    pub(in super::super) fn new(participant: &Arc<Participant>) -> Result<Self, RosError> {
        // SAFETY: a pseudo handle of the library, default QoS, no listener.
        let code = unsafe {
            c::dds_create_reader(
                participant.entity.0,
                c::DDS_BUILTIN_TOPIC_DCPSPUBLICATION,
                ptr::null(),
                ptr::null(),
            )
        };
        Ok(Self {
            reader: Entity::new("dds_create_reader", "DCPSPublication", code)?,
            _participant: participant.clone(),
        })
    }

    /// Tells every writer that came, or went (`None`), since the last call; at first every writer.
    pub(in super::super) fn changes(
        &self,
        mut tell: impl FnMut(Guid, Option<Publication>),
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
            let count = check("dds_take", "DCPSPublication", code)? as usize;
            if count == 0 {
                return Ok(());
            }
            for (sample, info) in samples.iter().zip(&infos).take(count) {
                // SAFETY: samples of this builtin topic have this type, and stay valid until the loan is returned.
                let endpoint = unsafe { &*sample.cast::<c::dds_builtintopic_endpoint_t>() };
                let alive = info.instance_state == c::dds_instance_state_DDS_IST_ALIVE;
                // The key is valid in every sample, the rest only in one with data.
                let publication = (info.valid_data && alive).then(|| Publication {
                    topic: text(endpoint.topic_name),
                    type_name: text(endpoint.type_name),
                    offered: offered(endpoint.qos),
                });
                tell(endpoint.key.v, publication);
            }
            // SAFETY: returns exactly what was lent.
            unsafe { c::dds_return_loan(self.reader.0, samples.as_mut_ptr(), count as i32) };
        }
    }
}

fn text(name: *const std::ffi::c_char) -> String {
    // SAFETY: a sample with data has both names, terminated.
    unsafe { CStr::from_ptr(name) }
        .to_string_lossy()
        .into_owned()
}
