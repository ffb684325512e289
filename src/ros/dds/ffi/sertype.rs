//! Topics with our own sample functions, beside the crate's opaque ones.
use super::{Entity, Participant, c_string, identity, sample};
use crate::ros::RosError;
use cyclors as c;
use std::{ptr, sync::OnceLock};

/// Kind of samples on a topic.
#[derive(Clone, Copy)]
pub(super) enum Samples {
    /// Published samples: blocks that are sent in place.
    Blocks,
    /// Requests of a service, with the identity of the client.
    Requests,
    /// Replies of a service, with the identity of the request.
    Replies,
}

/// The crate's functions for opaque samples, and those derived from them.
struct Functions {
    sertype: &'static c::ddsi_sertype_ops,
    plain: c::ddsi_serdata_ops,
    blocks: c::ddsi_serdata_ops,
    requests: c::ddsi_serdata_ops,
    replies: c::ddsi_serdata_ops,
}

// SAFETY: function pointers, and an unused null pointer of the library; immutable.
unsafe impl Send for Functions {}
// SAFETY: see `Send`.
unsafe impl Sync for Functions {}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

/// The crate's functions for opaque samples, once a topic exists.
pub(super) fn plain() -> Option<&'static c::ddsi_serdata_ops> {
    FUNCTIONS.get().map(|functions| &functions.plain)
}

impl Functions {
    /// `topic`: an opaque one of the crate.
    fn of(topic: &Entity) -> Result<&'static Self, RosError> {
        let mut sertype = ptr::null();
        // SAFETY: a place to write to; the tables that a type points to are static.
        let (types, plain) = unsafe {
            let code = c::dds_get_entity_sertype(topic.0, &raw mut sertype);
            super::check("dds_get_entity_sertype", "opaque samples", code)?;
            (&*(*sertype).ops, *(*sertype).serdata_ops)
        };
        Ok(FUNCTIONS.get_or_init(|| Self {
            sertype: types,
            blocks: sample::functions(&plain),
            requests: identity::requests(&plain),
            replies: identity::replies(&plain),
            plain,
        }))
    }
}

impl Participant {
    /// Creates a topic of such samples.
    pub(super) fn topic_of(
        &self,
        samples: Samples,
        topic: &str,
        type_name: &str,
    ) -> Result<Entity, RosError> {
        let functions = match FUNCTIONS.get() {
            Some(functions) => functions,
            None => Functions::of(&self.topic(topic, type_name)?)?,
        };
        let samples = match samples {
            Samples::Blocks => &functions.blocks,
            Samples::Requests => &functions.requests,
            Samples::Replies => &functions.replies,
        };
        let (name, type_name) = (c_string(topic)?, c_string(type_name)?);
        // SAFETY: the type is allocated as the crate's own, whose functions free it; tables are static, strings
        // terminated and copied. The topic takes ownership of the type, or leaves it to us on failure.
        let code = unsafe {
            let mut sertype = libc::malloc(size_of::<c::ddsi_sertype>()).cast::<c::ddsi_sertype>();
            assert!(!sertype.is_null(), "out of memory");
            c::ddsi_sertype_init_flags(
                sertype,
                type_name.as_ptr(),
                functions.sertype,
                samples,
                c::DDSI_SERTYPE_FLAG_TOPICKIND_NO_KEY,
            );
            let code = c::dds_create_topic_sertype(
                self.entity.0,
                name.as_ptr(),
                &raw mut sertype,
                ptr::null(),
                ptr::null(),
                ptr::null(),
            );
            if code < 0 {
                c::ddsi_sertype_unref(sertype);
            }
            code
        };
        Entity::new("dds_create_topic_sertype", topic, code)
    }
}
