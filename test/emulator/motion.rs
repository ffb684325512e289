use super::rig::near;
use nalgebra::Vector3;
use rfly_bridge::emulator::world::{Motion, Pose, Vec3, World};

fn lap() -> Motion {
    World::flying(2).vehicles[1].motion
}

#[test]
fn at_rest_an_accelerometer_reads_minus_g_along_down() {
    let k = Motion::Hover(Pose::new([1.0, 2.0, -3.0], [0.0; 3])).at(4.0);
    assert_eq!(<[f64; 3]>::from(k.specific_force), [0.0, 0.0, -9.81]);
    assert_eq!(k.rate, Vec3::zeros());
    let rolled = Motion::Hover(Pose::new([0.0; 3], [0.5, 0.0, 0.0])).at(0.0);
    // right wing down: up, where the force points, is to the left
    near(
        rolled.specific_force.y,
        -9.81 * 0.5f64.sin(),
        1e-12,
        "force to the right",
    );
}

#[test]
fn velocity_and_acceleration_are_derivatives_of_the_path() {
    let h = 1e-5;
    for t in [0.0, 1.3, 7.7, 15.9, 100.0] {
        let (before, k, after) = (lap().at(t - h), lap().at(t), lap().at(t + h));
        let velocity = (after.pose.position - before.pose.position) / (2.0 * h);
        let acceleration = (after.velocity - before.velocity) / (2.0 * h);
        assert!(
            (velocity - k.velocity).norm() < 1e-7,
            "{velocity} instead of {}",
            k.velocity
        );
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
        assert!(
            roll * turn > 0.0 && roll.abs() > 0.05,
            "roll {roll} in a turn of {turn}"
        );
        let forward = k.pose.attitude * Vector3::x();
        assert!(
            forward.dot(&k.velocity.normalize()) > 0.97,
            "the nose points along the velocity"
        );
    }
}
