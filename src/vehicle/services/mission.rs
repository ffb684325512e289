//! `mission/*`, `geofence/*`, `rallypoint/*`: the vehicle's waypoint lists.
use super::{ServicePart, waypoint};
use crate::msgs::mavros_msgs::msg::{WaypointList, WaypointReached};
use crate::msgs::mavros_msgs::srv::*;
use crate::ros::{Publisher, RosError};
use crate::session::{
    MissionClient, MissionDone, MissionError, MissionEvent, MissionList, MissionSettings,
};
use crate::vehicle::link::Abilities;
use crate::vehicle::reasons::Reasons;
use crate::vehicle::service_table::{VehicleCall, services};
use crate::vehicle::{Counter, Fcu, Open};
use crate::wire::mavlink::raw::{
    MissionAck, MissionCount, MissionCurrent, MissionItem, MissionItemInt, MissionItemReached,
    MissionRequest, MissionRequestInt, StatusText,
};
use crate::{msgs::Service, wire::mavlink::Frame};
use std::time::Duration;

/// Delay from the connection to the first download.
const FIRST_PULL: Duration = Duration::from_secs(5);

/// The topics of the lists.
const TOPICS: [&str; 3] = ["mission/waypoints", "geofence/fences", "rallypoint/rallypoints"];

services! {
    WaypointPull("mission/pull", "reads the mission") => pull;
    WaypointPush("mission/push", "writes the mission") => push;
    WaypointClear("mission/clear", "deletes the mission") => clear;
    WaypointPull("geofence/pull", "reads the geofence") => pull;
    WaypointPush("geofence/push", "writes the geofence") => push;
    WaypointClear("geofence/clear", "deletes the geofence") => clear;
    WaypointPull("rallypoint/pull", "reads the rally points") => pull;
    WaypointPush("rallypoint/push", "writes the rally points") => push;
    WaypointClear("rallypoint/clear", "deletes the rally points") => clear;
    WaypointSetCurrent("mission/set_current", "makes this waypoint the current one") => set_current;
}

/// The list of a topic or service.
fn list_of(name: &str) -> MissionList {
    match name.split_once('/') {
        Some(("geofence", _)) => MissionList::Fence,
        Some(("rallypoint", _)) => MissionList::Rally,
        _ => MissionList::Plan,
    }
}

/// Whether to open a topic or service. On a link without missions, the services of fences and rally points are not opened: with
/// them a fleet of a hundred would exceed Cyclone's limit of services per process. The services of the mission refuse calls.
pub(super) fn is_offered(name: &str, link: Abilities) -> bool {
    link.services || list_of(name) == MissionList::Plan
}

type MissionCallback = Box<dyn FnOnce(&mut Fcu, Result<MissionDone, MissionError>) + Send>;

pub(super) struct MissionPart {
    machine: MissionClient<MissionCallback>,
    /// The lists that are read without a request.
    lists: Vec<(MissionList, Publisher<WaypointList>)>,
    reached: Publisher<WaypointReached>,
    /// Time of the first download.
    pull_at: Option<Duration>,
    /// The current item of the plan, as last published.
    current: u16,
}

impl ServicePart for MissionPart {
    fn open(open: &Open<'_>, link: Abilities) -> Result<Self, RosError> {
        let is_read = |topic: &&str| is_offered(topic, link) && open.serves(topic);
        let topics = TOPICS.into_iter().filter(is_read);
        let lists = topics.map(|topic| Ok((list_of(topic), open.publisher(topic)?)));
        Ok(Self {
            machine: MissionClient::new(MissionSettings::default(), (1, 191), (1, 1)),
            lists: lists.collect::<Result<_, RosError>>()?,
            reached: open.publisher("mission/reached")?,
            pull_at: None,
            current: 0,
        })
    }

    /// Schedules the download of the lists, also after a restart.
    fn connected(&mut self, fcu: &Fcu) {
        self.machine.forget();
        self.pull_at = fcu.abilities().services.then_some(fcu.now.mono + FIRST_PULL);
    }

