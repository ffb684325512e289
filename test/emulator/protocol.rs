use super::rig::{Rig, near, pose, socket, still, wait};
use crate::support::golden;
use crate::support::wait::wait_for;
use rfly_bridge::emulator::{EmulatorOptions, Faults, StatePacket};
use rfly_bridge::wire::{
    CopterSimRequestPacket, HandshakePacket, HeaderVariant, HeartbeatPacket, ImuPacket,
    ImuRequestPacket, Packet as _, RequestLayout, SensorKind, SensorRequest, TrueState,
    console_command,
};
use std::time::Duration;
use zerocopy::IntoBytes as _;

fn rig() -> Rig {
    Rig::start(still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &[]))
}

/// So small that a receive buffer holds ten seconds of it: nothing is lost when the reader does not run for a while.
fn small(request: SensorRequest) -> SensorRequest {
    SensorRequest { width: 8, height: 6, ..request }
}

#[test]
fn every_recorded_vendor_request_is_taken() {
    let rig = rig();
    let mut taken = 0;
    for vector in golden::load("vision_req") {
        for (_, datagram) in vector.sent() {
            if datagram.len() == 56 {
                continue; // RflyClearCapture
            }
            rig.to_window(&datagram);
            taken += 1;
            wait(|| rig.emulator.stats().requests + rig.emulator.stats().refused == taken);
            assert_eq!(rig.emulator.stats().refused, 0, "{} was refused", vector.name());
            rig.clear();
        }
    }
    assert!(taken > 60, "only {taken} requests in the recording");
}

#[test]
fn frames_are_cut_as_the_vendor_cuts_them() {
    // 200 x 100 pixels of 3 bytes are exactly 60000: one full datagram and an empty one.
    for (header, overhead) in [(HeaderVariant::A, 24), (HeaderVariant::B, 32)] {
        let world = still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &[]);
        let rig = Rig::with(world, |o| o.header = header, Faults::default());
        let size = |width, height| SensorRequest { width, height, ..rig.request(1, 1) };
        assert_eq!(rig.shoot(&size(200, 100)).datagrams, [60_000 + overhead, overhead]);
        assert_eq!(rig.shoot(&size(200, 101)).datagrams, [60_000 + overhead, 600 + overhead]);
        assert_eq!(rig.shoot(&size(20, 10)).datagrams, [600 + overhead]);
        assert_eq!(rig.shoot(&size(20, 10)).frame_id.is_some(), header == HeaderVariant::B);
    }
}

#[test]
fn frame_ids_count_and_times_keep_to_the_grid_of_the_rate() {
    let rig = rig();
    rig.send(&small(rig.request(1, 1)));
    let mut last = rig.frame();
    for _ in 0..20 {
        let next = rig.frame();
        assert_eq!(next.frame_id, last.frame_id.map(|id| id + 1));
        let steps = (next.sim_time - last.sim_time) * 50.0;
        assert!(steps > 0.5 && (steps - steps.round()).abs() < 1e-6, "{steps} periods");
        last = next;
    }
}

#[test]
fn a_rate_of_0_is_30_hz() {
    let rig = rig();
    let mut request = small(rig.request(1, 1));
    request.check_freq = 0;
    rig.send(&request);
    let first = rig.frame();
    for _ in 0..10 {
        let steps = (rig.frame().sim_time - first.sim_time) * 30.0;
        assert!(steps > 0.5 && (steps - steps.round()).abs() < 1e-6, "{steps} periods");
    }
    // One of 30 and one of 0 Hz are the same.
    request.check_freq = 30;
    rig.send(&request);
    let next = rig.frame().sim_time * 30.0;
    assert!((next - next.round()).abs() < 1e-6);
}

#[test]
fn two_sensors_of_one_rate_carry_identical_times() {
    let rig = rig();
    rig.send(&small(rig.request(1, 1)));
    rig.send(&small(rig.request(2, 3)));
    let mut buffer = vec![0; 70_000];
    let mut next = || {
        let len = rig.client.recv(&mut buffer).unwrap();
        let header = rfly_bridge::wire::FragmentHeader::parse(&buffer[..len], len).unwrap();
        (header.sim_time.to_bits(), len)
    };
    // The first is alone until the second request is taken, however long that takes.
    let (_, alone) = next();
    let (begin, _) = std::iter::repeat_with(&mut next).find(|(_, len)| *len != alone).unwrap();
    let mut times: std::collections::BTreeMap<u64, Vec<usize>> = std::collections::BTreeMap::new();
    while times.len() < 30 {
        let (time, len) = next();
        times.entry(time).or_default().push(len);
    }
    times.remove(&begin);
    times.pop_last();
    for lengths in times.values() {
        assert!(lengths.len() == 2 && lengths.contains(&alone), "{times:?}");
    }
}

#[test]
fn a_second_request_updates_the_live_sensor() {
    let rig = rig();
    rig.send(&rig.request(1, 1));
    assert_eq!(rig.frame().payload.len(), 64 * 48 * 3);
    rig.send(&SensorRequest { width: 32, ..rig.request(1, 1) });
    wait_for("a frame of the new size", || {
        (rig.frame().payload.len() == 32 * 48 * 3).then_some(())
    });
    assert_eq!(rig.emulator.stats().sensors.len(), 1);
}

