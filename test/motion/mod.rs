//! Vehicles that the bridge flies itself: what they are told in the vendor's bytes, and where they then are. Expected motion is
//! school physics: distances, circles, falls.
use crate::support::golden;
use rfly_bridge::frames::{Geodetic, Vector};
use rfly_bridge::motion::{Airframe, Ignored, OwnVehicle, Start};
use rfly_bridge::wire::{
    CopterSimRequestPacket, FullStatePacket, IntoBytes as _, RebootPacket, SimpleCommand,
    SimpleCommandPacket, TruthDatagram,
};
use std::f64::consts::{FRAC_PI_2, TAU};
use std::time::Duration;

const STEP: Duration = Duration::from_millis(10);
const GRAVITY: f64 = 9.806_65;

struct Rig {
    vehicle: OwnVehicle,
    time: Duration,
    /// All states, one per step.
    states: Vec<FullStatePacket>,
}

impl Rig {
    fn new(airframe: Airframe) -> Self {
        let start = Start { position: Vector::new(10.0, 20.0, -5.0), yaw: 0.0 };
        Self {
            vehicle: OwnVehicle::new(7, airframe, None, start, Geodetic::MAP_CENTRE),
            time: Duration::ZERO,
            states: Vec::new(),
        }
    }

    fn tell(&mut self, command: SimpleCommand) {
        let packet = SimpleCommandPacket::from(command);
        assert_eq!(self.vehicle.command(packet.as_bytes()), Ok(()));
    }

    fn fly(&mut self, seconds: u64) {
        for _ in 0..100 * seconds {
            self.vehicle.step(STEP);
            self.time += STEP;
            self.states.push(self.vehicle.truth(self.time));
        }
    }

    fn truth(&self) -> FullStatePacket {
        self.vehicle.truth(self.time)
    }

    /// From home, NED.
    fn local(&self) -> [f64; 3] {
        let estimate = self.vehicle.estimate();
        estimate.position.map(|value| f64::from(value.get()))
    }
}

fn single<const N: usize>(values: [zerocopy::little_endian::F32; N]) -> [f64; N] {
    values.map(|value| f64::from(value.get()))
}

fn assert_near(found: [f64; 3], wanted: [f64; 3], by: f64, what: &str) {
    let off = std::array::from_fn::<_, 3, _>(|i| found[i] - wanted[i]);
    let distance = off.iter().map(|d| d * d).sum::<f64>().sqrt();
    assert!(distance <= by, "{what}: {found:?} instead of {wanted:?}");
}

#[test]
fn every_recorded_command_has_the_effect_that_it_has_on_the_vendors_point_mass() {
    let mut seen = 0;
    for vector in golden::load("recv_vehicleapi") {
        let name = vector.name().to_owned();
        let mut rig = Rig::new(Airframe::PointMass);
        let packets = vector.input_packets();
        let taken = packets.iter().map(|packet| rig.vehicle.command(packet));
        let taken: Vec<_> = taken.collect();
        rig.fly(30);
        let calls = vector["decoded"]["calls"].as_array().unwrap();
        let Some(call) = calls.last() else {
            // A velocity is nothing to theirs.
            let ignored = name == "bad_checksum";
            assert_eq!(taken[0].is_err(), ignored, "{name}");
            if name != "simple_mode_0" {
                assert_near(rig.local(), [0.0; 3], 0.0, &name);
            }
            continue;
        };
        assert!(taken.iter().all(Result::is_ok), "{name}");
        let values: Vec<f64> =
            { call[1].as_array().unwrap().iter() }.map(|value| value.as_f64().unwrap()).collect();
        match call[0].as_str().unwrap() {
            "SendPosNED" => {
                assert_near(rig.local(), [values[0], values[1], values[2]], 0.02, &name);
                let yaw = single(rig.truth().euler)[2];
                assert!((yaw - values[3]).abs() < 0.01, "{name}: {yaw}");
            }
            // Theirs climbs once; ours follows the newest command, as CopterSim does.
            "sendMavTakeOff" => {
                let target = match name.as_str() {
                    "takeoff_twice" => [4.0, 5.0, -6.0],
                    _ => [values[0], values[1], values[2]],
                };
                assert_near(rig.local(), target, 0.02, &name);
            }
            "SendMavArm" => {
                assert_near(rig.local(), [0.0; 3], 0.0, &name);
                assert!(single(rig.truth().motor_rpm)[0] > 0.0, "{name}");
            }
            _ => {}
        }
        seen += 1;
    }
    assert_eq!(seen, 7);
}

