//! One declaration per parameter, of which its row in the table, its field and its reading are made.
use super::ParameterSpec;

/// Declares groups of parameters. Below the heading of their rows in the documents, in `[]`, a field is one of
///
/// * `field: Type = "name", Kind(limits) = default, ["unit"] live "Description.";` without the limits, default and unit that
///   it does not have; `live` can be set at run time. A [`Kind::Choice`](super::Kind) has the words of its type.
/// * `field: Type = ... = ... => |values| expression;`, made of several parameters, or read otherwise,
/// * `field: Group;`, with the parameters of the group in its place.
macro_rules! parameters {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident {$(
            [$heading:ident]
            $(
                $(#[$about:meta])*
                $field:ident: $type:ty
                $(= $parameter:literal, $kind:ident $(($($limit:expr),+))? $(= $default:expr)?, $([$unit:literal])? $($live:ident)? $doc:literal)*
                $(=> |$values:pat_param| $read:expr)?;
            )+
        )+}
    )+) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(rustdoc::all, reason = "a description is for every document")]
        pub struct $name {$($(
            $(#[$about])*
            $(#[doc = $doc])*
            pub $field: $type,
        )+)+}

        impl $name {
            /// The rows of the table.
            pub(super) const ROWS: &'static [$crate::config::params::ParameterSpec] = {
                use $crate::config::params::{ParameterSpec, declare::{join, length}};
                const PARTS: &[&[ParameterSpec]] = &[$($(
                    parameters!(@rows $type; $([ParameterSpec {
                        group: $heading,
                        name: $parameter,
                        kind: parameters!(@kind $type; $kind $(($($limit),+))?),
                        default: parameters!(@default $kind $(($default))?),
                        unit: concat!($($unit)?),
                        doc: $doc,
                        live: parameters!(@live $($live)?),
                    }])* $(=> $read)?),
                )+)+];
                &join::<{ length(PARTS) }>(PARTS)
            };

            /// Reads the values of all fields.
            pub(super) fn read(values: &$crate::config::params::reader::Values) -> Self {
                Self {$($(
                    $field: parameters!(@read values; $type; $($parameter)* $(=> |$values| $read)?),
                )+)+}
            }
        }
    )+};

    (@rows $group:ty;) => { <$group>::ROWS };
    (@rows $type:ty; $([$row:expr])* $(=> $read:expr)?) => { &[$($row),*] };

    (@live) => { false };
    (@live live) => { true };

    (@kind $type:ty; Choice) => {
        $crate::config::params::Kind::Choice(<$type as $crate::config::params::reader::Value>::WORDS)
    };
    (@kind $type:ty; $kind:ident $($limits:tt)?) => { $crate::config::params::Kind::$kind $($limits)? };

    (@default Bool ($value:expr)) => { $crate::config::params::DefaultValue::Bool($value) };
    (@default Int ($value:expr)) => { $crate::config::params::DefaultValue::Int($value) };
    (@default Float ($value:expr)) => { $crate::config::params::DefaultValue::Float($value) };
    (@default Vector ($value:expr)) => { $crate::config::params::DefaultValue::Floats(&$value) };
    (@default Covariance ($value:expr)) => { $crate::config::params::DefaultValue::Floats(&$value) };
    (@default $text:ident ($value:expr)) => { $crate::config::params::DefaultValue::Str($value) };
    (@default Paths) => { $crate::config::params::DefaultValue::Empty };
    (@default Networks) => { $crate::config::params::DefaultValue::Empty };
    (@default Names) => { $crate::config::params::DefaultValue::Empty };
    (@default Ints) => { $crate::config::params::DefaultValue::Empty };
    (@default $of_sensors:ident) => { $crate::config::params::DefaultValue::File };

    (@read $all:ident; $group:ty;) => { <$group>::read($all) };
    (@read $all:ident; $type:ty; $parameter:literal) => { $all.read($parameter) };
    (@read $all:ident; $type:ty; $($parameter:literal)* => |$values:pat_param| $read:expr) => {{
        let $values = $all;
        $read
    }};
}
pub(super) use parameters;

/// Number of rows in all parts.
pub(super) const fn length(parts: &[&[ParameterSpec]]) -> usize {
    let (mut part, mut rows) = (0, 0);
    while part < parts.len() {
        rows += parts[part].len();
        part += 1;
    }
    rows
}

/// The rows of all parts.
pub(super) const fn join<const ROWS: usize>(parts: &[&[ParameterSpec]]) -> [ParameterSpec; ROWS] {
    let mut rows = [parts[0][0]; ROWS];
    let (mut part, mut done) = (0, 0);
    while part < parts.len() {
        let mut row = 0;
        while row < parts[part].len() {
            rows[done] = parts[part][row];
            (row, done) = (row + 1, done + 1);
        }
        part += 1;
    }
    rows
}