    fn frame(&mut self, fcu: &mut Fcu, frame: &Frame<'_>) -> Result<(), RosError> {
        handle!(frame {
            MissionCount => |m| self.pass(fcu, |mission, now| mission.count(now, &m)),
            MissionItemInt => |m| self.pass(fcu, |mission, now| mission.item(now, m)),
            MissionItem => |m| self.pass(fcu, |mission, now| mission.item_float(now, &m)),
            MissionRequest => |m| self.pass(fcu, |mission, now| {
                mission.requested(now, m.seq, (m.target_system, m.target_component), m.mission_type);
            }),
            MissionRequestInt => |m| self.pass(fcu, |mission, now| {
                mission.requested(now, m.seq, (m.target_system, m.target_component), m.mission_type);
            }),
            MissionAck => |m| self.pass(fcu, |mission, now| mission.acknowledge(now, &m)),
            MissionCurrent => |m| self.pass(fcu, |mission, now| mission.current_item(now, &m)),
            MissionItemReached => |m| self.pass(fcu, |mission, _| mission.reached(m.seq)),
            StatusText => |m| self.add_text(fcu, &m),
        })
    }

    fn poll(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        let now = fcu.now.mono;
        if self.pull_at.is_some_and(|at| now >= at) {
            self.pull_at = None;
            self.set_ids(fcu);
            for (list, _) in &self.lists {
                self.machine.pull(now, *list, Box::new(log_failure));
            }
        }
        self.machine.tick(now);
        self.handle_events(fcu)
    }

    fn lost(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        self.pull_at = None;
        self.machine.lose_link();
        self.handle_events(fcu)
    }

    fn deadline(&self, _: &Fcu) -> Option<Duration> {
        self.machine.deadline().into_iter().chain(self.pull_at).min()
    }
}

impl MissionPart {
    /// Passes a message to the state machine.
    fn pass(
        &mut self,
        fcu: &mut Fcu,
        message: impl FnOnce(&mut MissionClient<MissionCallback>, Duration),
    ) -> Result<(), RosError> {
        self.set_ids(fcu);
        message(&mut self.machine, fcu.now.mono);
        self.handle_events(fcu)
    }

    /// Adds a status text to the reasons while a transfer is under way.
    fn add_text(&mut self, fcu: &mut Fcu, message: &StatusText) -> Result<(), RosError> {
        if self.machine.is_busy() && fcu.reasons.add(message) {
            self.machine.warned(fcu.now.mono);
        }
        self.handle_events(fcu)
    }

    fn set_ids(&mut self, fcu: &Fcu) {
        self.machine.set_ids(fcu.own_ids(), (fcu.system, fcu.component));
    }

    fn handle_events(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
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
                    self.machine.pull(fcu.now.mono, list, Box::new(log_failure));
                }
                MissionEvent::Done { token, result } => token(fcu, result),
            }
        }
        published
    }

    fn publish(&self, list: MissionList) -> Result<(), RosError> {
        let items = self.machine.items(list).unwrap_or_default();
        // Only the plan has a current item. Until the autopilot reports it, the item's own flag counts.
        let known = list == MissionList::Plan && self.machine.current().is_some();
        let is_current = |seq: u16, flag: u8| if known { seq == self.current } else { flag == 1 };
        let message = WaypointList {
            current_seq: if known { self.current } else { 0 },
            waypoints: (items.iter())
                .map(|item| waypoint::to_ros(item, is_current(item.seq, item.current)))
                .collect(),
        };
        let publisher = self.lists.iter().find(|(published, _)| *published == list);
        publisher.map_or(Ok(()), |(_, publisher)| publisher.publish(&message).map(drop))
    }
}

/// Handles the result of a download without a caller.
fn log_failure(fcu: &mut Fcu, result: Result<MissionDone, MissionError>) {
    if let Err(error) = result {
        tracing::debug!(vehicle = fcu.settings.id, %error, "reading a list failed");
    }
}

