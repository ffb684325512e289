use super::rig::near;
use nalgebra::{Quaternion, Vector3};
use rfly_bridge::emulator::world::{GRAVITY, Pose, Quat, ScriptedMotion, Vec3, World};

fn lap() -> ScriptedMotion {
    World::flying(2).vehicles[1].motion
}

fn excited() -> ScriptedMotion {
    World::excited(3).vehicles[1].motion
}

/// Attitude, velocity and position, or their derivatives.
type State = (Quaternion<f64>, Vec3, Vec3);

/// The state after `seconds`, of the state at the beginning and the readings of gyroscope and accelerometer alone.
fn integrated(motion: &ScriptedMotion, seconds: u32) -> State {
    const STEPS: u32 = 500; // per second
    let h = 1.0 / f64::from(STEPS);
    let start = motion.at(0.0);
    let mut state = (start.pose.attitude.into_inner(), start.velocity, start.pose.position);
    let change = |(attitude, velocity, _): &State, time: f64| -> State {
        let k = motion.at(time);
        let force = Quat::new_normalize(*attitude) * k.specific_force;
        (
            attitude * Quaternion::from_imag(k.rate * 0.5),
            force + Vec3::new(0.0, 0.0, GRAVITY),
            *velocity,
        )
    };
    let plus = |a: &State, b: &State, h: f64| (a.0 + b.0 * h, a.1 + b.1 * h, a.2 + b.2 * h);
    for i in 0..seconds * STEPS {
        let t = f64::from(i) * h;
        let k1 = change(&state, t);
        let k2 = change(&plus(&state, &k1, h / 2.0), t + h / 2.0);
        let k3 = change(&plus(&state, &k2, h / 2.0), t + h / 2.0);
        let k4 = change(&plus(&state, &k3, h), t + h);
        let sum = plus(&plus(&plus(&k1, &k2, 2.0), &k3, 2.0), &k4, 1.0);
        state = plus(&state, &sum, h / 6.0);
    }
    state
}

#[test]
fn an_inertial_sensor_alone_tells_where_its_vehicle_is_after_a_minute() {
    for motion in [lap(), excited()] {
        let (attitude, velocity, position) = integrated(&motion, 60);
        let end = motion.at(60.0);
        let error = Quat::new_normalize(attitude).angle_to(&end.pose.attitude);
        near(error.to_degrees(), 0.0, 0.01, "degrees of attitude");
        near((velocity - end.velocity).norm(), 0.0, 1e-3, "velocity");
        near((position - end.pose.position).norm(), 0.0, 0.005, "metres of position");
    }
}

#[test]
fn the_exciting_route_begins_at_rest() {
    for vehicle in World::excited(3).vehicles {
        let start = vehicle.motion.at(0.0);
        for t in [0.0, 1.0, 2.999] {
            let k = vehicle.motion.at(t);
            assert_eq!(k, start);
            assert_eq!((k.velocity, k.rate), (Vec3::zeros(), Vec3::zeros()));
            assert_eq!(<[f64; 3]>::from(k.specific_force), [0.0, 0.0, -9.81]);
        }
        assert!(vehicle.motion.at(4.0).velocity.norm() > 0.1);
    }
}

#[test]
fn the_exciting_route_moves_along_and_about_every_axis_smoothly() {
    let h = 1e-4;
    let (mut rates, mut forces) = (Vec::new(), Vec::new());
    for i in 0..4000 {
        let t = f64::from(i) * 0.01;
        let (k, next) = (excited().at(t), excited().at(t + h));
        assert!((next.acceleration - k.acceleration).norm() < 30.0 * h, "jerk at {t}");
        assert!((next.rate - k.rate).norm() < 10.0 * h, "angular acceleration at {t}");
        if t > 6.0 {
            rates.push(k.rate);
            forces.push(k.specific_force);
        }
        let away = (k.pose.position.x / 8.0).hypot(k.pose.position.y / 6.0);
        assert!((0.8..1.2).contains(&away), "it stays around the middle box");
        assert!((-4.0..-2.0).contains(&k.pose.position.z));
    }
    let deviation = |all: &[Vec3], axis: usize| {
        let mean = all.iter().map(|v| v[axis]).sum::<f64>() / all.len() as f64;
        let square = all.iter().map(|v| (v[axis] - mean).powi(2)).sum::<f64>();
        (square / all.len() as f64).sqrt()
    };
    for axis in 0..3 {
        let found = [&rates, &forces].map(|all| deviation(all, axis));
        assert!(found[0] > 0.2 && found[1] > 0.5, "axis {axis}: {found:?}");
    }
}

#[test]
fn at_rest_an_accelerometer_reads_minus_g_along_down() {
    let k = ScriptedMotion::Hover(Pose::new([1.0, 2.0, -3.0], [0.0; 3])).at(4.0);
    assert_eq!(<[f64; 3]>::from(k.specific_force), [0.0, 0.0, -9.81]);
    assert_eq!(k.rate, Vec3::zeros());
    let rolled = ScriptedMotion::Hover(Pose::new([0.0; 3], [0.5, 0.0, 0.0])).at(0.0);
    // right wing down: up, where the force points, is to the left
    near(rolled.specific_force.y, -9.81 * 0.5f64.sin(), 1e-12, "force to the right");
}

#[test]
fn velocity_and_acceleration_are_derivatives_of_the_path() {
    let h = 1e-5;
    for t in [0.0, 1.3, 7.7, 15.9, 100.0] {
        let (before, k, after) = (lap().at(t - h), lap().at(t), lap().at(t + h));
        let velocity = (after.pose.position - before.pose.position) / (2.0 * h);
        let acceleration = (after.velocity - before.velocity) / (2.0 * h);
        assert!((velocity - k.velocity).norm() < 1e-7, "{velocity} instead of {}", k.velocity);
        assert!((acceleration - k.acceleration).norm() < 1e-7);
        let force = k.pose.attitude * k.specific_force + Vector3::new(0.0, 0.0, 9.81);
        assert!(
            (force - k.acceleration).norm() < 1e-9,
            "the accelerometer's reading explains the motion"
        );
    }
}

#[test]
fn body_rates_turn_the_attitude() {
    // Integrates the rates over a lap with steps of 1 ms and compares with the attitude.
    let h = 1e-3;
    let mut attitude = lap().at(0.0).pose.attitude;
    for i in 0..16_000 {
        let middle = lap().at((f64::from(i) + 0.5) * h);
        attitude *= nalgebra::UnitQuaternion::from_scaled_axis(middle.rate * h);
    }
    let error = attitude.angle_to(&lap().at(16.0).pose.attitude);
    assert!(error < 1e-5, "{error} rad after a lap");
}

#[test]
fn a_lap_is_closed_and_banks_into_its_turns() {
    let (start, end) = (lap().at(0.0), lap().at(16.0));
    assert!((start.pose.position - end.pose.position).norm() < 1e-9);
    for t in [0.0, 4.0, 8.0, 12.0] {
        let k = lap().at(t);
        let [roll, ..] = k.pose.roll_pitch_yaw();
        let turn = k.velocity.cross(&k.acceleration).z; // positive: to the right, about down
        assert!(roll * turn > 0.0 && roll.abs() > 0.05, "roll {roll} in a turn of {turn}");
        let forward = k.pose.attitude * Vector3::x();
        assert!(forward.dot(&k.velocity.normalize()) > 0.97, "the nose points along the velocity");
    }
}
