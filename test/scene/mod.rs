//! The renderer's scene, against what the vendor's SDK computes and sends, and against the standard's text.
#[cfg(has_simulation_interfaces)]
mod conformance;
mod console;
#[cfg(has_simulation_interfaces)]
mod filters;
#[cfg(all(has_rfly_bridge_msgs, has_simulation_interfaces))]
mod golden;
#[cfg(has_simulation_interfaces)]
mod library;
#[cfg(all(has_rfly_bridge_msgs, has_simulation_interfaces))]
mod own;
mod radiance;
#[cfg(all(has_rfly_bridge_msgs, has_simulation_interfaces))]
mod renderer_files;
#[cfg(has_simulation_interfaces)]
mod rig;
#[cfg(has_simulation_interfaces)]
mod simulation;
#[cfg(all(has_rfly_bridge_msgs, has_simulation_interfaces))]
mod states;
mod terrain;
