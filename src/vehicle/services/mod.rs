//! What the vehicle is asked for and answers: commands, modes, parameters, missions, the time.
mod command;
mod info;
mod logs;
mod mission;
mod origin;
mod parameters;
mod time;
mod waypoint;

use super::fcu::boot_ns;
use super::link::Abilities;
use super::{Counter, Fcu, Open};
use crate::ros::RosError;
use crate::wire::mavlink::dialect::{
    ATTITUDE_DATA, ATTITUDE_QUATERNION_DATA, HIGHRES_IMU_DATA, LOCAL_POSITION_NED_DATA,
};
use crate::wire::mavlink::raw::{
    AutopilotVersion, CommandAck, MissionAck, MissionCount, MissionCurrent, MissionItem,
    MissionItemInt, MissionItemReached, MissionRequest, MissionRequestInt, ParamError, ParamValue,
    StatusText, SystemTime, Timesync,
};
use crate::wire::mavlink::{Frame, MessageData as _};
use std::time::Duration;

/// All services of one vehicle.
pub(super) struct Services {
    pub(super) command: command::CommandPart,
    parameters: parameters::ParameterPart,
    mission: mission::MissionPart,
    time: time::TimePart,
    info: info::Info,
    origin: origin::Origin,
    connected: bool,
}

impl Services {
    pub(super) fn open(open: &Open<'_>, link: Abilities) -> Result<Self, RosError> {
        logs::open(open)?;
        Ok(Self {
            command: command::CommandPart::open(open)?,
            parameters: parameters::ParameterPart::open(open)?,
            mission: mission::MissionPart::open(open, link)?,
            time: time::TimePart::open(open)?,
            info: info::Info::open(open)?,
            origin: origin::Origin::default(),
            connected: false,
        })
    }

    /// The autopilot's heartbeat came.
    pub(super) fn heartbeat(&mut self, fcu: &mut Fcu) {
        if !self.connected {
            self.connected = true;
            self.parameters.connected(fcu);
            self.mission.connected(fcu);
            self.info.connected(fcu);
            self.origin.connected(fcu);
        }
        self.command.heartbeat(fcu);
    }

    /// Takes a frame of the vehicle. The id decides before anything is read.
    pub(super) fn frame(&mut self, fcu: &mut Fcu, frame: &Frame<'_>) -> Result<(), RosError> {
        let from = (frame.system, frame.component);
        if frame.id == CommandAck::ID {
            if let Some(ack) = CommandAck::parse(frame) {
                self.command.acknowledge(fcu, from, &ack);
            }
            return Ok(());
        }
        if frame.component != fcu.component {
            return Ok(());
        }
        if fcu.abilities().timesync
            && let Some(boot_ns) = sampled(fcu, frame)
            && self.time.hear(fcu, boot_ns)
        {
            self.restarted(fcu);
        }
        macro_rules! messages {
            ($($message:ident => |$m:ident| $call:expr,)+) => {
                match frame.id {
                    $($message::ID => $message::parse(frame).map_or(Ok(()), |$m| $call),)+
                    _ => Ok(()),
                }
            };
        }
        messages! {
            Timesync => |m| {
                let restarted = self.time.timesync(fcu, &m)?;
                if restarted {
                    self.restarted(fcu);
                }
                Ok(())
            },
            SystemTime => |m| self.time.system_time(fcu, &m),
            ParamValue => |m| self.parameters.value(fcu, &m),
            ParamError => |m| self.parameters.error(fcu, &m),
            MissionCount => |m| self.mission.take(fcu, |mission, now| mission.count(now, &m)),
            MissionItemInt => |m| self.mission.take(fcu, |mission, now| mission.item(now, m)),
            MissionItem => |m| self.mission.take(fcu, |mission, now| mission.item_float(now, &m)),
            MissionRequest => |m| self.mission.take(fcu, |mission, now| {
                let to = (m.target_system, m.target_component);
                mission.requested(now, m.seq, to, m.mission_type);
            }),
            MissionRequestInt => |m| self.mission.take(fcu, |mission, now| {
                let to = (m.target_system, m.target_component);
                mission.requested(now, m.seq, to, m.mission_type);
            }),
            MissionAck => |m| self.mission.take(fcu, |mission, now| mission.acknowledge(now, &m)),
            MissionCurrent => |m| self.mission.take(fcu, |mission, now| mission.current_item(now, &m)),
            MissionItemReached => |m| self.mission.take(fcu, |mission, _| mission.reached(m.seq)),
            AutopilotVersion => |m| {
                self.info.version(fcu, m);
                self.parameters.capabilities(fcu, m.capabilities);
                Ok(())
            },
            StatusText => |m| {
                self.command.text(&m);
                self.mission.text(fcu, &m)
            },
        }
    }

    /// Does what is due, and returns when something will be due again.
    pub(super) fn poll(&mut self, fcu: &mut Fcu) -> Result<Option<Duration>, RosError> {
        if self.connected && !fcu.connected() {
            self.connected = false;
            self.time.lost(fcu);
            self.command.lost(fcu);
            self.info.lost();
            self.origin.lost();
            self.parameters.lost(fcu)?;
            self.mission.lost(fcu)?;
        }
        self.time.poll(fcu);
        self.info.poll(fcu, &mut self.command);
        self.origin.poll(fcu, &mut self.command);
        self.command.poll(fcu);
        self.parameters.poll(fcu)?;
        self.mission.poll(fcu)?;
        let deadlines = [
            self.time.deadline(fcu),
            self.info.deadline(),
            self.origin.deadline(),
            self.command.deadline(),
            self.parameters.deadline(),
            self.mission.deadline(),
        ];
        Ok(deadlines.into_iter().flatten().min())
    }

    fn restarted(&mut self, fcu: &mut Fcu) {
        // Of the run before.
        fcu.orientation = None;
        tracing::warn!(vehicle = fcu.settings.id, "the autopilot restarted");
        fcu.count(Counter::AutopilotRestarted);
        fcu.forget_places();
        self.parameters.restarted();
        self.parameters.connected(fcu);
        self.mission.connected(fcu);
        self.info.connected(fcu);
        self.origin.connected(fcu);
    }
}

/// Boot time in ns of what an autopilot samples many times a second and sends at once.
fn sampled(fcu: &Fcu, frame: &Frame<'_>) -> Option<i64> {
    let boot_ms = || fcu.boot_ns(u32::from_le_bytes(frame.bytes_at(0)));
    match frame.id {
        ATTITUDE_DATA::ID | ATTITUDE_QUATERNION_DATA::ID | LOCAL_POSITION_NED_DATA::ID => {
            Some(boot_ms())
        }
        HIGHRES_IMU_DATA::ID => boot_ns(u64::from_le_bytes(frame.bytes_at(0))),
        _ => None,
    }
}
