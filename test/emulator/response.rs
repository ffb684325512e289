//! Steps of velocity, climb and yaw rate, against what PX4 itself made of them (fixtures/px4_response.json).
use super::pilot_rig::PilotRig;
use rfly_bridge::emulator::world::Vec3;
use serde_json::Value;

/// A step of the recording.
struct Step {
    velocity: [f32; 3],
    yaw_rate: f32,
    /// Asked for so long, in s; standing still afterwards.
    hold: f64,
    /// What PX4 did, along the step, as share of what was asked for.
    recorded: Vec<f64>,
}

impl Step {
    /// What was asked for, in m/s or rad/s.
    fn asked(&self) -> f64 {
        let speed = Vec3::from(self.velocity.map(f64::from)).norm();
        if speed > 0.0 { speed } else { f64::from(self.yaw_rate).abs() }
    }

    fn name(&self) -> String {
        format!("{:?} m/s, {} rad/s", self.velocity, self.yaw_rate)
    }
}

/// The recording: time between two values in s, and the steps.
fn recording() -> (f64, Vec<Step>) {
    let text = include_str!("../fixtures/px4_response.json");
    let all: Value = serde_json::from_str(text).unwrap();
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    };
    let step = |value: &Value| {
        let mut step = Step {
            velocity: numbers(&value["velocity"])
                .iter()
                .map(|v| *v as f32)
                .collect::<Vec<_>>()
                .try_into()
                .unwrap(),
            yaw_rate: value["yaw_rate"].as_f64().unwrap() as f32,
            hold: value["hold"].as_f64().unwrap(),
            recorded: numbers(&value["response"]),
        };
        let asked = step.asked();
        step.recorded.iter_mut().for_each(|v| *v /= asked);
        step
    };
    let steps = all["steps"].as_array().unwrap().iter().map(step).collect();
    (all["period"].as_f64().unwrap(), steps)
}

/// Flies a step; what the emulator makes of it, at the times of the recording.
fn flown(rig: &mut PilotRig, step: &Step, period: f64) -> Vec<f64> {
    let asked = step.asked();
    let along = Vec3::from(step.velocity.map(f64::from)) / asked;
    let mut found = Vec::new();
    rig.stream_velocity(step.velocity, step.yaw_rate);
    for i in 0..step.recorded.len() {
        if (i as f64 * period - step.hold).abs() < period / 2.0 {
            rig.stream_velocity([0.0; 3], 0.0);
        }
        let now = rig.pilot.flown().unwrap();
        let turning = now.rate.z * f64::from(step.yaw_rate).signum() / asked;
        found.push(if along.norm() > 0.0 { now.velocity.dot(&along) / asked } else { turning });
        rig.run(period);
    }
    found
}

/// Time in s after which `share` is reached for the first time.
fn reaches(response: &[f64], share: f64, period: f64) -> f64 {
    let i = response.iter().position(|v| *v >= share).expect("a response that rises");
    let before = response[i.saturating_sub(1)];
    let part = if i == 0 || response[i] <= before {
        0.0
    } else {
        (share - before) / (response[i] - before)
    };
    (i.saturating_sub(1) as f64 + part) * period
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn velocities_and_turns_are_answered_as_by_px4() {
    let (period, steps) = recording();
    assert!(steps.len() >= 14);
    let mut rig = PilotRig::fly(20.0);
    let mut wrong = Vec::new();
    for step in &steps {
        let found = flown(&mut rig, step, period);
        let hold = (step.hold / period) as usize;
        // What the estimator's noise in m/s, or rad/s, is in shares.
        let noise = match (step.yaw_rate == 0.0, step.velocity[2] == 0.0) {
            (false, _) => 0.03,
            (true, true) => 0.05 / step.asked(),
            (true, false) => 0.1 / step.asked(),
        };
        let mut check = |what: &str, found: f64, recorded: f64, most: f64| {
            println!("{:32} {what:12} {found:6.2} {recorded:6.2}  {most:.2}", step.name());
            if (found - recorded).abs() > most {
                wrong.push(format!("{}: {what} {found:.3} instead of {recorded:.3}", step.name()));
            }
        };
        let both = |f: &dyn Fn(&[f64]) -> f64| (f(&found[..hold]), f(&step.recorded[..hold]));
        let (f, r) = both(&|v| reaches(v, 0.5, period));
        check("half after", f, r, 0.2 + 2.0 * noise);
        let (f, r) = both(&|v| mean(&v[v.len() - 20..]));
        check("at the end", f, r, 0.05 + noise);
        let (f, r) = both(&|v| v.iter().copied().fold(0.0, f64::max));
        check("at most", f, r, 0.08 + 1.5 * noise);
        let (f, r) = (mean(&found[15..30]), mean(&step.recorded[15..30]));
        check("1.5 to 3 s", f, r, 0.06 + noise);
        let (f, r) =
            (mean(&found[hold + 10..hold + 20]), mean(&step.recorded[hold + 10..hold + 20]));
        check("1 to 2 after", f, r, 0.06 + noise);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
