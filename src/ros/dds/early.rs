//! Recovers requests of clients on Fast DDS that arrive before their writer is discovered.
//!
//! A client that finds a service sends at once, and its request may overtake the announcement of its writer. Fast DDS keeps
//! the request and resends it to a reader that requests it. Cyclone, as a volatile reader, does not request samples older than
//! the first HEARTBEAT it receives, and counts all samples announced there as older: those that arrived before,
//! those still in flight, and a sample with fragments still arriving. So, for readers of requests and writers of Fast DDS:
//!
//! 1. Cyclone sends an ACKNACK to a new writer. It is changed to request a HEARTBEAT (its sample set starts at 0), which
//!    would otherwise come three seconds later.
//! 2. HEARTBEATs are changed to announce no samples until Cyclone answers one, so that no sample counts as old.
//! 3. That answer is changed to request the announced samples that Cyclone has not received.
//!
//! Fast DDS reports samples older than its match with this reader as gone; Cyclone skips those.
use super::identity::{FAST_DDS, Guid};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};

/// Limit of stored sessions. At the limit all are dropped, which delays their next request by one HEARTBEAT.
const MAX_SESSIONS: usize = 4096;

/// A local reader and a remote writer.
type Session = (Guid, Guid);

#[derive(Default)]
struct Sessions {
    /// Readers of requests in this process.
    readers: BTreeSet<Guid>,
    /// Sessions in which Cyclone has answered a HEARTBEAT.
    open: BTreeSet<Session>,
    /// Last sample announced by a HEARTBEAT and hidden from Cyclone.
    announced: BTreeMap<Session, u32>,
}

static SESSIONS: Mutex<Sessions> = Mutex::new(Sessions {
    readers: BTreeSet::new(),
    open: BTreeSet::new(),
    announced: BTreeMap::new(),
});

/// Adds a reader of requests of this process.
pub(super) fn add(reader: Guid) {
    SESSIONS.lock().readers.insert(reader);
}

/// Removes a reader and its sessions.
pub(super) fn remove(reader: &Guid) {
    let mut sessions = SESSIONS.lock();
    sessions.readers.remove(reader);
    sessions.open.retain(|(ours, _)| ours != reader);
    sessions.announced.retain(|(ours, _), _| ours != reader);
}

/// Returns the replacement for an outgoing packet, if it changes; `pacing` passes only small ones.
pub(super) fn outgoing(packet: &[u8]) -> Option<Vec<u8>> {
    (packet.starts_with(b"RTPS") && acknowledges(packet))
        .then(|| SESSIONS.lock().change_acknowledgements(packet))
        .flatten()
}

/// Changes a received packet.
pub(super) fn received(packet: &mut [u8]) {
    if packet.starts_with(b"RTPS") && packet.get(6..8) == Some(&FAST_DDS) {
        for heartbeat in heartbeats(packet) {
            if let Some(last) = SESSIONS.lock().hide_samples(&heartbeat) {
                packet[heartbeat.last..heartbeat.last + 8].copy_from_slice(&last);
            }
        }
    }
}

const ACKNACK: u8 = 0x06;
const HEARTBEAT: u8 = 0x07;
const INFO_DST: u8 = 0x0e;
/// Flag of a submessage: little-endian numbers.
const LITTLE: u8 = 1;
/// Flag of an ACKNACK: no HEARTBEAT requested.
const FINAL: u8 = 2;
/// Bytes of the RTPS header.
const HEADER: usize = 20;

/// Whether the first submessage other than INFO_DST is an ACKNACK.
fn acknowledges(packet: &[u8]) -> bool {
    let mut kinds = submessages(packet).filter(|found| found.kind != INFO_DST);
    kinds.next().is_some_and(|found| found.kind == ACKNACK)
}

/// A submessage, with the position and length of its body.
struct Submessage {
    kind: u8,
    flags: u8,
    at: usize,
    length: usize,
}

/// Iterates over the complete submessages of a packet.
fn submessages(packet: &[u8]) -> impl Iterator<Item = Submessage> {
    let mut next = HEADER;
    std::iter::from_fn(move || {
        let rest = packet.get(next..)?;
        let [kind, flags, low, high] = *rest.first_chunk::<4>()?;
        let number = if flags & LITTLE == 0 { u16::from_be_bytes } else { u16::from_le_bytes };
        let length = match number([low, high]) {
            // Up to the end of the packet.
            0 => rest.len() - 4,
            length => length.into(),
        };
        let at = next + 4;
        next = at + length;
        (next <= packet.len()).then_some(Submessage { kind, flags, at, length })
    })
}

