//! A simulator, a network and a host clock on virtual time, whose truth is known.
use crate::support::random::Random;
use rfly_bridge::time::{
    AlignerSettings, ClockStatus, Observation, RosTime, SimTime, SourceKind, TimeAligner,
};

/// Host clock at the start of every scenario.
pub(super) const EPOCH_NS: i64 = 1_700_000_000_000_000_000;
const SECOND: f64 = 1e9;

/// One stream of datagrams; delays in ms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) rate_hz: f64,
    /// Nobody who only listens can tell this from the offset between the clocks.
    pub(super) shortest_ms: f64,
    /// Mean of an exponential delay on top.
    pub(super) jitter_ms: f64,
    /// One datagram in this many is an outlier ...
    pub(super) outlier_every: f64,
    /// ... of up to this.
    pub(super) outlier_ms: f64,
    pub(super) loss: f64,
    pub(super) kind: SourceKind,
    /// First datagram, in s of real time.
    pub(super) from_s: f64,
}

pub(super) const IMU: Source = Source {
    rate_hz: 200.0,
    shortest_ms: 0.1,
    jitter_ms: 0.3,
    outlier_every: 100.0,
    outlier_ms: 50.0,
    loss: 0.0,
    kind: SourceKind::Imu,
    from_s: 0.0,
};

pub(super) const CAMERA: Source =
    Source { rate_hz: 30.0, shortest_ms: 3.0, jitter_ms: 2.0, kind: SourceKind::Image, ..IMU };

/// What happens at a moment of real time, in s.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// The simulator stands still and sends nothing for so many s.
    Pause(f64),
    /// The simulator starts again at 0 after so many s of silence.
    Restart(f64),
    /// The host's clock is set by so many s.
    HostStep(f64),
    /// The simulator's speed becomes this.
    Speed(f64),
    /// Everything is late by so many ms more, for so many s.
    Congestion(f64, f64),
}

#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) sources: Vec<Source>,
    /// How much faster than true time the host's clock runs.
    pub(super) host_ppm: f64,
    pub(super) speed: f64,
    pub(super) seconds: f64,
    pub(super) events: Vec<(f64, Event)>,
    pub(super) settings: AlignerSettings,
}

impl Scenario {
    pub(super) fn new(name: &'static str, sources: &[Source]) -> Self {
        Self {
            name,
            sources: sources.to_vec(),
            host_ppm: 0.0,
            speed: 1.0,
            seconds: 60.0,
            events: Vec::new(),
            settings: AlignerSettings::default(),
        }
    }
}

/// One datagram as it arrives. All times in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) sim: i64,
    /// Host clock on arrival.
    pub(super) host: i64,
    /// Host clock at the moment of the tick: what a perfect stamp says.
    pub(super) truth: i64,
    pub(super) kind: SourceKind,
    /// Real time of the tick in s.
    pub(super) real_s: f64,
    pub(super) run: u32,
}

/// Plays a scenario and returns its datagrams in the order of arrival.
pub(super) fn play(scenario: &Scenario) -> Vec<Arrival> {
    let mut random = Random(7);
    let mut arrivals: Vec<(f64, Arrival)> = Vec::new();
    for source in &scenario.sources {
        // Ticks are multiples of the source's period in simulator time; real time is integrated between events.
        let period = SECOND / source.rate_hz;
        let mut tick = 0.0;
        let (mut real, mut sim, mut speed, mut run) = (0.0f64, 0.0f64, scenario.speed, 0);
        let mut events = scenario.events.iter().peekable();
        loop {
            let next_tick = real + (tick - sim) / speed;
            if let Some((at, event)) = events.peek()
                && at * SECOND <= next_tick
            {
                sim += (at * SECOND - real) * speed;
                real = at * SECOND;
                match *event {
                    Event::Pause(s) => real += s * SECOND,
                    Event::Restart(s) => {
                        real += s * SECOND;
                        (sim, tick, run) = (0.0, 0.0, run + 1);
                    }
                    Event::Speed(s) => speed = s,
                    Event::HostStep(_) | Event::Congestion(..) => {}
                }
                events.next();
                continue;
            }
            (real, sim) = (next_tick, tick);
            tick += period;
            if real > scenario.seconds * SECOND {
                break;
            }
            if real < source.from_s * SECOND || random.uniform() < source.loss {
                continue;
            }
            let mut delay = (source.shortest_ms + random.exponential(source.jitter_ms)) * 1e6
                / scenario.speed.max(1.0);
            if random.uniform() * source.outlier_every < 1.0 {
                delay += random.uniform() * source.outlier_ms * 1e6;
            }
            for (at, event) in &scenario.events {
                if let Event::Congestion(ms, s) = event
                    && (*at..at + s).contains(&(real / SECOND))
                {
                    delay += ms * 1e6;
                }
            }
            let clock = |real: f64| {
                let steps: f64 = (scenario.events.iter())
                    .filter(|(at, _)| at * SECOND <= real)
                    .map(|(_, e)| if let Event::HostStep(s) = e { s * SECOND } else { 0.0 })
                    .sum();
                EPOCH_NS + (real * (1.0 + scenario.host_ppm * 1e-6) + steps).round() as i64
            };
            let arrival = Arrival {
                sim: sim.round() as i64,
                host: clock(real + delay),
                truth: clock(real),
                kind: source.kind,
                real_s: real / SECOND,
                run,
            };
            arrivals.push((real + delay, arrival));
        }
    }
    arrivals.sort_by(|a, b| a.0.total_cmp(&b.0));
    arrivals.into_iter().map(|(_, arrival)| arrival).collect()
}

/// A datagram and what the aligner made of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamped {
    pub(super) arrival: Arrival,
    pub(super) stamp: i64,
    pub(super) observation: Observation,
}

impl Stamped {
    pub(super) fn error_us(&self) -> f64 {
        (self.stamp - self.arrival.truth) as f64 * 1e-3
    }
}

/// Feeds a scenario to a new aligner.
pub(super) fn run(scenario: &Scenario) -> (Vec<Stamped>, ClockStatus) {
    let mut aligner = TimeAligner::new(scenario.settings);
    let stamped = play(scenario)
        .into_iter()
        .map(|arrival| {
            let observation =
                aligner.observe(SimTime(arrival.sim), RosTime(arrival.host), arrival.kind);
            let stamp = aligner.stamp(SimTime(arrival.sim));
            let stamp = stamp.unwrap_or(RosTime(arrival.host)).0;
            Stamped { arrival, stamp, observation }
        })
        .collect();
    (stamped, aligner.status())
}

/// Errors in µs of what was stamped in a span of real time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Errors {
    pub(super) median: f64,
    pub p99: f64,
    pub(super) worst: f64,
}

pub(super) fn errors(stamped: &[Stamped], from_s: f64, to_s: f64) -> Errors {
    let span = stamped.iter().filter(|s| (from_s..to_s).contains(&s.arrival.real_s));
    let mut all: Vec<f64> = span.map(|s| s.error_us().abs()).collect();
    assert!(!all.is_empty(), "nothing was stamped in {from_s}..{to_s} s");
    all.sort_by(f64::total_cmp);
    let at = |q: f64| all[((all.len() - 1) as f64 * q) as usize];
    Errors { median: at(0.5), p99: at(0.99), worst: at(1.0) }
}
