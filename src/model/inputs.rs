//! Converts messages with inputs of a model to the datagrams for its `CopterSim`.
use crate::frames::{Flu, Frd, Vector, WorldConvention};
use crate::msgs::geometry_msgs::msg::Vector3;
use crate::msgs::rfly_bridge_msgs::msg::{
    CustomData, ModelCommand as CommandMessage, ModelDoubles, ModelInputs,
    ModelParameters as ParametersMessage, ModelRays, ModelUorb, ModelValues,
};
use crate::wire::{
    CustomDataPacket, DoubleInputsPacket, DynamicParametersPacket, InputSet, IntoBytes as _,
    ModelCommand, ModelParameters, ModelParametersPacket, Packet, RayInputsPacket,
    RendererInputsPacket, SilInputsPacket, Surroundings, SurroundingsPacket, UorbInputsPacket,
};

/// Datagrams, in the order in which they are sent.
pub type Datagrams = Vec<Vec<u8>>;

/// Reason for refusing a message, by which refusals are counted.
#[derive(Clone, Copy, Debug, Eq, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum InputCause {
    /// A list has too many values, or none where one is required.
    TooLong,
    /// A list has neither one value per bit of its mask nor one per parameter.
    Count,
    /// The mask has a bit without a parameter.
    Mask,
    /// A number is NaN or infinite.
    NotFinite,
    /// There is no set of inputs with this number.
    Set,
    /// This set of inputs cannot wait.
    Wait,
    /// There is no command with this number.
    Kind,
    /// The quaternion is not a rotation.
    Orientation,
    /// The data is empty, too long, or exactly as long as a state.
    Length,
    /// The bridge does not serve the vehicle that is named as the sender.
    Sender,
}

impl InputCause {
    /// Name in `/diagnostics`, stable over releases.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Refusal of a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InputError {
    /// Reason, for the counters.
    pub cause: InputCause,
    /// The field, what it must be, and what it is.
    pub text: String,
}

/// The datagrams of a message, or its refusal.
pub type InputResult = Result<Datagrams, InputError>;

fn refuse<T>(cause: InputCause, text: String) -> Result<T, InputError> {
    Err(InputError { cause, text })
}

/// `ModelDoubles.ALL`.
const ALL: u8 = 255;
/// Number of doubles in one packet, and in the five extended sets together.
const DOUBLES: usize = 28;
const ALL_DOUBLES: usize = 140;

fn single(packet: &impl Packet) -> InputResult {
    Ok(vec![packet.as_bytes().to_vec()])
}

/// Pads a list of at most `max` finite values with zeros.
fn pad<const N: usize>(field: &str, values: &[f64], max: usize) -> Result<[f64; N], InputError> {
    if values.len() > max {
        let text = format!("{field}: must have at most {max} values, has {}", values.len());
        return refuse(InputCause::TooLong, text);
    }
    check_finite(field, values)?;
    Ok(std::array::from_fn(|i| values.get(i).copied().unwrap_or_default()))
}

/// Refuses NaN and infinity: a model that integrates its input would never recover from them.
pub(super) fn check_finite(field: &str, values: &[f64]) -> Result<(), InputError> {
    let Some(value) = values.iter().find(|value| !value.is_finite()) else { return Ok(()) };
    refuse(InputCause::NotFinite, format!("{field}: must be finite, has {value}"))
}

fn check_finite_f32(field: &str, values: &[f32]) -> Result<(), InputError> {
    let Some(value) = values.iter().find(|value| !value.is_finite()) else { return Ok(()) };
    let text = format!("{field}: must be finite as 32-bit numbers, has {value}");
    refuse(InputCause::NotFinite, text)
}

/// Converts to the numbers of a packet; refuses what is not finite there.
pub(super) fn to_f32<const N: usize>(
    field: &str,
    values: [f64; N],
) -> Result<[f32; N], InputError> {
    let values = values.map(|value| value as f32);
    check_finite_f32(field, &values)?;
    Ok(values)
}

fn input_set(number: u8, alternative: &str) -> Result<InputSet, InputError> {
    match number {
        0 => Ok(InputSet::Plain),
        1..=InputSet::EXTENSIONS => Ok(InputSet::Extended(number)),
        _ => refuse(
            InputCause::Set,
            format!("set: must be 0 or 1 to {}{alternative}, is {number}", InputSet::EXTENSIONS),
        ),
    }
}

/// `model/inputs`.
pub fn sil(vehicle: u16, message: &ModelInputs) -> InputResult {
    check_finite_f32("floats", &message.floats)?;
    let set = input_set(message.set, "")?;
    single(&SilInputsPacket::new(vehicle.into(), set, message.ints, message.floats))
}

/// `model/doubles`.
pub fn doubles(vehicle: u16, message: &ModelDoubles) -> InputResult {
    let ModelDoubles { set: number, wait, values } = message;
    let cannot_wait = || {
        let text = format!("wait: must be false with set {number}: only the sets 1 to 5 can wait");
        refuse(InputCause::Wait, text)
    };
    if *number == ALL {
        if *wait {
            return cannot_wait();
        }
        if values.is_empty() || values.len() > ALL_DOUBLES {
            let text = format!("values: must have 1 to {ALL_DOUBLES} values, has {}", values.len());
            return refuse(InputCause::TooLong, text);
        }
        check_finite("values", values)?;
        let packets = DoubleInputsPacket::split(vehicle.into(), values).unwrap_or_default();
        return Ok(packets.iter().map(|packet| packet.as_bytes().to_vec()).collect());
    }
    let set = match (input_set(*number, " or 255 (ALL)")?, wait) {
        (InputSet::Plain, true) => return cannot_wait(),
        (InputSet::Extended(n), true) => InputSet::Waiting(n),
        (set, _) => set,
    };
    let values = pad("values", values, DOUBLES)?;
    single(&DoubleInputsPacket::new(vehicle.into(), set, values))
}

