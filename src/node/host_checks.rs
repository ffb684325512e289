//! Checks of `doctor` on the settings and on this host.
use super::awaited::{listens, sends_to};
use super::settings::Settings;
use crate::doctor::{Finding, SensorSetup, Setup, Simulator, check_environment, check_host};
use crate::transport::{HostFacts, block_file};
use crate::wire::{shm_block_lens, shm_name};
use crate::{config::TransportMode, sensors::spec_of};
use std::path::Path;

/// Returns the simulator as seen from this host, and the findings.
pub(super) fn check(settings: &Settings) -> (Simulator, Vec<Finding>) {
    let variable = |name: &str| std::env::var(name).ok();
    let mut found = check_environment(&variable, &|path| Path::new(path).exists());
    let (setup, host) = (setup(settings), HostFacts::read());
    found.extend(check_host(&setup, &host));
    (Simulator::new(&setup, &host), found)
}

fn setup(settings: &Settings) -> Setup {
    let params = &settings.params;
    let sensors = settings.sensors.iter().map(|sensor| {
        let objects = sensor.other_params[1].max(0.0) as u32;
        let (width, height) = (sensor.width, sensor.height);
        let lengths = shm_block_lens(sensor.kind.type_id(), width, height, objects);
        let (least, most) = lengths.map_or((0, 0), |lengths| (*lengths.start(), *lengths.end()));
        let is_shared = sensor.transport == TransportMode::SharedMemory;
        let block = is_shared.then(|| {
            let name = shm_name(sensor.seq_id);
            let file = block_file(&name);
            (name, least as u64, file)
        });
        SensorSetup {
            name: format!("sensor{} {}", sensor.seq_id, spec_of(sensor.kind).suffix()),
            destination: sensor.ip.into(),
            // Compressed images are much smaller, and blocks use no socket.
            burst: if sensor.is_sent_raw() { most as u64 } else { 0 },
            block,
        }
    });
    Setup {
        renderer: settings.renderer(),
        sends_to: sends_to(settings),
        listens: listens(settings),
        receive_buffer: params.receive_buffer_bytes as u64,
        sensors: sensors.collect(),
    }
}
