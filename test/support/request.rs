//! Sensor requests as the simulator's window receives them; also for `benches/scene.rs`.
use rfly_bridge::wire::{Modes, RequestLayout, SendProtocol, SensorKind, SensorRequest};

/// Requests a sensor in the centre of vehicle 1, at 30 Hz to port 0; images are uncompressed.
pub(crate) fn request(type_id: u16, width: u16, height: u16) -> SensorRequest {
    let kind = SensorKind::from_type_id(type_id);
    let image = kind.is_some_and(|kind| kind.row().modes == Modes::Image);
    SensorRequest {
        layout: RequestLayout::New,
        seq_id: 1,
        bitmask: 0,
        type_id,
        target_copter: 1,
        mount_type: 0,
        width,
        height,
        check_freq: 30,
        send_protocol: SendProtocol {
            mode: if image { 2 } else { 1 },
            ip: [127, 0, 0, 1],
            port: 0,
            piece_bytes: 0,
            segmentation: 0,
        },
        fov_deg: 90.0,
        position: [0.0; 3],
        eular_or_quat: 0.0,
        euler: [0.0; 3],
        quaternion: [1.0, 0.0, 0.0, 0.0],
        other_params: [0.0; 16],
    }
}