/// `model/command`: a command to a model that flies without an autopilot.
pub fn command(vehicle: u16, world: WorldConvention, message: &CommandMessage) -> InputResult {
    let Vector3 { x, y, z } = message.value;
    check_finite("value, yaw, yaw_rate", &[x, y, z, message.yaw, message.yaw_rate])?;
    let ned = to_f32("value", world.ned([x, y, z]).to_array())?;
    // A rate in NED is positive clockwise, seen from above.
    let yaw_and_rate = [world.ned_yaw(message.yaw), -message.yaw_rate];
    let [yaw, rate] = to_f32("yaw, yaw_rate", yaw_and_rate)?;
    let command = match message.kind {
        0 => ModelCommand::Position(ned, yaw),
        1 => ModelCommand::LocalPosition(ned, yaw),
        2 => ModelCommand::Velocity(ned, message.has_yaw_rate.then_some(rate)),
        3 => {
            let body = Vector::<Frd>::from(Vector::<Flu>::new(x, y, z)).to_array();
            ModelCommand::BodyVelocity(to_f32("value", body)?, rate)
        }
        kind => {
            let text = format!("kind: must be 0 (POSITION) to 3 (BODY_VELOCITY), is {kind}");
            return refuse(InputCause::Kind, text);
        }
    };
    let (ints, floats) = command.inputs();
    let mut numbers = ints.map(f64::from).into_iter().chain(floats.map(f64::from));
    let values = std::array::from_fn(|_| numbers.next().unwrap_or_default());
    single(&DoubleInputsPacket::new(vehicle.into(), InputSet::Plain, values))
}

/// Returns mask and values of a message for `N` parameters.
fn read_mask<const N: usize>(message: &ParametersMessage) -> Result<(u64, [f64; N]), InputError> {
    let ParametersMessage { mask, values } = message;
    if N < 64 && mask >> N != 0 {
        let text = format!("mask: must have bits 0 to {} only, is {mask:#x}", N - 1);
        return refuse(InputCause::Mask, text);
    }
    let chosen = mask.count_ones() as usize;
    if values.len() == N {
        return Ok((*mask, pad("values", values, N)?));
    }
    if values.len() != chosen {
        let text = format!(
            "values: must have {chosen} values, one per bit of the mask, or all {N}, has {}",
            values.len()
        );
        return refuse(InputCause::Count, text);
    }
    check_finite("values", values)?;
    let mut given = values.iter().copied();
    let mut value = |i: usize| if mask >> i & 1 == 1 { given.next() } else { None };
    Ok((*mask, std::array::from_fn(|i| value(i).unwrap_or_default())))
}

/// `model/initial_parameters`.
pub fn initial_parameters(_: u16, message: &ParametersMessage) -> InputResult {
    let (mask, values) = read_mask(message)?;
    // `read_mask` refuses a mask of more than 32 bits.
    single(&ModelParametersPacket::new(ModelParameters::Initial, mask as u32, values))
}

/// `model/dynamic_parameters`.
pub fn dynamic_parameters(vehicle: u16, message: &ParametersMessage) -> InputResult {
    let (mask, values) = read_mask(message)?;
    single(&DynamicParametersPacket::new(vehicle.into(), mask, values))
}

/// `model/renderer`.
pub fn renderer(vehicle: u16, message: &ModelValues) -> InputResult {
    let values = pad("values", &message.values, 32)?;
    single(&RendererInputsPacket::new(vehicle.into(), values))
}

/// `model/collision` and `model/terrain`.
pub fn surroundings(vehicle: u16, kind: Surroundings, message: &ModelValues) -> InputResult {
    let max = match kind {
        Surroundings::Collision => 20,
        Surroundings::Terrain => 15,
    };
    let values = to_f32("values", pad("values", &message.values, max)?)?;
    single(&SurroundingsPacket::new(vehicle.into(), kind, values))
}

/// `model/rays`.
pub fn rays(vehicle: u16, world: WorldConvention, message: &ModelRays) -> InputResult {
    let rays = [message.front, message.back, message.left, message.right, message.up, message.down];
    check_finite_f32("front, back, left, right, up, down", &rays)?;
    check_finite_f32("size", &[message.size])?;
    let Vector3 { x, y, z } = message.velocity;
    let velocity = to_f32("velocity", world.ned([x, y, z]).to_array())?;
    let point = &message.position;
    let position = to_f32("position", world.ned([point.x, point.y, point.z]).to_array())?;
    single(&RayInputsPacket::new(vehicle.into(), message.size, velocity, rays, position))
}

/// `model/uorb`.
pub fn uorb(vehicle: u16, message: &ModelUorb) -> InputResult {
    check_finite_f32("data", &message.data)?;
    let words = [message.modes, message.flags];
    single(&UorbInputsPacket::new(vehicle.into(), words, message.data))
}

/// `model/custom_data`; every number is valid.
pub fn custom_data(vehicle: u16, message: &CustomData) -> InputResult {
    let given = message.checksum;
    let checksum = if given == 0 { CustomDataPacket::TAG } else { given };
    single(&CustomDataPacket::new(vehicle.into(), checksum, message.data))
}
