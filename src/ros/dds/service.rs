//! Services as `rmw_cyclonedds_cpp` and `rmw_fastrtps_cpp` map them to DDS: two topics. They differ in how a response
//! identifies its request. The first puts 16 bytes in front of request and response: client id and sequence
//! number. The second leaves the payload alone, uses the sequence number of the client's writer, and sends the response
//! with `related_sample_identity` beside it ([`identity`](super::identity)). One reader takes all requests, distinguishes
//! the kinds, and answers each in its own way; a client ignores the other kind's responses.
use super::{
    Node, early,
    ffi::{self, Guid, Origin, Peer, Written},
    graph::{Graph, Kind},
    identity::{FAST_DDS, SampleIdentity},
    names,
};
use crate::ros::{
    Qos, RawSample, RosError,
    service::{CdrService, Counters},
};
use std::{
    borrow::Cow,
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Client and sequence number, `u64` and `i64`.
const HEADER: usize = 16;
/// First bytes of GUIDs of Fast DDS and RustDDS: requests without header. Other clients without header are
/// recognised by their `related_sample_identity`.
const WITHOUT_HEADER: [[u8; 2]; 2] = [FAST_DDS, [1, 18]];
/// Bit set in entity ids of readers, clear in those of writers (RTPS 2.5, 9.3.1.2).
const READER: u8 = 4;
/// Responses that may wait for discovery of the client's reader: the depth of a service's request history, so that
/// a client may call that often before it is discovered.
const WAITING: usize = Qos::SERVICE.depth as usize;
/// Memory limit of all waiting responses.
const WAITING_BYTES: usize = 4 << 20;
/// Interval of checks for the reader; their number is limited: 10 s, because a busy machine may discover it seconds later
/// than the request.
const LOOK_EVERY: Duration = Duration::from_millis(5);
const LOOKS: u16 = 2000;

/// One service; fields are dropped in this order, so that no handler runs when the others are dropped.
pub(super) struct Server {
    reader: ffi::Reader,
    replies: Arc<Replies>,
}

impl Node {
    pub(super) fn server(&self, name: &str, service: CdrService) -> Result<Server, RosError> {
        let id = format!("serviceid={};", self.endpoint_id());
        let user_data = |type_name| id.clone() + &self.user_data(type_name);
        let replies = Arc::new(Replies {
            writer: ffi::Writer::replies(
                &self.participant,
                &names::dds_reply_topic(name),
                &names::dds_type(service.response_type),
                &user_data(service.response_type),
            )?,
            name: name.to_owned(),
            waiting: Mutex::default(),
            counters: service.counters,
            graph: self.graph.clone(),
        });
        self.graph.add(Kind::Writer, replies.writer.guid())?;
        let (answers, mut handler) = (replies.clone(), service.handler);
        let answers_all = self.answers_all;
        let told = AtomicBool::new(false);
        let on_request = move |sample: &RawSample<'_>, origin: Origin| {
            let client = origin.writer();
            let Some((call, cdr)) = Call::of(sample.cdr, &origin, client.as_ref()) else {
                Counters::count(&answers.counters.undecodable);
                return;
            };
            if matches!(call, Call::Beside(_)) && !answers_all {
                Counters::count(&answers.counters.foreign);
                if !told.swap(true, Ordering::Relaxed) {
                    tracing::warn!(
                        service = answers.name,
                        "a client on rmw_fastrtps_cpp calls and gets no answer: set services.fast_dds:=true"
                    );
                }
                return;
            }
            let replies = answers.clone();
            let answer = move |cdr| replies.send(Reply { call, client, cdr });
            handler(&cdr, Box::new(answer));
        };
        let reader = ffi::Reader::requests(
            &self.participant,
            &names::dds_request_topic(name),
            &names::dds_type(service.request_type),
            &user_data(service.request_type),
            Box::new(on_request),
        )?;
        early::add(reader.guid());
        self.graph.add(Kind::Reader, reader.guid())?;
        Ok(Server { reader, replies })
    }

    /// The same for both endpoints of a service or client, and unique: the other side uses it to find the pair.
    pub(super) fn endpoint_id(&self) -> String {
        let number = self.services.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let prefix = self.participant.guid();
        let bytes = prefix.iter().take(12).copied().chain(number.to_be_bytes());
        let hex: Vec<_> = bytes.map(|byte| format!("{byte:x}")).collect();
        hex.join(".")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        early::remove(&self.reader.guid());
        let removed = self.replies.graph.remove(Kind::Reader, self.reader.guid());
        if let Err(error) = removed {
            tracing::debug!(service = self.replies.name, %error, "graph information not updated");
        }
    }
}

/// Identity of a request, for its response.
#[derive(Clone, Copy)]
enum Call {
    /// In front of the payload: client and sequence number, returned in little-endian CDR.
    InFront([u8; HEADER]),
    /// Beside the payload.
    Beside(SampleIdentity),
}

