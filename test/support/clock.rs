//! A time aligner that receives arbitrary times; used by the property tests and by `fuzz/`.
use rfly_bridge::time::{
    AlignerSettings, Estimator, Heartbeat, Observation, RosTime, SimTime, SourceKind, StampMode,
    TimeAligner,
};

const EPOCH_NS: i64 = 1_700_000_000_000_000_000;
const MS: i64 = 1_000_000;
/// Maximum number of played steps of a script.
const MAX_STEPS: usize = 256;

/// Plays a script: a byte that chooses mode and estimator, then 10 bytes for each step. Panics if a stamp is impossible, or if
/// a regular simulation after the script gets no stamps.
pub fn play(script: &[u8]) {
    let Some((choice, steps)) = script.split_first() else {
        return;
    };
    let (mode, estimator) = match choice % 4 {
        0 => (StampMode::Sim, Estimator::Envelope),
        1 => (StampMode::Arrival, Estimator::Envelope),
        2 => (StampMode::Aligned, Estimator::Vendor),
        _ => (StampMode::Aligned, Estimator::Envelope),
    };
    let mut aligner =
        TimeAligner::new(AlignerSettings { mode, estimator, ..AlignerSettings::default() });
    let (mut sim, mut host) = (SimTime(0), EPOCH_NS);
    let told = |aligner: &mut TimeAligner, sim: SimTime, host: i64| {
        let stamp = aligner.receive(sim, RosTime(host), SourceKind::Imu);
        match (mode, stamp) {
            (StampMode::Sim, Some(stamp)) => assert!(stamp.0 == sim.0 && stamp.0 >= 0),
            (StampMode::Arrival, stamp) => assert_eq!(stamp, Some(RosTime(host))),
            _ => {}
        }
        stamp
    };
    for step in steps.chunks_exact(10).take(MAX_STEPS) {
        let [kind, pause, number @ ..] = step else { unreachable!("chunks of 10") };
        let number = <[u8; 8]>::try_from(number).expect("8 of 10");
        host += i64::from(*pause) * MS;
        let raw = i64::from_le_bytes(number);
        match kind % 8 {
            0..=2 => sim.0 = sim.0.saturating_add(5 * MS + raw % MS),
            3 => sim.0 = sim.0.saturating_add(raw % (10_000 * MS)),
            4 => sim.0 = raw % 1_000_000_000_000,
            5 => {
                let beat = Heartbeat {
                    start_ms: raw,
                    now_ms: raw.rotate_left(13),
                    host: RosTime(host),
                    local: kind & 8 == 0,
                };
                aligner.heartbeat(beat);
                continue;
            }
            6 => {
                let wild = SimTime::checked_from_secs(f64::from_le_bytes(number));
                if let Some(wild) = wild {
                    told(&mut aligner, wild, host);
                }
                continue;
            }
            _ => {
                aligner.observe(SimTime(raw), RosTime(host), SourceKind::Image);
                aligner.stamp(SimTime(raw));
                continue;
            }
        }
        told(&mut aligner, sim, host);
        aligner.status();
    }
    // The check below takes four times as long as the script, so only a quarter of the scripts run it.
    if choice & 12 != 0 {
        return;
    }
    // From here on, the simulator restarts and runs regularly.
    host += 5_000 * MS;
    let mut last = None;
    for tick in 1..1000 {
        last = told(&mut aligner, SimTime(tick * 5 * MS), host + tick * 5 * MS);
    }
    assert!(last.is_some(), "{mode:?} {estimator:?}");
    let seen = aligner.observe(SimTime(5000 * MS), RosTime(host + 5000 * MS), SourceKind::Imu);
    assert_eq!(seen, Observation::Accepted, "{mode:?} {estimator:?}");
}
