//! `home_position/*`: the vehicle's home.
use super::convert::{geo_point, point, quaternion, stamp_us, vector3};
use super::topic::Topic;
use crate::frames::{Enu, Geodetic, Ned, Vector};
use crate::msgs::mavros_msgs::msg::HomePosition;
use crate::msgs::std_srvs::srv::{Trigger, TriggerResponse};
use crate::ros::{Responder, RosError};
use crate::vehicle::{Autopilot, Counter, Fcu, Open};
use crate::wire::mavlink::dialect::HOME_POSITION_DATA;
use crate::wire::mavlink::raw::{CommandLong, SetHomePosition};
use std::f64::consts::FRAC_1_SQRT_2;
use std::time::Duration;

/// MAV_CMD_GET_HOME_POSITION, and its successor: MAV_CMD_REQUEST_MESSAGE with the id of HOME_POSITION.
const GET_HOME_POSITION: u16 = 410;
const REQUEST_MESSAGE: u16 = 512;
const HOME_POSITION: f32 = 242.0;
/// Time after the connection for the autopilot to send it unasked.
const PATIENCE: Duration = Duration::from_secs(2);
/// Period of the requests, as in mavros.
const PERIOD: Duration = Duration::from_secs(10);
/// Longest wait of a caller of `home_position/req_update`.
const ANSWER: Duration = Duration::from_secs(3);
/// Limit of waiting callers; more are refused.
const CALLERS: usize = 16;

pub(super) struct Home {
    topic: Topic<HomePosition>,
    /// Time of the next request; `None` while disconnected or home is known.
    ask: Option<Duration>,
    /// Requests so far; they alternate between both commands.
    asked: u32,
    waiting: Vec<(Duration, Responder<Trigger>)>,
}

impl Home {
    pub(super) fn open(open: &Open<'_>) -> Result<Self, RosError> {
        open.subscribe("home_position/set", set)?;
        open.service::<Trigger>("home_position/req_update", |autopilot, _, responder| {
            let (home, fcu) = (&mut autopilot.telemetry.home, &mut autopilot.fcu);
            if home.waiting.len() >= CALLERS {
                return refuse(responder, "too many requests are waiting");
            }
            let command = home.request(fcu);
            match autopilot.services.ask(fcu, command) {
                Ok(()) => home.waiting.push((fcu.now.mono + ANSWER, responder)),
                Err(reason) => refuse(responder, &reason),
            }
        })?;
        Ok(Self {
            topic: Topic::open(open, "home_position/home", HomePosition::default())?,
            ask: None,
            asked: 0,
            waiting: Vec::new(),
        })
    }

    pub(super) fn home_position(
        &mut self,
        fcu: &mut Fcu,
        m: &HOME_POSITION_DATA,
    ) -> Result<(), RosError> {
        let Some(place) = fcu.place([m.latitude, m.longitude, m.altitude]) else {
            return Ok(());
        };
        fcu.home = Some(place).filter(|place| place.altitude_m.is_finite());
        let home = Geodetic::from_e7([m.latitude, m.longitude, m.altitude]);
        let local = Vector::<Ned>::from([m.x, m.y, m.z]);
        let known = fcu.home.is_some() && home.is_known() && local.norm().is_finite();
        fcu.home_height = if known { -f64::from(m.z) } else { 0.0 };
        fcu.infer_origin(known.then(|| Geodetic::from_ned(-local, home)));
        self.ask = None;
        for (_, responder) in self.waiting.drain(..) {
            responder.respond(TriggerResponse { success: true, ..Default::default() });
        }
        let stamp = fcu.stamp_us(m.time_usec);
        // Unknown fields are NaN.
        let enu = |v: [f32; 3]| {
            let v = v.map(|x| if x.is_finite() { x } else { f32::NAN });
            Vector::<Enu>::from(Vector::<Ned>::from(v))
        };
        self.topic.publish_always(stamp, |home| {
            home.geo = geo_point(place);
            home.position = point(enu([m.x, m.y, m.z]));
            home.orientation = quaternion(world_changed(whole(m.q)));
            home.approach = vector3(enu([m.approach_x, m.approach_y, m.approach_z]));
        })
    }

    /// The autopilot connected.
    pub(super) fn connected(&mut self, fcu: &Fcu) {
        if fcu.home.is_none() && self.ask.is_none() && fcu.abilities().acks {
            self.ask = Some(fcu.now.mono + PATIENCE);
        }
    }

    /// The connection was lost: the next autopilot may have another home.
    pub(super) fn lost(&mut self, fcu: &mut Fcu) {
        fcu.forget_places();
        self.ask = None;
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        let waiting = self.waiting.iter().map(|(until, _)| *until);
        waiting.chain(self.ask).min()
    }

    /// Answers callers past their deadline; returns the due request for HOME_POSITION.
    pub(super) fn poll(&mut self, fcu: &Fcu) -> Option<CommandLong> {
        let now = fcu.now.mono;
        for (_, responder) in self.waiting.extract_if(.., |(until, _)| now >= *until) {
            refuse(responder, "the autopilot did not report its home");
        }
        self.ask.take_if(|at| now >= *at)?;
        self.ask = Some(now + PERIOD);
        Some(self.request(fcu))
    }

    fn request(&mut self, fcu: &Fcu) -> CommandLong {
        let newer = self.asked % 2 == 1;
        self.asked = self.asked.wrapping_add(1);
        let mut command = CommandLong {
            command: GET_HOME_POSITION,
            target_system: fcu.system,
            target_component: fcu.component,
            ..CommandLong::default()
        };
        if let ([message, ..], true) = (&mut command.params, newer) {
            command.command = REQUEST_MESSAGE;
            *message = HOME_POSITION;
        }
        command
    }
}

fn refuse(responder: Responder<Trigger>, message: &str) {
    responder.respond(TriggerResponse { success: false, message: message.to_owned() });
}

/// A quaternion, or all NaN: the autopilot knows the slope of the ground and its heading there, or neither.
fn whole(q: [f32; 4]) -> [f64; 4] {
    let known = q.iter().all(|c| c.is_finite());
    q.map(|c| if known { c.into() } else { f64::NAN })
}

/// Converts the world between NED and ENU and keeps the body frame: mavros' conversion of the ground attitude at home.
/// It is its own inverse up to the sign.
fn world_changed([w, x, y, z]: [f64; 4]) -> [f64; 4] {
    [-x - y, w + z, w - z, y - x].map(|c| c * FRAC_1_SQRT_2)
}

fn set(autopilot: &mut Autopilot, home: HomePosition) {
    let fcu = &mut autopilot.fcu;
    let Some([latitude, longitude, altitude]) = fcu.to_e7(&home.geo) else {
        return fcu.count(Counter::BadPosition);
    };
    let ned = |x, y, z| {
        let ned = Vector::<Ned>::from(Vector::<Enu>::new(x, y, z));
        ned.to_array().map(|v| v as f32)
    };
    let (position, approach, q) = (&home.position, &home.approach, &home.orientation);
    let message = SetHomePosition {
        latitude,
        longitude,
        altitude,
        position: ned(position.x, position.y, position.z),
        q: world_changed([q.w, q.x, q.y, q.z]).map(|c| c as f32),
        approach: ned(approach.x, approach.y, approach.z),
        target_system: fcu.system,
        time_usec: stamp_us(&home.header.stamp),
    };
    // A failure is counted.
    let _counted = fcu.send(message);
}
