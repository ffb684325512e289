//! What streams steadily allocates nothing.
use super::{
    cameras::pattern,
    golden_ros::imu_params,
    rig::{Rig, config},
};
use rfly_bridge::config::params::AccelerationAxes;
use rfly_bridge::{
    config::params::{DegradeParams, ImuFrame, RgbEncoding, ScanSource, WorldConvention},
    msgs::sensor_msgs::msg::Imu,
    ros::{self, Middleware, Qos},
    sensors::{ImuConverter, Options},
    time::RosTime,
    wire::{BoxEntry, ImuPacket, RangeRecord, append_cloud, append_list},
};
use zerocopy::IntoBytes as _;

/// Allocations of a hundred frames after ten that warm the buffers up.
pub fn allocations(mut frame: impl FnMut()) -> u64 {
    (0..10).for_each(|_| frame());
    allocation_counter::measure(|| (0..100).for_each(|_| frame())).count_total
}

fn steady(type_id: u16, mode: u16, options: Options, payload: &[u8]) -> u64 {
    let mut rig = Rig::open(&config(type_id, 64, 48, mode, &[100.0, 1.0]), options);
    rig.recorder.count_only();
    let allocated = allocations(|| rig.accept(payload).unwrap());
    let published: u64 = rig.middleware.report().iter().map(|r| r.stats.published).sum();
    assert_eq!(published, 110 * rig.topics.len() as u64, "every topic is published");
    allocated
}

#[test]
fn an_imu_sample_allocates_nothing_from_datagram_to_publisher() {
    let (middleware, recorder) = Middleware::recorder(&ros::Options::new("test")).unwrap();
    let publisher = middleware.publisher::<Imu>("/rflysim/imu", Qos::DEFAULT).unwrap();
    recorder.count_only();
    let mut converter =
        ImuConverter::new(&imu_params(ImuFrame::Flu), "imu_link", WorldConvention::Enu);
    let sample = ImuPacket::new(1, 2.0, [0.1, 0.2, -9.8], [0.0; 3]);
    let allocated = allocations(|| {
        publisher
            .publish(converter.convert(&sample, AccelerationAxes::Frd, None, RosTime(5)).unwrap())
            .unwrap();
    });
    assert_eq!((allocated, publisher.stats().published), (0, 110));
}

#[test]
fn raw_images_allocate_nothing_with_and_without_a_swap() {
    let rgb8 = Options { rgb: RgbEncoding::Rgb8, ..Options::default() };
    let colour = pattern(64 * 48 * 3);
    for (type_id, options, payload) in [
        (1, Options::default(), &colour[..]),
        (1, rgb8, &colour),
        (8, Options::default(), &colour),
        (3, Options::default(), &colour[..64 * 48]),
        (2, Options::default(), &colour[..64 * 48 * 2]),
    ] {
        for mode in [0, 2] {
            assert_eq!(steady(type_id, mode, options, payload), 0, "type {type_id}, mode {mode}");
        }
    }
}

#[test]
fn clouds_allocate_nothing_also_when_their_size_changes() {
    for (type_id, count) in [(20u16, 64 * 48), (21, 64 * 48), (22, 100), (23, 7)] {
        let mut payload = Vec::new();
        append_cloud([0.0; 6], vec![[1i16, 2, 3, 4]; count], &mut payload);
        assert_eq!(steady(type_id, 1, Options::default(), &payload), 0, "type {type_id}");
        let mut scanning = Options::default();
        scanning.scan.source = ScanSource::Band;
        assert_eq!(steady(type_id, 1, scanning, &payload), 0, "type {type_id} with a scan");
    }
}

#[test]
fn noise_allocates_nothing() {
    let options = Options {
        degrade: DegradeParams {
            depth_noise_m: 0.01,
            lidar_noise_m: 0.02,
            lidar_dropout: 0.1,
            ..DegradeParams::default()
        },
        ..Options::default()
    };
    let mut depth = Vec::new();
    append_cloud([0.0; 6], vec![[1i16, 2, 3]; 64 * 48], &mut depth);
    let mut lidar = Vec::new();
    append_cloud([0.0; 6], vec![[1i16, 2, 3, 4]; 64 * 48], &mut lidar);
    let counts = pattern(64 * 48 * 2);
    for (type_id, mode, payload) in
        [(2, 2, &counts), (7, 1, &depth), (20, 1, &lidar), (21, 1, &lidar), (23, 1, &lidar)]
    {
        assert_eq!(steady(type_id, mode, options, payload), 0, "type {type_id}");
    }
}

#[test]
fn ranges_and_lists_allocate_nothing() {
    let range = RangeRecord::new(5.0, 7, [0.0; 3], [0.0; 3], [1.0; 3], [2.0; 3]);
    assert_eq!(steady(5, 1, Options::default(), range.as_bytes()), 0);
    let mut boxes = Vec::new();
    append_list(&[BoxEntry::new(12, 0.5, [1.0, 2.0, 3.0, 4.0]); 3], &mut boxes);
    assert_eq!(steady(30, 1, Options::default(), &boxes), 0);
}
