//! The stream of states: what is drawn, what is left out and why, and what it costs.
use super::rig::{Rig, pose};
use rfly_bridge::msgs::rfly_bridge_msgs::msg::EntityStates;
use rfly_bridge::msgs::simulation_interfaces::srv::GetEntityStateRequest;
use rfly_bridge::scene::{Datagram, Outbox, SceneCall, own, standard};
use rfly_bridge::time::RosTime;
use rfly_bridge::wire::{
    Height, MotorStatePacket, Packet, ScaledStatePacket, Swarm20Packet, Swarm100Packet,
};

fn draw(rig: &mut Rig, message: &EntityStates) -> (usize, Vec<&'static str>, Vec<Datagram>) {
    let mut call = SceneCall {
        scene: &mut rig.scene,
        out: Outbox::default(),
        now: RosTime(9),
        uptime_s: 0.0,
        playing: true,
    };
    let (drawn, skipped) = own::set_states(&mut call, message);
    let out = call.out;
    for reason in &skipped {
        assert!(reason.message.len() > 15, "{reason:?}");
    }
    (drawn, skipped.into_iter().map(|reason| reason.cause.name()).collect(), out.datagrams)
}

fn of_ids(ids: impl IntoIterator<Item = u16>) -> EntityStates {
    let ids: Vec<u16> = ids.into_iter().collect();
    EntityStates {
        vehicle_types: vec![3; ids.len()],
        poses: ids
            .iter()
            .map(|id| pose([f64::from(*id), 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]))
            .collect(),
        ids,
        ..EntityStates::default()
    }
}

#[test]
fn as_few_packets_as_possible() {
    let lens = |count: u16, motors: usize| {
        let mut message = of_ids(1..=count);
        message.motor_rpm = vec![1.0; motors * usize::from(count)];
        let (drawn, skipped, sent) = draw(&mut Rig::new(), &message);
        assert_eq!((drawn, skipped), (usize::from(count), vec![]));
        sent.iter().map(|datagram| datagram.bytes.len()).collect::<Vec<_>>()
    };
    assert_eq!(lens(1, 1), [1324]);
    assert_eq!(lens(20, 0), [1324]);
    assert_eq!(lens(21, 1), [3804]);
    assert_eq!(lens(100, 1), [3804]);
    assert_eq!(lens(130, 1), [3804, 3804]);
    assert_eq!(lens(110, 0), [3804, 1324]);
    assert_eq!(lens(41, 8), [1324; 3]);
    assert_eq!(lens(0, 1), [0; 0]);
}

#[test]
fn spawned_objects_are_known_by_name_and_remember_where_they_were_put() {
    let mut rig = Rig::new();
    rig.spawn("box", "rflysim://150?style=1&scale=2");
    let message = EntityStates {
        names: vec!["box".to_owned()],
        poses: vec![pose([1.0, 2.0, 3.0], [1.0, 0.0, 0.0, 0.0])],
        fit_to_ground: true,
        ..EntityStates::default()
    };
    let (drawn, skipped, sent) = draw(&mut rig, &message);
    assert_eq!((drawn, skipped), (1, vec![]));
    let packet = Swarm20Packet::parse(&sent[0].bytes).unwrap();
    assert_eq!(packet.height(), Height::Ground);
    let state = packet.states().next().unwrap();
    assert_eq!((state.id, state.vehicle_type), (10_001, 1150));
    assert_eq!((state.scale_percent, state.position), ([200; 3], [2.0, 1.0, -3.0]));
    let entity = "box".to_owned();
    let (response, _) = rig.call(standard::entity_state, GetEntityStateRequest { entity });
    let made = response.state.pose;
    assert_eq!(made.position, message.poses[0].position);
    assert!((made.orientation.w.abs() - 1.0).abs() < 1e-12, "{made:?}");
}

