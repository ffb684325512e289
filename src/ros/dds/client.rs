//! Clients of services as `rmw_cyclonedds_cpp` has them: id and sequence number are in front of the payload.
use super::{
    Node,
    ffi::{self, Guid, Written},
    graph::{Graph, Kind},
    names,
};
use crate::ros::{
    Qos, RosError,
    backend::{CdrAnswer, CdrClient, ServiceTypes},
};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

/// One client; fields are dropped in this order.
pub(super) struct Client {
    responses: ffi::Reader,
    requests: ffi::Writer,
    name: String,
    /// What distinguishes our requests from those of others.
    id: [u8; 8],
    sequence: AtomicI64,
    waiting: Waiting,
    graph: Arc<Graph>,
}

type Waiting = Arc<Mutex<HashMap<i64, CdrAnswer>>>;

impl Node {
    pub(super) fn caller(&self, name: &str, service: ServiceTypes) -> Result<Client, RosError> {
        let id = format!("clientid={};", self.endpoint_id());
        let user_data = |type_name| id.clone() + &self.user_data(type_name);
        let requests = ffi::Writer::replies(
            &self.participant,
            &names::dds_request_topic(name),
            &names::dds_type(service.request),
            &user_data(service.request),
        )?;
        let waiting = Waiting::default();
        let guid = requests.guid();
        let own = last_half(&guid);
        let answers = waiting.clone();
        let responses = ffi::Reader::new(
            &self.participant,
            &names::dds_reply_topic(name),
            &names::dds_type(service.response),
            Qos::SERVICE,
            &user_data(service.response),
            Box::new(move |sample, _| {
                let Some((sequence, cdr)) = of_ours(sample.cdr, own) else {
                    return;
                };
                let answer = {
                    let mut waiting = answers.lock().unwrap_or_else(PoisonError::into_inner);
                    waiting.remove(&sequence)
                };
                if let Some(answer) = answer {
                    answer(&cdr);
                }
            }),
        )?;
        self.graph.add(Kind::Writer, guid)?;
        self.graph.add(Kind::Reader, responses.guid())?;
        Ok(Client {
            responses,
            requests,
            name: name.to_owned(),
            id: own,
            sequence: AtomicI64::new(0),
            waiting,
            graph: self.graph.clone(),
        })
    }
}

fn last_half(guid: &Guid) -> [u8; 8] {
    std::array::from_fn(|i| guid.get(8 + i).copied().unwrap_or_default())
}

/// Sequence number and CDR of a response to a client; `None` if it is for another one.
fn of_ours(cdr: &[u8], id: [u8; 8]) -> Option<(i64, Vec<u8>)> {
    let (encapsulation, rest) = cdr.split_at_checked(4)?;
    let (client, rest) = rest.split_first_chunk::<8>()?;
    let (sequence, body) = rest.split_first_chunk::<8>()?;
    let (mut client, mut sequence) = (*client, *sequence);
    if encapsulation.get(1)? & 1 == 0 {
        client.reverse();
        sequence.reverse();
    }
    let cdr = || [encapsulation, body].concat();
    (client == id).then(|| (i64::from_le_bytes(sequence), cdr()))
}

impl CdrClient for Client {
    fn is_ready(&self) -> bool {
        self.requests.events().matched() > 0 && self.responses.is_matched()
    }

    fn call(&self, request: &[u8], answer: CdrAnswer) -> Result<(), RosError> {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed) + 1;
        let (encapsulation, body) = request.split_at(request.len().min(4));
        let cdr = [encapsulation, &self.id, &sequence.to_le_bytes(), body].concat();
        let waiting = || self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting().insert(sequence, answer);
        let written = self.requests.reply(&self.name, &cdr, None);
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

impl Drop for Client {
    fn drop(&mut self) {
        for (kind, guid) in
            [(Kind::Reader, self.responses.guid()), (Kind::Writer, self.requests.guid())]
        {
            if let Err(error) = self.graph.remove(kind, guid) {
                tracing::debug!(service = self.name, %error, "graph information not updated");
            }
        }
    }
}
