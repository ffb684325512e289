//! Inputs of a model: a message to the datagrams for the port of its `CopterSim`.
use crate::frames::{Flu, Frd, Vector, WorldConvention};
use crate::msgs::geometry_msgs::msg::Vector3;
use crate::msgs::rfly_bridge_msgs::msg::{
    CustomData, ModelCommand as Command, ModelDoubles, ModelInputs, ModelParameters as Parameters,
    ModelRays, ModelUorb, ModelValues,
};
use crate::wire::{
    CustomDataPacket, DoubleInputsPacket, DynamicParametersPacket, InputSet, IntoBytes as _,
    ModelCommand, ModelParameters, ModelParametersPacket, Packet, RayInputsPacket,
    RendererInputsPacket, SilInputsPacket, Surroundings, SurroundingsPacket, UorbInputsPacket,
};

/// Datagrams in the order of sending.
pub type Datagrams = Vec<Vec<u8>>;

/// What is wrong with a message, for the counters.
#[derive(Clone, Copy, Debug, Eq, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum InputCause {
    /// A list has too many values.
    TooLong,
    /// A list has another number of values than its mask.
    Count,
    /// The mask has a bit that no value belongs to.
    Mask,
    /// A number is NaN or infinite.
    NotFinite,
    /// No inputs have this number.
    Set,
    /// These inputs cannot wait.
    Wait,
    /// No command has this number.
    Kind,
    /// Not a rotation.
    Orientation,
    /// Data of a length that is empty, too long or that of another message.
    Length,
    /// Not a vehicle of this bridge.
    Sender,
}

impl InputCause {
    /// Name in `/diagnostics`, stable over releases.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What is wrong with a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Wrong {
    /// What it is counted as.
    pub cause: InputCause,
    /// What is wrong, and what would be right.
    pub text: String,
}

fn wrong<T>(cause: InputCause, text: String) -> Result<T, Wrong> {
    Err(Wrong { cause, text })
}

/// `ModelDoubles.ALL`.
const ALL: u8 = 255;
/// Doubles of one packet, and of all extended inputs.
const DOUBLES: usize = 28;
const ALL_DOUBLES: usize = 140;

fn one(packet: &impl Packet) -> Result<Datagrams, Wrong> {
    Ok(vec![packet.as_bytes().to_vec()])
}

/// Pads a list with zeros.
fn padded<const N: usize>(field: &str, values: &[f64], most: usize) -> Result<[f64; N], Wrong> {
    if values.len() > most {
        let text = format!(
            "{field}: must have at most {most} values, has {}",
            values.len()
        );
        return wrong(InputCause::TooLong, text);
    }
    finite(field, values)?;
    Ok(std::array::from_fn(|i| {
        values.get(i).copied().unwrap_or_default()
    }))
}

/// A model may divide by what it gets, or integrate it: not a number never ends.
fn finite(field: &str, values: &[f64]) -> Result<(), Wrong> {
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => wrong(
            InputCause::NotFinite,
            format!("{field}: must be finite, has {value}"),
        ),
        None => Ok(()),
    }
}

fn finite32(field: &str, values: &[f32]) -> Result<(), Wrong> {
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => wrong(
            InputCause::NotFinite,
            format!("{field}: must be finite as 32-bit numbers, has {value}"),
        ),
        None => Ok(()),
    }
}

fn narrow<const N: usize>(field: &str, values: [f64; N]) -> Result<[f32; N], Wrong> {
    let narrow = values.map(|value| value as f32);
    finite32(field, &narrow)?;
    Ok(narrow)
}

fn set(number: u8, more: &str) -> Result<InputSet, Wrong> {
    match number {
        0 => Ok(InputSet::Plain),
        1..=InputSet::EXTENSIONS => Ok(InputSet::Extended(number)),
        _ => wrong(
            InputCause::Set,
            format!(
                "set: must be 0 or 1 to {}{more}, is {number}",
                InputSet::EXTENSIONS
            ),
        ),
    }
}

/// `model/inputs`.
pub fn sil(vehicle: u16, message: &ModelInputs) -> Result<Datagrams, Wrong> {
    finite32("floats", &message.floats)?;
    let set = set(message.set, "")?;
    one(&SilInputsPacket::new(
        vehicle.into(),
        set,
        message.ints,
        message.floats,
    ))
}

/// `model/doubles`.
pub fn doubles(vehicle: u16, message: &ModelDoubles) -> Result<Datagrams, Wrong> {
    let ModelDoubles {
        set: number,
        wait,
        values,
    } = message;
    let wait_only = || {
        wrong(
            InputCause::Wait,
            format!("wait: must be false with set {number}: only the sets 1 to 5 can wait"),
        )
    };
    if *number == ALL {
        if *wait {
            return wait_only();
        }
        if values.is_empty() || values.len() > ALL_DOUBLES {
            return wrong(
                InputCause::TooLong,
                format!(
                    "values: must have 1 to {ALL_DOUBLES} values, has {}",
                    values.len()
                ),
            );
        }
        finite("values", values)?;
        let packets = DoubleInputsPacket::all(vehicle.into(), values).unwrap_or_default();
        return Ok(packets
            .iter()
            .map(|packet| packet.as_bytes().to_vec())
            .collect());
    }
    let set = match (set(*number, " or 255 (ALL)")?, wait) {
        (InputSet::Plain, true) => return wait_only(),
        (InputSet::Extended(n), true) => InputSet::Waiting(n),
        (set, _) => set,
    };
    let values = padded("values", values, DOUBLES)?;
    one(&DoubleInputsPacket::new(vehicle.into(), set, values))
}

