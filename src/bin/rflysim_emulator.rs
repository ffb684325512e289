//! Plays the RflySim simulator on this machine.
use anyhow::Context as _;
use clap::Parser;
use rfly_bridge::emulator::world::World;
use rfly_bridge::emulator::{Emulator, EmulatorOptions, Faults};

/// Plays the RflySim simulator: renderer windows, vehicles, clock. No Windows, no GPU.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Number of vehicles
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=50))]
    vehicles: u16,
    /// Vehicles stand still in the air instead of flying laps
    #[arg(long)]
    hover: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let vehicles = if arguments.hover {
        World::hovering(arguments.vehicles)
    } else {
        World::laps(arguments.vehicles)
    };
    let options = EmulatorOptions::default().with_vehicles(vehicles);
    let emulator = Emulator::start(options, Faults::default())?;
    println!(
        "rflysim_emulator: windows {:?}, vehicles {:?}",
        emulator.windows(),
        emulator.coptersims()
    );
    wait_for_signal()?;
    let stats = emulator.stop();
    for (seq_id, sensor) in &stats.sensors {
        println!(
            "sensor {seq_id} (type {}): {} frames",
            sensor.type_id, sensor.frames
        );
    }
    Ok(())
}

/// Waits for Ctrl-C or SIGTERM.
fn wait_for_signal() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("no runtime")?;
    runtime.block_on(async {
        let mut terminate =
            tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        tokio::select! {
            result = tokio::signal::ctrl_c() => result?,
            _ = terminate.recv() => {}
        }
        Ok(())
    })
}
