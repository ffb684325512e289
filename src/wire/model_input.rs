//! Inputs of a vehicle's model: user to `CopterSim` port 30100+2(id-1). The model defines the meaning of the values.
//!
//! Source: vendor SDK, golden `dll_send`, `modelload_send`, `recv_modelload`.
use super::{Packet, WireError, packet::expect_tag};
use zerocopy::little_endian::{F32, F64, I32, U32, U64};

/// Which inputs of a model a packet sets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum InputSet {
    /// The basic inputs.
    Plain,
    /// One of five further sets, 1 to 5.
    Extended(u8),
    /// One of five further sets, 1 to 5, which takes effect when another set is applied. Doubles only.
    Waiting(u8),
}

impl InputSet {
    const PLAIN: i32 = 1_234_567_897;
    const EXTENDED: i32 = 1_234_567_800;
    const WAITING: i32 = 1_234_567_900;
    /// Number of further sets.
    pub const EXTENSIONS: u8 = 5;

    fn tag(self) -> I32 {
        match self {
            Self::Plain => Self::PLAIN.into(),
            Self::Extended(n) => (Self::EXTENDED + i32::from(n)).into(),
            Self::Waiting(n) => (Self::WAITING + i32::from(n)).into(),
        }
    }

    fn of(tag: i32) -> Option<Self> {
        let number = |base: i32| {
            let n = u8::try_from(tag.checked_sub(base)?).ok()?;
            (1..=Self::EXTENSIONS).contains(&n).then_some(n)
        };
        if tag == Self::PLAIN {
            return Some(Self::Plain);
        }
        let extended = number(Self::EXTENDED).map(Self::Extended);
        extended.or_else(|| number(Self::WAITING).map(Self::Waiting))
    }

    fn check(what: &'static str, tag: I32) -> Result<Self, WireError> {
        let (expected, found) = (Self::PLAIN.into(), tag.get().into());
        Self::of(tag.get()).ok_or(WireError::Tag { what, expected, found })
    }
}

packets! {
    /// `PX4SILIntFloat`, 120 bytes: eight integers and twenty floats.
    SilInputsPacket() {
        checksum: I32 = "Check word 1234567897, or 1234567800 + n of a further set.",
        copter_id: I32 = "Vehicle id.",
        ints: [I32; 8] = "`inSILInts`.",
        floats: [F32; 20] = "`inSILFloats`.",
    }
    /// `DllInDoubCtrls`, 232 bytes: 28 doubles.
    DoubleInputsPacket() {
        checksum: I32 = "Check word 1234567897, 1234567800 + n of a further set, or 1234567900 + n of a waiting set.",
        copter_id: I32 = "Vehicle id.",
        values: [F64; 28] = "`inDoubCtrls`.",
    }
    /// `PX4ModelInParams`, 264 bytes: up to 32 parameters.
    ModelParametersPacket("parameters of a model", 1_234_567_891 | 1_234_567_892) {
        mask: U32 = "One bit per parameter that applies.",
        values: [F64; 32] = "The parameters.",
    }
    /// `PX4DynModiParams`, 528 bytes: up to 64 parameters, while the model runs.
    DynamicParametersPacket("dynamic parameters of a model", 1_234_567_893, new) {
        copter_id: I32 = "Vehicle id.",
        mask: U64 = "One bit per parameter that applies.",
        values: [F64; 64] = "The parameters.",
    }
    /// `UEToCopterDataD`, 264 bytes: data of the renderer for a model.
    RendererInputsPacket("inputs of a model from the renderer", 1_234_567_899, new) {
        copter_id: I32 = "Vehicle id.",
        values: [F64; 32] = "`inFromUE`.",
    }
    /// `Ue4RayTraceDrone`, 60 bytes: distances to the surroundings of a vehicle.
    RayInputsPacket("distances around a vehicle", 1_234_567_890, new) {
        copter_id: I32 = "Vehicle id.",
        size: F32 = "Size of the vehicle in m.",
        velocity: [F32; 3] = "Velocity in m/s, NED.",
        rays: [F32; 6] = "Distances in m to the front, back, left, right, up, down.",
        position: [F32; 3] = "Position in m, NED.",
    }
    /// `Ue4Coll20d`, 88 bytes: a collision, or the terrain.
    SurroundingsPacket("surroundings of a vehicle", 1_234_567_880 | 1_234_567_881) {
        copter_id: I32 = "Vehicle id.",
        values: [F32; 20] = "The values.",
    }
    /// `PX4UorbRflyCtrl`, 80 bytes: values for a modified autopilot.
    UorbInputsPacket("inputs of the autopilot", 1_234_567_896) {
        copter_id: I32 = "Vehicle id.",
        modes: U32 = "User-defined.",
        flags: U32 = "User-defined.",
        data: [F32; 16] = "User-defined.",
    }
    /// `CustomData`, 136 bytes: values for a program of the user, port 50000 by default.
    CustomDataPacket("data of the user") {
        checksum: I32 = "Check word, 123456 by default.",
        copter_id: I32 = "Vehicle id.",
        data: [F64; 16] = "User-defined.",
    }
}