#[test]
fn a_point_mass_keeps_its_limits_on_the_way_and_rests_at_its_place() {
    let mut rig = Rig::new(Airframe::PointMass);
    rig.tell(SimpleCommand::TakeOff { position: [0.0, 0.0, -10.0] });
    rig.fly(10);
    rig.tell(SimpleCommand::Cruise { speed: 4.0, radius: 0.0 });
    rig.tell(SimpleCommand::PositionNed { position: [60.0, -80.0, -12.0], yaw: 1.0 });
    rig.states.clear();
    rig.fly(60);
    let fastest = { rig.states.iter() }
        .map(|state| {
            let [north, east, _] = single(state.velocity);
            north.hypot(east)
        })
        .fold(0.0, f64::max);
    assert!((3.9..=4.05).contains(&fastest), "{fastest}");
    assert_near(rig.local(), [60.0, -80.0, -12.0], 0.01, "the place");
    // A hundred metres at four metres per second, and some for taking up and losing speed.
    let arrived = { rig.states.iter() }
        .position(|state| {
            let [north, east, _] = state.position.map(|value| value.get());
            (north - 70.0).hypot(east + 60.0) < 1.0
        })
        .unwrap() as f64
        / 100.0;
    assert!((25.0..30.0).contains(&arrived), "{arrived} s");
}

#[test]
fn the_states_of_a_flight_agree_with_each_other() {
    let mut rig = Rig::new(Airframe::PointMass);
    rig.tell(SimpleCommand::TakeOff { position: [0.0, 0.0, -10.0] });
    rig.fly(5);
    rig.tell(SimpleCommand::VelocityNed { velocity: [5.0, 2.0, -0.5], yaw_rate: 0.4 });
    rig.fly(6);
    let dt = STEP.as_secs_f64();
    for pair in rig.states.windows(2) {
        let [before, after] = [&pair[0], &pair[1]];
        let position = |state: &FullStatePacket| state.position.map(|value| value.get());
        for i in 0..3 {
            // A step's way is the mean velocity's, and the change of velocity is what is felt and gravity.
            let way = (position(after)[i] - position(before)[i]) / dt;
            let mean = (single(before.velocity)[i] + single(after.velocity)[i]) / 2.0;
            assert!((way - mean).abs() < 2e-3, "{i}: {way} {mean}");
        }
        let [w, x, y, z] = single(after.quaternion);
        let [ax, ay, az] = single(after.acc);
        // The down coordinate of the body's axes, from the quaternion.
        let down = [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)];
        let felt = ax * down[0] + ay * down[1] + az * down[2] + GRAVITY;
        let moved = (single(after.velocity)[2] - single(before.velocity)[2]) / dt;
        assert!((felt - moved).abs() < 2e-2, "{felt} {moved}");
    }
    let last = rig.states.last().unwrap();
    assert_near(single(last.velocity), [5.0, 2.0, -0.5], 0.05, "velocity");
    assert!((single(last.rate)[2] - 0.4).abs() < 0.02);
    let TruthDatagram::State(state) = TruthDatagram::parse(last.as_bytes()).unwrap() else {
        panic!("a state");
    };
    assert_eq!((state.copter_id, state.vehicle_type), (7, 3));
    // Home is at the start, 10 m north and 20 m east of the map's centre and 5 m above it.
    let home = rig.vehicle.estimate().home.map(|value| value.get());
    assert_eq!(home[2], 55_000);
    let degree_m = 111_000.0;
    let north = (f64::from(home[0]) / 1e7 - 40.154_030_2) * degree_m;
    let east =
        (f64::from(home[1]) / 1e7 - 116.259_368_3) * degree_m * 40.154_f64.to_radians().cos();
    assert!((north - 10.0).abs() < 0.1 && (east - 20.0).abs() < 0.2, "{north} {east}");
}

