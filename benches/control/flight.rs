//! Telemetry of a vehicle: repeats the recorded messages of a PX4 flight, with current time stamps.
use super::Result;
use rfly_bridge::wire::mavlink::raw::{Heartbeat, RawMessage};
use rfly_bridge::wire::mavlink::{Outbound, frames};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Received from PX4 1.16 while a mavros controller flew it (test/fixtures/PROVENANCE.md).
const RECORDED: &str = include_str!("../../test/fixtures/golden/mavros/px4_flight.jsonl");
/// Between these seconds of the recording the vehicle is in the air.
const IN_THE_AIR: std::ops::Range<f64> = 20.0..40.0;
/// MAV_FRAME_LOCAL_FRD, MAV_FRAME_BODY_FRD.
const ODOMETRY_FRAMES: [u8; 2] = [20, 12];

/// Unit, type and offset of a message's time.
#[derive(Clone, Copy)]
enum Time {
    None,
    /// Milliseconds, u32.
    Ms(usize),
    /// Microseconds, u32.
    Us32(usize),
    /// Microseconds, u64.
    Us(usize),
}
use Time::{Ms, None as No, Us, Us32};

/// Message and rate in Hz, measured on PX4 1.16 with an onboard link. HEARTBEAT and TIMESYNC are not from the recording.
const RATES: [(u32, f64, Time); 25] = [
    (30, 100.0, Ms(0)),
    (31, 50.0, Ms(0)),
    (105, 50.0, Us(0)),
    (33, 50.0, Ms(0)),
    (32, 30.0, Ms(0)),
    (331, 30.0, Us(0)),
    (141, 10.0, Us(0)),
    (132, 10.0, Ms(0)),
    (83, 10.0, Ms(0)),
    (85, 10.0, Ms(0)),
    (36, 10.0, Us32(0)),
    (74, 10.0, No),
    (24, 8.0, Us(0)),
    (245, 5.0, No),
    (1, 5.0, No),
    (42, 1.0, No),
    (230, 1.0, Us(0)),
    (4, 1.0, Us(0)),
    (29, 1.0, Ms(0)),
    (2, 1.0, Ms(8)),
    (147, 0.5, No),
    (242, 0.5, Us(52)),
    (241, 0.5, Us(0)),
    (253, 0.1, No),
    (410, 0.1, Ms(4)),
];
/// Rate of the vehicle's own TIMESYNC requests.
const TIMESYNC_HZ: f64 = 10.0;

/// One kind of message.
struct Kind {
    id: u32,
    rate: f64,
    time: Time,
    /// Payloads in the order of the flight.
    payloads: Vec<Vec<u8>>,
    sent: usize,
    due: f64,
}

/// The telemetry stream of a vehicle.
pub(crate) struct Flight {
    kinds: Vec<Kind>,
    heartbeat: f64,
    timesync: f64,
}

impl Flight {
    /// Reads the recording.
    pub(crate) fn new() -> Result<Self> {
        let mut recorded = recorded()?;
        derive(&mut recorded);
        let mut kinds = Vec::new();
        for (id, rate, time) in RATES {
            let payloads = recorded.remove(&id).unwrap_or_default();
            if payloads.is_empty() {
                return Err(format!("no message {id} in the recording").into());
            }
            kinds.push(Kind { id, rate, time, payloads, sent: 0, due: 0.0 });
        }
        Ok(Self { kinds, heartbeat: 1.0, timesync: 0.0 })
    }

    /// Advances by `tick` and returns the messages that are due; `now` is the vehicle's time since boot.
    pub(crate) fn step(&mut self, tick: Duration, now: Duration) -> Vec<Outbound> {
        let tick = tick.as_secs_f64();
        let mut due = Vec::new();
        for kind in &mut self.kinds {
            kind.due += kind.rate * tick;
            while kind.due >= 1.0 {
                kind.due -= 1.0;
                due.extend(kind.next(now).map(Outbound::from));
            }
        }
        if is_due(&mut self.heartbeat, tick) {
            due.push(heartbeat().into());
        }
        if is_due(&mut self.timesync, TIMESYNC_HZ * tick) {
            due.push(timesync(0, now).into());
        }
        due
    }
}

/// Advances a message by `more` periods; returns whether it is due.
fn is_due(share: &mut f64, more: f64) -> bool {
    *share += more;
    let due = *share >= 1.0;
    if due {
        *share -= 1.0;
    }
    due
}

impl Kind {
    fn next(&mut self, now: Duration) -> Option<RawMessage> {
        let mut payload = self.payloads.get(self.sent % self.payloads.len())?.clone();
        self.sent += 1;
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(field) = payload.get_mut(at..at + bytes.len()) {
                field.copy_from_slice(bytes);
            }
        };
        let us = now.as_micros() as u64;
        match self.time {
            Time::None => {}
            Time::Ms(at) => put(at, &((us / 1000) as u32).to_le_bytes()),
            Time::Us32(at) => put(at, &(us as u32).to_le_bytes()),
            Time::Us(at) => put(at, &us.to_le_bytes()),
        }
        RawMessage::new(self.id, &payload)
    }
}

