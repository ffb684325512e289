//! Discovery data of a matched endpoint, of this process or another.
use super::{Guid, Reliability};
use cyclors as c;
use std::{ffi::c_void, ptr};

/// A matched endpoint.
pub(in super::super) struct Peer {
    pub(in super::super) guid: Guid,
    /// Its participant.
    pub(in super::super) participant: Guid,
    /// It does not request lost samples again.
    pub(in super::super) is_best_effort: bool,
    user_data: String,
}

impl Peer {
    /// `endpoint` is the result of `dds_get_matched_..._data` and is freed here; null if the endpoint is gone.
    ///
    /// # Safety
    /// Null, or a valid endpoint owned by the caller.
    pub(super) unsafe fn take(endpoint: *mut c::dds_builtintopic_endpoint_t) -> Option<Self> {
        // SAFETY: null or valid, by the caller's contract.
        let data = unsafe { endpoint.as_ref() }?;
        let mut user_data = String::new();
        if !data.qos.is_null() {
            let (mut bytes, mut length) = (ptr::null_mut::<c_void>(), 0);
            // SAFETY: the QoS is valid; results have a destination or are not requested. The library allocates a
            // terminated copy or none.
            unsafe {
                if c::dds_qget_userdata(data.qos, &raw mut bytes, &raw mut length)
                    && !bytes.is_null()
                {
                    let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length);
                    user_data = String::from_utf8_lossy(bytes).into_owned();
                }
                c::dds_free(bytes);
            }
        }
        let peer = Self {
            guid: data.key.v,
            participant: data.participant_key.v,
            is_best_effort: super::announced_qos(data.qos).reliability == Reliability::BestEffort,
            user_data,
        };
        // SAFETY: the caller passes ownership; `data` is not used any more.
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
