//! Requests to the renderer.
use crate::config::{SensorConfig, params::RequestFormat};
use crate::wire::{RequestLayout, SendProtocol, SensorRequest};

/// Returns the request for a sensor.
pub fn sensor_request(sensor: &SensorConfig, format: RequestFormat) -> SensorRequest {
    SensorRequest {
        layout: match format {
            RequestFormat::Long => RequestLayout::Long,
            RequestFormat::Vendor if sensor.layout_new => RequestLayout::New,
            RequestFormat::Vendor => RequestLayout::Old,
        },
        seq_id: sensor.seq_id,
        bitmask: 0,
        type_id: sensor.kind.type_id(),
        target_copter: sensor.mount.target(),
        mount_type: sensor.mount.number(),
        width: sensor.width,
        height: sensor.height,
        check_freq: sensor.rate_hz,
        send_protocol: SendProtocol {
            mode: sensor.transport.number(),
            ip: sensor.ip.map(u16::from),
            port: sensor.port,
            piece_bytes: sensor.piece_bytes,
            segmentation: sensor.segmentation,
        },
        fov_deg: sensor.fov_deg,
        position: sensor.raw_position(),
        eular_or_quat: sensor.eular_or_quat,
        euler: sensor.raw_euler,
        quaternion: sensor.raw_quaternion,
        other_params: sensor.other_params,
    }
}
