//! Services as `rmw_cyclonedds_cpp` and `rmw_fastrtps_cpp` map them to DDS: two topics. They differ in how a response
//! identifies its request. `rmw_cyclonedds_cpp` puts 16 bytes in front of request and response: client id and sequence
//! number. `rmw_fastrtps_cpp` leaves the payload unchanged, uses the sequence number of the client's writer, and sends the
//! response with `related_sample_identity` beside it ([`identity`](super::identity)). One reader takes all requests,
//! distinguishes the kinds, and answers each in its own way; a client ignores the other kind's responses.
use super::ffi::{self, Origin, Peer, SampleKind, Written};
use super::identity::{FAST_DDS, Guid, SampleIdentity};
use super::{DdsNode, early, graph::EndpointKind, names};
use crate::ros::service::{CdrService, ServiceCounters};
use crate::ros::{Guard, Qos, RawSample, RosError};
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{borrow::Cow, collections::VecDeque, sync::Arc, time::Duration};

/// Size of client id and sequence number, `u64` and `i64`.
const HEADER: usize = 16;
/// First bytes of the GUIDs of Fast DDS and RustDDS, whose requests have no header. Other clients without header are
/// recognised by their `related_sample_identity`.
const WITHOUT_HEADER: [[u8; 2]; 2] = [FAST_DDS, [1, 18]];
/// Bit set in entity ids of readers, clear in those of writers (RTPS 2.5, 9.3.1.2).
const READER: u8 = 4;
/// Responses that may wait for discovery of the client's reader: the depth of a service's request history, so that
/// a client may call that often before it is discovered.
const MAX_WAITING: usize = Qos::SERVICE.depth as usize;
/// Memory limit of all waiting responses.
const MAX_WAITING_BYTES: usize = 4 << 20;
/// Period and maximum number of checks for the client's reader.
const CHECK_PERIOD: Duration = Duration::from_millis(5);
const MAX_CHECKS: u16 = 200;

/// One service. Fields are dropped in this order: the reader runs the handler, which uses the replies.
pub(super) struct DdsServer {
    _entry: Guard,
    reader: ffi::Reader,
    _replies: Arc<Replies>,
}

impl DdsNode {
    pub(super) fn server(&self, name: &str, service: CdrService) -> Result<DdsServer, RosError> {
        let id = format!("serviceid={};", self.endpoint_id());
        let user_data = |type_name| id.clone() + &self.user_data(type_name);
        let writer = ffi::Writer::new(
            &self.participant,
            SampleKind::Replies,
            &names::dds_reply_topic(name),
            &names::dds_type(service.types.response),
            Qos::SERVICE,
            &user_data(service.types.response),
        )?;
        let replies = Arc::new(Replies {
            _entry: self.graph.add(EndpointKind::Writer, writer.guid())?,
            writer,
            name: name.to_owned(),
            waiting: Mutex::default(),
            counters: service.counters,
        });
        let (answers, mut handler) = (replies.clone(), service.handler);
        let answers_fast_dds = self.answers_fast_dds;
        let logged = AtomicBool::new(false);
        let on_request = move |sample: &RawSample<'_>, origin: Origin| {
            let client = origin.writer();
            let Some((call, cdr)) = RequestIdentity::of(sample.cdr, &origin, client.as_ref())
            else {
                answers.counters.count(|stats| &mut stats.undecodable);
                return;
            };
            if matches!(call, RequestIdentity::Beside(_)) && !answers_fast_dds {
                answers.counters.count(|stats| &mut stats.foreign);
                if !logged.swap(true, Ordering::Relaxed) {
                    let remedy = match ffi::can_answer() {
                        true => "set services.fast_dds:=true",
                        false => "this program is not linked as in build.rs",
                    };
                    tracing::warn!(
                        service = answers.name,
                        "a client on rmw_fastrtps_cpp calls and gets no answer: {remedy}"
                    );
                }
                return;
            }
            let replies = answers.clone();
            let answer = move |cdr| replies.send(Reply { call, client, cdr });
            handler(&cdr, Box::new(answer));
        };
        let reader = ffi::Reader::new(
            &self.participant,
            SampleKind::Requests,
            &names::dds_request_topic(name),
            &names::dds_type(service.types.request),
            Qos::SERVICE,
            &user_data(service.types.request),
            Box::new(on_request),
        )?;
        early::add(reader.guid());
        let entry = self.graph.add(EndpointKind::Reader, reader.guid())?;
        Ok(DdsServer { _entry: entry, reader, _replies: replies })
    }

    /// A unique id that both endpoints of a service or client announce, so that the other side can pair them.
    pub(super) fn endpoint_id(&self) -> String {
        let number = self.last_endpoint_id.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let prefix = self.participant.guid();
        let bytes = prefix.iter().take(12).copied().chain(number.to_be_bytes());
        let hex: Vec<_> = bytes.map(|byte| format!("{byte:x}")).collect();
        hex.join(".")
    }
}

impl Drop for DdsServer {
    fn drop(&mut self) {
        early::remove(&self.reader.guid());
    }
}

/// Identity of a request, for its response.
#[derive(Clone, Copy)]
enum RequestIdentity {
    /// In front of the payload: client and sequence number, returned in little-endian CDR.
    InFront([u8; HEADER]),
    /// Beside the payload.
    Beside(SampleIdentity),
}

