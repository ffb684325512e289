//! What is told of a flown vehicle is of one instant: rates turn the attitude, accelerations change the velocity, velocities
//! the position; and simulation time stands still while nobody computes the simulation. All on virtual time.
use super::pilot_rig::{PilotRig, standing};
use super::rig::near;
use proptest::prelude::*;
use rfly_bridge::emulator::autopilot::dynamics::{
    ControlTarget, Gains, VehicleBody, Wing, WingCourse,
};
use rfly_bridge::emulator::autopilot::rigid::{ControlOutput, MotionSegment, RecentMotion};
use rfly_bridge::emulator::autopilot::{ControlMode, Mode, STEP};
use rfly_bridge::emulator::clock::{SimTime, Steps};
use rfly_bridge::emulator::world::{GRAVITY, Kinematics, Quat, Vec3};
use rfly_bridge::wire::mavlink::MavMessage;
use rfly_bridge::wire::mavlink::dialect::{ATTITUDE_DATA, LOCAL_POSITION_NED_DATA};
use rfly_bridge::wire::mavlink::frames;
use std::time::Duration;

/// Half of the interval in s over which differences are taken.
const H: f64 = 1e-4;

/// What differences of pose and velocity around `time` say that a gyroscope, an accelerometer and the velocity should be.
fn differences(trail: &RecentMotion, time: f64) -> (Vec3, Vec3, Vec3) {
    let at = |time| trail.at(time).expect("a vehicle that is flown");
    let (before, now, after) = (at(time - H), at(time), at(time + H));
    let turned = before.pose.attitude.inverse() * after.pose.attitude;
    let gained = (after.velocity - before.velocity) / (2.0 * H);
    let felt = now.pose.attitude.inverse() * (gained - Vec3::new(0.0, 0.0, GRAVITY));
    let moved = (after.pose.position - before.pose.position) / (2.0 * H);
    (turned.scaled_axis() / (2.0 * H), felt, moved)
}

/// By how much rate, specific force and velocity differ from that.
fn errors(trail: &RecentMotion, told: &Kinematics, time: f64) -> [f64; 3] {
    let (rate, felt, velocity) = differences(trail, time);
    [
        (told.rate - rate).norm(),
        (told.specific_force - felt).norm(),
        (told.velocity - velocity).norm(),
    ]
}

/// The integrator's error: rad/s, m/s², m/s. The jump of an angular acceleration, or of the change of a thrust, is within H.
const LIMITS: [f64; 3] = [0.01, 0.03, 1e-3];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn sensors_are_derivatives_of_the_pose_at_their_own_stamp(
        wishes in proptest::collection::vec((-6.0f32..6.0, -6.0f32..6.0, -2.5f32..1.0, -0.8f32..0.8), 2..5),
        offset in 0.0f64..1.0,
    ) {
        let mut rig = PilotRig::fly(20.0);
        let mut trail = RecentMotion::default();
        let mut worst = [0.0f64; 3];
        let (mut late, mut fastest) = ([0.0f64; 3], 0.0f64);
        for (north, east, down, turn) in wishes {
            rig.stream_velocity([north, east, down], turn);
            for i in 0..300 {
                rig.step();
                trail.push(rig.pilot.segment().unwrap());
                // Around the step before this one, between two steps, and at steps.
                let time = rig.now - STEP * if i % 3 == 0 { 1.0 } else { offset.max(0.05) };
                if i < 3 {
                    continue;
                }
                let told = trail.at(time).unwrap();
                for (worst, error) in worst.iter_mut().zip(errors(&trail, &told, time)) {
                    *worst = worst.max(error);
                }
                let lagging = trail.at(time - 0.0025).unwrap();
                for (late, error) in late.iter_mut().zip(errors(&trail, &lagging, time)) {
                    *late = late.max(error);
                }
                fastest = fastest.max(told.rate.norm());
            }
        }
        prop_assert!(worst.iter().zip(LIMITS).all(|(worst, most)| *worst < most), "{worst:?}");
        // So much would a lag of half a step be.
        prop_assert!(fastest < 0.1 || late.iter().zip(LIMITS).all(|(late, most)| *late > most), "{late:?}");
    }
}