impl SilInputsPacket {
    /// Creates the packet.
    pub fn new(copter_id: i32, set: InputSet, ints: [i32; 8], floats: [f32; 20]) -> Self {
        Self {
            checksum: set.tag(),
            copter_id: copter_id.into(),
            ints: ints.map(I32::new),
            floats: floats.map(F32::new),
        }
    }

    /// Returns the input set.
    pub fn set(&self) -> Option<InputSet> {
        InputSet::of(self.checksum.get())
    }

    /// Verifies that the packet sets the basic inputs.
    pub(super) fn expect_plain(&self) -> Result<(), WireError> {
        expect_tag(Self::NAME, InputSet::PLAIN, self.checksum.get())
    }
}

impl Packet for SilInputsPacket {
    const NAME: &'static str = "inputs of a model (120 bytes)";

    fn check(&self) -> Result<(), WireError> {
        match InputSet::check(Self::NAME, self.checksum)? {
            InputSet::Plain | InputSet::Extended(_) => Ok(()),
            InputSet::Waiting(_) => self.expect_plain(),
        }
    }
}

impl DoubleInputsPacket {
    /// Creates the packet.
    pub fn new(copter_id: i32, set: InputSet, values: [f64; 28]) -> Self {
        Self { checksum: set.tag(), copter_id: copter_id.into(), values: values.map(F64::new) }
    }

    /// Returns the input set.
    pub fn set(&self) -> Option<InputSet> {
        InputSet::of(self.checksum.get())
    }

    /// Splits up to 140 values into packets that take effect together: all but the last wait. `None` for more values.
    pub fn split(copter_id: i32, values: &[f64]) -> Option<Vec<Self>> {
        let parts = values.chunks(28);
        let count = parts.len();
        if count > usize::from(InputSet::EXTENSIONS) {
            return None;
        }
        let packets = parts.zip(1..).map(|(part, n)| {
            let mut padded = [0.0; 28];
            padded[..part.len()].copy_from_slice(part);
            let set =
                if usize::from(n) == count { InputSet::Extended(n) } else { InputSet::Waiting(n) };
            Self::new(copter_id, set, padded)
        });
        Some(packets.collect())
    }
}

impl Packet for DoubleInputsPacket {
    const NAME: &'static str = "inputs of a model (232 bytes)";

    fn check(&self) -> Result<(), WireError> {
        InputSet::check(Self::NAME, self.checksum).map(drop)
    }
}

/// Which parameters of a model a packet sets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(i32)]
pub enum ModelParameters {
    /// Parameters of its faults.
    Faults = ModelParametersPacket::TAG,
    /// Initial parameters.
    Initial = 1_234_567_892,
}

