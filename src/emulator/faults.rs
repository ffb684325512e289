//! Injected network faults between the emulator and its reader.
use super::{options::variant, random::SplitMix};
use std::time::Duration;

/// Longest delay of a datagram; without a limit, adding a delay to the time could overflow and panic.
const MAX_DELAY: Duration = Duration::from_secs(3600);

/// Datagrams that faults apply to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum FaultScope {
    /// Data of renderer sensors and IMU samples.
    #[default]
    Data,
    /// Data of renderer sensors only.
    Images,
    /// IMU samples only.
    Imu,
}

/// Probabilities and delays of faults; the default is a perfect network.
#[derive(Clone, Copy, Debug, Default, PartialEq, clap::Args)]
#[command(next_help_heading = "Faults (shares of all datagrams, 0 to 1)")]
pub struct Faults {
    /// Share of lost datagrams
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    pub loss: f64,
    /// Share of datagrams that arrive after their successor
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    pub reorder: f64,
    /// Share of duplicated datagrams
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    pub duplicate: f64,
    /// Share of corrupted datagrams: a byte of their first 32, any byte, or truncation
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    pub corrupt: f64,
    /// Delay of every datagram
    #[arg(long, value_name = "MS", default_value_t = 0.0)]
    pub delay_ms: f64,
    /// Maximum additional random delay
    #[arg(long, value_name = "MS", default_value_t = 0.0)]
    pub delay_jitter_ms: f64,
    /// Random seed; the same seed gives the same faults, textures, noise and random scans
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Datagrams that faults apply to
    #[arg(long = "fault-scope", value_name = "WHICH", default_value = "data", value_parser = variant::<FaultScope>())]
    pub scope: FaultScope,
}

impl Faults {
    /// Whether any fault is enabled.
    pub fn is_active(&self) -> bool {
        [self.loss, self.reorder, self.duplicate, self.corrupt, self.delay_ms, self.delay_jitter_ms]
            .iter()
            .any(|v| *v > 0.0)
    }
}

/// Applied faults, in datagrams.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, serde::Serialize)]
pub struct FaultCounts {
    /// Never sent.
    pub lost: u64,
    /// Sent after their successor.
    pub reordered: u64,
    /// Sent twice.
    pub duplicated: u64,
    /// Sent damaged.
    pub corrupted: u64,
}

/// The faults of one stream of datagrams between the emulator and its reader. Random draws depend only on the seed, the stream
/// and the datagram's number; a new seed restarts them.
#[derive(Clone, Debug)]
pub struct FaultInjector {
    stream: u64,
    seed: u64,
    rng: SplitMix,
    /// Datagram to send after its successor.
    postponed: Option<(Duration, Vec<u8>)>,
    counts: FaultCounts,
}

impl FaultInjector {
    /// The faults of stream number `stream`; stream and seed determine them.
    pub fn new(stream: u64) -> Self {
        let counts = FaultCounts::default();
        Self { stream, seed: 0, rng: SplitMix::of_faults(0, stream), postponed: None, counts }
    }

    /// Faults applied so far.
    pub fn counts(&self) -> FaultCounts {
        self.counts
    }

    /// Applies the faults to a datagram in two parts, and passes each resulting datagram to `send` with its delay, also in two
    /// parts. Returns whether the datagram was lost or corrupted.
    pub fn pass(
        &mut self,
        faults: &Faults,
        datagram: [&[u8]; 2],
        mut send: impl FnMut(Duration, [&[u8]; 2]),
    ) -> bool {
        if self.seed != faults.seed {
            self.seed = faults.seed;
            self.rng = SplitMix::of_faults(self.seed, self.stream);
            self.postponed = None;
        }
        if !faults.is_active() {
            send(Duration::ZERO, datagram);
            return false;
        }
        // Every datagram draws the same number of values, so that one fault does not change the others.
        let [loss, duplicate, corrupt, reorder, jitter] = std::array::from_fn(|_| self.rng.unit());
        let [kind, at, value] = std::array::from_fn(|_| self.rng.bits());
        if loss < faults.loss {
            self.counts.lost += 1;
            return true;
        }
        let mut bytes = datagram.concat();
        let harmed = corrupt < faults.corrupt;
        if harmed {
            self.counts.corrupted += 1;
            corrupt_bytes(&mut bytes, kind, at, value);
        }
        let delay_ms = (faults.delay_ms + jitter * faults.delay_jitter_ms).max(0.0);
        let delay = Duration::try_from_secs_f64(delay_ms / 1e3);
        let delay = delay.map_or(MAX_DELAY, |delay| delay.min(MAX_DELAY));
        if reorder < faults.reorder && self.postponed.is_none() {
            self.counts.reordered += 1;
            self.postponed = Some((delay, bytes));
            return harmed;
        }
        if duplicate < faults.duplicate {
            self.counts.duplicated += 1;
            send(delay, [&bytes, &[]]);
        }
        send(delay, [&bytes, &[]]);
        if let Some((delay, bytes)) = self.postponed.take() {
            send(delay, [&bytes, &[]]);
        }
        harmed
    }
}

fn corrupt_bytes(bytes: &mut Vec<u8>, kind: u64, at: u64, value: u64) {
    let mut rng = SplitMix(at);
    let end = if kind.is_multiple_of(3) { bytes.len().min(32) } else { bytes.len() };
    if kind % 3 == 2 {
        bytes.truncate(rng.below(bytes.len()));
    } else if let Some(byte) = bytes.get_mut(rng.below(end)) {
        // never 0, which would not change the byte
        *byte ^= (value % 255) as u8 + 1;
    }
}
