//! The topic `scene/set_states`: states of many entities.
use super::packets::{Contents, DrawnEntity, MotionFields, NO_TIME, Packets};
use crate::frames::{Flu, Frd, Ned, Vector, WorldConvention};
use crate::scene::entities::EntityMotion;
use crate::scene::models::check_scale;
use crate::scene::state::SceneCall;
use crate::wire::{MovingState, SwarmState};
use crate::{msgs::geometry_msgs::msg::Vector3, msgs::rfly_bridge_msgs::msg::EntityStates};

/// Why an entity is not drawn.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum SkipCause {
    /// The lists of the message differ in their lengths, or it has both names and ids; nothing is drawn.
    Lengths,
    /// No entity has this name.
    UnknownEntity,
    /// An id that is not from 1 to 65535.
    Id,
    /// An invalid pose, or one in an unknown frame.
    Pose,
    /// The type of the entity is unknown or invalid.
    Type,
    /// An invalid scale, or no packet has a field for it.
    Scale,
    /// A motor speed is NaN or infinite.
    MotorRpm,
    /// A velocity or rate is not finite as f32, a time is not finite, or no packet has both rates and `fit_to_ground`.
    Motion,
}

impl SkipCause {
    /// Name in `/diagnostics`, stable over releases.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A message or an entity that is not drawn: the cause for counters, and a text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Skipped {
    /// The cause, by which it is counted.
    pub cause: SkipCause,
    /// For the log.
    pub message: String,
}

fn skipped(cause: SkipCause, message: impl Into<String>) -> Skipped {
    Skipped { cause, message: message.into() }
}

/// Draws entities; returns how many were drawn, and why others were not.
pub fn set_states(call: &mut SceneCall<'_>, message: &EntityStates) -> (usize, Vec<Skipped>) {
    let contents = match check_lists(message) {
        Ok(contents) => contents,
        Err(skipped) => return (0, vec![skipped]),
    };
    let mut packets = Packets::new(contents, message.fit_to_ground);
    let (mut drawn, mut not_drawn) = (0, Vec::new());
    for i in 0..message.poses.len() {
        match read_state(call, message, contents, i) {
            Ok(entity) => {
                packets.add(entity, &mut call.out);
                drawn += 1;
            }
            Err(skipped) => not_drawn.push(skipped),
        }
    }
    packets.send(&mut call.out);
    (drawn, not_drawn)
}

fn check_lists(message: &EntityStates) -> Result<Contents, Skipped> {
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
    let (rpm, times) = (message.motor_rpm.len(), message.times.len());
    for (name, allowed, allowed_lens, len) in [
        ("vehicle_types", "empty or one", [0, count, count], message.vehicle_types.len()),
        ("scale", "empty, one or three", [0, count, 3 * count], message.scale.len()),
        ("velocities", "empty or one", [0, count, count], message.velocities.len()),
        ("rates", "empty or one", [0, count, count], message.rates.len()),
        ("times", "empty, one for all or one", [0, 1, count], times),
        ("motor_rpm", "empty, one or eight", [0, count, 8 * count], rpm),
    ] {
        if !allowed_lens.contains(&len) {
            return Err(lengths(format!("{name} must be {allowed} per pose ({count}), are {len}")));
        }
    }
    let motion = if !message.rates.is_empty() {
        MotionFields::Turning
    } else if message.velocities.is_empty() && times == 0 {
        MotionFields::Still
    } else if message.grouped {
        MotionFields::Grouped
    } else {
        MotionFields::Moving
    };
    if motion == MotionFields::Turning && message.fit_to_ground {
        let message =
            "no packet has both rates and fit_to_ground: leave rates empty, or fit_to_ground false";
        return Err(skipped(SkipCause::Motion, message));
    }
    Ok(Contents { motion, motors: rpm.checked_div(count).unwrap_or_default() })
}

