//! States of many entities at once, as a stream.
use super::packets::{Drawn, Form, Motors, NO_TIME, Packets};
use crate::frames::{Flu, Frd, Ned, Vector, WorldConvention};
use crate::msgs::geometry_msgs::msg::Vector3;
use crate::msgs::rfly_bridge_msgs::msg::EntityStates;
use crate::scene::entities::Motion;
use crate::scene::models::check_scale;
use crate::scene::state::{Call, Scene};
use crate::wire::{MovingState, SwarmState};

/// Why an entity is not drawn.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum SkipCause {
    /// The lists of the message differ in their lengths; nothing is drawn.
    Lengths,
    /// Nothing has this name.
    UnknownEntity,
    /// An id that the simulator does not take.
    Id,
    /// An invalid pose, or one in an unknown frame.
    Pose,
    /// It is not known what the entity is.
    Type,
    /// An invalid scale.
    Scale,
    /// A motor speed is NaN or infinite.
    MotorRpm,
    /// A velocity, rate or time is NaN or infinite, or no packet has it beside the rest.
    Motion,
}

impl SkipCause {
    /// Name in `/diagnostics`, stable over releases.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A message or an entity that is not drawn: the cause for counters, and what is wrong.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Skipped {
    /// What it is counted as.
    pub cause: SkipCause,
    /// For the log.
    pub message: String,
}

fn skipped(cause: SkipCause, message: impl Into<String>) -> Skipped {
    let message = message.into();
    Skipped { cause, message }
}

/// `scene/set_states`: sends what can be drawn, and returns how many entities that were and why others were not.
pub fn set_states(
    scene: &mut Scene,
    message: &EntityStates,
    call: &mut Call<'_>,
) -> (usize, Vec<Skipped>) {
    let form = match check_lists(message) {
        Ok(form) => form,
        Err(skipped) => return (0, vec![skipped]),
    };
    let mut packets = Packets::new(form, message.fit_to_ground);
    let (mut drawn, mut others) = (0, Vec::new());
    for i in 0..message.poses.len() {
        match state(scene, message, form, i, call) {
            Ok(entity) => {
                packets.add(entity, call.out);
                drawn += 1;
            }
            Err(skipped) => others.push(skipped),
        }
    }
    packets.send(call.out);
    (drawn, others)
}

fn check_lists(message: &EntityStates) -> Result<Form, Skipped> {
    let count = message.poses.len();
    let lengths = |message: String| skipped(SkipCause::Lengths, message);
    let named = match (message.names.len(), message.ids.len()) {
        (n, 0) | (0, n) => n,
        (names, ids) => {
            return Err(lengths(format!(
                "names ({names}) and ids ({ids}) exclude each other: fill one list"
            )));
        }
    };
    if named != count {
        return Err(lengths(format!("{count} poses need as many names or ids, got {named}")));
    }
    let types = message.vehicle_types.len();
    if types != 0 && types != count {
        return Err(lengths(format!(
            "vehicle_types must be empty or one per pose ({count}), are {types}"
        )));
    }
    let scales = message.scale.len();
    if ![0, count, 3 * count].contains(&scales) {
        return Err(lengths(format!(
            "scale must be empty, one or three per pose ({count}), are {scales}"
        )));
    }
    for (name, len) in [("velocities", message.velocities.len()), ("rates", message.rates.len())] {
        if len != 0 && len != count {
            return Err(lengths(format!(
                "{name} must be empty or one per pose ({count}), are {len}"
            )));
        }
    }
    let times = message.times.len();
    if ![0, 1, count].contains(&times) {
        return Err(lengths(format!(
            "times must be empty, one for all or one per pose ({count}), are {times}"
        )));
    }
    let motors = match message.motor_rpm.len() {
        0 => Motors::None,
        n if n == count => Motors::One,
        n if n == 8 * count => Motors::Eight,
        n => {
            return Err(lengths(format!(
                "motor_rpm must be empty, one or eight per pose ({count}), are {n}"
            )));
        }
    };
    match (message.rates.is_empty(), message.fit_to_ground) {
        (false, true) => Err(skipped(
            SkipCause::Motion,
            "no packet has rates and stands on the ground: leave rates empty, or fit_to_ground false",
        )),
        (false, false) => Ok(Form::Turning(motors)),
        (true, _) if message.velocities.is_empty() && times == 0 => Ok(Form::Still(motors)),
        (true, _) if message.grouped => Ok(Form::Grouped(motors)),
        (true, _) => Ok(Form::Moving(motors)),
    }
}