impl Call {
    /// Detects the kind; also returns the request's CDR without header.
    fn of<'a>(
        cdr: &'a [u8],
        origin: &Origin,
        client: Option<&Peer>,
    ) -> Option<(Self, Cow<'a, [u8]>)> {
        let head = &origin.head;
        let writer = client.map_or(head.writer, |client| client.guid);
        if head.related.is_none() && !WITHOUT_HEADER.iter().any(|vendor| writer.starts_with(vendor))
        {
            let (id, cdr) = split(cdr)?;
            return Some((Self::InFront(id), cdr.into()));
        }
        // A response goes only to the requesting participant.
        let related = head.related.filter(|guid| guid[..12] == writer[..12]);
        let identity =
            SampleIdentity { writer: related.unwrap_or(writer), sequence: head.sequence };
        Some((Self::Beside(identity), cdr.into()))
    }
}

/// Separates the client's 16 bytes from the rest of a request.
fn split(cdr: &[u8]) -> Option<([u8; HEADER], Vec<u8>)> {
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

struct Reply {
    call: Call,
    client: Option<Peer>,
    cdr: Vec<u8>,
}

impl Reply {
    /// The client's response reader, if the request names it.
    fn reader(&self) -> Option<Guid> {
        match self.call {
            Call::Beside(request) => Some(request.writer).filter(|guid| guid[15] & READER != 0),
            Call::InFront(_) => None,
        }
    }
}

/// The response side of a service.
struct Replies {
    writer: ffi::Writer,
    name: String,
    waiting: Mutex<Waiting>,
    counters: Arc<Counters>,
    graph: Arc<Graph>,
}

#[derive(Default)]
struct Waiting {
    /// Waiting responses, with the number of checks left.
    replies: VecDeque<(Reply, u16)>,
    bytes: usize,
    watched: bool,
}

impl Replies {
    /// Sends at once if the client's reader is discovered. A request may arrive before that, and a volatile reader
    /// loses earlier samples: then the response waits, as in `rmw_cyclonedds_cpp`, but longer and without blocking the
    /// caller.
    fn send(self: &Arc<Self>, reply: Reply) {
        if self.reaches(&reply, &self.writer.readers()) {
            return self.write(&reply);
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = waiting.bytes + reply.cdr.len();
        if waiting.replies.len() >= WAITING || bytes > WAITING_BYTES {
            return Counters::count(&self.counters.undelivered);
        }
        waiting.bytes = bytes;
        waiting.replies.push_back((reply, LOOKS));
        if !waiting.watched {
            let replies = self.clone();
            let watcher = std::thread::Builder::new().name("rfly-replies".to_owned());
            // A panic is reported elsewhere; keep serving the waiting responses.
            let look = move || catch_unwind(AssertUnwindSafe(|| replies.look())).unwrap_or(true);
            waiting.watched = watcher.spawn(move || while look() {}).is_ok();
        }
    }

    /// Checks all waiting responses; false once none is left.
    fn look(&self) -> bool {
        std::thread::sleep(LOOK_EVERY);
        let readers = self.writer.readers();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.replies.retain_mut(|(reply, looks)| {
            if self.reaches(reply, &readers) {
                self.write(reply);
                return false;
            }
            *looks -= 1;
            if *looks == 0 {
                Counters::count(&self.counters.undelivered);
            }
            *looks > 0
        });
        let left = waiting.replies.iter();
        waiting.bytes = left.map(|(reply, _)| reply.cdr.len()).sum();
        waiting.watched = !waiting.replies.is_empty();
        waiting.watched
    }

    /// Whether the client's response reader is matched. Fast DDS clients name it, Cyclone clients have an id of their own;
    /// for others the participant must do.
    fn reaches(&self, reply: &Reply, readers: &[Peer]) -> bool {
        if let Some(guid) = reply.reader() {
            return readers.iter().any(|reader| reader.guid == guid);
        }
        let Some(client) = &reply.client else {
            return !readers.is_empty();
        };
        let id = client.value("clientid");
        let same = |reader: &Peer| match id {
            Some(id) => reader.value("clientid") == Some(id),
            None => reader.participant == client.participant,
        };
        readers.iter().any(same)
    }

    fn write(&self, reply: &Reply) {
        let written = match &reply.call {
            Call::InFront(id) => {
                let (encapsulation, body) = reply.cdr.split_at(reply.cdr.len().min(4));
                let cdr = [encapsulation, id, body].concat();
                self.writer.reply(&self.name, &cdr, None)
            }
            Call::Beside(request) => self.writer.reply(&self.name, &reply.cdr, Some(*request)),
        };
        match written {
            Ok(Written::Sent { .. }) => {}
            Ok(Written::Refused) => Counters::count(&self.counters.undelivered),
            Err(error) => {
                Counters::count(&self.counters.undelivered);
                tracing::debug!(service = self.name, %error, "response not sent");
            }
        }
    }
}

impl Drop for Replies {
    fn drop(&mut self) {
        if let Err(error) = self.graph.remove(Kind::Writer, self.writer.guid()) {
            tracing::debug!(service = self.name, %error, "graph information not updated");
        }
    }
}
