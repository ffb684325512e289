//! The functions of `cyclors` for opaque samples, from which ours are derived.
use super::{Entity, check};
use crate::ros::RosError;
use cyclors as c;
use std::{ptr, sync::OnceLock};

/// Functions of a type, and of its samples.
pub(super) struct OpaqueFunctions {
    pub(super) sertype: &'static c::ddsi_sertype_ops,
    pub(super) samples: c::ddsi_serdata_ops,
}

// SAFETY: function pointers, and an unused null pointer of the library; immutable.
unsafe impl Send for OpaqueFunctions {}
// SAFETY: see `Send`.
unsafe impl Sync for OpaqueFunctions {}

static OPAQUE: OnceLock<OpaqueFunctions> = OnceLock::new();

/// The functions of samples, once a topic exists.
pub(super) fn samples() -> Option<&'static c::ddsi_serdata_ops> {
    OPAQUE.get().map(|functions| &functions.samples)
}

/// The functions of an opaque topic.
pub(super) fn functions(topic: &Entity) -> Result<&'static OpaqueFunctions, RosError> {
    let mut sertype = ptr::null();
    // SAFETY: `sertype` is valid for writes; the tables that a type points to are static.
    let (sertype, samples) = unsafe {
        let code = c::dds_get_entity_sertype(topic.0, &raw mut sertype);
        check("dds_get_entity_sertype", "opaque samples", code)?;
        (&*(*sertype).ops, *(*sertype).serdata_ops)
    };
    Ok(OPAQUE.get_or_init(|| OpaqueFunctions { sertype, samples }))
}
