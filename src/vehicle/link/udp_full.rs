//! UDP_Full: setpoints with MAVLink's own masks, states with GPS.
use super::udp::{UdpLink, UdpMessage, UdpState};
use super::{Abilities, Link, SendError, Sink};
use crate::vehicle::Counter;
use crate::wire::mavlink::dialect::{GLOBAL_POSITION_INT_DATA, MavFrame};
use crate::wire::mavlink::numbers::*;
use crate::wire::mavlink::raw::GpsRawInt;
use crate::wire::mavlink::{MavMessage, Outbound};
use crate::wire::{
    FullEstimatePacket, FullSetpointPacket, IntoBytes as _, Packet as _, SimpleEstimatePacket,
    SimpleReport,
};
use zerocopy::little_endian::F32;

/// HEARTBEAT period.
const HEARTBEAT_MS: u32 = 1000;

/// A link to CopterSim in UDP_Full.
pub struct UdpFullLink {
    udp: UdpLink,
    id: u16,
    /// Times of the last state and the last HEARTBEAT, in ms.
    last: Option<u32>,
    last_heartbeat: u32,
}

impl UdpFullLink {
    /// Creates a link that sends datagrams for vehicle `id` to `sink`.
    pub fn new(id: u16, sink: Sink) -> Self {
        Self { udp: UdpLink::new("UDP_Full", id, sink), id, last: None, last_heartbeat: 0 }
    }

    fn setpoint(&self, time_boot_ms: u32, mask: u16, frame: u8) -> FullSetpointPacket {
        FullSetpointPacket::new(time_boot_ms, self.id.into(), mask, frame)
    }

    fn packet(&self, setpoint: &UdpMessage) -> Result<FullSetpointPacket, SendError> {
        Ok(match setpoint {
            UdpMessage::Local(t) => {
                let frame = match t.coordinate_frame as u8 {
                    frame @ (MAV_FRAME_LOCAL_NED | MAV_FRAME_BODY_NED) => frame,
                    _ => {
                        return self.udp.unsupported(
                            "a local frame other than LOCAL_NED (1) and BODY_NED (8)",
                        );
                    }
                };
                FullSetpointPacket {
                    position: [t.x, t.y, t.z].map(F32::new),
                    velocity: [t.vx, t.vy, t.vz].map(F32::new),
                    acceleration: [t.afx, t.afy, t.afz].map(F32::new),
                    yaw: t.yaw.into(),
                    yaw_rate: t.yaw_rate.into(),
                    ..self.setpoint(t.time_boot_ms, t.type_mask.bits(), frame)
                }
            }
            UdpMessage::Global(t) => {
                let altitude = global_altitude(&self.udp, t.coordinate_frame, t.alt)?;
                let [latitude, longitude] = [t.lat_int, t.lon_int].map(degrees);
                FullSetpointPacket {
                    position: [latitude, longitude, altitude].map(F32::new),
                    velocity: [t.vx, t.vy, t.vz].map(F32::new),
                    acceleration: [t.afx, t.afy, t.afz].map(F32::new),
                    yaw: t.yaw.into(),
                    yaw_rate: t.yaw_rate.into(),
                    ..self.setpoint(t.time_boot_ms, t.type_mask.bits(), MAV_FRAME_GLOBAL_INT)
                }
            }
            UdpMessage::Attitude(t) => {
                let rates = [t.body_roll_rate, t.body_pitch_rate, t.body_yaw_rate];
                let mask = t.type_mask.bits().into();
                // As the vendor's client, which keeps the frame of its body setpoints.
                self.setpoint(t.time_boot_ms, mask, MAV_FRAME_BODY_NED)
                    .with_attitude(t.q, rates, t.thrust)
            }
            UdpMessage::Command(_) | UdpMessage::Done => {
                return self.udp.unsupported("it is not a setpoint");
            }
        })
    }
}

/// Degrees from MAVLink's 1e-7 degrees; the UDP modes have single precision only.
pub(super) fn degrees(e7: i32) -> f32 {
    (f64::from(e7) / 1e7) as f32
}

/// Altitude above sea level of a global target.
pub(super) fn global_altitude(
    udp: &UdpLink,
    frame: MavFrame,
    altitude: f32,
) -> Result<f32, SendError> {
    match frame as u8 {
        MAV_FRAME_GLOBAL | MAV_FRAME_GLOBAL_INT => Ok(altitude),
        MAV_FRAME_GLOBAL_RELATIVE_ALT | MAV_FRAME_GLOBAL_RELATIVE_ALT_INT => {
            udp.altitude_over_home(altitude)
        }
        _ => udp.unsupported("altitudes above terrain"),
    }
}

