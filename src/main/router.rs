//! The subcommand `router`.
#[cfg(feature = "zenoh")]
use super::{Signals, write_out};
#[cfg(feature = "zenoh")]
use rfly_bridge::ros::ZenohOptions;

/// Runs a router until a signal.
#[cfg(feature = "zenoh")]
pub(super) fn run() -> anyhow::Result<()> {
    let options = ZenohOptions::default().with_environment(|name| std::env::var(name).ok())?;
    let mut signals = Signals::listen()?;
    let router = rfly_bridge::ros::Router::open(&options)?;
    write_out(format!("Zenoh router on {}\n", router.addresses()))?;
    signals.wait();
    Ok(())
}

#[cfg(not(feature = "zenoh"))]
pub(super) fn run() -> anyhow::Result<()> {
    anyhow::bail!(rfly_bridge::ros::RosError::WithoutZenoh)
}
