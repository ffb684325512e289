//! The subcommand `view`.
use super::{START_GRACE, join_graph, log_interrupted_start};
use clap::Args;
use rfly_bridge::program::{Ended, Signals};
use rfly_bridge::{config::params::ViewParams, config::ros_args::RosArgs, node::view};

#[derive(Args)]
pub(super) struct ViewArgs {
    /// TCP port, on this host only.
    #[arg(long, value_name = "N", default_value_t = 8765, value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// Lets clients call services: arm, fly, set parameters.
    #[arg(long)]
    control: bool,
    /// Accepts the origin of another web site, such as https://app.foxglove.dev; may be repeated.
    #[arg(long = "origin", value_name = "URL")]
    origins: Vec<String>,
}

pub(super) fn show(args: RosArgs, options: ViewArgs) -> anyhow::Result<()> {
    anyhow::ensure!(
        !cfg!(feature = "rclrs"),
        "not available in a ROS 2 workspace, whose client library has no raw subscriptions: start the bridge with -p view.port:={}",
        options.port
    );
    let mut signals = Signals::listen()?;
    let started = signals.during(START_GRACE, move |_| {
        let middleware = join_graph(&args, "rfly_bridge_view", None)?;
        let params =
            ViewParams { port: options.port, control: options.control, origins: options.origins };
        anyhow::Ok(view(&middleware, &params)?)
    })?;
    let Ended::Done(viewer) = started else { return log_interrupted_start(started) };
    let _viewer = viewer?;
    signals.wait();
    Ok(())
}