/// Returns the payloads by message, padded with zeros: those of `IN_THE_AIR`; of messages without any, those of other times.
fn recorded() -> Result<BTreeMap<u32, Vec<Vec<u8>>>> {
    let mut found: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
    let mut other_times: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
    // The first line describes the recording.
    for line in RECORDED.lines().skip(1) {
        let line: Value = serde_json::from_str(line)?;
        if line["d"] != "<" {
            continue;
        }
        let bytes = unhex(line["h"].as_str().unwrap_or_default());
        for frame in frames(&bytes).flatten() {
            let mut payload = frame.payload.to_vec();
            payload.resize(255, 0);
            let flying = IN_THE_AIR.contains(&line["t"].as_f64().unwrap_or(0.0));
            let of_kind = if flying { &mut found } else { &mut other_times };
            of_kind.entry(frame.id).or_default().push(payload);
        }
    }
    for (id, payloads) in other_times {
        found.entry(id).or_insert(payloads);
    }
    Ok(found)
}

/// Adds the messages that the recording lacks; attitude and odometry agree with its other messages.
fn derive(recorded: &mut BTreeMap<u32, Vec<Vec<u8>>>) {
    let floats = |payload: &[u8], at: usize| -> [f32; 6] {
        std::array::from_fn(|i| {
            let four = payload.get(at + 4 * i..at + 4 * i + 4);
            four.and_then(|four| four.try_into().ok()).map_or(0.0, f32::from_le_bytes)
        })
    };
    let of = |id| recorded.get(&id).cloned().unwrap_or_default();
    let (attitudes, positions) = (of(30), of(32));
    let (mut quaternions, mut odometry) = (Vec::new(), Vec::new());
    for (n, attitude) in attitudes.iter().enumerate() {
        let [roll, pitch, yaw, p, q, r] = floats(attitude, 4);
        let quaternion = quaternion(roll, pitch, yaw);
        quaternions.push(message(4, &[&quaternion[..], &[p, q, r]].concat(), &[]));
        let Some(position) = positions.get(n % positions.len().max(1)) else {
            continue;
        };
        let [x, y, z, vx, vy, vz] = floats(position, 4);
        let mut fields = vec![x, y, z];
        fields.extend(quaternion);
        fields.extend([vx, vy, vz, p, q, r]);
        // The upper right triangles of two 6 x 6 covariances: pose, velocity.
        for variance in [0.02, 0.01] {
            let diagonal = [0, 6, 11, 15, 18, 20];
            fields.extend((0..21).map(|i| if diagonal.contains(&i) { variance } else { 0.0 }));
        }
        odometry.push(message(8, &fields, &ODOMETRY_FRAMES));
    }
    recorded.insert(31, quaternions);
    recorded.insert(331, odometry);
    let pulses = [1480_u16, 1510, 1495, 1502, 0, 0, 0, 0];
    let pulses: Vec<u8> = pulses.iter().flat_map(|us| us.to_le_bytes()).collect();
    recorded.insert(36, vec![message(4, &[], &pulses)]);
    recorded.insert(241, vec![message(8, &[0.013, 0.011, 0.024], &[])]);
    let text = b"\x06Takeoff detected";
    recorded.insert(253, vec![message(0, &[], text)]);
}

/// Returns a payload: `time` bytes for the time, floats, bytes, and zeros up to 255 bytes.
fn message(time: usize, floats: &[f32], bytes: &[u8]) -> Vec<u8> {
    let mut payload = vec![0; time];
    payload.extend(floats.iter().flat_map(|value| value.to_le_bytes()));
    payload.extend_from_slice(bytes);
    payload.resize(255, 0);
    payload
}

fn quaternion(roll: f32, pitch: f32, yaw: f32) -> [f32; 4] {
    let ((sr, cr), (sp, cp), (sy, cy)) =
        ((roll / 2.0).sin_cos(), (pitch / 2.0).sin_cos(), (yaw / 2.0).sin_cos());
    [
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    ]
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = |at: usize| {
        let two = text.get(at..at + 2);
        two.and_then(|two| u8::from_str_radix(two, 16).ok())
    };
    (0..text.len()).step_by(2).filter_map(digits).collect()
}

/// Returns a TIMESYNC request if `asked` is 0, otherwise the answer to a request with `ts1` = `asked`.
pub(crate) fn timesync(asked: i64, now: Duration) -> rfly_bridge::wire::mavlink::raw::Timesync {
    let now = now.as_nanos() as i64;
    let (tc1, ts1) = if asked == 0 { (0, now) } else { (now, asked) };
    rfly_bridge::wire::mavlink::raw::Timesync { tc1, ts1, ..Default::default() }
}

fn heartbeat() -> Heartbeat {
    Heartbeat {
        custom_mode: 6 << 16,
        kind: 2,
        autopilot: 12,
        base_mode: 157,
        system_status: 4,
        mavlink_version: 3,
    }
}