#[test]
fn a_type_of_more_than_16_bits_goes_in_a_packet_of_its_own() {
    let mut rig = Rig::new();
    rig.spawn("injured", "rflysim://116000030?scale=2");
    let mut message = of_ids([5, 6, 7]);
    message.vehicle_types = vec![3, 116_000_030, 65_536];
    message.motor_rpm = vec![1.0, 2.0, 3.0];
    message.fit_to_ground = true;
    let (drawn, skipped, sent) = draw(&mut rig, &message);
    assert_eq!((drawn, skipped), (3, vec![]));
    let lens: Vec<_> = sent.iter().map(|datagram| datagram.bytes.len()).collect();
    assert_eq!(lens, [52, 52, 1324]);
    let one = ScaledStatePacket::parse(&sent[0].bytes).unwrap();
    let fields = (one.copter_id.get(), one.vehicle_type.get(), one.motor_rpm.get());
    assert_eq!(fields, (6, 116_000_030, 2.0));
    assert_eq!((one.height(), one.scale[2].get()), (Height::Ground, 1.0));
    let many = Swarm20Packet::parse(&sent[2].bytes).unwrap();
    assert_eq!(many.states().map(|state| state.id).collect::<Vec<_>>(), [5]);

    // Eight motors are in another packet, which has no size.
    message.motor_rpm = (0..24_u8).map(f32::from).collect();
    let (_, skipped, sent) = draw(&mut rig, &message);
    let one = MotorStatePacket::parse(&sent[0].bytes).unwrap();
    assert_eq!((one.vehicle_type.get(), skipped), (116_000_030, vec![]));
    assert_eq!(one.motor_rpm.map(|rpm| rpm.get())[..2], [8.0, 9.0]);
    message.scale = vec![2.0; 3];
    let (drawn, skipped, _) = draw(&mut rig, &message);
    assert_eq!((drawn, skipped), (1, vec!["scale"; 2]));
    message.vehicle_types = vec![u32::MAX; 3];
    let (_, skipped, sent) = draw(&mut rig, &message);
    assert_eq!((skipped, sent), (vec!["type"; 3], vec![]));

    // What was spawned is known by its name.
    let known = EntityStates {
        names: vec!["injured".to_owned()],
        poses: vec![pose([1.0, 2.0, 3.0], [1.0, 0.0, 0.0, 0.0])],
        ..EntityStates::default()
    };
    let (_, _, sent) = draw(&mut rig, &known);
    let one = ScaledStatePacket::parse(&sent[0].bytes).unwrap();
    assert_eq!(one.vehicle_type.get(), 116_000_030);
    assert_eq!(one.scale.map(|factor| factor.get()), [2.0; 3]);
}

#[test]
fn one_bad_entity_does_not_hide_the_others() {
    let mut message = of_ids(1..=30);
    message.poses[3].position.x = f64::NAN;
    message.poses[4].orientation.w = 0.0;
    message.ids[5] = 0;
    message.scale = vec![1.0; 30];
    message.scale[6] = 700.0;
    message.motor_rpm = vec![0.0; 30];
    message.motor_rpm[7] = f32::INFINITY;
    let (drawn, skipped, sent) = draw(&mut Rig::new(), &message);
    assert_eq!((drawn, skipped), (25, vec!["pose", "pose", "id", "scale", "motor_rpm"]));
    let packet = Swarm100Packet::parse(&sent[0].bytes).unwrap();
    let ids: Vec<_> = packet.states().map(|state| state.id).collect();
    assert!(ids.iter().all(|id| ![4, 5, 0, 7, 8].contains(id)), "{ids:?}");
}

#[test]
fn lists_that_do_not_fit_are_refused_as_a_whole() {
    type Change = fn(&mut EntityStates);
    let cases: [(Change, &str); 9] = [
        (|m| m.ids.truncate(2), "lengths"),
        (|m| m.names = vec!["copter1".into(); 3], "lengths"),
        (|m| m.vehicle_types.truncate(1), "lengths"),
        (|m| m.scale = vec![1.0; 2], "lengths"),
        (|m| m.motor_rpm = vec![1.0; 7], "lengths"),
        (|m| m.header.frame_id = "nowhere".into(), "pose"),
        (|m| m.vehicle_types.clear(), "type"),
        (
            |m| {
                m.ids.clear();
                m.names = vec!["nobody".into(); 3];
            },
            "unknown_entity",
        ),
        (|m| (m.ids, m.names) = (vec![], vec![]), "lengths"),
    ];
    for (change, cause) in cases {
        let mut message = of_ids(1..=3);
        change(&mut message);
        let (drawn, skipped, sent) = draw(&mut Rig::new(), &message);
        assert_eq!((drawn, sent), (0, vec![]));
        assert!(skipped.iter().all(|found| *found == cause) && !skipped.is_empty(), "{skipped:?}");
    }
}

/// The call `sendUE4Pos*` of the recordings as a message.
fn in_motion(id: u16) -> EntityStates {
    use super::rig::pose_of;
    use rfly_bridge::msgs::geometry_msgs::msg::Vector3;
    let vector = |x, y, z| Vector3 { x, y, z };
    EntityStates {
        poses: vec![pose_of([1.5, -2.25, -8.125], [0.1, -0.2, 1.57])],
        // North 0.5, east 1, down -1.5.
        velocities: vec![vector(1.0, 0.5, 1.5)],
        motor_rpm: vec![1000.0, 1100.0, 1200.0, 1300.0, 0.0, 0.0, 0.0, 0.0],
        ..of_ids([id])
    }
}

fn golden(name: &str) -> Vec<u8> {
    let vector = crate::support::golden::load_one("ue4_send", name);
    vector.sent().swap_remove(0).1
}

