//! Clients of services, compatible with `rmw_cyclonedds_cpp`: client id and sequence number precede the payload.
use super::ffi::{self, SampleKind, Written};
use super::service::{split_header, with_header};
use super::{DdsNode, graph::EndpointKind, identity::Guid, names};
use crate::ros::backend::{CdrAnswer, CdrClient};
use crate::ros::service::ServiceTypes;
use crate::ros::{Guard, Qos, RosError};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::{collections::HashMap, sync::Arc};

/// One client; fields are dropped in this order.
pub(super) struct DdsClient {
    _entries: [Guard; 2],
    responses: ffi::Reader,
    requests: ffi::Writer,
    name: String,
    /// Client id in the header of each request.
    id: [u8; 8],
    sequence: AtomicI64,
    waiting: PendingCalls,
}

type PendingCalls = Arc<Mutex<HashMap<i64, CdrAnswer>>>;

impl DdsNode {
    pub(super) fn caller(&self, name: &str, service: ServiceTypes) -> Result<DdsClient, RosError> {
        let id = format!("clientid={};", self.endpoint_id());
        let user_data = |type_name| id.clone() + &self.user_data(type_name);
        let requests = ffi::Writer::new(
            &self.participant,
            SampleKind::Replies,
            &names::dds_request_topic(name),
            &names::dds_type(service.request),
            Qos::SERVICE,
            &user_data(service.request),
        )?;
        let waiting = PendingCalls::default();
        let guid = requests.guid();
        let client_id = last_half(&guid);
        let answers = waiting.clone();
        let responses = ffi::Reader::new(
            &self.participant,
            SampleKind::Opaque,
            &names::dds_reply_topic(name),
            &names::dds_type(service.response),
            Qos::SERVICE,
            &user_data(service.response),
            Box::new(move |sample, _| {
                let Some((header, cdr)) = split_header(sample.cdr) else { return };
                let (client, sequence) = header.split_at(8);
                let sequence = sequence.try_into().map_or(0, i64::from_le_bytes);
                if client != client_id {
                    return;
                }
                let answer = answers.lock().remove(&sequence);
                if let Some(answer) = answer {
                    answer(&cdr);
                }
            }),
        )?;
        let writer = self.graph.add(EndpointKind::Writer, guid)?;
        let reader = self.graph.add(EndpointKind::Reader, responses.guid())?;
        Ok(DdsClient {
            _entries: [reader, writer],
            responses,
            requests,
            name: name.to_owned(),
            id: client_id,
            sequence: AtomicI64::new(0),
            waiting,
        })
    }
}

fn last_half(guid: &Guid) -> [u8; 8] {
    std::array::from_fn(|i| guid.get(8 + i).copied().unwrap_or_default())
}

impl CdrClient for DdsClient {
    fn is_ready(&self) -> bool {
        self.requests.events().matched() > 0 && self.responses.is_matched()
    }

    fn call(&self, request: &[u8], answer: CdrAnswer) -> Result<(), RosError> {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed) + 1;
        let cdr = with_header(request, &[self.id, sequence.to_le_bytes()].concat());
        let waiting = || self.waiting.lock();
        waiting().insert(sequence, answer);
        let written = self.requests.write_copy(&self.name, &cdr, None);
        if !matches!(written, Ok(Written::Sent { .. })) {
            waiting().remove(&sequence);
        }
        match written? {
            Written::Sent { .. } => Ok(()),
            Written::Refused => Err(RosError::Dds {
                call: "dds_forwardcdr",
                subject: self.name.clone(),
                message: "the request would have to wait".to_owned(),
            }),
        }
    }
}