#[test]
fn the_33rd_sensor_and_unknown_types_are_refused() {
    let rig = rig();
    for seq_id in 0..33 {
        let mut request = SensorRequest { check_freq: 1, ..rig.request(seq_id, 5) };
        request.send_protocol.port = 9;
        rig.send(&request);
    }
    wait(|| rig.emulator.stats().requests + rig.emulator.stats().refused == 33);
    assert_eq!(rig.emulator.stats().refused, 1);
    rig.clear();
    rig.send(&rig.request(1, 6));
    wait(|| rig.emulator.stats().refused == 2);
}

#[test]
fn images_without_pixels_or_beyond_the_memory_are_refused() {
    let rig = rig();
    for (width, height) in [(0, 480), (640, 0), (65_535, 65_535)] {
        rig.send(&SensorRequest { width, height, ..rig.request(1, 1) });
    }
    wait(|| rig.emulator.stats().refused == 3);
    assert_eq!(rig.emulator.stats().requests, 0);
}

#[test]
fn garbage_is_counted_and_changes_nothing() {
    let rig = rig();
    for len in [0usize, 1, 7, 55, 92, 144, 148, 1400] {
        rig.to_window(&vec![0xA5; len]);
    }
    wait(|| rig.emulator.stats().refused == 8);
    assert_eq!(rig.shoot(&rig.request(1, 1)).payload.len(), 64 * 48 * 3);
}

#[test]
fn a_clear_command_silences_one_sensor_or_all() {
    let rig = rig();
    for seq_id in [1, 2] {
        rig.send(&rig.request(seq_id, 1));
    }
    wait(|| rig.emulator.stats().sensors.len() == 2);
    let mut buffer = [0; 256];
    rig.to_window(console_command("RflyClearCapture 1", &mut buffer).unwrap());
    wait(|| rig.emulator.stats().commands == 1);
    rig.settle(); // a tick under way may finish
    let frames = |id| rig.emulator.stats().sensors[&id].frames;
    let (one, two) = (frames(1), frames(2));
    wait(|| frames(2) > two + 5);
    assert_eq!(frames(1), one);
}

#[test]
fn the_handshake_is_answered_with_1() {
    let rig = rig();
    rig.to_window(HandshakePacket::new(4711, 0).as_bytes());
    let mut buffer = [0; 64];
    let len = rig.client.recv(&mut buffer).unwrap();
    assert_eq!(*HandshakePacket::parse(&buffer[..len]).unwrap(), HandshakePacket::new(4711, 1));
}