#[test]
fn velocity_time_and_rates_are_in_the_vendors_packets_byte_for_byte() {
    use rfly_bridge::msgs::geometry_msgs::msg::Vector3;
    let simple = EntityStates { times: vec![3.25], ..in_motion(7) };
    let (drawn, skipped, sent) = draw(&mut Rig::new(), &simple);
    assert_eq!((drawn, skipped), (1, vec![]));
    assert_eq!(sent[0].bytes, golden("pos_simple"));
    // Forward 0.01, left -0.02, up -0.03.
    let rate = Vector3 { x: 0.01, y: -0.02, z: -0.03 };
    let full = EntityStates { rates: vec![rate], ..in_motion(6) };
    let (_, _, sent) = draw(&mut Rig::new(), &full);
    assert_eq!(sent[0].bytes, golden("pos_full"));
}

#[test]
fn entities_in_motion_share_packets_only_if_that_is_wanted() {
    use rfly_bridge::wire::{Moving10Packet, Moving100Packet};
    let lens = |count: u16, grouped: bool| {
        let mut message = of_ids(1..=count);
        (message.times, message.grouped) = (vec![2.5], grouped);
        let (drawn, skipped, sent) = draw(&mut Rig::new(), &message);
        assert_eq!((drawn, skipped), (usize::from(count), vec![]));
        sent.into_iter().map(|datagram| datagram.bytes).collect::<Vec<_>>()
    };
    let of = |packets: &[Vec<u8>]| packets.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(of(&lens(3, false)), [88; 3]);
    assert_eq!(of(&lens(20, true)), [1608]);
    assert_eq!(of(&lens(111, true)), [8008, 1608]);
    let ten = lens(10, true);
    let ten = Moving10Packet::parse(&ten[0]).unwrap();
    let times: Vec<_> = ten.states().map(|moving| moving.sim_time).collect();
    assert_eq!(times, [2.5; 10]);
    let many = lens(100, true);
    let last = Moving100Packet::parse(&many[0]).unwrap();
    let last = last.states().last().unwrap();
    assert_eq!((last.state.id, last.state.position), (100, [0.0, 100.0, -1.0]));
}

#[test]
fn a_grouped_packet_has_velocities_and_motors() {
    use rfly_bridge::wire::Moving10Packet;
    let mut message = in_motion(7);
    (message.grouped, message.fit_to_ground) = (true, true);
    let (_, _, sent) = draw(&mut Rig::new(), &message);
    let packet = Moving10Packet::parse(&sent[0].bytes).unwrap();
    let moving = packet.states().next().unwrap();
    assert_eq!((moving.velocity, moving.sim_time), ([0.5, 1.0, -1.5], -1.0));
    assert_eq!(moving.state.motor_rpm[..3], [1000.0, 1100.0, 1200.0]);
    assert_eq!(packet.height(), Height::Ground);
}

#[test]
fn a_spawned_object_has_the_twist_that_it_was_given() {
    let mut rig = Rig::new();
    rig.spawn("box", "rflysim://3");
    let message = EntityStates { ids: vec![], names: vec!["box".to_owned()], ..in_motion(1) };
    draw(&mut rig, &message);
    let entity = "box".to_owned();
    let (response, _) = rig.call(standard::entity_state, GetEntityStateRequest { entity });
    let linear = response.state.twist.linear;
    assert_eq!([linear.x, linear.y, linear.z], [1.0, 0.5, 1.5]);
}

#[test]
fn motion_that_no_packet_has_is_refused() {
    use rfly_bridge::msgs::geometry_msgs::msg::Vector3;
    type Change = fn(&mut EntityStates);
    let cases: [(Change, &str); 10] = [
        (|m| m.velocities.push(Default::default()), "lengths"),
        (|m| m.rates = vec![Default::default(); 2], "lengths"),
        (|m| m.times = vec![1.0; 3], "lengths"),
        (|m| m.times = vec![f64::NAN], "motion"),
        (|m| m.velocities[0].y = f64::INFINITY, "motion"),
        // Finite, but infinite in a packet.
        (|m| m.velocities[0].z = 1e39, "motion"),
        (|m| m.rates = vec![Vector3 { y: -1e39, ..Default::default() }], "motion"),
        (|m| m.times = vec![1e39], ""),
        (|m| (m.rates, m.fit_to_ground) = (vec![Default::default()], true), "motion"),
        (|m| m.scale = vec![2.0], "scale"),
    ];
    for (change, cause) in cases {
        let mut message = in_motion(5);
        change(&mut message);
        let (drawn, skipped, sent) = draw(&mut Rig::new(), &message);
        if cause.is_empty() {
            assert_eq!((drawn, skipped.len()), (1, 0), "a time has 64 bits");
            continue;
        }
        assert_eq!((drawn, skipped, sent), (0, vec![cause], vec![]), "{cause}");
    }
}