impl RequestIdentity {
    /// Detects the kind; also returns the request's CDR without header.
    fn of<'a>(cdr: &'a [u8], from: &Origin, peer: Option<&Peer>) -> Option<(Self, Cow<'a, [u8]>)> {
        let head = &from.head;
        let writer = peer.map_or(head.writer, |peer| peer.guid);
        if head.related.is_none() && !WITHOUT_HEADER.iter().any(|vendor| writer.starts_with(vendor))
        {
            let (id, cdr) = split_header(cdr)?;
            return Some((Self::InFront(id), cdr.into()));
        }
        // A response goes only to the requesting participant.
        let related = head.related.filter(|guid| guid[..12] == writer[..12]);
        let identity =
            SampleIdentity { writer: related.unwrap_or(writer), sequence: head.sequence };
        Some((Self::Beside(identity), cdr.into()))
    }
}

/// Separates the 16 bytes of client and sequence number, in little-endian order, from the rest of a request or response.
pub(super) fn split_header(cdr: &[u8]) -> Option<([u8; HEADER], Vec<u8>)> {
    let (encapsulation, rest) = cdr.split_at_checked(4)?;
    let (id, body) = rest.split_first_chunk::<HEADER>()?;
    let mut id = *id;
    if encapsulation.get(1)? & 1 == 0 {
        let (client, sequence) = id.split_at_mut(8);
        client.reverse();
        sequence.reverse();
    }
    Some((id, [encapsulation, body].concat()))
}

/// Puts the 16 bytes of `header` in front of the payload.
pub(super) fn with_header(cdr: &[u8], header: &[u8]) -> Vec<u8> {
    let (encapsulation, body) = cdr.split_at(cdr.len().min(4));
    [encapsulation, header, body].concat()
}

struct Reply {
    call: RequestIdentity,
    client: Option<Peer>,
    cdr: Vec<u8>,
}

impl Reply {
    /// The client's response reader, if the request names it.
    fn reader(&self) -> Option<Guid> {
        match self.call {
            RequestIdentity::Beside(request) => {
                Some(request.writer).filter(|guid| guid[15] & READER != 0)
            }
            RequestIdentity::InFront(_) => None,
        }
    }
}

/// The response side of a service. Fields are dropped in this order.
struct Replies {
    _entry: Guard,
    writer: ffi::Writer,
    name: String,
    waiting: Mutex<PendingReplies>,
    counters: Arc<ServiceCounters>,
}

#[derive(Default)]
struct PendingReplies {
    /// Waiting responses, with the number of checks left.
    replies: VecDeque<(Reply, u16)>,
    bytes: usize,
    has_watcher: bool,
}

impl Replies {
    /// Sends at once if the client's reader is discovered. A request may arrive before that, and a volatile reader
    /// loses earlier samples: then the response waits up to a second, as in `rmw_cyclonedds_cpp`, but without
    /// blocking the caller.
    fn send(self: &Arc<Self>, reply: Reply) {
        if self.reaches(&reply, &self.writer.readers()) {
            return self.write(&reply);
        }
        let mut waiting = self.waiting.lock();
        let bytes = waiting.bytes + reply.cdr.len();
        if waiting.replies.len() >= MAX_WAITING || bytes > MAX_WAITING_BYTES {
            return self.counters.count(|stats| &mut stats.undelivered);
        }
        waiting.bytes = bytes;
        waiting.replies.push_back((reply, MAX_CHECKS));
        if !waiting.has_watcher {
            let replies = self.clone();
            let watcher = std::thread::Builder::new().name("rfly-replies".to_owned());
            // The panic hook logs a panic; keep serving the waiting responses.
            let check = move || catch_unwind(AssertUnwindSafe(|| replies.check())).unwrap_or(true);
            waiting.has_watcher = watcher.spawn(move || while check() {}).is_ok();
        }
    }

    /// Waits for [`CHECK_PERIOD`], then checks all waiting responses; false once none is left.
    fn check(&self) -> bool {
        std::thread::sleep(CHECK_PERIOD);
        let readers = self.writer.readers();
        let mut waiting = self.waiting.lock();
        waiting.replies.retain_mut(|(reply, checks)| {
            if self.reaches(reply, &readers) {
                self.write(reply);
                return false;
            }
            *checks -= 1;
            if *checks == 0 {
                self.counters.count(|stats| &mut stats.undelivered);
            }
            *checks > 0
        });
        let left = waiting.replies.iter();
        waiting.bytes = left.map(|(reply, _)| reply.cdr.len()).sum();
        waiting.has_watcher = !waiting.replies.is_empty();
        waiting.has_watcher
    }

    /// Whether the client's response reader is matched. Fast DDS clients name it, Cyclone clients have an id of their own;
    /// for others the participant is compared.
    fn reaches(&self, reply: &Reply, readers: &[Peer]) -> bool {
        if let Some(guid) = reply.reader() {
            return readers.iter().any(|reader| reader.guid == guid);
        }
        let Some(client) = &reply.client else { return !readers.is_empty() };
        let id = client.value("clientid");
        let same = |reader: &Peer| match id {
            Some(id) => reader.value("clientid") == Some(id),
            None => reader.participant == client.participant,
        };
        readers.iter().any(same)
    }

    fn write(&self, reply: &Reply) {
        let written = match &reply.call {
            RequestIdentity::InFront(id) => {
                self.writer.write_copy(&self.name, &with_header(&reply.cdr, id), None)
            }
            RequestIdentity::Beside(request) => {
                self.writer.write_copy(&self.name, &reply.cdr, Some(*request))
            }
        };
        match written {
            Ok(Written::Sent { .. }) => {}
            Ok(Written::Refused) => self.counters.count(|stats| &mut stats.undelivered),
            Err(error) => {
                self.counters.count(|stats| &mut stats.undelivered);
                tracing::debug!(service = self.name, %error, "response not sent");
            }
        }
    }
}
