//! The subcommand `calib`.
use super::{OUTPUT_ERROR, write_out};
use anyhow::Context as _;
use clap::{Args, builder::PossibleValuesParser};
use rfly_bridge::calib::{CONSUMERS, SensorChoice, files_for};
use rfly_bridge::node::{NODE_NAME, Settings};
use rfly_bridge::program::{SetError, write_set};
use rfly_bridge::{config::ros_args::RosArgs, ros::names::Resolver};
use std::io::{self, Write as _};
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct CalibArgs {
    /// Program that reads the files.
    #[arg(long = "for", value_name = "CONSUMER", value_parser = PossibleValuesParser::from(CONSUMERS.map(|c| c.name)))]
    consumer: String,
    /// Directory of the files and of the bridge's parameters; without it a single file is printed.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replaces existing files.
    #[arg(long, requires = "output")]
    force: bool,
    /// CopterID; by default the first vehicle.
    #[arg(long, value_name = "N")]
    vehicle: Option<u16>,
    /// SeqID of the lidar; by default the first one that is fixed on the vehicle.
    #[arg(long, value_name = "N")]
    lidar: Option<u16>,
    /// SeqID of the camera, or of the left and the right one; by default a stereo pair, else the first camera.
    #[arg(long, value_name = "N[,N]", value_delimiter = ',')]
    cameras: Vec<u16>,
}

pub(super) fn write(args: &RosArgs, calib: CalibArgs) -> anyhow::Result<()> {
    let settings = Settings::load(args)?;
    let node = args.node_name.as_deref().unwrap_or(NODE_NAME);
    let namespace = args.namespace.as_deref().unwrap_or("/");
    let names = Resolver::new(node, namespace, &args.remaps)?;
    let consumer = CONSUMERS.iter().find(|c| c.name == calib.consumer);
    let consumer = consumer.context("unknown consumer")?;
    let choice =
        SensorChoice { vehicle: calib.vehicle, lidar: calib.lidar, cameras: calib.cameras };
    let output = files_for(consumer, &settings, &names, &choice)?;
    let bridge = output.bridge_file();
    match (&calib.output, &output.files[..]) {
        (Some(dir), files) => {
            let files = files.iter().chain(&bridge);
            let files: Vec<_> = files.map(|f| (f.name, f.text.as_str())).collect();
            write_set(dir, &files, calib.force).map_err(|error| match error {
                SetError::Exist(_) => anyhow::Error::from(error).context("--force replaces files"),
                other => other.into(),
            })?;
        }
        (None, [file]) => write_out(&file.text)?,
        (None, files) => {
            let names: Vec<_> = files.iter().map(|f| f.name).collect();
            anyhow::bail!("{} are several files: give --output DIR", names.join(", "));
        }
    }
    let report = output.report(consumer, calib.output.as_deref());
    let warnings = settings.warnings.iter().map(|w| format!("warning: {w}\n"));
    let report = warnings.collect::<String>() + &report;
    io::stderr().lock().write_all(report.as_bytes()).context(OUTPUT_ERROR)
}
