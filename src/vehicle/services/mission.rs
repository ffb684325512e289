//! `mission/*`, `geofence/*`, `rallypoint/*`: the vehicle's waypoint lists.
use super::{Part, waypoint};
use crate::msgs::mavros_msgs::msg::{WaypointList, WaypointReached};
use crate::msgs::mavros_msgs::srv::{
    WaypointClear, WaypointClearResponse, WaypointPull, WaypointPullResponse, WaypointPush,
    WaypointPushResponse, WaypointSetCurrent, WaypointSetCurrentResponse,
};
use crate::ros::{Publisher, RosError};
use crate::session::{
    MissionClient, MissionDone, MissionError, MissionEvent, MissionList, MissionSettings,
};
use crate::vehicle::link::Abilities;
use crate::vehicle::reasons::Reasons;
use crate::vehicle::{Autopilot, Counter, Fcu, Open};
use crate::wire::mavlink::Frame;
use crate::wire::mavlink::raw::{
    MissionAck, MissionCount, MissionCurrent, MissionItem, MissionItemInt, MissionItemReached,
    MissionRequest, MissionRequestInt, StatusText,
};
use std::time::Duration;

/// Delay from the connection to the first download.
const FIRST_PULL: Duration = Duration::from_secs(5);

/// ROS names of a list and its services.
struct ListNames {
    list: MissionList,
    topic: &'static str,
    pull: &'static str,
    push: &'static str,
    clear: &'static str,
}

static LISTS: [ListNames; 3] = [
    ListNames {
        list: MissionList::Plan,
        topic: "mission/waypoints",
        pull: "mission/pull",
        push: "mission/push",
        clear: "mission/clear",
    },
    ListNames {
        list: MissionList::Fence,
        topic: "geofence/fences",
        pull: "geofence/pull",
        push: "geofence/push",
        clear: "geofence/clear",
    },
    ListNames {
        list: MissionList::Rally,
        topic: "rallypoint/rallypoints",
        pull: "rallypoint/pull",
        push: "rallypoint/push",
        clear: "rallypoint/clear",
    },
];

type Then = Box<dyn FnOnce(&mut Fcu, Result<MissionDone, MissionError>) + Send>;

pub(super) struct MissionPart {
    machine: MissionClient<Then>,
    lists: Vec<(MissionList, Publisher<WaypointList>)>,
    reached: Publisher<WaypointReached>,
    pull: Option<Duration>,
    current: u16,
}

impl Part for MissionPart {
    /// A link without missions has no fences and rally points either. Opening their services for a fleet of a hundred
    /// would exceed Cyclone's limit of services per process.
    fn open(open: &Open<'_>, link: Abilities) -> Result<Self, RosError> {
        let count = if link.services { LISTS.len() } else { 1 };
        let names = || LISTS.iter().take(count);
        services(open, names())?;
        let lists = names().map(|names| Ok((names.list, open.publisher(names.topic)?)));
        Ok(Self {
            machine: MissionClient::new(MissionSettings::default(), (1, 191), (1, 1)),
            lists: lists.collect::<Result<_, RosError>>()?,
            reached: open.publisher("mission/reached")?,
            pull: None,
            current: 0,
        })
    }

    /// Schedules the download of the lists, also after a restart.
    fn connected(&mut self, fcu: &Fcu) {
        self.machine.forget();
        self.pull = fcu.abilities().services.then_some(fcu.now.mono + FIRST_PULL);
    }

    fn frame(&mut self, fcu: &mut Fcu, frame: &Frame<'_>) -> Result<(), RosError> {
        handle!(frame {
            MissionCount => |m| self.take(fcu, |mission, now| mission.count(now, &m)),
            MissionItemInt => |m| self.take(fcu, |mission, now| mission.item(now, m)),
            MissionItem => |m| self.take(fcu, |mission, now| mission.item_float(now, &m)),
            MissionRequest => |m| self.take(fcu, |mission, now| {
                let to = (m.target_system, m.target_component);
                mission.requested(now, m.seq, to, m.mission_type);
            }),
            MissionRequestInt => |m| self.take(fcu, |mission, now| {
                let to = (m.target_system, m.target_component);
                mission.requested(now, m.seq, to, m.mission_type);
            }),
            MissionAck => |m| self.take(fcu, |mission, now| mission.acknowledge(now, &m)),
            MissionCurrent => |m| self.take(fcu, |mission, now| mission.current_item(now, &m)),
            MissionItemReached => |m| self.take(fcu, |mission, _| mission.reached(m.seq)),
            StatusText => |m| self.text(fcu, &m),
        })
    }

