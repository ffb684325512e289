//! Build steps that Cargo.toml cannot express.
#[path = "msg/generate.rs"]
mod generate;

use generate::Interfaces;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    make_messages().expect("interface files and Rust code of messages");
    wrap_socket_calls();
    wrap_inline_qos();
    look_for_messages();
}

/// Makes the middleware call our wrappers of `sendmsg` (`src/ros/pacing`) and `recvmsg` (`src/ros/dds`). Only the embedded
/// middleware is linked to both; one that is loaded at run time finds `sendmsg` among the symbols of the program.
fn wrap_socket_calls() {
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        match env::var_os("CARGO_FEATURE_DDS") {
            Some(_) => println!("cargo::rustc-link-arg=-Wl,--wrap=sendmsg,--wrap=recvmsg"),
            None => println!("cargo::rustc-link-arg=-Wl,--export-dynamic-symbol=sendmsg"),
        }
    }
}

/// Makes the embedded Cyclone DDS call our function to add inline QoS (`src/ros/dds/ffi/identity.rs`).
fn wrap_inline_qos() {
    if env::var_os("CARGO_FEATURE_DDS").is_some() {
        println!("cargo::rustc-link-arg=-Wl,--wrap=ddsi_xmsg_addpar_statusinfo");
    }
}

/// Generates what the workspace or the message crate lacks: the structures of three packages, the hash of every type, and the
/// definition of every message as text.
fn make_messages() -> std::io::Result<()> {
    let mut interfaces = Interfaces::default();
    interfaces.add_all(&fs::read_to_string("msg/definitions.txt")?);
    for kind in ["msg", "srv"] {
        println!("cargo::rerun-if-changed={kind}");
        for entry in fs::read_dir(kind)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == kind) {
                let name = path.file_stem().unwrap_or_default().display();
                interfaces
                    .add(&format!("rfly_bridge_msgs/{kind}/{name}"), &fs::read_to_string(&path)?);
            }
        }
    }
    let out = env::var_os("OUT_DIR").unwrap_or_default();
    let out = Path::new(&out);
    fs::write(out.join("interfaces.rs"), interfaces.table())?;
    for package in ["livox_ros_driver2", "rfly_bridge_msgs", "simulation_interfaces"] {
        fs::write(out.join(format!("{package}.rs")), interfaces.structures(package))?;
    }
    Ok(())
}

/// Sets `has_<package>` for each message package that a workspace may lack, if it has it; the embedded back ends have all.
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
        let manifests =
            prefixes.iter().map(|prefix| prefix.join(format!("share/{package}/rust/Cargo.toml")));
        let manifest = manifests.map(fs::read_to_string).find_map(Result::ok);
        // `simulation_interfaces` before 2.1 has other fields.
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
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    let mut numbers = line.unwrap_or_default().split(['.', '"']);
    let mut next = || numbers.next()?.parse().ok();
    (next().unwrap_or(0), next().unwrap_or(0))
}
