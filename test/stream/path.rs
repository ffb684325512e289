//! Both sides, the network between them, and what must hold whatever it does.
use super::bridge::Bridge;
use super::conditions::{Conditions, Event};
use super::simulator::{REMEMBERED, Rendered, Simulator};
use rfly_bridge::msgs::sensor_msgs::msg::Image;
use rfly_bridge::time::{AlignerSettings, RosTime, StampMode, TimeAligner};
use rfly_bridge::wire::HeaderVariant;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::time::Duration;

/// The bridge's wall clock at the beginning.
const START_NS: i64 = 1_700_000_000_000_000_000;
/// The simulator looks so often whether a frame is due.
const TICK: Duration = Duration::from_millis(1);
/// The rest of a frame that has not come for so long is given up.
const SILENCE: Duration = Duration::from_secs(1);
/// Nothing is lost in the first and last moments, so that every loss is between two numbers.
const CALM: Duration = Duration::from_secs(1);
/// So long after an event, everything is as before.
const SETTLED: Duration = Duration::from_secs(5);
/// The longest without an image of a simulator that runs: every second frame may be lost, but not so many in a row.
const PATIENCE: Duration = Duration::from_secs(3);

/// What is left of an error that an event made, in ms; docs/time.md says how it is worked off.
const LEFT_MS: f64 = 25.0;
/// Frames around an event that no number tells of.
const UNTOLD: u64 = 20;

/// What is known of one camera.
struct Camera {
    bridge: Bridge,
    rendered: VecDeque<Rendered>,
    /// Frames rendered, and those of which something arrived.
    made: u64,
    seen: BTreeSet<u64>,
    /// Stretch, stamp and arrival of the image that was published last.
    last: Option<(u32, i64, Duration)>,
    /// When a datagram came last.
    heard: Duration,
}

/// One that waits: arrival, order, camera, frame, bytes.
type Waiting = Reverse<(Duration, u64, usize, u64, Vec<u8>)>;

pub(super) struct Path {
    conditions: Conditions,
    simulator: Simulator,
    aligner: TimeAligner,
    cameras: Vec<Camera>,
    waiting: BinaryHeap<Waiting>,
    sent: u64,
    now: Duration,
    end: Duration,
    /// What goes on now, and until when.
    ongoing: Option<(Duration, Event)>,
    /// Events so far.
    happened: usize,
    /// When the last event was over.
    quiet_since: Duration,
    /// Stamps by stretch and simulation time.
    stamps: BTreeMap<(u32, u64), i64>,
}

impl Path {
    pub(super) fn new(conditions: Conditions, seconds: f64) -> Self {
        let settings = AlignerSettings { mode: conditions.mode, ..AlignerSettings::default() };
        let camera = |size| Camera {
            bridge: Bridge::new(size),
            rendered: VecDeque::new(),
            made: 0,
            seen: BTreeSet::new(),
            last: None,
            heard: Duration::ZERO,
        };
        let mut conditions = conditions;
        conditions.events.reverse();
        Self {
            simulator: Simulator::new(&conditions),
            aligner: TimeAligner::new(settings),
            cameras: conditions.cameras.map(camera).into(),
            conditions,
            waiting: BinaryHeap::new(),
            sent: 0,
            now: Duration::ZERO,
            end: Duration::from_secs_f64(seconds),
            ongoing: None,
            happened: 0,
            quiet_since: Duration::ZERO,
            stamps: BTreeMap::new(),
        }
    }

    /// Plays all of it and balances the books.
    pub(super) fn run(mut self) -> Self {
        while self.now < self.end {
            self.now += TICK;
            self.events();
            self.simulate();
            self.deliver(self.now);
            self.look_for_silence();
        }
        // What is on its way still comes.
        self.deliver(Duration::MAX);
        for camera in &mut self.cameras {
            camera.bridge.abandon();
        }
        self.balance();
        self
    }

    fn events(&mut self) {
        if let Some((until, event)) = self.ongoing.filter(|(until, _)| *until <= self.now) {
            match event {
                Event::Restart(_) => self.simulator.restart(self.now),
                Event::Pause(_) => self.simulator.go_on(self.now),
                Event::Unwatched(_) => self.cameras.iter().for_each(|c| c.bridge.watch(true)),
                Event::Jump(seconds) => self.simulator.jump(self.now, seconds),
            }
            (self.ongoing, self.quiet_since) = (None, until);
        }
        let due = |(at, _): &mut (f64, Event)| *at <= self.now.as_secs_f64();
        if let Some((_, event)) = self.conditions.events.pop_if(due) {
            match event {
                Event::Restart(_) | Event::Pause(_) => self.simulator.stop(self.now),
                Event::Unwatched(_) => self.cameras.iter().for_each(|c| c.bridge.watch(false)),
                Event::Jump(_) => {}
            }
            self.happened += 1;
            let until = self.now + Duration::from_secs_f64(event.seconds());
            self.ongoing = Some((until, event));
        }
    }

    /// Whether everything has been as it should be for long.
    fn settled(&self) -> bool {
        self.ongoing.is_none() && self.now >= self.quiet_since + SETTLED
    }