    fn poll(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        let now = fcu.now.mono;
        if self.pull.is_some_and(|at| now >= at) {
            self.pull = None;
            self.ids(fcu);
            for list in MissionList::ALL {
                self.machine.pull(now, list, Box::new(automatic));
            }
        }
        self.machine.tick(now);
        self.run(fcu)
    }

    fn lost(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        self.pull = None;
        self.machine.lose_link();
        self.run(fcu)
    }

    fn deadline(&self, _: &Fcu) -> Option<Duration> {
        self.machine.deadline().into_iter().chain(self.pull).min()
    }
}

impl MissionPart {
    /// Passes a message to the state machine.
    fn take(
        &mut self,
        fcu: &mut Fcu,
        message: impl FnOnce(&mut MissionClient<Then>, Duration),
    ) -> Result<(), RosError> {
        self.ids(fcu);
        message(&mut self.machine, fcu.now.mono);
        self.run(fcu)
    }

    /// Takes a status text.
    fn text(&mut self, fcu: &mut Fcu, message: &StatusText) -> Result<(), RosError> {
        if self.machine.is_busy() && fcu.reasons.hear(message) {
            self.machine.warned(fcu.now.mono);
        }
        self.run(fcu)
    }

    fn ids(&mut self, fcu: &Fcu) {
        self.machine.set_ids(fcu.own(), (fcu.system, fcu.component));
    }

    fn run(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        let mut published = Ok(());
        while let Some(event) = self.machine.next_event() {
            match event {
                MissionEvent::Send(message) => {
                    // A failure is counted; the caller gets a timeout after some tries.
                    let _counted = fcu.send(message);
                }
                MissionEvent::Items(list) => published = published.and(self.publish(list)),
                MissionEvent::Current(seq) => {
                    if std::mem::replace(&mut self.current, seq) != seq {
                        published = published.and(self.publish(MissionList::Plan));
                    }
                }
                MissionEvent::Reached(wp_seq) => {
                    let header = fcu.header_now("");
                    let reached = self.reached.publish(&WaypointReached { header, wp_seq });
                    published = published.and(reached.map(drop));
                }
                MissionEvent::ChangedElsewhere(list) => {
                    tracing::info!(
                        vehicle = fcu.settings.id,
                        "another station changed the {list}: read again"
                    );
                    self.machine.pull(fcu.now.mono, list, Box::new(automatic));
                }
                MissionEvent::Done { token, result } => token(fcu, result),
            }
        }
        published
    }

    fn publish(&self, list: MissionList) -> Result<(), RosError> {
        let items = self.machine.items(list).unwrap_or_default();
        // Only the plan has a current item. Until the autopilot reports it, the item's own flag counts.
        let told = list == MissionList::Plan && self.machine.current().is_some();
        let current = |seq: u16, flag: u8| if told { seq == self.current } else { flag == 1 };
        let message = WaypointList {
            current_seq: if told { self.current } else { 0 },
            waypoints: (items.iter())
                .map(|item| waypoint::to_ros(item, current(item.seq, item.current)))
                .collect(),
        };
        let publisher = self.lists.iter().find(|(of, _)| *of == list);
        publisher.map_or(Ok(()), |(_, publisher)| publisher.publish(&message).map(drop))
    }
}

/// The result of a download without a caller.
fn automatic(fcu: &mut Fcu, result: Result<MissionDone, MissionError>) {
    if let Err(error) = result {
        tracing::debug!(vehicle = fcu.settings.id, %error, "reading a list failed");
    }
}

/// Logs and counts a failure, with the vehicle's status texts during the transfer.
fn failed(fcu: &mut Fcu, what: &'static str, error: MissionError) {
    let said = fcu.reasons.take();
    if said.is_empty() {
        fail(fcu, what, &error.to_string());
    } else {
        fail(fcu, what, &format!("{error}: {said}"));
    }
}

fn fail(fcu: &mut Fcu, what: &'static str, why: &str) {
    tracing::warn!(vehicle = fcu.settings.id, "{what}: {why}");
    fcu.notice(format!("{what}: {why}"));
    fcu.count(Counter::MissionFailed);
}