/// The failure as text, with the vehicle's status texts during the transfer, which are then cleared.
fn describe(fcu: &mut Fcu, error: MissionError) -> String {
    let reasons = fcu.reasons.take();
    if reasons.is_empty() { error.to_string() } else { format!("{error}: {reasons}") }
}

fn fail(fcu: &mut Fcu, service: &'static str, why: &str) {
    fcu.warn(format!("{service}: {why}"));
    fcu.count(Counter::MissionFailed);
}

/// Whether lists can be read now, or why not.
fn may_read(fcu: &Fcu) -> Result<(), String> {
    if !fcu.abilities().services {
        Err("the link carries no missions".to_owned())
    } else if !fcu.is_connected() {
        Err("the vehicle is not connected".to_owned())
    } else {
        Ok(())
    }
}

/// Whether lists can be changed now, or why not.
fn may_change(fcu: &Fcu) -> Result<(), String> {
    if fcu.settings.read_only { Err(MissionError::ReadOnly.to_string()) } else { may_read(fcu) }
}

/// Passes `work` to the state machine if it is allowed; `reply` creates the response from success and the number of items.
fn run<S: Service>(
    call: VehicleCall<'_, S>,
    allowed: Result<(), String>,
    reply: fn(bool, u32) -> S::Response,
    work: impl FnOnce(&mut MissionClient<MissionCallback>, Duration, MissionCallback),
) {
    let VehicleCall { autopilot, name, responder } = call;
    let (fcu, part) = (&mut autopilot.fcu, &mut autopilot.services.mission);
    if let Err(why) = allowed {
        fail(fcu, name, &why);
        return responder.respond(reply(false, 0));
    }
    let then: MissionCallback = Box::new(move |fcu, result| {
        let items = match result {
            Ok(MissionDone::Pulled(items) | MissionDone::Pushed(items)) => items,
            Ok(_) => 0,
            Err(error) => {
                let why = describe(fcu, error);
                fail(fcu, name, &why);
                0
            }
        };
        responder.respond(reply(result.is_ok(), u32::try_from(items).unwrap_or(u32::MAX)));
    });
    if !part.machine.is_busy() {
        fcu.reasons = Reasons::default();
    }
    let published = part.pass(fcu, |mission, now| work(mission, now, then));
    autopilot.count_unpublished(published);
}

fn pull(call: VehicleCall<'_, WaypointPull>, _: WaypointPullRequest) {
    let (allowed, list) = (may_read(&call.autopilot.fcu), list_of(call.name));
    let reply = |success, wp_received| WaypointPullResponse { success, wp_received };
    run(call, allowed, reply, |mission, now, then| mission.pull(now, list, then));
}

fn push(call: VehicleCall<'_, WaypointPush>, request: WaypointPushRequest) {
    let (mut allowed, list) = (may_change(&call.autopilot.fcu), list_of(call.name));
    if allowed.is_ok() && request.start_index != 0 {
        let why =
            "partial lists are not sent, because PX4 does not take them; start_index must be 0";
        allowed = Err(why.to_owned());
    }
    let quirks = call.autopilot.fcu.settings.quirks;
    let reply = |success, wp_transfered| WaypointPushResponse { success, wp_transfered };
    run(call, allowed, reply, |mission, now, then| {
        let items = request.waypoints.iter().map(|w| waypoint::to_mavlink(w, quirks));
        mission.push(now, list, items.collect(), then);
    });
}

fn clear(call: VehicleCall<'_, WaypointClear>, _: WaypointClearRequest) {
    let (allowed, list) = (may_change(&call.autopilot.fcu), list_of(call.name));
    let reply = |success, _| WaypointClearResponse { success };
    run(call, allowed, reply, |mission, now, then| mission.clear(now, list, then));
}

fn set_current(call: VehicleCall<'_, WaypointSetCurrent>, request: WaypointSetCurrentRequest) {
    let allowed = may_change(&call.autopilot.fcu);
    let reply = |success, _| WaypointSetCurrentResponse { success };
    run(call, allowed, reply, |mission, now, then| mission.set_current(now, request.wp_seq, then));
}
