//! Topics with our own sample functions, beside the opaque ones of `cyclors`.
use super::{Entity, Participant, c_string, identity, opaque, sample};
use crate::ros::RosError;
use cyclors as c;
use std::{ptr, sync::OnceLock};

/// Kind of samples on a topic.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(in super::super) enum SampleKind {
    /// Received samples, with the functions of `cyclors`.
    Opaque,
    /// Published samples: blocks that are sent in place.
    Blocks,
    /// Requests of a service, with the identity of the client.
    Requests,
    /// Replies of a service, with the identity of the request; also requests of our clients, without an identity.
    Replies,
}

/// Functions of a type, and of each kind of its samples.
struct Functions {
    sertype: &'static c::ddsi_sertype_ops,
    blocks: c::ddsi_serdata_ops,
    requests: c::ddsi_serdata_ops,
    replies: c::ddsi_serdata_ops,
}

// SAFETY: as [`opaque::OpaqueFunctions`].
unsafe impl Send for Functions {}
// SAFETY: see `Send`.
unsafe impl Sync for Functions {}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

impl Participant {
    /// Creates a topic whose samples are of this kind.
    pub(super) fn topic_of(
        &self,
        samples: SampleKind,
        topic: &str,
        type_name: &str,
    ) -> Result<Entity, RosError> {
        let functions = || match FUNCTIONS.get() {
            Some(functions) => Ok(functions),
            None => {
                let opaque = opaque::functions(&self.topic(topic, type_name)?)?;
                Ok::<_, RosError>(FUNCTIONS.get_or_init(|| Functions {
                    sertype: opaque.sertype,
                    blocks: sample::functions(&opaque.samples),
                    requests: identity::requests(&opaque.samples),
                    replies: identity::replies(&opaque.samples),
                }))
            }
        };
        let (functions, samples) = match samples {
            SampleKind::Opaque => return self.topic(topic, type_name),
            SampleKind::Blocks => functions().map(|functions| (functions, &functions.blocks))?,
            SampleKind::Requests => {
                functions().map(|functions| (functions, &functions.requests))?
            }
            SampleKind::Replies => functions().map(|functions| (functions, &functions.replies))?,
        };
        let (name, type_name) = (c_string(topic)?, c_string(type_name)?);
        // SAFETY: the type is allocated as in `cyclors`, whose functions free it; tables are static, strings
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