/// Whether the vehicle can be asked for lists now.
fn ready(fcu: &mut Fcu, what: &'static str) -> bool {
    let why = if !fcu.abilities().services {
        "the link carries no missions"
    } else if !fcu.connected() {
        "the vehicle is not connected"
    } else {
        return true;
    };
    fail(fcu, what, why);
    false
}

/// Whether lists may be changed now.
fn changeable(fcu: &mut Fcu, what: &'static str) -> bool {
    if !fcu.settings.read_only {
        return ready(fcu, what);
    }
    failed(fcu, what, MissionError::ReadOnly);
    false
}

fn start(autopilot: &mut Autopilot, request: impl FnOnce(&mut MissionClient<Then>, Duration)) {
    let part = &mut autopilot.services.mission;
    if !part.machine.is_busy() {
        autopilot.fcu.reasons = Reasons::default();
    }
    let published = part.take(&mut autopilot.fcu, request);
    autopilot.check(published);
}

fn services(
    open: &Open<'_>,
    lists: impl Iterator<Item = &'static ListNames>,
) -> Result<(), RosError> {
    for names in lists {
        list_services(open, names)?;
    }
    open.service::<WaypointSetCurrent>("mission/set_current", |autopilot, request, responder| {
        if !changeable(&mut autopilot.fcu, "mission/set_current") {
            return responder.respond(WaypointSetCurrentResponse::default());
        }
        let then: Then = Box::new(move |fcu, result| {
            if let Err(error) = result {
                failed(fcu, "mission/set_current", error);
            }
            let success = result.is_ok();
            responder.respond(WaypointSetCurrentResponse { success });
        });
        start(autopilot, |mission, now| {
            mission.set_current(now, request.wp_seq, then);
        });
    })
}

fn list_services(open: &Open<'_>, names: &'static ListNames) -> Result<(), RosError> {
    open.service::<WaypointPull>(names.pull, move |autopilot, _, responder| {
        if !ready(&mut autopilot.fcu, names.pull) {
            return responder.respond(WaypointPullResponse::default());
        }
        let then: Then = Box::new(move |fcu, result| {
            let wp_received = match result {
                Ok(MissionDone::Pulled(items)) => u32::try_from(items).unwrap_or(u32::MAX),
                Ok(_) => 0,
                Err(error) => {
                    failed(fcu, names.pull, error);
                    0
                }
            };
            responder.respond(WaypointPullResponse { success: result.is_ok(), wp_received });
        });
        start(autopilot, |mission, now| {
            mission.pull(now, names.list, then);
        });
    })?;
    open.service::<WaypointPush>(names.push, move |autopilot, request, responder| {
        let fcu = &mut autopilot.fcu;
        if !changeable(fcu, names.push) {
            return responder.respond(WaypointPushResponse::default());
        }
        if request.start_index != 0 {
            let why =
                "partial lists are not sent, because PX4 does not take them; start_index must be 0";
            fail(fcu, names.push, why);
            return responder.respond(WaypointPushResponse::default());
        }
        let quirks = fcu.settings.quirks;
        let items = (request.waypoints.iter())
            .map(|waypoint| waypoint::to_mavlink(waypoint, quirks))
            .collect();
        let then: Then = Box::new(move |fcu, result| {
            let wp_transfered = match result {
                Ok(MissionDone::Pushed(items)) => u32::try_from(items).unwrap_or(u32::MAX),
                Ok(_) => 0,
                Err(error) => {
                    failed(fcu, names.push, error);
                    0
                }
            };
            responder.respond(WaypointPushResponse { success: result.is_ok(), wp_transfered });
        });
        start(autopilot, |mission, now| {
            mission.push(now, names.list, items, then);
        });
    })?;
    open.service::<WaypointClear>(names.clear, move |autopilot, _, responder| {
        if !changeable(&mut autopilot.fcu, names.clear) {
            return responder.respond(WaypointClearResponse::default());
        }
        let then: Then = Box::new(move |fcu, result| {
            if let Err(error) = result {
                failed(fcu, names.clear, error);
            }
            let success = result.is_ok();
            responder.respond(WaypointClearResponse { success });
        });
        start(autopilot, |mission, now| {
            mission.clear(now, names.list, then);
        });
    })
}