fn read_state(
    call: &mut SceneCall<'_>,
    message: &EntityStates,
    contents: Contents,
    i: usize,
) -> Result<DrawnEntity, Skipped> {
    let scene = &mut *call.scene;
    let id = match message.names.get(i) {
        Some(name) => {
            let id = scene.entities.id_of(name);
            id.map_err(|error| skipped(SkipCause::UnknownEntity, error.message))?
        }
        None => message.ids.get(i).copied().unwrap_or_default().into(),
    };
    let short_id = u16::try_from(id).ok().filter(|id| *id != 0);
    let short_id = short_id.ok_or_else(|| {
        skipped(SkipCause::Id, format!("an id must be from 1 to 65535 here, is {id}"))
    })?;
    let pose = scene
        .map_pose(&message.header.frame_id, &message.poses[i])
        .map_err(|error| skipped(SkipCause::Pose, error.message))?;
    let world = scene.frame.world;
    let drawn_entity = scene.entities.of_id(id).filter(|e| e.kind.is_drawn());
    let vehicle_type = match (message.vehicle_types.get(i), &drawn_entity) {
        (Some(given), _) => i32::try_from(*given)
            .map_err(|_cast| skipped(SkipCause::Type, format!("{given} is not a type of {id}")))?,
        (None, Some(entity)) => entity.vehicle_type,
        (None, None) => {
            let message = format!("{id} was not spawned here: vehicle_types must contain its type");
            return Err(skipped(SkipCause::Type, message));
        }
    };
    let scale = match message.scale.len() {
        0 => drawn_entity.as_ref().map_or([1.0; 3], |entity| entity.scale),
        n if n == message.poses.len() => [message.scale[i]; 3],
        _ => std::array::from_fn(|axis| message.scale[3 * i + axis]),
    };
    let scale = check_scale(scale).map_err(|why| skipped(SkipCause::Scale, why))?;
    let motor_rpm: [f32; 8] = match contents.motors {
        0 => [0.0; 8],
        1 => [message.motor_rpm[i]; 8],
        _ => std::array::from_fn(|motor| message.motor_rpm[8 * i + motor]),
    };
    if !motor_rpm.iter().all(|rpm| rpm.is_finite()) {
        return Err(skipped(SkipCause::MotorRpm, format!("motor_rpm of {id} must be finite")));
    }
    if scale != [1.0; 3] && !contents.has_scale(vehicle_type) {
        let message = format!(
            "{id}: no packet has a scale together with motion, or with eight motor speeds and a type above 65535 (is \
             {vehicle_type}): give no scale, no motion, or one motor speed"
        );
        return Err(skipped(SkipCause::Scale, message));
    }
    let (velocity, rate, time) = read_motion(world, message, i).map_err(|(field, bits)| {
        let message = format!("{field} of {id} must be finite as {bits}-bit numbers");
        skipped(SkipCause::Motion, message)
    })?;
    if let Some(entity) = drawn_entity {
        if let Some(keep_alive) = &mut entity.keep_alive {
            keep_alive.since_s = call.uptime_s;
        }
        (entity.vehicle_type, entity.scale) = (vehicle_type, scale);
        entity.ground = message.fit_to_ground;
        entity.motion = Some(EntityMotion { pose, velocity, rate, stamp: call.now });
    }
    let (position, euler) = pose.to_f32();
    let state = SwarmState {
        id: short_id,
        // 0 if it is too large: `Packets` then uses the type in `DrawnEntity`.
        vehicle_type: u16::try_from(vehicle_type).unwrap_or_default(),
        position,
        euler,
        scale_percent: scale.map(|factor| (100.0 * factor).round() as u16),
        motor_rpm,
    };
    Ok(DrawnEntity {
        vehicle_type,
        position: pose.position.to_array(),
        moving: MovingState {
            state,
            velocity: velocity.to_array().map(|v| v as f32),
            sim_time: time.unwrap_or(NO_TIME),
        },
        rate: rate.unwrap_or_default().to_array().map(|v| v as f32),
    })
}

/// Velocity, rate and time of an entity.
type StreamedMotion = (Vector<Ned>, Option<Vector<Frd>>, Option<f64>);

/// Reads the motion of one entity, or returns a field that is not finite in a packet, and how many bits it has there.
fn read_motion(
    world: WorldConvention,
    message: &EntityStates,
    i: usize,
) -> Result<StreamedMotion, (&'static str, u8)> {
    let array = |v: &Vector3| [v.x, v.y, v.z];
    let time = message.times.get(i).or_else(|| message.times.first()).copied();
    let velocity = message.velocities.get(i).map(array).unwrap_or_default();
    let rate = message.rates.get(i).map(array);
    let is_finite_f32 = |values: &[f64]| values.iter().all(|value| (*value as f32).is_finite());
    if !is_finite_f32(&velocity) {
        return Err(("velocities", 32));
    }
    if !rate.as_ref().is_none_or(|rate| is_finite_f32(rate)) {
        return Err(("rates", 32));
    }
    if !time.is_none_or(f64::is_finite) {
        return Err(("times", 64));
    }
    let rate = rate.map(|rate| Vector::<Flu>::from(rate).into());
    Ok((world.ned(velocity), rate, time))
}
