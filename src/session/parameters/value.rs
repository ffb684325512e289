//! Values of parameters, and their encoding in MAVLink's float field.
use crate::wire::mavlink::dialect::MavParamType;
use zerocopy::TryFromBytes;

/// Encoding of an integer in the float field.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ParameterEncoding {
    /// The integer's bytes (PX4; MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_BYTEWISE).
    #[default]
    Bytewise,
    /// A float of the same value (ArduPilot; MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_C_CAST).
    Cast,
}

/// A value, regardless of the size of its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterValue {
    /// An integer type.
    Int(i64),
    /// REAL32 (or REAL64).
    Float(f64),
}

impl ParameterValue {
    /// Whether it is neither NaN nor infinite.
    pub fn is_finite(self) -> bool {
        match self {
            Self::Int(_) => true,
            Self::Float(float) => float.is_finite(),
        }
    }
}

/// MAV_PARAM_TYPE; only the types that fit into the field.
#[derive(Clone, Copy, Debug, Eq, PartialEq, TryFromBytes)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names of MAV_PARAM_TYPE")]
pub enum ParameterKind {
    Uint8 = MavParamType::MAV_PARAM_TYPE_UINT8 as u8,
    Int8 = MavParamType::MAV_PARAM_TYPE_INT8 as u8,
    Uint16 = MavParamType::MAV_PARAM_TYPE_UINT16 as u8,
    Int16 = MavParamType::MAV_PARAM_TYPE_INT16 as u8,
    Uint32 = MavParamType::MAV_PARAM_TYPE_UINT32 as u8,
    Int32 = MavParamType::MAV_PARAM_TYPE_INT32 as u8,
    Real32 = MavParamType::MAV_PARAM_TYPE_REAL32 as u8,
}

impl ParameterKind {
    /// Returns the type of a number; `None` for unknown numbers and for 64-bit types, which do not fit into the field.
    pub fn of(number: u8) -> Option<Self> {
        Self::try_read_from_bytes(&[number]).ok()
    }

    /// Returns the type to assume for an unknown parameter that is set to this value.
    pub fn for_value(value: ParameterValue) -> Self {
        match value {
            ParameterValue::Int(_) => Self::Int32,
            ParameterValue::Float(_) => Self::Real32,
        }
    }

    /// Decodes the field.
    pub fn decode(self, field: [u8; 4], encoding: ParameterEncoding) -> ParameterValue {
        let [a, b, ..] = field;
        let float = f32::from_le_bytes(field);
        if self == Self::Real32 {
            return ParameterValue::Float(float.into());
        }
        if encoding == ParameterEncoding::Cast {
            // The cast saturates; NaN becomes 0.
            return ParameterValue::Int(f64::from(float).round() as i64);
        }
        ParameterValue::Int(match self {
            Self::Uint8 => a.into(),
            Self::Int8 => i8::from_le_bytes([a]).into(),
            Self::Uint16 => u16::from_le_bytes([a, b]).into(),
            Self::Int16 => i16::from_le_bytes([a, b]).into(),
            Self::Uint32 => u32::from_le_bytes(field).into(),
            Self::Int32 | Self::Real32 => i32::from_le_bytes(field).into(),
        })
    }

    /// Encodes the value; `None` if it does not have this type or is out of its range.
    pub fn encode(self, value: ParameterValue, encoding: ParameterEncoding) -> Option<[u8; 4]> {
        let int = match (self, value) {
            (Self::Real32, ParameterValue::Float(float)) => {
                let narrow = float as f32;
                let fits = narrow.is_finite() || !float.is_finite();
                return fits.then(|| narrow.to_le_bytes());
            }
            (Self::Real32, _) | (_, ParameterValue::Float(_)) => return None,
            (_, ParameterValue::Int(int)) => int,
        };
        let padded = |[a, b]: [u8; 2]| [a, b, 0, 0];
        let bytes = match self {
            Self::Uint8 => padded([u8::try_from(int).ok()?, 0]),
            Self::Int8 => padded([i8::try_from(int).ok()?.cast_unsigned(), 0]),
            Self::Uint16 => padded(u16::try_from(int).ok()?.to_le_bytes()),
            Self::Int16 => padded(i16::try_from(int).ok()?.to_le_bytes()),
            Self::Uint32 => u32::try_from(int).ok()?.to_le_bytes(),
            Self::Int32 | Self::Real32 => i32::try_from(int).ok()?.to_le_bytes(),
        };
        Some(match encoding {
            ParameterEncoding::Bytewise => bytes,
            ParameterEncoding::Cast => (int as f32).to_le_bytes(),
        })
    }

    /// Converts a value to this type: integers to floats, whole floats to integers. `None` for a fraction in an integer type, and
    /// for a value out of range.
    pub fn adapt(self, value: ParameterValue) -> Option<ParameterValue> {
        let adapted = match (self == Self::Real32, value) {
            (true, ParameterValue::Int(int)) => ParameterValue::Float(int as f64),
            (false, ParameterValue::Float(float)) => {
                // Beyond 2^53 a float does not represent every integer.
                let is_whole = float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0;
                ParameterValue::Int(is_whole.then_some(float as i64)?)
            }
            _ => value,
        };
        self.encode(adapted, ParameterEncoding::Bytewise)?;
        Some(adapted)
    }
}

/// A name of at most 16 characters, as on the wire.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ParameterName([u8; 16]);

impl ParameterName {
    /// Converts a name; `None` if it is empty, too long, or not printable ASCII.
    pub fn new(name: &str) -> Option<Self> {
        let mut id = [0; 16];
        id.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
        Self::of_field(id)
    }

    /// Reads the name in a field: it ends at the first zero.
    pub fn of_field(field: [u8; 16]) -> Option<Self> {
        let mut id = [0; 16];
        for (to, from) in id.iter_mut().zip(field.iter().take_while(|byte| **byte != 0)) {
            if !from.is_ascii_graphic() {
                return None;
            }
            *to = *from;
        }
        (id != [0; 16]).then_some(Self(id))
    }

    /// The field.
    pub fn field(&self) -> [u8; 16] {
        self.0
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        let len = self.0.iter().position(|byte| *byte == 0).unwrap_or(16);
        let name = self.0.get(..len).unwrap_or_default();
        std::str::from_utf8(name).unwrap_or_default() // ASCII, checked by `of_field`
    }
}

impl std::fmt::Display for ParameterName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