/// The state of one entity.
fn state(
    scene: &mut Scene,
    message: &EntityStates,
    form: Form,
    i: usize,
    call: &Call<'_>,
) -> Result<Drawn, Skipped> {
    let id = match message.names.get(i) {
        Some(name) => {
            let id = scene.entities.id_of(name);
            id.map_err(|refusal| skipped(SkipCause::UnknownEntity, refusal.message))?
        }
        None => message.ids.get(i).copied().unwrap_or_default().into(),
    };
    let small = u16::try_from(id).ok().filter(|id| *id != 0);
    let small = small.ok_or_else(|| {
        skipped(SkipCause::Id, format!("an id must be from 1 to 65535 here, is {id}"))
    })?;
    let place = scene
        .place(&message.header.frame_id, &message.poses[i])
        .map_err(|refusal| skipped(SkipCause::Pose, refusal.message))?;
    let world = scene.frame.world;
    let known = scene.entities.of_id(id).filter(|e| e.kind.is_drawn());
    let vehicle_type = match (message.vehicle_types.get(i), &known) {
        (Some(given), _) => i32::try_from(*given)
            .map_err(|_cast| skipped(SkipCause::Type, format!("{given} is no type of {id}")))?,
        (None, Some(entity)) => entity.vehicle_type,
        (None, None) => {
            return Err(skipped(
                SkipCause::Type,
                format!("{id} was not spawned here: vehicle_types must say what it is"),
            ));
        }
    };
    let scale = match message.scale.len() {
        0 => known.as_ref().map_or([1.0; 3], |entity| entity.scale),
        n if n == message.poses.len() => [message.scale[i]; 3],
        _ => std::array::from_fn(|axis| message.scale[3 * i + axis]),
    };
    let scale = check_scale(scale).map_err(|why| skipped(SkipCause::Scale, why))?;
    let motor_rpm: [f32; 8] = match form.motors() {
        Motors::None => [0.0; 8],
        Motors::One => [message.motor_rpm[i]; 8],
        Motors::Eight => std::array::from_fn(|motor| message.motor_rpm[8 * i + motor]),
    };
    if !motor_rpm.iter().all(|rpm| rpm.is_finite()) {
        return Err(skipped(SkipCause::MotorRpm, format!("motor_rpm of {id} must be finite")));
    }
    if scale != [1.0; 3] && !form.has_scale(vehicle_type) {
        return Err(skipped(
            SkipCause::Scale,
            format!(
                "no packet has a size of {id} together with type {vehicle_type} and eight motor speeds, or with its motion: give one \
                 speed, no motion, or no scale"
            ),
        ));
    }
    let motion = motion(world, message, i).map_err(|what| {
        let message = format!("{what} of {id} must be finite");
        skipped(SkipCause::Motion, message)
    })?;
    if let Some(entity) = known {
        if let Some(kept) = &mut entity.keep_alive {
            kept.since_s = call.uptime_s;
        }
        (entity.vehicle_type, entity.scale) = (vehicle_type, scale);
        entity.ground = message.fit_to_ground;
        entity.motion =
            Some(Motion { place, velocity: motion.velocity, rate: motion.rate, stamp: call.now });
    }
    let euler = place.attitude.euler();
    let state = SwarmState {
        id: small,
        // Where it does not fit, it has a packet of its own.
        vehicle_type: u16::try_from(vehicle_type).unwrap_or_default(),
        position: place.position.to_array().map(|v| v as f32),
        euler: [euler.roll, euler.pitch, euler.yaw].map(|v| v as f32),
        scale_percent: scale.map(|factor| (100.0 * factor).round() as u16),
        motor_rpm,
    };
    Ok(Drawn {
        vehicle_type,
        position: place.position.to_array(),
        moving: MovingState {
            state,
            velocity: motion.velocity.to_array().map(|v| v as f32),
            sim_time: motion.time.unwrap_or(NO_TIME),
        },
        rate: motion.rate.unwrap_or_default().to_array().map(|v| v as f32),
    })
}

/// How one entity moves.
struct Moving {
    velocity: Vector<Ned>,
    rate: Option<Vector<Frd>>,
    time: Option<f64>,
}

fn motion(
    world: WorldConvention,
    message: &EntityStates,
    i: usize,
) -> Result<Moving, &'static str> {
    let array = |v: &Vector3| [v.x, v.y, v.z];
    let time = message.times.get(i).or_else(|| message.times.first()).copied();
    let velocity = message.velocities.get(i).map(array).unwrap_or_default();
    let rate = message.rates.get(i).map(array);
    let is_finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    for (name, values) in [
        ("velocities", &velocity[..]),
        ("rates", rate.as_ref().map_or(&[], |rate| &rate[..])),
        ("times", time.as_slice()),
    ] {
        if !is_finite(values) {
            return Err(name);
        }
    }
    Ok(Moving {
        velocity: world.ned(velocity),
        rate: rate.map(|[x, y, z]| Vector::<Flu>::new(x, y, z).into()),
        time,
    })
}