fn guid(prefix: &[u8], entity: &[u8]) -> Guid {
    let mut guid = Guid::default();
    guid[..12].copy_from_slice(prefix);
    guid[12..].copy_from_slice(entity);
    guid
}

/// A HEARTBEAT for one reader.
struct Heartbeat {
    session: Session,
    first: u64,
    announced: u64,
    /// Position and byte order of the last sequence number.
    last: usize,
    little: bool,
}

fn heartbeats(packet: &[u8]) -> Vec<Heartbeat> {
    let mut to = None;
    let mut found = Vec::new();
    for part in submessages(packet) {
        let body = &packet[part.at..part.at + part.length];
        match (part.kind, to) {
            (INFO_DST, _) => to = body.get(..12),
            (HEARTBEAT, Some(to)) if body.len() >= 28 => {
                let little = part.flags & LITTLE != 0;
                let number = if little { u32::from_le_bytes } else { u32::from_be_bytes };
                let half = |at: usize| {
                    u64::from(number([body[at], body[at + 1], body[at + 2], body[at + 3]]))
                };
                found.push(Heartbeat {
                    session: (guid(to, &body[..4]), guid(&packet[8..20], &body[4..8])),
                    first: half(8) << 32 | half(12),
                    announced: half(16) << 32 | half(20),
                    last: part.at + 16,
                    little,
                });
            }
            _ => {}
        }
    }
    found
}

impl Sessions {
    /// Returns the replacement for the last sequence number of a HEARTBEAT; `None`: it stays unchanged.
    fn hide_samples(&mut self, heartbeat: &Heartbeat) -> Option<[u8; 8]> {
        let (session, first) = (heartbeat.session, heartbeat.first);
        if !self.readers.contains(&session.0)
            || self.open.contains(&session)
            || first == 0
            || heartbeat.announced < first
        {
            return None;
        }
        if self.announced.len() >= MAX_SESSIONS {
            self.announced.clear();
        }
        let announced = u32::try_from(heartbeat.announced).ok()?;
        self.announced.insert(session, announced);
        let halves = [((first - 1) >> 32) as u32, (first - 1) as u32];
        let to_bytes = if heartbeat.little { u32::to_le_bytes } else { u32::to_be_bytes };
        let [high, low] = halves.map(to_bytes);
        [high, low].concat().try_into().ok()
    }

    /// Returns the packet with its ACKNACKs changed; `None` if unchanged.
    fn change_acknowledgements(&mut self, packet: &[u8]) -> Option<Vec<u8>> {
        let mut to = None;
        let mut changed = false;
        let mut out = packet.get(..HEADER)?.to_vec();
        for part in submessages(packet) {
            let body = &packet[part.at..part.at + part.length];
            if part.kind == INFO_DST {
                to = body.get(..12).filter(|prefix| prefix.starts_with(&FAST_DDS));
            }
            let answer = (part.kind == ACKNACK)
                .then(|| self.answer(&packet[8..20], to?, part.flags, body))
                .flatten();
            let body = answer.as_deref().unwrap_or(body);
            changed |= answer.is_some();
            out.extend([part.kind, part.flags]);
            out.extend((body.len() as u16).to_ne_bytes());
            out.extend(body);
        }
        // A packet with a trailing part that is no submessage stays unchanged.
        let whole = submessages(packet).map(|part| part.length + 4).sum::<usize>();
        (changed && HEADER + whole == packet.len()).then_some(out)
    }