impl Link for UdpFullLink {
    fn abilities(&self) -> Abilities {
        self.udp.abilities()
    }

    fn send(&mut self, message: &Outbound, _system: u8, _component: u8) -> Result<(), SendError> {
        match self.udp.translate(message)? {
            UdpMessage::Done => Ok(()),
            UdpMessage::Command(command) => self.udp.send_command(command),
            setpoint => {
                let packet = self.packet(&setpoint)?;
                self.udp.send_setpoint(packet.as_bytes())
            }
        }
    }

    fn incoming<'a>(&mut self, bytes: &'a [u8], out: &'a mut Vec<u8>) -> Result<&'a [u8], Counter> {
        self.udp.begin();
        match FullEstimatePacket::parse(bytes) {
            Ok(packet) if packet.copter_id.get() == u32::from(self.id) => self.state(packet)?,
            Ok(_) => return Err(Counter::OtherVehicle),
            // These two datagrams are the same in UDP_Simple and UDP_Full.
            Err(_) => match SimpleEstimatePacket::parse(bytes).map(SimpleEstimatePacket::report) {
                Ok(SimpleReport::PositionFix) => self.udp.set_fixed(true),
                Ok(SimpleReport::Collision { with }) => self.udp.report_collision(with),
                _ => return Err(self.udp.classify(bytes)),
            },
        }
        Ok(self.udp.frames(out))
    }

    fn lost(&mut self) {
        self.udp.lost();
    }
}

impl UdpFullLink {
    fn state(&mut self, packet: &FullEstimatePacket) -> Result<(), Counter> {
        let time_boot_ms = packet.time_boot_ms.get();
        // A small step back is a late datagram, a large one a restart. The count wraps after 49.7 days.
        match (self.last).map(|last| last.wrapping_sub(time_boot_ms).cast_signed()) {
            Some(1000..) => self.udp.restarted(),
            Some(1..) => return Err(Counter::Late),
            _ => {}
        }
        let due =
            time_boot_ms.wrapping_sub(self.last_heartbeat) >= HEARTBEAT_MS || self.last.is_none();
        self.udp.is_heartbeat_due |= due;
        if self.udp.is_heartbeat_due {
            self.last_heartbeat = time_boot_ms;
        }
        let pose = UdpState {
            time_boot_ms,
            euler: packet.euler.map(F32::get),
            position: packet.position.map(F32::get),
            velocity: packet.velocity.map(F32::get),
            home: packet.home.map(|x| x.get()),
        };
        self.udp.push_pose(&pose)?;
        self.last = Some(time_boot_ms);
        self.push_gps(packet);
        self.udp.set_fixed(packet.estimator_fixed.get() > 0.5);
        let with = Some(packet.collided_with.get()).filter(|id| *id >= 0);
        self.udp.report_collision(with);
        Ok(())
    }

    fn push_gps(&mut self, packet: &FullEstimatePacket) {
        let [lat, lon, alt] = packet.gps.map(|x| x.get());
        let [north, east, down] = packet.gps_velocity.map(|x| x.get());
        let [vx, vy, vz] = [north, east, down]
            .map(|v| i16::try_from(v).unwrap_or(if v < 0 { i16::MIN } else { i16::MAX }));
        let unknown = u16::MAX;
        if (lat, lon) != (0, 0) {
            let heading = packet.heading.get();
            self.udp.push(MavMessage::GLOBAL_POSITION_INT(GLOBAL_POSITION_INT_DATA {
                time_boot_ms: packet.time_boot_ms.get(),
                lat,
                lon,
                alt,
                relative_alt: packet.relative_altitude.get(),
                vx,
                vy,
                vz,
                hdg: if (0..360_000).contains(&heading) {
                    u16::try_from(heading / 10).unwrap_or(unknown)
                } else {
                    unknown
                },
            }));
        }
        let speed = f64::from(north).hypot(f64::from(east)).round();
        self.udp.push(GpsRawInt {
            time_usec: u64::from(packet.time_boot_ms.get()) * 1000,
            lat,
            lon,
            alt,
            eph: unknown,
            epv: unknown,
            vel: if speed < f64::from(unknown) { speed as u16 } else { unknown },
            cog: unknown,
            fix_type: u8::try_from(packet.fix_type.get()).unwrap_or(0),
            satellites_visible: u8::try_from(packet.satellites.get()).unwrap_or(u8::MAX),
            ..GpsRawInt::default()
        });
    }
}
