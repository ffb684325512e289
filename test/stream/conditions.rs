//! What happens to a stream, as its seed says.
use crate::support::random::Random;
use rfly_bridge::emulator::Faults;
use rfly_bridge::time::StampMode;
use rfly_bridge::wire::HeaderVariant;

/// What happens to simulator or bridge at a moment; times in s.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// The simulator starts again at 0 after so long.
    Restart(f64),
    /// Simulation time goes on elsewhere, frame ids as before.
    Jump(f64),
    /// The simulator stands still for so long.
    Pause(f64),
    /// Nobody subscribes for so long.
    Unwatched(f64),
}

impl Event {
    /// How long it takes.
    pub(super) fn seconds(self) -> f64 {
        match self {
            Self::Jump(_) => 0.0,
            Self::Restart(seconds) | Self::Pause(seconds) | Self::Unwatched(seconds) => seconds,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Conditions {
    pub(super) faults: Faults,
    /// Of the simulator's clock against ours, in parts per million.
    pub(super) drift_ppm: f64,
    pub(super) header: HeaderVariant,
    pub(super) mode: StampMode,
    /// Width, height and rate of each camera.
    pub(super) cameras: [(u16, u16, u16); 2],
    /// When, in s, and what.
    pub(super) events: Vec<(f64, Event)>,
}

/// Whole in one datagram.
const SMALL: (u16, u16, u16) = (40, 30, 20);
/// In two datagrams.
const LARGE: (u16, u16, u16) = (160, 126, 10);

impl Default for Conditions {
    /// Nothing happens.
    fn default() -> Self {
        Self {
            faults: Faults::default(),
            drift_ppm: 0.0,
            header: HeaderVariant::B,
            mode: StampMode::Aligned,
            cameras: [LARGE, SMALL],
            events: Vec::new(),
        }
    }
}

impl Conditions {
    /// A bad network, and a simulator that is not left alone.
    pub(super) fn bad(seed: u64) -> Self {
        let mut random = Random(seed);
        let mut up_to = |most: f64| most * random.uniform();
        let faults = Faults {
            loss: up_to(0.3),
            duplicate: up_to(0.3),
            reorder: up_to(0.2),
            delay_ms: up_to(250.0),
            delay_jitter_ms: up_to(60.0),
            seed,
            ..Faults::default()
        };
        let drift_ppm = up_to(2000.0) - 1000.0;
        let event = |kind: f64, size: f64| match kind as u32 {
            0 => Event::Restart(3.0 * size),
            1 => Event::Jump(100.0 * size),
            2 => Event::Jump(-2.5 - 100.0 * size),
            // Less than 250 ms is taken for a delay of the network (docs/time.md).
            3 => Event::Pause(0.3 + 4.0 * size),
            4 => Event::Unwatched(4.0 * size),
            _ => Event::Restart(0.0),
        };
        let events =
            [12.0, 24.0, 36.0, 48.0].map(|at| (at + up_to(2.0), event(up_to(6.0), up_to(1.0))));
        let quiet = up_to(4.0) < 1.0;
        Self {
            faults,
            drift_ppm,
            header: match up_to(4.0) < 1.0 {
                true => HeaderVariant::A,
                false => HeaderVariant::B,
            },
            mode: match up_to(4.0) < 1.0 {
                true => StampMode::Sim,
                false => StampMode::Aligned,
            },
            cameras: match up_to(4.0) < 1.0 {
                true => [LARGE, SMALL],
                false => [SMALL, (60, 20, 30)],
            },
            events: if quiet { Vec::new() } else { events.into() },
        }
    }
}
