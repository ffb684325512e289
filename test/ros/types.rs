//! Calls a function for every message or service type.

/// The message types of this build; a workspace may lack a package.
pub(super) fn built() -> Vec<&'static str> {
    of_packages_there(rfly_bridge::msgs::TYPES)
}

/// The services of this build.
pub(super) fn built_services() -> Vec<&'static str> {
    of_packages_there(rfly_bridge::msgs::SERVICES)
}

fn of_packages_there(types: &[&'static str]) -> Vec<&'static str> {
    let absent = [
        ("grid_map_msgs/", cfg!(has_grid_map_msgs)),
        ("livox_ros_driver2/", cfg!(has_livox_ros_driver2)),
        ("rfly_bridge_msgs/", cfg!(has_rfly_bridge_msgs)),
        ("simulation_interfaces/", cfg!(has_simulation_interfaces)),
        ("visualization_msgs/", cfg!(has_visualization_msgs)),
    ];
    let there =
        |name: &&str| absent.iter().all(|(package, there)| *there || !name.starts_with(package));
    types.iter().copied().filter(there).collect()
}

/// `vec![f::<M>(arguments), ..]` for every message type `M`, in the order of `built`.
macro_rules! every_message {
    ($f:ident $(, $argument:expr)*) => {
        rfly_bridge::every_message_type! { [super::types::every] $f ($($argument),*) msg }
    };
}

/// `vec![f::<S>(arguments), ..]` for every service `S`, in the order of `built_services`.
macro_rules! every_service {
    ($f:ident $(, $argument:expr)*) => {
        rfly_bridge::every_service_type! { [super::types::every] $f ($($argument),*) srv }
    };
}

macro_rules! every {
    ($f:ident $arguments:tt $kind:ident @rows $($package:ident { $($name:ident)+ })+) => {
        {
            let mut results = Vec::new();
            $(super::types::every!(@package results $f $arguments $kind $package $($name)+);)+
            results
        }
    };
    (@package $results:ident $f:ident $arguments:tt $kind:ident $package:ident $($name:ident)+) => {
        rfly_bridge::where_built! { $package
            $results.extend([$(super::types::every!(@one $f $arguments $package $kind $name)),+]);
        }
    };
    (@one $f:ident ($($argument:expr),*) $package:ident $kind:ident $name:ident) => {
        $f::<rfly_bridge::msgs::$package::$kind::$name>($($argument),*)
    };
}

pub(super) use {every, every_message, every_service};
