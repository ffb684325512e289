//! The trait of all fixed layouts, and the macro that declares them.
use super::WireError;
use zerocopy::little_endian::{F32, F64, I32, I64, U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A fixed-size datagram or record.
pub trait Packet: FromBytes + IntoBytes + Immutable + KnownLayout + Unaligned + Sized {
    /// Name used in errors and logs.
    const NAME: &'static str;

    /// Length on the wire in bytes.
    const LEN: usize = size_of::<Self>();

    /// Verifies the contents, usually the check word.
    fn check(&self) -> Result<(), WireError> {
        Ok(())
    }

    /// Views `bytes` as this packet; the length must be exact.
    fn parse(bytes: &[u8]) -> Result<&Self, WireError> {
        let packet = Self::ref_from_bytes(bytes);
        let packet = packet.map_err(|_cast| wrong_length(Self::NAME, Self::LEN, bytes))?;
        packet.check()?;
        Ok(packet)
    }

    /// Views the first bytes as this packet and returns the rest.
    fn parse_prefix(bytes: &[u8]) -> Result<(&Self, &[u8]), WireError> {
        let packet = Self::ref_from_prefix(bytes);
        let (packet, rest) = packet.map_err(|_cast| wrong_length(Self::NAME, Self::LEN, bytes))?;
        packet.check()?;
        Ok((packet, rest))
    }
}

pub(super) fn wrong_length(what: &'static str, expected: usize, bytes: &[u8]) -> WireError {
    WireError::Length { what, expected, found: bytes.len() }
}

/// Compares a check word with the expected one.
pub(super) fn expect_tag(what: &'static str, expected: i32, found: i32) -> Result<(), WireError> {
    expect_one_of(what, [expected], found)
}

/// Compares a check word with the expected ones; the error names the first of them.
pub(super) fn expect_one_of<const N: usize>(
    what: &'static str,
    tags: [i32; N],
    found: i32,
) -> Result<(), WireError> {
    if tags.contains(&found) {
        return Ok(());
    }
    Err(WireError::Tag { what, expected: tags[0].into(), found: found.into() })
}

/// A field of a packet.
pub trait PacketField {
    /// Its value: a native number, or an array of native numbers.
    type Plain;

    /// Converts the value for the wire.
    fn from_plain(value: Self::Plain) -> Self;
}

macro_rules! packet_fields {
    ($($field:ident $value:ident,)+) => {$(
        impl PacketField for $field {
            type Plain = $value;

            fn from_plain(value: $value) -> Self {
                value.into()
            }
        }
    )+};
}

packet_fields! { u8 u8, U16 u16, U32 u32, U64 u64, I32 i32, I64 i64, F32 f32, F64 f64, }

impl<T: PacketField, const N: usize> PacketField for [T; N] {
    type Plain = [T::Plain; N];

    fn from_plain(value: Self::Plain) -> Self {
        value.map(T::from_plain)
    }
}

/// Declares packets: `Name("name in errors", check word | other check word, new) { field: Type = "its documentation", }`.
///
/// A check word is the first field, `checksum`. `new` is the name of a constructor that takes the values of the other fields in
/// their order. Without a name in errors, the file implements [`Packet`] itself.
macro_rules! packets {
    ($($(#[$doc:meta])* $name:ident $([$($generic:tt)+])? ($($properties:tt)*) { $($fields:tt)* })+) => {
        $(packets! { @one ($($properties)*) $(#[$doc])* $name [$($($generic)+)?] { $($fields)* } })+
    };
    (@one ($text:literal, $tag:literal $(| $other:literal)*, $new:ident) $(#[$doc:meta])* $name:ident [] { $($fields:tt)* }) => {
        packets! { @one ($text, $tag $(| $other)*) $(#[$doc])* $name [] { $($fields)* } }
        packets! { @new $new $name { checksum: Self::TAG.into(), } { $($fields)* } }
    };
    (@one ($text:literal, $new:ident) $(#[$doc:meta])* $name:ident [] { $($fields:tt)* }) => {
        packets! { @one ($text) $(#[$doc])* $name [] { $($fields)* } }
        packets! { @new $new $name {} { $($fields)* } }
    };
    (@one ($text:literal, $tag:literal $(| $other:literal)*) $(#[$doc:meta])* $name:ident [] { $($fields:tt)* }) => {
        packets! { @one () $(#[$doc])* $name [] {
            #[doc = concat!("Check word ", $tag, $(" or ", $other,)* ".")]
            checksum: zerocopy::little_endian::I32,
            $($fields)*
        } }

        impl $name {
            /// The first check word.
            pub const TAG: i32 = $tag;
        }

        impl $crate::wire::Packet for $name {
            const NAME: &'static str = $text;

            fn check(&self) -> Result<(), $crate::wire::WireError> {
                let tags = [$tag $(, $other)*];
                $crate::wire::packet::expect_one_of(Self::NAME, tags, self.checksum.get())
            }
        }
    };
    (@one ($text:literal) $(#[$doc:meta])* $name:ident [] { $($fields:tt)* }) => {
        packets! { @one () $(#[$doc])* $name [] { $($fields)* } }

        impl $crate::wire::Packet for $name {
            const NAME: &'static str = $text;
        }
    };
    (@one () $(#[$doc:meta])* $name:ident [$($generic:tt)*] {
        $($(#[$field_doc:meta])* $field:ident: $type:ty $(= $line:literal)?,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[derive(zerocopy::FromBytes, zerocopy::Immutable, zerocopy::IntoBytes, zerocopy::KnownLayout, zerocopy::Unaligned)]
        #[repr(C)]
        pub struct $name<$($generic)*> {
            $($(#[$field_doc])* $(#[doc = $line])? pub $field: $type,)+
        }
    };
    (@new $new:ident $name:ident { $($checksum:tt)* } { $($(#[$field_doc:meta])* $field:ident: $type:ty $(= $line:literal)?,)+ }) => {
        impl $name {
            /// Creates the packet from the values of its fields, in their order.
            pub fn $new($($field: <$type as $crate::wire::packet::PacketField>::Plain),+) -> Self {
                Self {
                    $($checksum)*
                    $($field: $crate::wire::packet::PacketField::from_plain($field),)+
                }
            }
        }
    };
}
