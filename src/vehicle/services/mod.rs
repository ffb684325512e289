//! Services of the vehicle. Each part is a file that implements [`ServicePart`], and a row of `parts!`.

/// Passes a frame to the handler of its message; checks the id before decoding.
macro_rules! handle {
    ($frame:ident { $($message:ident => |$m:ident| $call:expr,)+ }) => {
        match $frame.id {
            $($message::ID => $message::parse($frame).map_or(Ok(()), |$m| $call),)+
            _ => Ok(()),
        }
    };
}

mod command;
mod info;
mod logs;
mod mission;
mod origin;
mod parameters;
mod repeated_request;
mod time;
mod waypoint;

use super::{Counter, Fcu, Open, link::Abilities, service_table::VehicleService};
use crate::wire::mavlink::raw::{CommandAck, CommandLong};
use crate::{ros::RosError, wire::mavlink::Frame};
use std::time::Duration;

/// A part of the services. By default, `restarted` calls `connected`, and other methods ignore the event.
trait ServicePart {
    /// Opens its topics.
    fn open(open: &Open<'_>, link: Abilities) -> Result<Self, RosError>
    where
        Self: Sized;

    /// The vehicle connected.
    fn connected(&mut self, _: &Fcu) {}

    /// The vehicle restarted without a loss of the connection.
    fn restarted(&mut self, fcu: &Fcu) {
        self.connected(fcu);
    }

    /// The vehicle's heartbeat arrived.
    fn heartbeat(&mut self, _: &mut Fcu) {}

    /// Handles a frame of the autopilot, or the acknowledgement of any component.
    fn frame(&mut self, _: &mut Fcu, _: &Frame<'_>) -> Result<(), RosError> {
        Ok(())
    }

    /// Runs due work.
    fn poll(&mut self, _: &mut Fcu) -> Result<(), RosError> {
        Ok(())
    }

    /// The next deadline.
    fn deadline(&self, _: &Fcu) -> Option<Duration> {
        None
    }

    /// The connection was lost; the vehicle may restart before it reconnects.
    fn lost(&mut self, _: &mut Fcu) -> Result<(), RosError> {
        Ok(())
    }
}

macro_rules! parts {
    ($($part:ident: $type:ty,)+) => {
        /// All services of one vehicle.
        pub(super) struct Services {
            $($part: $type,)+
            is_connected: bool,
        }

        impl Services {
            pub(super) fn open(open: &Open<'_>, link: Abilities) -> Result<Self, RosError> {
                let offered = |s: &&VehicleService| mission::is_offered(s.row.name, link);
                for service in SERVICES.iter().copied().flatten().filter(offered) {
                    (service.open)(open)?;
                }
                Ok(Self {
                    $($part: ServicePart::open(open, link)?,)+
                    is_connected: false,
                })
            }

            fn parts(&mut self) -> impl Iterator<Item = &mut dyn ServicePart> {
                [$(&mut self.$part as &mut dyn ServicePart),+].into_iter()
            }
        }
    };
}

// Order of the calls. Parts that request messages precede `command`, which sends the requests.
parts! {
    time: time::TimePart,
    info: info::VehicleInfoPart,
    origin: origin::OriginPart,
    command: command::CommandPart,
    parameters: parameters::ParameterPart,
    mission: mission::MissionPart,
}

/// The services of each file.
pub(super) const SERVICES: &[&[VehicleService]] =
    &[command::SERVICES, info::SERVICES, logs::SERVICES, mission::SERVICES, parameters::SERVICES];

impl Services {
    /// The autopilot's heartbeat arrived.
    pub(super) fn heartbeat(&mut self, fcu: &mut Fcu) {
        let is_first = !std::mem::replace(&mut self.is_connected, true);
        for part in self.parts() {
            if is_first {
                part.connected(fcu);
            }
            part.heartbeat(fcu);
        }
    }

    /// Handles a frame of the vehicle.
    pub(super) fn frame(&mut self, fcu: &mut Fcu, frame: &Frame<'_>) -> Result<(), RosError> {
        if frame.component != fcu.component && frame.id != CommandAck::ID {
            return Ok(());
        }
        let published = all(self.parts().map(|part| part.frame(fcu, frame)));
        if std::mem::take(&mut fcu.has_restarted) {
            self.restarted(fcu);
        }
        published
    }

    /// Sends a command that the vehicle answers with a message. Error: why it was not sent.
    pub(super) fn ask(&mut self, fcu: &mut Fcu, command: CommandLong) -> Result<(), String> {
        self.command.ask(fcu, command)
    }

    /// Runs due work.
    pub(super) fn poll(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        let mut published = Ok(());
        if self.is_connected && !fcu.is_connected() {
            self.is_connected = false;
            published = all(self.parts().map(|part| part.lost(fcu)));
        }
        published.and(all(self.parts().map(|part| part.poll(fcu))))
    }

    /// The next deadline.
    pub(super) fn deadline(&mut self, fcu: &Fcu) -> Option<Duration> {
        self.parts().filter_map(|part| part.deadline(fcu)).min()
    }

    fn restarted(&mut self, fcu: &mut Fcu) {
        // The orientation is from the run before the restart.
        fcu.orientation = None;
        tracing::warn!(vehicle = fcu.settings.id, "the autopilot restarted");
        fcu.count(Counter::AutopilotRestarted);
        fcu.forget_positions();
        for part in self.parts() {
            part.restarted(fcu);
        }
    }
}

/// Runs all parts before it returns the first error: a failed part must not stop the others.
fn all(results: impl Iterator<Item = Result<(), RosError>>) -> Result<(), RosError> {
    results.fold(Ok(()), Result::and)
}
