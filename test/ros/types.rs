//! Calls a function for every message or service type.

/// `vec![f::<M>(arguments), ..]` for every message type `M`, in the order of `msgs::TYPES`.
macro_rules! every_message {
    ($f:ident $(, $argument:expr)*) => {
        rfly_bridge::every_message_type! { [super::types::every] $f ($($argument),*) msg }
    };
}

/// `vec![f::<S>(arguments), ..]` for every service `S`, in the order of `msgs::SERVICES`.
macro_rules! every_service {
    ($f:ident $(, $argument:expr)*) => {
        rfly_bridge::every_service_type! { [super::types::every] $f ($($argument),*) srv }
    };
}

macro_rules! every {
    ($f:ident $arguments:tt $kind:ident @rows
        $($package:ident { $($name:ident $($header:ident)? $($hash:literal)+;)+ })+) => {
        vec![$($(super::types::every!(@one $f $arguments $package $kind $name),)+)+]
    };
    (@one $f:ident ($($argument:expr),*) $package:ident $kind:ident $name:ident) => {
        $f::<rfly_bridge::msgs::$package::$kind::$name>($($argument),*)
    };
}

pub(super) use {every, every_message, every_service};
