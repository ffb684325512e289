//! The ways to an autopilot that are not CopterSim's usual one: over sockets.
use super::rig::{Rig, pose, socket, still, wait};
use crate::support::wait::wait_for;
use rfly_bridge::emulator::autopilot::ControlMode;
use rfly_bridge::emulator::{EmulatorOptions, Faults};
use rfly_bridge::wire::mavlink::raw::{CommandAck, CommandLong, Heartbeat};
use rfly_bridge::wire::mavlink::{Encoder, MavMessage, Outbound, dialect, frames};
use rfly_bridge::wire::{
    CopterSimRequestPacket, IntoBytes as _, Packet as _, Px4ExtPacket, console_command,
};
use std::net::UdpSocket;
use zerocopy::little_endian::F64;

fn rig(change: impl FnOnce(&mut EmulatorOptions)) -> Rig {
    let world = still(&[pose([0.0, 0.0, -0.15], [0.0; 3])], &[]);
    Rig::with(
        world,
        |o| {
            o.autopilot = Some(ControlMode::MavlinkFull);
            (o.ports.autopilot, o.ports.direct) = (0, 0);
            change(o);
        },
        Faults::default(),
    )
}

fn say(rig: &Rig, own: &UdpSocket, encoder: &mut Encoder, message: &Outbound) {
    let bytes = encoder.encode(message);
    own.send_to(bytes.as_bytes(), rig.emulator.autopilots()[0]).unwrap();
}

/// Waits for a message of this number.
fn hear(own: &UdpSocket, id: u32) -> Vec<u8> {
    let mut buffer = [0; 512];
    wait_for(&format!("message {id}"), || {
        let len = own.recv(&mut buffer).expect("a message of the autopilot");
        let found = frames(&buffer[..len]).flatten().any(|frame| frame.id == id);
        found.then(|| buffer[..len].to_vec())
    })
}

const BEAT: Heartbeat = Heartbeat {
    custom_mode: 0,
    kind: 6,
    autopilot: 8,
    base_mode: 0,
    system_status: 0,
    mavlink_version: 3,
};

#[test]
fn an_autopilot_without_coptersim_answers_whoever_speaks_to_it() {
    let rig = rig(|o| o.autopilot = Some(ControlMode::Direct));
    let mut encoder = Encoder::new(255, 190);
    // One socket sends and receives; another port takes over as soon as it speaks.
    for own in [socket(), socket()] {
        say(&rig, &own, &mut encoder, &BEAT.into());
        hear(&own, 0);
        let command = CommandLong {
            command: 520,
            target_system: 1,
            target_component: 1,
            ..CommandLong::default()
        };
        say(&rig, &own, &mut encoder, &command.into());
        let answer = hear(&own, 77);
        let frame = frames(&answer).flatten().find(|frame| frame.id == 77).unwrap();
        assert_eq!(CommandAck::parse(&frame).unwrap().result, 0);
        // CopterSim's own message does not travel here.
        let mut buffer = [0; 512];
        let mut seen = 0;
        while seen < 300 {
            let len = own.recv(&mut buffer).unwrap();
            assert!(frames(&buffer[..len]).flatten().all(|frame| frame.id != 93));
            seen += 1;
        }
    }
}

#[test]
fn what_a_model_in_the_autopilot_is_told_comes_back_from_coptersim() {
    let outputs = socket();
    let port = outputs.local_addr().unwrap().port();
    let rig = rig(|o| o.ports.outputs = port);
    let own = socket();
    let controls = std::array::from_fn(|i| i as f32 / 8.0);
    let told = dialect::HIL_ACTUATOR_CONTROLS_DATA {
        controls,
        mode: dialect::MavModeFlag::from_bits_retain(1),
        ..Default::default()
    };
    let told = MavMessage::HIL_ACTUATOR_CONTROLS(told).into();
    say(&rig, &own, &mut Encoder::new(255, 190), &told);
    let mut buffer = [0; 64];
    let len = outputs.recv(&mut buffer).expect("the outputs");
    let packet = Px4ExtPacket::parse(&buffer[..len]).unwrap();
    assert_eq!(packet.copter_id.get(), 1);
    assert_eq!(packet.controls.map(|c| c.get()), controls[..8]);
    let now = rig.emulator.sim_time();
    assert!(packet.sim_time.get() >= 0.0 && packet.sim_time.get() <= now);
}

#[test]
fn reports_tell_where_a_vehicle_is_and_not_where_its_path_leads() {
    let reports = socket();
    let port = reports.local_addr().unwrap().port();
    let rig = rig(|o| o.ports.report = port);
    let own = socket();
    let request = CopterSimRequestPacket {
        place: 1,
        xy: [7.0, -3.0].map(F64::new),
        ..CopterSimRequestPacket::new(1)
    };
    own.send_to(request.as_bytes(), rig.emulator.coptersims()[0]).unwrap();
    let mut buffer = [0; 256];
    rig.to_window(console_command("RflyReqObjData 1 1 0", &mut buffer).unwrap());
    wait_for("the report of the place", || {
        // Once a second, until the request was obeyed.
        let len = reports.recv(&mut buffer).expect("a report");
        let place: Vec<f32> =
            buffer[8..16].chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
        assert_eq!(len, 80);
        let there = place == [7.0, -3.0];
        assert!(there || place == [0.0, 0.0], "{place:?}");
        there.then_some(())
    });
}

#[test]
fn battery_and_fence_are_commands_to_the_emulator() {
    let rig = rig(|o| {
        o.control = Some(0);
        o.ports.autopilot_client = 9;
    });
    let own = socket();
    let ask = |text: &str| {
        let mut buffer = [0; 4096];
        own.send_to(text.as_bytes(), rig.emulator.control().unwrap()).unwrap();
        let len = own.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..len]).into_owned()
    };
    for (text, answer) in [
        ("battery 1 12", "\"ok\":true"),
        ("battery 1 none", "\"ok\":true"),
        ("fence 1 30 10", "\"ok\":true"),
        ("battery 2 12", "no vehicle 2"),
        ("battery 1 120", "0 to 100 percent"),
        ("fence 1 30", "two distances"),
    ] {
        assert!(ask(text).contains(answer), "{text}: {}", ask(text));
    }
    wait(|| rig.emulator.sim_time() > 0.0);
}

#[test]
fn an_autopilot_tells_the_time_at_which_it_is_asked() {
    let rig = rig(|o| o.autopilot = Some(ControlMode::Direct));
    let (own, mut encoder) = (socket(), Encoder::new(255, 190));
    for ts1 in 1..=60 {
        let question = dialect::TIMESYNC_DATA { ts1, ..Default::default() };
        let before = rig.emulator.sim_time();
        let question = MavMessage::TIMESYNC(question).into();
        say(&rig, &own, &mut encoder, &question);
        let answer = wait_for("the answer", || {
            let bytes = hear(&own, 111);
            let found = frames(&bytes).flatten().find_map(|f| f.message().ok());
            match found {
                Some(MavMessage::TIMESYNC(answer)) if answer.ts1 == ts1 => {
                    Some(answer.tc1 as f64 * 1e-9)
                }
                _ => None, // its own questions, which are of whole steps
            }
        });
        let after = rig.emulator.sim_time();
        // Steps of the simulation are 5 ms long; the answer is not of the one before.
        let between = (before - 1e-8..=after + 1e-8).contains(&answer);
        assert!(between, "{answer} is not from {before} to {after}");
        std::thread::sleep(std::time::Duration::from_micros(1700));
    }
}
