//! Calls a function for every message or service type.

/// The message types of this build; a workspace may lack a package.
pub(super) fn built() -> Vec<&'static str> {
    let types = rfly_bridge::msgs::TYPES.iter().copied();
    let there =
        |name: &&str| cfg!(has_livox_ros_driver2) || !name.starts_with("livox_ros_driver2/");
    types.filter(there).collect()
}

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
        {
            let mut results = Vec::new();
            $(super::types::every!(@package results $f $arguments $kind $package $($name)+);)+
            results
        }
    };
    (@package $results:ident $f:ident $arguments:tt $kind:ident livox_ros_driver2 $($name:ident)+) => {
        #[cfg(has_livox_ros_driver2)]
        $results.extend([$(super::types::every!(@one $f $arguments livox_ros_driver2 $kind $name)),+]);
    };
    (@package $results:ident $f:ident $arguments:tt $kind:ident $package:ident $($name:ident)+) => {
        $results.extend([$(super::types::every!(@one $f $arguments $package $kind $name)),+]);
    };
    (@one $f:ident ($($argument:expr),*) $package:ident $kind:ident $name:ident) => {
        $f::<rfly_bridge::msgs::$package::$kind::$name>($($argument),*)
    };
}

pub(super) use {every, every_message, every_service};
