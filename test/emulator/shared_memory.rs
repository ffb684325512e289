use super::rig::{Rig, block, pose, still, wait};
use rfly_bridge::emulator::{CloudFormat, Faults};
use rfly_bridge::transport::SharedBlock;
use rfly_bridge::wire::{
    CloudView, PointForm, SHM_HEADER_LEN, SensorKind, SensorRequest, ShmFlag, shm_block_len,
    shm_name,
};
use std::time::{Duration, Instant};

/// Numbers that no other test and hardly another program uses.
const FIRST: u16 = 60_100;

/// A simulator whose blocks have the recorded sizes.
fn rig() -> Rig {
    with_clouds(CloudFormat::I16)
}

fn with_clouds(format: CloudFormat) -> Rig {
    let world = still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &[block([6.0, 1.0, -1.0], [1.0; 3])]);
    Rig::with(world, |o| o.cloud_format = format, Faults::default())
}

fn in_memory(request: SensorRequest) -> SensorRequest {
    let mut request = request;
    request.send_protocol.mode = 0;
    request.other_params[..2].copy_from_slice(&[50.0, 4.0]);
    request
}

/// Opens the block of a sensor as soon as a frame is in it.
fn open(request: &SensorRequest) -> SharedBlock {
    let len = shm_block_len(request.type_id, request.width, request.height, 4).unwrap();
    open_as(request, len)
}

fn open_as(request: &SensorRequest, len: usize) -> SharedBlock {
    let name = shm_name(request.seq_id);
    wait(|| SharedBlock::open(&name, len).is_ok_and(|b| b.flag() == ShmFlag::Ready as u8));
    SharedBlock::open(&name, len).unwrap()
}

/// The writer may be at work; takes the block when it is ready.
fn take(block: &SharedBlock) {
    wait(|| block.swap_flag(ShmFlag::Ready as u8, ShmFlag::Reading as u8));
}

#[test]
fn every_type_puts_into_memory_what_it_would_send() {
    let rig = rig();
    for (i, kind) in SensorKind::ALL.into_iter().enumerate() {
        let type_id = kind.type_id();
        let request = in_memory(rig.request(FIRST + i as u16, type_id));
        let mut by_network = request;
        by_network.send_protocol.mode = 2;
        let expected = rig.shoot(&by_network).payload;
        rig.send(&request);
        let block = open(&request);
        take(&block);
        let mut payload = vec![0; expected.len()];
        assert_eq!(
            block.copy_out(SHM_HEADER_LEN, &mut payload),
            expected.len(),
            "type {type_id} fits"
        );
        let mut time = [0; 8];
        block.copy_out(1, &mut time);
        block.set_flag(ShmFlag::Released as u8);
        assert!(payload == expected, "type {type_id}: memory and network differ");
        let time = f64::from_le_bytes(time);
        assert!(time > 0.0 && time <= rig.emulator.sim_time());
        rig.clear();
    }
}

#[test]
fn a_block_is_as_long_as_the_largest_cloud_of_its_form() {
    for (format, head, point) in
        [("28:i16:none", 28, 6), ("36:f32:label", 36, 16), ("36:i16:rgb", 36, 8)]
    {
        let rig = with_clouds(format.parse().unwrap());
        for (i, type_id) in [7, 20, 21, 22, 23].into_iter().enumerate() {
            let request = in_memory(rig.request(FIRST + 30 + i as u16, type_id));
            let points = match type_id {
                23 => 64 * 272,
                _ => usize::from(request.width) * usize::from(request.height),
            };
            let block = open_as(&request_sent(&rig, request), 9 + head + point * points);
            let file = std::path::Path::new("/dev/shm").join(shm_name(request.seq_id));
            assert_eq!(file.metadata().unwrap().len(), (9 + head + point * points) as u64);
            take(&block);
            let mut bytes = vec![0; head + point * points];
            block.copy_out(SHM_HEADER_LEN, &mut bytes);
            block.set_flag(ShmFlag::Released as u8);
            let cloud = CloudView::parse_block(&bytes, points, PointForm::I16x4).unwrap();
            assert_eq!(cloud.head.as_bytes().len(), head, "{format} {type_id}");
            assert_eq!(cloud.points.form().bytes(), point, "{format} {type_id}");
            let whole = if type_id == 7 { 16 * 12 } else { points };
            assert_eq!(cloud.points.len(), whole, "{format} {type_id}");
            rig.clear();
        }
    }
}

fn request_sent(rig: &Rig, request: SensorRequest) -> SensorRequest {
    rig.send(&request);
    request
}

#[test]
fn a_block_is_not_written_while_a_reader_copies() {
    let rig = rig();
    let request = in_memory(rig.request(FIRST + 50, 1));
    rig.send(&request);
    let block = open(&request);
    let time = || {
        let mut bytes = [0; 8];
        block.copy_out(1, &mut bytes);
        f64::from_le_bytes(bytes)
    };
    let busy = || rig.emulator.stats().sensors[&request.seq_id].busy;
    // After a second a reader is taken for dead; a test that was held up for so long saw nothing of interest.
    let held = (0..50).find_map(|_| {
        let start = Instant::now();
        take(&block);
        let (held, before) = (time(), busy());
        let in_time = || start.elapsed() < Duration::from_secs(1);
        wait(|| busy() > before + 2 || !in_time());
        let (flag, now) = (block.flag(), time());
        let in_time = in_time();
        if in_time {
            assert_eq!((flag, now), (ShmFlag::Reading as u8, held));
        }
        block.set_flag(ShmFlag::Released as u8);
        in_time.then_some(held)
    });
    take(&block);
    assert!(time() > held.expect("a test that runs"));
}

#[test]
fn blocks_disappear_with_the_simulator_and_return_with_the_next_request() {
    let rig = rig();
    let request = in_memory(rig.request(FIRST + 51, 3));
    rig.send(&request);
    let old = open(&request);
    rig.emulator.restart();
    wait(|| !old.is_current());
    rig.send(&request);
    let new = open(&request);
    assert!(new.is_current() && !old.is_current());
}

#[test]
fn a_repeated_request_keeps_the_block_and_another_size_replaces_it() {
    let rig = rig();
    let request = in_memory(rig.request(FIRST + 52, 1));
    rig.send(&request);
    let old = open(&request);
    rig.send(&request);
    rig.send(&SensorRequest { fov_deg: 60.0, ..request });
    wait(|| rig.emulator.stats().requests == 3);
    let frames = || rig.emulator.stats().sensors[&request.seq_id].frames;
    let before = frames();
    wait(|| frames() > before + 2);
    assert!(old.is_current(), "readers have mapped it");
    rig.send(&SensorRequest { width: 100, ..request });
    wait(|| !old.is_current());
}