#[test]
fn rates_turn_the_attitude_also_about_an_axis_that_turns() {
    let mut body = VehicleBody::new(&standing(), -0.15);
    body.state.position.z = -20.0;
    body.state.is_grounded = false;
    body.state.rate = Vec3::new(2.0, -1.0, 1.5);
    let mut trail = RecentMotion::default();
    trail.push(MotionSegment {
        time: 0.0,
        state: body.state,
        drive: ControlOutput::Rotors { thrust: 0.5, rate: Vec3::new(-3.0, 2.0, 0.0) },
    });
    let time = 0.8 * STEP;
    let [rate, ..] = errors(&trail, &trail.at(time).unwrap(), time);
    // Half a millisecond of this angular acceleration would be 0.07 rad/s.
    assert!(rate < 1e-4, "{rate} rad/s");
}

#[test]
fn what_a_fixed_wing_feels_is_how_it_moves() {
    let mut body = VehicleBody::new(&standing(), -0.15);
    let mut trail = RecentMotion::default();
    let wing = |course| ControlTarget::Wing(Wing { speed: 14.0, height: -30.0, course });
    let around = WingCourse::Around(Vec3::new(60.0, 30.0, -30.0), 40.0);
    for i in 0..8000 {
        let target = wing(if i < 4000 { WingCourse::Heading(1.0) } else { around });
        body.advance(STEP);
        body.control(&target, &Gains::default(), STEP);
        trail.push(MotionSegment {
            time: f64::from(i) * STEP,
            state: body.state,
            drive: body.drive,
        });
        if body.height() < 0.1 {
            continue;
        }
        let time = f64::from(i) * STEP - STEP * 0.4;
        let found = errors(&trail, &trail.at(time).unwrap(), time);
        // How the nose climbs and how the vehicle does are two things.
        assert!(found[0] < 0.01 && found[1] < 0.05 && found[2] < 1e-3, "{found:?}");
    }
    near(body.height(), 29.85, 1.0, "height");
}

#[test]
fn messages_of_one_stamp_are_of_one_instant() {
    let mut rig = PilotRig::fly(10.0);
    let mut path = Vec::new();
    rig.sent.clear();
    for (north, east) in [(5.0, 0.0), (0.0, 5.0), (-5.0, -5.0)] {
        rig.stream_velocity([north, east, 0.0], 0.3);
        for _ in 0..400 {
            rig.step();
            path.push((rig.now, rig.pilot.flown().unwrap()));
        }
    }
    // Both begin with the vehicle's boot at 0.
    let told = |stamp_ms: u32| {
        let step = (f64::from(stamp_ms) * 1e-3 / STEP).round();
        let found = path.iter().find(|(time, _)| (time / STEP).round() == step);
        let (time, motion) = found.expect("a step at each stamp");
        near(*time, f64::from(stamp_ms) * 1e-3, 1e-9, "stamps are whole steps");
        *motion
    };
    let mut compared = 0;
    for sent in rig.sent.iter().filter(|sent| sent.time > path[0].0) {
        let Some(Ok(frame)) = frames(&sent.bytes).next() else {
            continue;
        };
        match frame.message() {
            Ok(MavMessage::ATTITUDE(ATTITUDE_DATA {
                time_boot_ms,
                roll,
                rollspeed,
                yawspeed,
                ..
            })) => {
                let motion = told(time_boot_ms);
                near(roll.into(), motion.pose.roll_pitch_yaw()[0], 1e-5, "roll");
                near(rollspeed.into(), motion.rate.x, 1e-5, "roll rate");
                near(yawspeed.into(), motion.rate.z, 1e-5, "yaw rate");
            }
            Ok(MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
                time_boot_ms,
                x,
                vx,
                ..
            })) => {
                let motion = told(time_boot_ms);
                near(x.into(), motion.pose.position.x, 1e-3, "north");
                near(vx.into(), motion.velocity.x, 1e-4, "north velocity");
            }
            _ => continue,
        }
        compared += 1;
    }
    assert!(compared > 500, "{compared}");
}

/// A machine that gives the simulation a processor now and then, and those who look at it.
struct Machine {
    host: Duration,
    time: SimTime,
    steps: Steps,
    rig: PilotRig,
    trail: RecentMotion,
    seen: Option<(f64, Vec3, Quat)>,
}

