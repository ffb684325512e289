//! The macro that generates a parameter's row in the table, its field and its reader from one declaration.

/// Declares groups of parameters. `[HEADING]` is the section of the next fields in the documents. A field has one of these forms:
///
/// * `field: Type = "name", Kind(limits) = default, ["unit"] live "Description.";`, where limits, default, unit and `live` (can
///   be set at run time) are optional; without limits, `Choice` allows the `WORDS` of the field's type,
/// * `field: Type = ... = ... => |values| expression;`, computed from any number of parameters,
/// * `field: Group;`, a group declared by the same macro, whose parameters follow at this place of the table.
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
        #[allow(rustdoc::all, reason = "descriptions are also texts of --help and Markdown")]
        pub struct $name {$($(
            $(#[$about])*
            #[doc = parameters!(@about $type; $($doc)*)]
            pub $field: $type,
        )+)+}

        impl $name {
            pub(super) fn specs() -> Vec<$crate::config::params::ParameterSpec> {
                let mut rows = Vec::new();
                $($(
                    parameters!(@rows rows; $type; $([$crate::config::params::ParameterSpec {
                        group: $heading,
                        name: $parameter,
                        kind: parameters!(@kind $type; $kind $(($($limit),+))?),
                        default: parameters!(@default $kind $(($default))?),
                        unit: concat!($($unit)?),
                        doc: $doc,
                        live: parameters!(@live $($live)?),
                    }])* $(=> $read)?);
                )+)+
                rows
            }

            pub(super) fn read(values: &$crate::config::params::reader::Values) -> Self {
                Self {$($(
                    $field: parameters!(@read values; $type; $($parameter)* $(=> |$values| $read)?),
                )+)+}
            }
        }
    )+};

    (@about $group:ty;) => { stringify!($group) };
    (@about $type:ty; $($doc:literal)+) => { concat!($($doc, " "),+) };

    (@rows $rows:ident; $group:ty;) => { $rows.extend(<$group>::specs()) };
    (@rows $rows:ident; $type:ty; $([$row:expr])* $(=> $read:expr)?) => { $rows.extend_from_slice(&[$($row),*]) };

    (@live) => { false };
    (@live live) => { true };

    (@kind $type:ty; Choice) => {
        $crate::config::params::ValueKind::Choice(<$type as $crate::config::params::reader::FieldValue>::WORDS)
    };
    (@kind $type:ty; $kind:ident $($limits:tt)?) => { $crate::config::params::ValueKind::$kind $($limits)? };

    (@default Bool ($value:expr)) => { Some($crate::config::params::ParamValue::Bool($value)) };
    (@default Int ($value:expr)) => { Some($crate::config::params::ParamValue::Int($value)) };
    (@default Float ($value:expr)) => { Some($crate::config::params::ParamValue::Float($value)) };
    (@default Vector ($value:expr)) => { Some($crate::config::params::value::reals(&$value)) };
    (@default Covariance ($value:expr)) => { Some($crate::config::params::value::reals(&$value)) };
    (@default $text:ident ($value:expr)) => { Some($crate::config::params::ParamValue::Str($value.to_owned())) };
    (@default Paths) => { Some($crate::config::params::value::reals(&[])) };
    (@default Networks) => { Some($crate::config::params::value::reals(&[])) };
    (@default Names) => { Some($crate::config::params::value::reals(&[])) };
    (@default Ints) => { Some($crate::config::params::value::reals(&[])) };
    (@default $of_config_json:ident) => { None };

    (@read $all:ident; $group:ty;) => { <$group>::read($all) };
    (@read $all:ident; $type:ty; $parameter:literal) => { $all.read($parameter) };
    (@read $all:ident; $type:ty; $($parameter:literal)* => |$values:pat_param| $read:expr) => {{
        let $values = $all;
        $read
    }};
}
pub(super) use parameters;
