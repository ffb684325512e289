//! Frames in shared memory, whose writer may do anything at any moment.
use crate::{
    sensors::{
        pipeline::{CountingStep, StepCounts},
        rig::{Rig, config},
    },
    support::golden::{load, number},
};
use rfly_bridge::{
    config::params::RgbEncoding,
    msgs::sensor_msgs::msg::{Image, PointCloud2},
    node::{BlockRead, BlockReader},
    sensors::{Options, SensorError},
    time::{RosTime, SimTime},
    transport::SharedBlock,
    wire::{SHM_HEADER_LEN, ShmFlag, shm_block_len},
};
use std::fs::OpenOptions;

/// A block of its own for each test, with a complete frame in it.
struct Block {
    name: String,
    block: SharedBlock,
}

impl Block {
    fn new(what: &str, region: &[u8]) -> Self {
        let name = format!("rfly_bridge_blocks_{what}_{}", std::process::id());
        let block = SharedBlock::create(&name, region.len()).unwrap();
        block.copy_in(0, region);
        Self { name, block }
    }

    /// 640x480, in pages of which each has its own number.
    fn image(what: &str) -> Self {
        let len = shm_block_len(1, 640, 480, 0).unwrap();
        let mut region: Vec<u8> = (0..len).map(|at| (at / 4096) as u8 | 1).collect();
        region[0] = ShmFlag::Ready as u8;
        region[1..SHM_HEADER_LEN].copy_from_slice(&12.5_f64.to_le_bytes());
        Self::new(what, &region)
    }

    fn path(&self) -> String {
        format!("/dev/shm/{}", self.name)
    }

    fn truncate(&self, len: u64) {
        let file = OpenOptions::new().write(true).open(self.path()).unwrap();
        file.set_len(len).unwrap();
    }

    fn flag(&self) -> u8 {
        self.block.flag()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(self.path());
    }
}

const STAMP: RosTime = RosTime(1_700_000_012_345_000_000);

fn rgb(encoding: RgbEncoding) -> Rig {
    let options = Options { rgb: encoding, ..Options::default() };
    Rig::open(&config(1, 640, 480, 0, &[]), options)
}

#[test]
fn every_recorded_block_is_published_as_its_payload_would_be_and_given_back() {
    let mut taken = 0;
    for vector in load("recv_shm") {
        let args = &vector["args"];
        let int = |key: &str| u16::try_from(args[key].as_u64().unwrap()).unwrap();
        let params = args["otherParams"].as_array().unwrap();
        let params: Vec<f32> = params.iter().map(|p| number(p) as f32).collect();
        let settings = config(int("TypeID"), int("DataWidth"), int("DataHeight"), 0, &params);
        let region = vector.input_region();
        let block = Block::new("recorded", &region);
        let mut rig = Rig::open(&settings, Options::default());
        let time = std::cell::Cell::new(SimTime::default());
        let result = BlockReader::default().take(&block.block, &mut rig.sensor, STAMP, |at| {
            time.set(at);
            Some(STAMP)
        });
        if region[0] != ShmFlag::Ready as u8 {
            let flag = block.flag();
            assert!(result.is_none(), "{}: {result:?}", vector.name());
            assert_eq!(flag, region[0], "{}", vector.name());
            continue;
        }
        taken += 1;
        assert!(matches!(result, Some(BlockRead::Published)), "{}: {result:?}", vector.name());
        assert_eq!(block.flag(), ShmFlag::Released as u8);
        let seconds = f64::from_le_bytes(region[1..SHM_HEADER_LEN].try_into().unwrap());
        assert_eq!(time.get(), SimTime::from_secs(seconds));
        let mut plain = Rig::open(&settings, Options::default());
        plain.accept_at(&region[SHM_HEADER_LEN..], STAMP).unwrap();
        for topic in &plain.topics {
            assert_eq!(rig.recorder.raw(topic), plain.recorder.raw(topic), "{topic}");
        }
    }
    assert_eq!(taken, 17);
}

#[test]
fn a_block_is_given_back_once_it_is_copied_not_once_it_is_sent() {
    let (mut rig, block) = (rgb(RgbEncoding::Bgr8), Block::image("early"));
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (sent, at_sending) = (seen.clone(), SharedBlock::open(&block.name, 1).unwrap());
    let _subscription = rig
        .middleware
        .subscribe::<Image>(&rig.topic("img_rgb"), rfly_bridge::ros::Qos::DEFAULT, move |_| {
            sent.lock().unwrap().push(at_sending.flag());
        })
        .unwrap();
    let taken = BlockReader::default().take(&block.block, &mut rig.sensor, STAMP, |_| Some(STAMP));
    assert!(matches!(taken, Some(BlockRead::Published)), "{taken:?}");
    assert_eq!(*seen.lock().unwrap(), [ShmFlag::Released as u8]);
}