impl Machine {
    fn new(rig: PilotRig) -> Self {
        let mut time = SimTime::new(Duration::ZERO, 1.0);
        time.hold();
        Self {
            host: Duration::ZERO,
            time,
            steps: Steps::default(),
            rig,
            trail: RecentMotion::default(),
            seen: None,
        }
    }

    /// Who looks sees a pose that fits the stamp: it has moved no further than it can in the time since it was last seen.
    fn look(&mut self) {
        const FASTEST: f64 = 8.0;
        const TURNS: f64 = 7.0;
        let now = self.time.now(self.host);
        let Some(motion) = self.trail.at(now) else {
            return;
        };
        let pose = motion.pose;
        if let Some((before, place, attitude)) = self.seen {
            let passed = now - before;
            assert!(passed >= 0.0, "time goes back by {passed}");
            let (moved, turned) =
                ((pose.position - place).norm(), pose.attitude.angle_to(&attitude));
            assert!(moved <= FASTEST * passed + 1e-9, "{moved} m in {passed} s");
            assert!(turned <= TURNS * passed + 1e-6, "{turned} rad in {passed} s");
        }
        self.seen = Some((now, pose.position, pose.attitude));
    }

    /// The simulation gets a processor again after `pause`; others look before, meanwhile and afterwards.
    fn pass(&mut self, pause: Duration) {
        for _ in 0..4 {
            self.host += pause / 4;
            self.look();
        }
        while let Some(now) = self.steps.due(&mut self.time, self.host) {
            self.rig.step();
            assert_eq!(self.rig.now, now);
            if let Some(segment) = self.rig.pilot.segment() {
                self.trail.push(segment);
            }
            self.time.reach(self.steps.next());
            self.look();
        }
        self.look();
    }

    fn passes(&mut self, seconds: f64) {
        for _ in 0..(seconds / 0.004) as u32 {
            self.pass(Duration::from_millis(4));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn a_starved_simulation_stands_still_as_a_whole(
        pauses in proptest::collection::vec((0.0f64..2.5, 0usize..3), 3..8),
    ) {
        let mut machine = Machine::new(PilotRig::new(ControlMode::MavlinkFull));
        machine.passes(2.0);
        machine.rig.stream_position([0.0, 0.0, -6.0]);
        machine.passes(1.2);
        prop_assert_eq!(machine.rig.mode(6, 0), Some(0));
        prop_assert_eq!(machine.rig.arm(), Some(0));
        machine.passes(10.0);
        prop_assert!(machine.rig.pilot.local().z < -5.0);
        for (pause, way) in pauses {
            let velocity = [[5.0, 0.0, 0.0], [0.0, 5.0, 0.0], [-4.0, -4.0, 0.5]][way];
            machine.rig.stream_velocity(velocity, 0.4);
            machine.passes(0.7);
            let (before, host) = (machine.time.now(machine.host), machine.host);
            machine.pass(Duration::from_secs_f64(pause));
            let lived = machine.time.now(machine.host) - before;
            let passed = (machine.host - host).as_secs_f64();
            // A short delay is made up for, a long one is lost.
            prop_assert!(lived <= passed + 1e-9);
            prop_assert!(if pause < 0.45 { lived > passed - STEP } else { lived < 0.52 }, "{lived} of {passed}");
        }
        machine.passes(0.5);
        prop_assert!(!machine.rig.said("Failsafe activated"));
        prop_assert_eq!(machine.rig.pilot.mode(), Mode::Offboard);
    }
}

#[test]
fn a_simulation_that_nobody_computes_has_no_time() {
    let mut time = SimTime::new(Duration::ZERO, 2.0);
    time.hold();
    assert_eq!(time.now(Duration::from_secs(9)), 0.0);
    time.reach(0.5);
    assert_eq!(time.now(Duration::from_secs(9)), 0.5);
    assert_eq!(time.now(Duration::from_millis(100)), 0.2);
    // Who waits for a time that is not computed does not wait at full speed.
    assert!(time.until(Duration::from_secs(9), 0.6).unwrap() >= Duration::from_millis(1));
    assert_eq!(time.until(Duration::ZERO, 0.4), Some(Duration::from_millis(200)));
    time.set_paused(Duration::from_secs(9), true);
    assert_eq!(time.now(Duration::from_secs(20)), 0.5);
    assert_eq!(time.until(Duration::from_secs(20), 0.6), None);
}