impl ModelParametersPacket {
    /// Creates the packet.
    pub fn new(which: ModelParameters, mask: u32, values: [f64; 32]) -> Self {
        let checksum = (which as i32).into();
        Self { checksum, mask: mask.into(), values: values.map(F64::new) }
    }

    /// Returns which parameters it sets.
    pub fn which(&self) -> ModelParameters {
        let is_initial = self.checksum.get() == ModelParameters::Initial as i32;
        if is_initial { ModelParameters::Initial } else { ModelParameters::Faults }
    }
}

/// Kind of the values in a [`SurroundingsPacket`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(i32)]
pub enum Surroundings {
    /// A collision, 20 values.
    Collision = SurroundingsPacket::TAG,
    /// The terrain, 15 values.
    Terrain = 1_234_567_881,
}

impl SurroundingsPacket {
    /// Creates the packet.
    pub fn new(copter_id: i32, what: Surroundings, values: [f32; 20]) -> Self {
        let checksum = (what as i32).into();
        Self { checksum, copter_id: copter_id.into(), values: values.map(F32::new) }
    }

    /// Returns the kind of the values.
    pub fn what(&self) -> Surroundings {
        let is_terrain = self.checksum.get() == Surroundings::Terrain as i32;
        if is_terrain { Surroundings::Terrain } else { Surroundings::Collision }
    }
}

impl UorbInputsPacket {
    /// Creates the packet.
    pub fn new(copter_id: i32, [modes, flags]: [u32; 2], data: [f32; 16]) -> Self {
        Self {
            checksum: Self::TAG.into(),
            copter_id: copter_id.into(),
            modes: modes.into(),
            flags: flags.into(),
            data: data.map(F32::new),
        }
    }
}

impl CustomDataPacket {
    /// Default check word.
    pub const TAG: i32 = 123_456;
    /// Default port.
    pub const PORT: u16 = 50_000;

    /// Creates the packet with a user-defined check word.
    pub fn new(copter_id: i32, checksum: i32, data: [f64; 16]) -> Self {
        Self { checksum: checksum.into(), copter_id: copter_id.into(), data: data.map(F64::new) }
    }
}

/// An input of a vehicle's model, as `CopterSim` receives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ModelInput<'a> {
    /// 120 bytes.
    Sil(&'a SilInputsPacket),
    /// 232 bytes.
    Doubles(&'a DoubleInputsPacket),
    /// 264 bytes.
    Parameters(&'a ModelParametersPacket),
    /// 264 bytes.
    Renderer(&'a RendererInputsPacket),
    /// 528 bytes.
    Dynamic(&'a DynamicParametersPacket),
    /// 60 bytes.
    Rays(&'a RayInputsPacket),
    /// 88 bytes.
    Surroundings(&'a SurroundingsPacket),
    /// 80 bytes.
    Uorb(&'a UorbInputsPacket),
}

impl<'a> ModelInput<'a> {
    /// Reads a datagram; length and check word determine its kind.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, WireError> {
        match bytes.len() {
            120 => SilInputsPacket::parse(bytes).map(Self::Sil),
            232 => DoubleInputsPacket::parse(bytes).map(Self::Doubles),
            264 => match RendererInputsPacket::parse(bytes) {
                Ok(inputs) => Ok(Self::Renderer(inputs)),
                Err(_) => ModelParametersPacket::parse(bytes).map(Self::Parameters),
            },
            528 => DynamicParametersPacket::parse(bytes).map(Self::Dynamic),
            60 => RayInputsPacket::parse(bytes).map(Self::Rays),
            88 => SurroundingsPacket::parse(bytes).map(Self::Surroundings),
            80 => UorbInputsPacket::parse(bytes).map(Self::Uorb),
            found => Err(WireError::Length {
                what: "input of a model",
                expected: SilInputsPacket::LEN,
                found,
            }),
        }
    }
}