    /// Returns the new body of one of our ACKNACKs, in native byte order; `None`: it stays unchanged.
    fn answer(&mut self, from: &[u8], to: &[u8], flags: u8, body: &[u8]) -> Option<Vec<u8>> {
        let number = |at: usize| Some(u32::from_ne_bytes(body.get(at..at + 4)?.try_into().ok()?));
        let session = (guid(from, body.get(..4)?), guid(to, body.get(4..8)?));
        if !self.readers.contains(&session.0) {
            return None;
        }
        let (high, base, wanted) = (number(8)?, number(12)?, number(16)?);
        let mut out = body.to_vec();
        if flags & FINAL == 0 && wanted == 0 {
            self.open.remove(&session);
            out[8..16].fill(0);
            return Some(out);
        }
        if self.open.len() >= MAX_SESSIONS {
            self.open.clear();
        }
        self.open.insert(session);
        let last = self.announced.remove(&session)?;
        if high != 0 || wanted != 0 || last < base {
            return None;
        }
        let count = (last - base + 1).min(32);
        let bits = u32::MAX << (32 - count);
        out.splice(16..20, [count, bits].map(u32::to_ne_bytes).concat());
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: [u8; 12] = [1, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];
    const THEIRS: [u8; 12] = [1, 15, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9];
    const READER: [u8; 4] = [0, 0, 0xc4, 4];
    const WRITER: [u8; 4] = [0, 0, 0x14, 3];

    fn packet(from: [u8; 12], to: [u8; 12], kind: u8, flags: u8, numbers: &[u32]) -> Vec<u8> {
        let native = u8::from(cfg!(target_endian = "little"));
        let mut packet = b"RTPS\x02\x03".to_vec();
        packet.extend(&from[..2]);
        packet.extend(from);
        packet.extend([INFO_DST, native]);
        packet.extend(12u16.to_ne_bytes());
        packet.extend(to);
        packet.extend([kind, flags | native]);
        packet.extend((8 + 4 * numbers.len() as u16).to_ne_bytes());
        packet.extend([READER, WRITER].concat());
        packet.extend(numbers.iter().flat_map(|number| number.to_ne_bytes()));
        packet
    }

    fn acknack(flags: u8, numbers: &[u32]) -> Vec<u8> {
        packet(OURS, THEIRS, ACKNACK, flags, numbers)
    }

    fn heartbeat(first: u32, last: u32) -> Vec<u8> {
        packet(THEIRS, OURS, HEARTBEAT, 0, &[0, first, 0, last, 1])
    }

    fn sessions() -> Sessions {
        let readers = BTreeSet::from([guid(&OURS, &READER)]);
        Sessions { readers, ..Sessions::default() }
    }

    fn is_hidden(sessions: &mut Sessions, first: u32, last: u32) -> bool {
        let found = heartbeats(&heartbeat(first, last));
        let expected = [0, first - 1].map(u32::to_ne_bytes).concat();
        let changed = sessions.hide_samples(&found[0]);
        assert!(changed.is_none_or(|bytes| bytes[..] == expected));
        changed.is_some()
    }

    #[test]
    fn first_acknack_requests_a_heartbeat_and_its_answer_the_announced_samples() {
        let mut sessions = sessions();
        let initial = acknack(0, &[0, 1, 0, 5]);
        assert_eq!(sessions.change_acknowledgements(&initial), Some(acknack(0, &[0, 0, 0, 5])));
        assert!(is_hidden(&mut sessions, 1, 3) && is_hidden(&mut sessions, 1, 3));
        let answer = acknack(FINAL, &[0, 2, 0, 6]);
        let asked = acknack(FINAL, &[0, 2, 2, 0xc000_0000, 6]);
        assert_eq!(sessions.change_acknowledgements(&answer), Some(asked), "2 and 3 are missing");
        assert!(!is_hidden(&mut sessions, 1, 4), "unchanged from now on");
        assert_eq!(sessions.change_acknowledgements(&acknack(FINAL, &[0, 5, 0, 7])), None);
    }

    #[test]
    fn received_and_unannounced_samples_are_not_requested() {
        let mut sessions = sessions();
        assert!(!is_hidden(&mut sessions, 1, 0), "an empty one is unchanged");
        assert_eq!(sessions.change_acknowledgements(&acknack(FINAL, &[0, 1, 0, 6])), None);
        let mut sessions = self::sessions();
        assert!(is_hidden(&mut sessions, 1, 1));
        assert_eq!(sessions.change_acknowledgements(&acknack(FINAL, &[0, 2, 0, 6])), None);
    }

    #[test]
    fn other_readers_other_vendors_and_broken_packets_are_left_alone() {
        let mut nobody = Sessions::default();
        assert_eq!(nobody.change_acknowledgements(&acknack(0, &[0, 1, 0, 5])), None);
        assert!(!is_hidden(&mut nobody, 1, 3));
        let cyclone = packet(OURS, OURS, ACKNACK, 0, &[0, 1, 0, 5]);
        assert_eq!(sessions().change_acknowledgements(&cyclone), None);
        let initial = acknack(0, &[0, 1, 0, 5]);
        for length in 0..initial.len() {
            assert_eq!(sessions().change_acknowledgements(&initial[..length]), None, "{length}");
            let _ = heartbeats(&heartbeat(1, 3)[..length.min(64)]);
        }
        assert!(acknowledges(&initial) && !acknowledges(&heartbeat(1, 2)));
    }
}