/// `model/command`: a command to a model that flies by itself.
pub fn command(
    vehicle: u16,
    world: WorldConvention,
    message: &Command,
) -> Result<Datagrams, Wrong> {
    let Vector3 { x, y, z } = message.value;
    finite(
        "value, yaw, yaw_rate",
        &[x, y, z, message.yaw, message.yaw_rate],
    )?;
    let place = narrow("value", world.ned([x, y, z]).to_array())?;
    let yaw = world.ned_yaw(message.yaw) as f32;
    // Clockwise seen from above is positive there.
    let rate = -message.yaw_rate as f32;
    let command = match message.kind {
        0 => ModelCommand::Position(place, yaw),
        1 => ModelCommand::LocalPosition(place, yaw),
        2 => ModelCommand::Velocity(place, message.has_yaw_rate.then_some(rate)),
        3 => {
            let body = Vector::<Frd>::from(Vector::<Flu>::new(x, y, z)).to_array();
            ModelCommand::BodyVelocity(narrow("value", body)?, rate)
        }
        kind => {
            return wrong(
                InputCause::Kind,
                format!("kind: must be 0 (POSITION) to 3 (BODY_VELOCITY), is {kind}"),
            );
        }
    };
    let (ints, floats) = command.inputs();
    let mut numbers = ints.map(f64::from).into_iter().chain(floats.map(f64::from));
    let values = std::array::from_fn(|_| numbers.next().unwrap_or_default());
    one(&DoubleInputsPacket::new(
        vehicle.into(),
        InputSet::Plain,
        values,
    ))
}

/// Values and mask of parameters, of which there are `N`.
fn parameters<const N: usize>(message: &Parameters) -> Result<(u64, [f64; N]), Wrong> {
    let Parameters { mask, values } = message;
    if N < 64 && mask >> N != 0 {
        return wrong(
            InputCause::Mask,
            format!("mask: must have bits 0 to {} only, is {mask:#x}", N - 1),
        );
    }
    let chosen = mask.count_ones() as usize;
    if values.len() == N {
        return Ok((*mask, padded("values", values, N)?));
    }
    if values.len() != chosen {
        let text = format!(
            "values: must have {chosen} values, one per bit of the mask, or all {N}, has {}",
            values.len()
        );
        return wrong(InputCause::Count, text);
    }
    finite("values", values)?;
    let mut given = values.iter().copied();
    let all = std::array::from_fn(|i| match mask >> i & 1 {
        1 => given.next().unwrap_or_default(),
        _ => 0.0,
    });
    Ok((*mask, all))
}

/// `model/initial_parameters`.
pub fn initial_parameters(_: u16, message: &Parameters) -> Result<Datagrams, Wrong> {
    let (mask, values) = parameters(message)?;
    // It has 32 bits: more would have been refused.
    let packet = ModelParametersPacket::new(ModelParameters::Initial, mask as u32, values);
    one(&packet)
}

/// `model/dynamic_parameters`.
pub fn dynamic_parameters(vehicle: u16, message: &Parameters) -> Result<Datagrams, Wrong> {
    let (mask, values) = parameters(message)?;
    one(&DynamicParametersPacket::new(vehicle.into(), mask, values))
}

/// `model/renderer`.
pub fn renderer(vehicle: u16, message: &ModelValues) -> Result<Datagrams, Wrong> {
    let values = padded("values", &message.values, 32)?;
    one(&RendererInputsPacket::new(vehicle.into(), values))
}

/// `model/collision` and `model/terrain`.
pub fn surroundings(
    vehicle: u16,
    what: Surroundings,
    message: &ModelValues,
) -> Result<Datagrams, Wrong> {
    let most = match what {
        Surroundings::Collision => 20,
        Surroundings::Terrain => 15,
    };
    let values = narrow("values", padded("values", &message.values, most)?)?;
    one(&SurroundingsPacket::new(vehicle.into(), what, values))
}

/// `model/rays`.
pub fn rays(vehicle: u16, world: WorldConvention, message: &ModelRays) -> Result<Datagrams, Wrong> {
    let rays = [
        message.front,
        message.back,
        message.left,
        message.right,
        message.up,
        message.down,
    ];
    finite32("front, back, left, right, up, down", &rays)?;
    finite32("size", &[message.size])?;
    let Vector3 { x, y, z } = message.velocity;
    let velocity = narrow("velocity", world.ned([x, y, z]).to_array())?;
    let at = &message.position;
    let position = narrow("position", world.ned([at.x, at.y, at.z]).to_array())?;
    one(&RayInputsPacket::new(
        vehicle.into(),
        message.size,
        velocity,
        rays,
        position,
    ))
}

/// `model/uorb`.
pub fn uorb(vehicle: u16, message: &ModelUorb) -> Result<Datagrams, Wrong> {
    finite32("data", &message.data)?;
    let words = [message.modes, message.flags];
    one(&UorbInputsPacket::new(vehicle.into(), words, message.data))
}

/// `model/custom_data`; any number is right.
pub fn custom_data(vehicle: u16, message: &CustomData) -> Result<Datagrams, Wrong> {
    let checksum = match message.checksum {
        0 => CustomDataPacket::TAG,
        checksum => checksum,
    };
    one(&CustomDataPacket::new(
        vehicle.into(),
        checksum,
        message.data,
    ))
}