#[test]
fn heartbeats_tell_when_simulation_time_was_zero() {
    let world = still(&[pose([0.0; 3], [0.0; 3]), pose([3.0, 0.0, 0.0], [0.0; 3])], &[]);
    let rig = Rig::with(world, |o| o.heartbeat_period = 0.02, Faults::default());
    let mut ids = std::collections::BTreeSet::new();
    let mut last_count = -1;
    for _ in 0..10 {
        let mut buffer = [0; 64];
        let len = rig.heartbeats.recv(&mut buffer).unwrap();
        let beat = HeartbeatPacket::parse(&buffer[..len]).unwrap();
        let elapsed = (beat.now_ms.get() - beat.start_ms.get()) as f64 / 1e3;
        assert!(elapsed <= rig.emulator.sim_time() + 0.002 && elapsed >= 0.0);
        assert!(beat.count.get() >= last_count, "the counter counts");
        last_count = beat.count.get();
        ids.insert(beat.copter_id.get());
    }
    assert_eq!(ids.into_iter().collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_heartbeat_can_be_asked_for() {
    let world = still(&[pose([0.0; 3], [0.0; 3])], &[]);
    let rig = Rig::with(world, |o| o.heartbeat_period = 1e6, Faults::default());
    let mut buffer = [0; 64];
    rig.heartbeats.recv(&mut buffer).unwrap(); // the one at time 0
    let vector = golden::load("coptersim_send");
    let probe = vector
        .iter()
        .flat_map(golden::Vector::sent)
        .find(|(port, d)| *port > 30_000 && d.len() == 8);
    let (_, probe) = probe.expect("the vendor's heartbeat request is in the recording");
    rig.client.send_to(&probe, rig.emulator.coptersims()[0]).unwrap();
    let len = rig.heartbeats.recv(&mut buffer).unwrap();
    assert_eq!(HeartbeatPacket::parse(&buffer[..len]).unwrap().copter_id.get(), 1);
}

#[test]
fn a_restricted_simulator_sends_only_to_who_asked_by_unicast() {
    let world = still(&[pose([0.0; 3], [0.0; 3])], &[]);
    let restrict = |o: &mut EmulatorOptions| {
        (o.restricted, o.heartbeat_period, o.state_rate) = (true, 0.02, 100);
    };
    let rig = Rig::with(world, restrict, Faults::default());
    std::thread::sleep(Duration::from_millis(200));
    for silent in [&rig.heartbeats, &rig.states] {
        silent.set_nonblocking(true).unwrap();
        assert!(silent.recv(&mut [0; 512]).is_err());
        silent.set_nonblocking(false).unwrap();
    }
    let request = CopterSimRequestPacket::new(1).to_sender();
    rig.client.send_to(request.as_bytes(), rig.emulator.coptersims()[0]).unwrap();
    let mut buffer = [0; 512];
    let len = rig.heartbeats.recv(&mut buffer).unwrap();
    let beat = HeartbeatPacket::parse(&buffer[..len]).unwrap();
    assert_eq!(beat.copter_id.get(), 1);
    assert!(rig.states.recv(&mut buffer).unwrap() > 0);
}

#[test]
fn imu_samples_come_at_the_requested_rate_without_gaps() {
    let rig = rig();
    let reader = socket();
    let port = reader.local_addr().unwrap().port();
    let request = ImuRequestPacket::new(50, [127, 0, 0, 1], port);
    rig.client.send_to(request.as_bytes(), rig.emulator.coptersims()[0]).unwrap();
    let mut last: Option<(i32, f64)> = None;
    // At 50 Hz a receive buffer holds ten seconds.
    for _ in 0..50 {
        let mut buffer = [0; 64];
        let len = reader.recv(&mut buffer).unwrap();
        let sample = ImuPacket::parse(&buffer[..len]).unwrap();
        if let Some((seq, time)) = last {
            assert_eq!(sample.seq.get(), seq + 1);
            near(sample.sim_time.get() - time, 0.02, 1e-9, "period");
        }
        assert_eq!(sample.acc.map(|v| v.get()), [0.0, 0.0, -9.81]);
        last = Some((sample.seq.get(), sample.sim_time.get()));
    }
}

#[test]
fn the_true_state_is_the_same_in_its_three_packets() {
    for (packet, len) in
        [(StatePacket::Bytes200, 200), (StatePacket::Bytes168, 168), (StatePacket::Bytes112, 112)]
    {
        let world = still(&[pose([1.0, -2.0, -3.0], [0.0, 10.0, 90.0])], &[]);
        let change = |o: &mut rfly_bridge::emulator::EmulatorOptions| {
            (o.state_packet, o.state_rate) = (packet, 100);
        };
        let rig = Rig::with(world, change, Faults::default());
        let mut buffer = [0; 256];
        assert_eq!(rig.states.recv(&mut buffer).unwrap(), len);
        let state = TrueState::parse(&buffer[..len]).unwrap();
        assert_eq!(state.position, [1.0, -2.0, -3.0]);
        near(state.euler[1].to_degrees(), 10.0, 1e-5, "pitch");
        near(state.euler[2].to_degrees(), 90.0, 1e-5, "yaw");
        near(state.gps[2], 53.0, 1e-3, "altitude");
    }
}

#[test]
fn after_a_restart_time_begins_anew_and_nobody_has_asked_for_anything() {
    let rig = rig();
    rig.send(&rig.request(1, 1));
    let mut before = rig.frame();
    while before.sim_time < 0.2 {
        before = rig.frame();
    }
    let restart = std::time::Instant::now();
    rig.emulator.restart();
    rig.clear();
    rig.send(&rig.request(1, 1));
    let after = rig.frame();
    let since = restart.elapsed().as_secs_f64();
    assert!(
        after.sim_time <= since,
        "{} after {}, {since} s after the restart",
        after.sim_time,
        before.sim_time
    );
    assert_eq!(after.frame_id, Some(1));
    assert_eq!(rig.emulator.stats().restarts, 1);
}

#[test]
fn a_paused_simulator_is_silent_and_goes_on_where_it_was() {
    let rig = rig();
    rig.send(&rig.request(1, 1));
    wait(|| rig.emulator.stats().sensors.contains_key(&1));
    rig.emulator.set_paused(true);
    let time = rig.emulator.sim_time();
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(rig.emulator.sim_time(), time);
    rig.settle(); // a tick under way may finish
    let frames = rig.emulator.stats().sensors[&1].frames;
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(rig.emulator.stats().sensors[&1].frames, frames);
    rig.emulator.set_paused(false);
    wait(|| rig.emulator.stats().sensors[&1].frames > frames + 3);
}

#[test]
fn every_type_answers_a_long_request_with_either_check_word() {
    let rig = Rig::start(still(&[pose([0.0, 0.0, -5.0], [0.0; 3])], &[]));
    for kind in SensorKind::ALL {
        let [usual, gimbal, long] =
            [RequestLayout::New, RequestLayout::Gimbal, RequestLayout::Long].map(|layout| {
                let mut request = rig.request(1, kind.type_id());
                request.layout = layout;
                request.other_params[..6].copy_from_slice(&[50.0, 4.0, -90.0, 90.0, -30.0, 10.0]);
                rig.shoot(&request).payload
            });
        assert!(usual == gimbal && usual == long, "{kind:?}");
        assert!(!usual.is_empty());
    }
    assert_eq!(rig.emulator.stats().refused, 0);
}