#[test]
fn without_motors_a_vehicle_falls_and_setpoints_do_not_lift_it() {
    let mut rig = Rig::new(Airframe::PointMass);
    rig.tell(SimpleCommand::TakeOff { position: [0.0, 0.0, -20.0] });
    rig.fly(20);
    rig.tell(SimpleCommand::Arm(false));
    rig.fly(1);
    let fallen = 20.0 + rig.local()[2];
    assert!((fallen - GRAVITY / 2.0).abs() < 0.1, "{fallen}");
    rig.tell(SimpleCommand::PositionNed { position: [0.0, 0.0, -5.0], yaw: 0.0 });
    rig.fly(10);
    assert_near(rig.local(), [0.0; 3], 1e-6, "on the ground");
    assert_eq!(single(rig.truth().motor_rpm), [0.0; 8]);
    rig.tell(SimpleCommand::Arm(true));
    rig.tell(SimpleCommand::PositionNed { position: [0.0, 0.0, -5.0], yaw: f32::NAN });
    rig.fly(15);
    assert_near(rig.local(), [0.0, 0.0, -5.0], 0.01, "armed again");
}

#[test]
fn a_fixed_wing_takes_off_and_circles_around_its_place() {
    let mut rig = Rig::new(Airframe::FixedWing);
    rig.tell(SimpleCommand::Cruise { speed: 20.0, radius: 80.0 });
    rig.tell(SimpleCommand::TakeOff { position: [200.0, 0.0, -50.0] });
    rig.fly(90);
    rig.states.clear();
    rig.fly(60);
    let mut turned = 0.0;
    for pair in rig.states.windows(2) {
        let angle = |state: &FullStatePacket| {
            let [north, east, _] = state.position.map(|value| value.get());
            (east - 20.0).atan2(north - 210.0)
        };
        let step = angle(&pair[1]) - angle(&pair[0]);
        turned += (step + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0;
        let [north, east, down] = pair[1].position.map(|value| value.get());
        let radius = (north - 210.0).hypot(east - 20.0);
        assert!((radius - 80.0).abs() < 5.0, "{radius}");
        assert!((down + 55.0).abs() < 1.0, "{down}");
        let [vn, ve, _] = single(pair[1].velocity);
        assert!((vn.hypot(ve) - 20.0).abs() < 0.5);
        // A coordinated turn: the bank that this circle takes.
        let bank = single(pair[1].euler)[0];
        assert!((bank - (400.0 / (80.0 * GRAVITY)).atan()).abs() < 0.1, "{bank}");
    }
    // Clockwise from above; 60 s at 20 m/s around a circle of 80 m.
    assert!((turned - 60.0 * 20.0 / 80.0).abs() < 1.0, "{turned}");
    rig.tell(SimpleCommand::SpeedAltitudeHeading {
        speed: 25.0,
        down: -70.0,
        heading: FRAC_PI_2 as f32,
    });
    rig.fly(40);
    assert_near(single(rig.truth().velocity), [0.0, 25.0, 0.0], 0.3, "east");
    assert!((rig.local()[2] + 70.0).abs() < 0.5);
}

#[test]
fn a_vehicle_is_put_where_coptersim_would_put_it_and_restarts_there() {
    let mut rig = Rig::new(Airframe::PointMass);
    rig.tell(SimpleCommand::TakeOff { position: [3.0, 3.0, -3.0] });
    rig.fly(10);
    let to_another = CopterSimRequestPacket::new(8).at([0.0; 2], 0.0);
    assert_eq!(rig.vehicle.request(to_another.as_bytes()), Err(Ignored::OtherVehicle));
    let request = CopterSimRequestPacket::new(7).at([-4.0, 6.0], 90.0).standing([-2.5, 0.0, 0.0]);
    assert_eq!(rig.vehicle.request(request.as_bytes()), Ok(()));
    let there = |rig: &Rig| {
        assert_eq!(rig.local(), [0.0; 3]);
        let truth = rig.truth();
        assert_near(truth.position.map(|value| value.get()), [-4.0, 6.0, -2.5], 1e-6, "place");
        assert!((single(truth.euler)[2] - FRAC_PI_2).abs() < 1e-6);
    };
    there(&rig);
    rig.tell(SimpleCommand::TakeOff { position: [3.0, 3.0, -3.0] });
    rig.fly(5);
    let reboot = RebootPacket::new(RebootPacket::AT_ONCE);
    assert_eq!(rig.vehicle.command(reboot.as_bytes()), Ok(()));
    there(&rig);
    let nowhere = CopterSimRequestPacket::new(7).with_origin(f64::NAN, 0.0, 0.0);
    assert_eq!(rig.vehicle.request(nowhere.as_bytes()), Err(Ignored::Malformed));
    for garbage in [&b""[..], &[0; 24], &[0xff; 48], &[0; 300]] {
        assert!(rig.vehicle.command(garbage).is_err());
        assert!(rig.vehicle.request(garbage).is_err());
    }
    rig.fly(1);
    there(&rig);
}

#[test]
fn a_fixed_wing_without_a_position_flies_straight_on() {
    let mut rig = Rig::new(Airframe::FixedWing);
    rig.tell(SimpleCommand::TakeOff { position: [2000.0, 0.0, -50.0] });
    rig.fly(40);
    for position in [[f32::NAN, 0.0, -50.0], [0.0, f32::NAN, -50.0], [f32::INFINITY; 3]] {
        let [north, east, _] = single(rig.truth().velocity);
        rig.tell(SimpleCommand::PositionNed { position, yaw: f32::NAN });
        rig.fly(20);
        let [north_then, east_then, _] = single(rig.truth().velocity);
        let turned = east_then.atan2(north_then) - east.atan2(north);
        assert!(turned.abs() < 0.05, "{position:?}: it turned by {turned} rad");
    }
}

#[test]
fn a_fixed_wing_banks_as_its_attitude_says_up_to_its_largest_bank() {
    for cruise in [18.0, 5.0] {
        for (roll, wanted) in [(0.3, 0.3), (1.1, 0.8), (1.4, 0.8), (-1.4, -0.8)] {
            let mut rig = Rig::new(Airframe::FixedWing);
            rig.tell(SimpleCommand::TakeOff { position: [2000.0, 0.0, -50.0] });
            rig.fly(40);
            rig.tell(SimpleCommand::Cruise { speed: cruise, radius: 0.0 });
            rig.tell(SimpleCommand::Attitude { euler: [roll, 0.0, 0.0], throttle: 0.5 });
            rig.fly(5);
            let bank = single(rig.truth().euler)[0];
            assert!((bank - wanted).abs() < 1e-3, "{cruise} m/s, roll {roll}: {bank}");
        }
    }
}

#[test]
fn numbers_that_are_none_leave_a_vehicle_where_numbers_are() {
    for airframe in [Airframe::PointMass, Airframe::FixedWing] {
        let mut rig = Rig::new(airframe);
        for mode in -1..=31 {
            for value in [f32::NAN, f32::INFINITY, -f32::INFINITY, f32::MAX] {
                let packet = SimpleCommandPacket::new(mode, [value; 4]);
                let _ignored = rig.vehicle.command(packet.as_bytes());
                rig.fly(1);
                let truth = rig.truth();
                let position = truth.position.map(|value| value.get());
                let numbers = [
                    position,
                    single(truth.velocity),
                    single(truth.euler),
                    single(truth.acc),
                    single(truth.rate),
                ];
                assert!(
                    numbers.iter().flatten().all(|number| number.is_finite()),
                    "{airframe:?}, mode {mode}, {value}: {truth:?}"
                );
            }
        }
    }
}

#[test]
fn a_repeated_position_of_the_body_is_one_step_and_another_after_a_pause() {
    let mut rig = Rig::new(Airframe::PointMass);
    // Up, and facing east.
    rig.tell(SimpleCommand::PositionNed { position: [0.0, 0.0, -5.0], yaw: FRAC_PI_2 as f32 });
    rig.fly(10);
    // 4 m ahead, 1 m to the right, and a quarter to the left: north.
    let ahead = SimpleCommand::PositionFrd { position: [4.0, 1.0, 0.0], yaw: -FRAC_PI_2 as f32 };
    for _ in 0..100 {
        rig.tell(ahead);
        for _ in 0..10 {
            rig.vehicle.step(STEP);
        }
    }
    assert_near(rig.local(), [-1.0, 4.0, -5.0], 0.05, "one step");
    assert!(single(rig.truth().euler)[2].abs() < 0.02, "it turned from where it faced");
    rig.fly(2);
    rig.tell(ahead);
    rig.fly(10);
    assert_near(rig.local(), [3.0, 5.0, -5.0], 0.05, "another one, to the north");
    // Another command ends a step as well.
    rig.tell(SimpleCommand::PositionNed { position: [0.0, 0.0, -5.0], yaw: 0.0 });
    rig.fly(10);
    rig.tell(ahead);
    rig.fly(10);
    assert_near(rig.local(), [4.0, 1.0, -5.0], 0.05, "after another command");
}

#[test]
fn changes_of_the_throttle_add_up_from_what_it_hovers_with() {
    // m that it climbs in a second after these changes.
    let climb = |steps: &[f32]| {
        let mut rig = Rig::new(Airframe::PointMass);
        rig.tell(SimpleCommand::PositionNed { position: [0.0, 0.0, -20.0], yaw: 0.0 });
        rig.fly(15);
        let [.., before] = rig.local();
        for throttle_step in steps {
            rig.tell(SimpleCommand::AttitudeStep {
                euler: [0.0; 3],
                throttle_step: *throttle_step,
            });
        }
        rig.fly(1);
        before - rig.local()[2]
    };
    assert!(climb(&[0.0]).abs() < 0.05, "it hovers");
    assert!(climb(&[0.1]) > 0.2, "it climbs");
    assert!(climb(&[0.1, 0.1]) > 1.5 * climb(&[0.1]));
    assert!(climb(&[0.3, -0.3]).abs() < 0.05);
}

fn put_at([x, y]: [f64; 2]) -> CopterSimRequestPacket {
    CopterSimRequestPacket::new(7).at([x, y], 0.0)
}

#[test]
fn a_vehicle_stands_where_the_vendors_map_has_its_ground() {
    use rfly_bridge::motion::Terrain;
    use rfly_bridge::scene::{Rounding, TerrainMap};
    let mut seen = 0;
    for vector in golden::load("terrain") {
        let args = &vector["args"];
        let Some(png) = args["png_hex"].as_str().map(golden::unhex) else {
            continue;
        };
        let Ok(map) = TerrainMap::parse(&png, args["txt"].as_str().unwrap(), Rounding::Cut) else {
            continue;
        };
        let start = Start { position: Vector::new(0.0, 0.0, -100.0), yaw: 0.0 };
        let vehicle = OwnVehicle::new(7, Airframe::PointMass, None, start, Geodetic::MAP_CENTRE);
        let terrain = Terrain::new(move |place| map.height(place));
        let mut rig = Rig { vehicle: vehicle.on_terrain(terrain), ..Rig::new(Airframe::PointMass) };
        for query in vector["decoded"]["queries"].as_array().unwrap() {
            let [x, y, down] = [0, 1, 2].map(|i| query[i].as_f64().unwrap());
            rig.vehicle.request(put_at([x, y]).as_bytes()).unwrap();
            let found = rig.truth().position.map(|value| value.get());
            assert_near(found, [x, y, down], 1e-5, vector.name());
            rig.fly(1);
            let found = rig.truth().position.map(|value| value.get());
            assert_near(found, [x, y, down], 1e-5, "it rests there");
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}

/// A slope that rises by 1 m per 10 m to the north.
fn on_a_slope(airframe: Airframe) -> Rig {
    let rig = Rig::new(airframe);
    let slope = rfly_bridge::motion::Terrain::new(|[north, _]| -north / 10.0);
    Rig { vehicle: rig.vehicle.on_terrain(slope), ..rig }
}

#[test]
fn a_vehicle_that_flies_level_into_a_slope_is_carried_up_and_lands_on_it() {
    let mut rig = on_a_slope(Airframe::PointMass);
    // North 10: the ground is 1 m above the origin of the map.
    assert_near(single(rig.vehicle.estimate().position), [0.0; 3], 1e-6, "home");
    assert!((rig.truth().position[2].get() + 1.0).abs() < 1e-9);
    let level = SimpleCommand::PositionNed { position: [50.0, 0.0, -2.0], yaw: 0.0 };
    rig.tell(level);
    rig.fly(30);
    // 60 m north the ground is 5 m above home, higher than the setpoint.
    assert_near(rig.local(), [50.0, 0.0, -5.0], 0.1, "on the slope");
    assert!(
        { rig.states.iter() }.all(|state| {
            let [north, _, down] = state.position.map(|value| value.get());
            down <= -north / 10.0 + 1e-9
        }),
        "below the ground"
    );
    rig.tell(SimpleCommand::PositionNed { position: [0.0, 0.0, -8.0], yaw: 0.0 });
    rig.fly(30);
    rig.tell(SimpleCommand::Arm(false));
    rig.fly(10);
    assert_near(rig.local(), [0.0; 3], 0.2, "fallen to where it stood first");
}

#[test]
fn a_fixed_wing_rolls_down_a_slope_and_takes_off() {
    let rig = Rig::new(Airframe::FixedWing);
    let down_hill = rfly_bridge::motion::Terrain::new(|[north, _]| north / 20.0);
    let mut rig = Rig { vehicle: rig.vehicle.on_terrain(down_hill), ..rig };
    rig.tell(SimpleCommand::PositionNed { position: [400.0, 0.0, -30.0], yaw: 0.0 });
    rig.fly(1);
    let [north, _, down] = rig.truth().position.map(|value| value.get());
    assert!(north > 10.5 && (down - north / 20.0).abs() < 1e-6, "{north} {down}");
    rig.fly(20);
    assert!(rig.local()[2] < -20.0, "it flies: {:?}", rig.local());
}

#[test]
fn a_vehicle_that_is_flown_into_the_ground_stays_there() {
    let mut rig = Rig::new(Airframe::PointMass);
    let go = |rig: &mut Rig, down: f32| {
        let position = [0.0, 0.0, down];
        rig.tell(SimpleCommand::PositionNed { position, yaw: 0.0 });
    };
    go(&mut rig, -20.0);
    rig.fly(20);
    go(&mut rig, 50.0);
    rig.fly(10);
    let landed = rig.states.len();
    rig.fly(10);
    for state in &rig.states[landed..] {
        let down = state.position[2].get();
        assert!((down + 5.0).abs() < 1e-6, "it bounced to {down}");
    }
}
