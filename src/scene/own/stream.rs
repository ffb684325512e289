//! States of many entities at once, as a stream.
use crate::msgs::rfly_bridge_msgs::msg::EntityStates;
use crate::scene::datagrams::{Outbox, Recipient};
use crate::scene::entities::{Kind, Motion};
use crate::scene::models::check_scale;
use crate::scene::state::{Call, Scene};
use crate::wire::{
    Height, MotorStatePacket, ObjectStatePacket, ScaledStatePacket, Swarm20Packet, Swarm100Packet,
    SwarmState,
};

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

/// Motor speeds of an entity.
#[derive(Clone, Copy)]
enum Motors {
    None,
    One,
    Eight,
}

/// `scene/set_states`: sends what can be drawn, and returns how many entities that were and why others were not.
pub fn set_states(
    scene: &mut Scene,
    message: &EntityStates,
    call: &mut Call<'_>,
) -> (usize, Vec<Skipped>) {
    let motors = match check_lists(message) {
        Ok(motors) => motors,
        Err(skipped) => return (0, vec![skipped]),
    };
    let height = match message.fit_to_ground {
        true => Height::Ground,
        false => Height::Given,
    };
    let mut states = Vec::with_capacity(message.poses.len());
    let (mut others, mut alone) = (Vec::new(), 0);
    for i in 0..message.poses.len() {
        match state(scene, message, motors, i, call) {
            Ok((None, state)) => states.push(state),
            Ok((Some(vehicle_type), state)) => {
                draw_alone(vehicle_type, &state, motors, height, call.out);
                alone += 1;
            }
            Err(skipped) => others.push(skipped),
        }
    }
    let size = match motors {
        Motors::Eight => Swarm20Packet::SIZE,
        Motors::None | Motors::One => Swarm100Packet::SIZE,
    };
    for chunk in states.chunks(size) {
        if chunk.len() <= Swarm20Packet::SIZE {
            let packet = Swarm20Packet::new(chunk, height);
            call.out.packet(Recipient::Windows, &packet);
        } else {
            let packet = Swarm100Packet::new(chunk, height);
            call.out.packet(Recipient::Windows, &packet);
        }
    }
    (states.len() + alone, others)
}

/// Sends an entity whose type does not fit the packets of many.
fn draw_alone(
    vehicle_type: i32,
    state: &SwarmState,
    motors: Motors,
    height: Height,
    out: &mut Outbox,
) {
    let object = ObjectStatePacket::new(state.id.into(), vehicle_type, state.position, state.euler)
        .with_height(height);
    if let Motors::Eight = motors {
        let packet = MotorStatePacket::new(object, state.motor_rpm, [0.0; 3], -1.0);
        out.packet(Recipient::Windows, &packet);
    } else {
        let scale = state
            .scale_percent
            .map(|percent| f32::from(percent) / 100.0);
        let packet = ScaledStatePacket::new(object.with_motor_rpm(state.motor_rpm[0]), scale);
        out.packet(Recipient::Windows, &packet);
    }
}

fn check_lists(message: &EntityStates) -> Result<Motors, Skipped> {
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
        return Err(lengths(format!(
            "{count} poses need as many names or ids, got {named}"
        )));
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
    match message.motor_rpm.len() {
        0 => Ok(Motors::None),
        n if n == count => Ok(Motors::One),
        n if n == 8 * count => Ok(Motors::Eight),
        n => Err(lengths(format!(
            "motor_rpm must be empty, one or eight per pose ({count}), are {n}"
        ))),
    }
}

/// The state of one entity, and its type where that has more than 16 bits.
fn state(
    scene: &mut Scene,
    message: &EntityStates,
    motors: Motors,
    i: usize,
    call: &Call<'_>,
) -> Result<(Option<i32>, SwarmState), Skipped> {
    let id = match message.names.get(i) {
        Some(name) => {
            let id = scene.entities.id_of(name);
            id.map_err(|refusal| skipped(SkipCause::UnknownEntity, refusal.message))?
        }
        None => message.ids.get(i).copied().unwrap_or_default().into(),
    };
    let small = u16::try_from(id).ok().filter(|id| *id != 0);
    let small = small.ok_or_else(|| {
        skipped(
            SkipCause::Id,
            format!("an id must be from 1 to 65535 here, is {id}"),
        )
    })?;
    let place = scene
        .place(&message.header.frame_id, &message.poses[i])
        .map_err(|refusal| skipped(SkipCause::Pose, refusal.message))?;
    let known = scene.entities.of_id(id).filter(|e| e.kind == Kind::Spawned);
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
    let motor_rpm: [f32; 8] = match motors {
        Motors::None => [0.0; 8],
        Motors::One => [message.motor_rpm[i]; 8],
        Motors::Eight => std::array::from_fn(|motor| message.motor_rpm[8 * i + motor]),
    };
    if !motor_rpm.iter().all(|rpm| rpm.is_finite()) {
        return Err(skipped(
            SkipCause::MotorRpm,
            format!("motor_rpm of {id} must be finite"),
        ));
    }
    let small_type = u16::try_from(vehicle_type).ok();
    if small_type.is_none() && matches!(motors, Motors::Eight) && scale != [1.0; 3] {
        return Err(skipped(
            SkipCause::Scale,
            format!(
                "no packet has type {vehicle_type}, a size and eight motor speeds of {id}: give one speed, or no scale"
            ),
        ));
    }
    if let Some(entity) = known {
        if let Some(kept) = &mut entity.keep_alive {
            kept.since_s = call.uptime_s;
        }
        (entity.vehicle_type, entity.scale) = (vehicle_type, scale);
        entity.ground = message.fit_to_ground;
        entity.motion = Some(Motion {
            place,
            stamp: call.now,
            ..Motion::default()
        });
    }
    let euler = place.attitude.euler();
    let state = SwarmState {
        id: small,
        vehicle_type: small_type.unwrap_or_default(),
        position: place.position.to_array().map(|v| v as f32),
        euler: [euler.roll, euler.pitch, euler.yaw].map(|v| v as f32),
        scale_percent: scale.map(|factor| (100.0 * factor).round() as u16),
        motor_rpm,
    };
    Ok((small_type.is_none().then_some(vehicle_type), state))
}