    fn simulate(&mut self) {
        let calm = self.now < CALM || self.now + CALM > self.end;
        let mut faults = self.conditions.faults;
        if calm {
            (faults.loss, faults.reorder) = (0.0, 0.0);
        }
        let (waiting, sent, now) = (&mut self.waiting, &mut self.sent, self.now);
        let rendered = self.simulator.step(now, &faults, |datagram| {
            *sent += 1;
            let arrival = now + datagram.delay;
            let (camera, serial) = (datagram.camera, datagram.serial);
            waiting.push(Reverse((arrival, *sent, camera, serial, datagram.bytes)));
        });
        for frame in rendered {
            let camera = &mut self.cameras[frame.camera];
            camera.made += 1;
            if camera.rendered.len() == REMEMBERED {
                camera.rendered.pop_front();
            }
            camera.rendered.push_back(frame);
        }
    }

    fn deliver(&mut self, until: Duration) {
        while self.waiting.peek().is_some_and(|Reverse((at, ..))| *at <= until)
            && let Some(Reverse((at, _, index, serial, bytes))) = self.waiting.pop()
        {
            let camera = &mut self.cameras[index];
            (camera.heard, _) = (at, camera.seen.insert(serial));
            let arrival = RosTime(START_NS + at.as_nanos() as i64);
            let image = camera.bridge.take(&bytes, arrival, &mut self.aligner);
            camera.bridge.check_memory();
            if let Some(image) = image {
                self.check(index, &image, at);
            }
        }
    }

    fn look_for_silence(&mut self) {
        for camera in &mut self.cameras {
            if self.now >= camera.heard + SILENCE {
                camera.bridge.abandon();
            }
        }
        if !self.settled() {
            return;
        }
        for (index, camera) in self.cameras.iter().enumerate() {
            let last = camera.last.map_or(Duration::ZERO, |(_, _, arrival)| arrival);
            let late = self.now.saturating_sub(last);
            assert!(late <= PATIENCE, "camera {index}: no image for {late:?} at {:?}", self.now);
        }
    }

    /// An image is one that was rendered, pixel for pixel; its stamp is that of its tick, and later than the one before.
    fn check(&mut self, index: usize, image: &Image, at: Duration) {
        let stamp = &image.header.stamp;
        let stamp = i64::from(stamp.sec) * 1_000_000_000 + i64::from(stamp.nanosec);
        let settled = self.settled();
        let faults = &self.conditions.faults;
        let camera = &mut self.cameras[index];
        let same = camera.rendered.iter().rev().filter(|frame| frame.pixels == image.data);
        let error_ms = |frame: &Rendered| match self.conditions.mode {
            StampMode::Sim => ((frame.time * 1e9).round() - stamp as f64) * 1e-6,
            _ => {
                let truth = START_NS + frame.truth.as_nanos() as i64;
                (stamp - truth) as f64 * 1e-6 - faults.delay_ms
            }
        };
        let best = same.min_by(|a, b| error_ms(a).abs().total_cmp(&error_ms(b).abs()));
        let frame =
            best.unwrap_or_else(|| panic!("camera {index} shows at {at:?} what nobody rendered"));
        let error = error_ms(frame);
        let most = match self.conditions.mode {
            StampMode::Sim => 0.0,
            _ if settled && self.happened == 0 => 1.0 + faults.delay_jitter_ms,
            _ if settled => LEFT_MS + faults.delay_jitter_ms,
            _ => f64::INFINITY,
        };
        assert!(
            error.abs() <= most,
            "camera {index} at {at:?}: the stamp of {} s is {error} ms off",
            frame.time
        );
        let (stretch, time) = (frame.stretch, frame.time);
        if let Some((before, last, _)) = camera.last {
            let told =
                format!("camera {index} at {at:?}: {stamp} after {last}, {stretch} after {before}");
            assert!(stretch >= before, "{told}");
            let anew = self.conditions.mode == StampMode::Sim && stretch > before;
            assert!(stamp > last || anew, "{told}");
        }
        camera.last = Some((stretch, stamp, at));
        // The other camera has the same for this tick.
        let known = *self.stamps.entry((stretch, time.to_bits())).or_insert(stamp);
        assert_eq!(known, stamp, "camera {index} at {at:?}: two stamps for {time} s");
    }

    /// How many images each camera has published, and how many were rendered.
    pub(super) fn published(&self) -> Vec<(u64, u64)> {
        let count = |camera: &Camera| (camera.bridge.figures.published, camera.made);
        self.cameras.iter().map(count).collect()
    }

    /// Nothing is lost that is not counted.
    fn balance(&self) {
        for (index, camera) in self.cameras.iter().enumerate() {
            let (counters, figures) = (camera.bridge.counters(), camera.bridge.figures);
            let told = format!("camera {index}: {counters:?}, {figures:?}");
            let (made, seen) = (camera.made, camera.seen.len() as u64);
            assert_eq!(
                figures.published + figures.unwatched + figures.unstamped,
                counters.frames,
                "{told}"
            );
            assert_eq!(counters.frames + counters.frames_dropped(), seen, "{told}");
            assert_eq!(counters.malformed + counters.inconsistent + counters.oversize, 0, "{told}");
            // Numbers tell of frames of which nothing came, but for the last ones before an event and the first after it.
            if self.conditions.header == HeaderVariant::B {
                let untold = made.checked_sub(seen + counters.lost);
                let most = UNTOLD * self.happened as u64;
                assert!(untold.is_some_and(|untold| untold <= most), "{made} frames, {told}");
            }
        }
    }
}
