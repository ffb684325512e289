//! Build steps that Cargo.toml cannot express.
use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    stand_in_front_of_sockets();
    name_replies();
    look_for_messages();
}

/// Makes the middleware call our wrappers of `sendmsg` (`src/ros/pacing`) and `recvmsg` (`src/ros/dds`). The embedded
/// middleware alone is linked to them; one loaded at run time finds `sendmsg` among the symbols of the
/// program.
fn stand_in_front_of_sockets() {
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        match env::var_os("CARGO_FEATURE_DDS") {
            Some(_) => println!("cargo::rustc-link-arg=-Wl,--wrap=sendmsg,--wrap=recvmsg"),
            None => println!("cargo::rustc-link-arg=-Wl,--export-dynamic-symbol=sendmsg"),
        }
    }
}

/// Makes the embedded Cyclone DDS call our function to add inline QoS (`src/ros/dds/ffi/identity.rs`).
fn name_replies() {
    if env::var_os("CARGO_FEATURE_DDS").is_some() {
        println!("cargo::rustc-link-arg=-Wl,--wrap=ddsi_xmsg_addpar_statusinfo");
    }
}

/// Checks for message packages that a workspace may lack. The embedded back end has its own.
fn look_for_messages() {
    println!("cargo::rerun-if-env-changed=AMENT_PREFIX_PATH");
    let prefixes = env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let prefixes: Vec<_> = env::split_paths(&prefixes).collect();
    for prefix in &prefixes {
        // Installing a package adds a file here. Cargo would treat a missing path as changed on every build.
        let packages = prefix.join("share/ament_index/resource_index/packages");
        if packages.exists() {
            println!("cargo::rerun-if-changed={}", packages.display());
        }
    }
    for package in [
        "grid_map_msgs",
        "livox_ros_driver2",
        "rfly_bridge_msgs",
        "simulation_interfaces",
        "visualization_msgs",
    ] {
        println!("cargo::rustc-check-cfg=cfg(has_{package})");
        let manifests = prefixes
            .iter()
            .map(|prefix| prefix.join(format!("share/{package}/rust/Cargo.toml")));
        let manifest = manifests.map(std::fs::read_to_string).find_map(Result::ok);
        // Messages before 2.1 have other fields.
        let sourced = manifest.is_some_and(|manifest| {
            package != "simulation_interfaces" || version(&manifest) >= (2, 1)
        });
        if sourced || env::var_os("CARGO_FEATURE_RCLRS").is_none() {
            println!("cargo::rustc-cfg=has_{package}");
        }
    }
}

/// Major and minor version of a crate.
fn version(manifest: &str) -> (u32, u32) {
    let line = manifest
        .lines()
        .find_map(|line| line.strip_prefix("version = \""));
    let mut numbers = line.unwrap_or_default().split(['.', '"']);
    let mut next = || numbers.next()?.parse().ok();
    (next().unwrap_or(0), next().unwrap_or(0))
}
