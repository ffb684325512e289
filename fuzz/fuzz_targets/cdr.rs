//! Samples of foreign DDS writers; the first byte chooses the type.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rfly_bridge::msgs::{Message, diagnostic_msgs, sensor_msgs, std_msgs, tf2_msgs, vision_msgs};
use rfly_bridge::ros::RawSample;
use rfly_bridge::time::RosTime;

fuzz_target!(|data: &[u8]| {
    let Some((kind, cdr)) = data.split_first() else {
        return;
    };
    match kind % 8 {
        0 => decode::<sensor_msgs::msg::Image>(cdr),
        1 => decode::<sensor_msgs::msg::PointCloud2>(cdr),
        2 => decode::<sensor_msgs::msg::CameraInfo>(cdr),
        3 => decode::<sensor_msgs::msg::Imu>(cdr),
        4 => decode::<tf2_msgs::msg::TFMessage>(cdr),
        5 => decode::<vision_msgs::msg::Detection2DArray>(cdr),
        6 => decode::<diagnostic_msgs::msg::DiagnosticArray>(cdr),
        _ => decode::<std_msgs::msg::String>(cdr),
    }
});

fn decode<M: Message>(cdr: &[u8]) {
    let source_stamp = RosTime::default();
    let _ = RawSample { cdr, source_stamp }.decode::<M>();
}
