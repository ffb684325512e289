//! `time_boot_ms` has 32 bits: after 49.7 days it begins anew, and stamps go on.
use super::rig::{Rig, START};
use rfly_bridge::msgs::geometry_msgs::msg::PoseStamped;
use rfly_bridge::msgs::mavros_msgs::msg::StatusText;
use rfly_bridge::vehicle::{UdpFullLink, VehicleSettings};
use rfly_bridge::wire::mavlink::dialect::{ATTITUDE_DATA, LOCAL_POSITION_NED_DATA};
use rfly_bridge::wire::mavlink::raw::Timesync;
use rfly_bridge::wire::mavlink::{MavMessage, frames};
use rfly_bridge::wire::{FullEstimatePacket, IntoBytes as _};
use std::time::Duration;

/// What the autopilot's clock shows at our time 0: half a second before it wraps.
const BOOT_MS: u64 = (1 << 32) - 500;

#[test]
fn stamps_go_on_when_the_milliseconds_of_an_autopilot_wrap() {
    let mut rig = Rig::new(VehicleSettings::default());
    let mut positions = 0;
    for ms in 0..2000_u64 {
        rig.pass(Duration::from_millis(1));
        if ms % 500 == 0 {
            rig.beat();
        }
        let sent = rig.sent_bytes();
        for question in frames(&sent).filter_map(|frame| Timesync::parse(&frame.ok()?)) {
            if question.tc1 == 0 {
                let tc1 = ((BOOT_MS + ms) * 1_000_000) as i64;
                rig.say(Timesync { tc1, ..question });
            }
        }
        if ms > 300 && ms % 50 == 0 {
            let time_boot_ms = (BOOT_MS + ms) as u32;
            rig.say(MavMessage::ATTITUDE(ATTITUDE_DATA {
                time_boot_ms,
                ..ATTITUDE_DATA::default()
            }));
            rig.say(MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
                time_boot_ms,
                ..LOCAL_POSITION_NED_DATA::default()
            }));
            let message = rig.messages::<PoseStamped>("local_position/pose").pop();
            let stamp = message.expect("a pose").header.stamp;
            let at = i64::from(stamp.sec) * 1_000_000_000 + i64::from(stamp.nanosec);
            let late_ms = ((at - START.0) as f64 * 1e-6 - ms as f64).abs();
            assert!(late_ms < 20.0, "{late_ms} ms at {ms} ms");
            positions += 1;
        }
        rig.recorder.clear();
    }
    assert_eq!(positions, 33);
}

#[test]
fn a_vehicle_behind_udp_structs_does_not_start_anew_when_they_wrap() {
    let rig =
        Rig::with_link(VehicleSettings::default(), |sink| Box::new(UdpFullLink::new(1, sink)));
    for ms in 0..100_u32 {
        rig.pass(Duration::from_millis(20));
        let time_boot_ms = 0_u32.wrapping_sub(1000).wrapping_add(20 * ms);
        let mut state = FullEstimatePacket::new(time_boot_ms, 1);
        state.estimator_fixed = 1.0.into();
        rig.receive(state.as_bytes());
    }
    // What is said when a vehicle has started.
    assert_eq!(rig.messages::<StatusText>("statustext/recv").len(), 1);
    assert_eq!(rig.messages::<PoseStamped>("local_position/pose").len(), 100);
}
