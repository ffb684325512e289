//! Open sensors as recorded vectors want them.
use crate::support::golden::{Vector, number};
pub use crate::support::sensor::{Rig, config};
use rfly_bridge::{
    config::SensorConfig,
    session::{Reassembler, ReassemblyResult},
};

/// The settings a vector was recorded with.
pub fn config_of(vector: &Vector) -> SensorConfig {
    let args = &vector["args"];
    let int = |name: &str| u16::try_from(args[name].as_u64().unwrap_or(0)).unwrap();
    let params: Vec<f32> =
        args["otherParams"].as_array().unwrap().iter().map(|p| number(p) as f32).collect();
    config(int("TypeID"), int("DataWidth"), int("DataHeight"), int("SendProtocol0"), &params)
}

/// The whole frames that a vector's datagrams carry.
pub fn payloads_of(vector: &Vector) -> Vec<Vec<u8>> {
    let mut reassembler = Reassembler::new(1 << 20);
    let mut whole = Vec::new();
    for datagram in vector.input_packets() {
        if let ReassemblyResult::Complete(frame) = reassembler.push(&datagram) {
            whole.push(frame.payload.to_vec());
        }
    }
    whole
}