#[test]
fn a_block_that_is_cut_off_while_it_is_read_is_a_counted_drop() {
    // Gathered out of the block; converted in a copy.
    for (encoding, len) in [
        (RgbEncoding::Bgr8, 0),
        (RgbEncoding::Bgr8, 8192),
        (RgbEncoding::Rgb8, 0),
        (RgbEncoding::Rgb8, 8192),
    ] {
        let (mut rig, block) = (rgb(encoding), Block::image("cut_off"));
        let mut reader = BlockReader::default();
        let taken = reader.take(&block.block, &mut rig.sensor, STAMP, |_| {
            block.truncate(len);
            Some(STAMP)
        });
        assert!(
            matches!(taken, Some(BlockRead::Dropped(SensorError::Torn))),
            "{encoding:?} {len}: {taken:?}"
        );
        assert_eq!(rig.published::<Image>("img_rgb").len(), 0);
        assert!(block.block.is_lost() && !block.block.is_current());
        let next = reader.take(&block.block, &mut rig.sensor, STAMP, |_| Some(STAMP));
        assert!(next.is_none(), "zeros are no frame: {next:?}");
    }
}

#[test]
fn a_frame_that_the_simulator_overwrites_meanwhile_is_not_published() {
    for encoding in [RgbEncoding::Bgr8, RgbEncoding::Rgb8] {
        let (mut rig, block) = (rgb(encoding), Block::image("torn"));
        let taken = BlockReader::default().take(&block.block, &mut rig.sensor, STAMP, |_| {
            block.block.set_flag(ShmFlag::Writing as u8);
            Some(STAMP)
        });
        assert!(matches!(taken, Some(BlockRead::Dropped(SensorError::Torn))), "{taken:?}");
        assert_eq!(rig.published::<Image>("img_rgb").len(), 0);
        assert_eq!(block.flag(), ShmFlag::Writing as u8, "the writer's flag stays");
    }
}

#[test]
fn steps_see_frames_that_are_published_out_of_their_block() {
    let (mut rig, block) = (rgb(RgbEncoding::Bgr8), Block::image("steps"));
    let seen = std::sync::Arc::new(StepCounts::default());
    rig.sensor.add_step(Box::new(CountingStep(seen.clone())));
    assert!(rig.sensor.reads_shared(640 * 480 * 3));
    let taken = BlockReader::default().take(&block.block, &mut rig.sensor, STAMP, |_| Some(STAMP));
    assert!(matches!(taken, Some(BlockRead::Published)), "{taken:?}");
    assert_eq!(seen.counts(), [1, 1, 0]);
    let block = Block::image("steps_torn");
    let taken = BlockReader::default().take(&block.block, &mut rig.sensor, STAMP, |_| {
        block.block.set_flag(ShmFlag::Writing as u8);
        Some(STAMP)
    });
    assert!(matches!(taken, Some(BlockRead::Dropped(SensorError::Torn))), "{taken:?}");
    assert_eq!(seen.counts(), [2, 1, 0], "a torn frame is not published");
}

#[test]
fn a_list_is_judged_by_a_copy_that_nobody_changes() {
    // The count of points becomes huge while the frame is read; what is published has the count that was copied.
    let vector = rfly_bridge_vector("shm_lidar20");
    let block = Block::new("count", &vector.1);
    let mut rig = Rig::open(&vector.0, Options::default());
    let taken = BlockReader::default().take(&block.block, &mut rig.sensor, STAMP, |_| {
        block.block.copy_in(33, &i32::MAX.to_le_bytes());
        Some(STAMP)
    });
    assert!(matches!(taken, Some(BlockRead::Dropped(SensorError::CloudForm { .. }))), "{taken:?}");
    assert_eq!(rig.published::<PointCloud2>("vehicle_lidar").len(), 0);
}

fn rfly_bridge_vector(name: &str) -> (rfly_bridge::config::SensorConfig, Vec<u8>) {
    let vectors = load("recv_shm");
    let vector = vectors.iter().find(|v| v.name() == name).unwrap();
    (crate::sensors::rig::config_of(vector), vector.input_region())
}

#[test]
fn nobody_subscribes_and_the_block_is_given_back_uncopied() {
    let mut rig = Rig::open_unwatched(&config(1, 640, 480, 0, &[]), Options::default());
    assert!(!rig.sensor.is_wanted());
    let block = Block::image("unwanted");
    let taken = BlockReader::default().take(&block.block, &mut rig.sensor, STAMP, |_| Some(STAMP));
    assert!(matches!(taken, Some(BlockRead::Unwanted)), "{taken:?}");
    assert_eq!(block.flag(), ShmFlag::Released as u8);
}

#[test]
fn a_frame_that_another_program_takes_is_noticed_once() {
    let block = Block::image("taken_elsewhere");
    let mut rig = rgb(RgbEncoding::Bgr8);
    let mut reader = BlockReader::default();
    let frame = |seconds: f64, flag: ShmFlag| {
        block.block.copy_in(1, &seconds.to_le_bytes());
        block.block.copy_in(0, &[flag as u8]);
    };
    // What was there before the first frame is nobody's loss.
    frame(12.0, ShmFlag::Released);
    assert!(!reader.missed(&block.block));
    frame(12.5, ShmFlag::Ready);
    let taken = reader.take(&block.block, &mut rig.sensor, STAMP, |_| Some(STAMP));
    assert!(taken.is_some());
    assert!(!reader.missed(&block.block), "it is the own one");
    frame(13.0, ShmFlag::Writing);
    assert!(!reader.missed(&block.block));
    frame(13.0, ShmFlag::Released);
    assert!(reader.missed(&block.block));
    assert!(!reader.missed(&block.block), "said already");
    frame(13.5, ShmFlag::Released);
    assert!(reader.missed(&block.block));
}
