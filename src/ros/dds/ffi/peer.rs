//! What discovery knows of an endpoint that matches one of ours.
use super::Guid;
use cyclors as c;
use std::{ffi::c_void, ptr};

/// An endpoint of somebody else.
pub(in super::super) struct Peer {
    pub(in super::super) guid: Guid,
    /// The participant it belongs to.
    pub(in super::super) participant: Guid,
    /// What it misses is not sent again.
    pub(in super::super) best_effort: bool,
    user_data: String,
}

impl Peer {
    /// `endpoint` comes from `dds_get_matched_..._data` and is given back; null if the endpoint is gone.
    ///
    /// # Safety
    /// Null, or a valid endpoint that nobody else frees.
    pub(super) unsafe fn take(endpoint: *mut c::dds_builtintopic_endpoint_t) -> Option<Self> {
        // SAFETY: null or valid, says the caller.
        let data = unsafe { endpoint.as_ref() }?;
        let mut user_data = String::new();
        let mut reliability = c::dds_reliability_kind_DDS_RELIABILITY_RELIABLE;
        if !data.qos.is_null() {
            let (mut bytes, mut length) = (ptr::null_mut::<c_void>(), 0);
            // SAFETY: the QoS is valid; the results have a place, or are not wanted. The library allocates a terminated copy, or none.
            unsafe {
                if c::dds_qget_userdata(data.qos, &raw mut bytes, &raw mut length)
                    && !bytes.is_null()
                {
                    let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length);
                    user_data = String::from_utf8_lossy(bytes).into_owned();
                }
                c::dds_free(bytes);
                c::dds_qget_reliability(data.qos, &raw mut reliability, ptr::null_mut());
            }
        }
        let peer = Self {
            guid: data.key.v,
            participant: data.participant_key.v,
            best_effort: reliability == c::dds_reliability_kind_DDS_RELIABILITY_BEST_EFFORT,
            user_data,
        };
        // SAFETY: the caller leaves it to us; `data` is not used any more.
        unsafe { c::dds_builtintopic_free_endpoint(endpoint) };
        Some(peer)
    }

    /// A value of the `key=value;` pairs that ROS puts into USER_DATA.
    pub(in super::super) fn value(&self, key: &str) -> Option<&str> {
        let pair = |pair: &'_ str| pair.split_once('=').is_some_and(|(k, _)| k == key);
        let found = self.user_data.split(';').find(|text| pair(text))?;
        found.split_once('=').map(|(_, value)| value)
    }
}
