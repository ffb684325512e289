//! `home_position/*`: the vehicle's home.
use super::convert::{geo_point, point, quaternion, vector3};
use super::{plugin::plugin, topic::RosResult};
use crate::frames::{Enu, Geodetic, Ned, Vector};
use crate::msgs::std_srvs::srv::{Trigger, TriggerRequest, TriggerResponse};
use crate::vehicle::stamp::stamp_us;
use crate::vehicle::{Autopilot, Counter, Fcu};
use crate::wire::mavlink::MessageData as _;
use crate::wire::mavlink::dialect::HOME_POSITION_DATA;
use crate::wire::mavlink::numbers::MAV_CMD_GET_HOME_POSITION;
use crate::wire::mavlink::raw::{CommandLong, SetHomePosition};
use crate::{msgs::mavros_msgs::msg::HomePosition, ros::Responder};
use std::{f64::consts::FRAC_1_SQRT_2, time::Duration};

/// Time after the connection in which the autopilot may send its home unasked.
const FIRST_DELAY: Duration = Duration::from_secs(2);
/// Period of the requests, as in mavros.
const PERIOD: Duration = Duration::from_secs(10);
/// Longest wait of a caller of `home_position/req_update`.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// Limit of waiting callers; more are refused.
const MAX_CALLERS: usize = 16;

plugin! { HomePositionPlugin {
    publish {
        home: HomePosition("home_position/home", VehicleState, "home (HOME_POSITION); requested until known") in "";
    }
    subscribe { HomePosition("home_position/set", "SET_HOME_POSITION") => set; }
    service { Trigger("home_position/req_update", "requests HOME_POSITION") => request_update; }
    state {
        /// Time of the next request; `None` while disconnected, while home is known, and on a link without acknowledgements.
        next_request: Option<Duration>;
        /// Number of requests so far; they alternate between two commands.
        requests: u32;
        /// Callers of `req_update`, and until when they wait.
        callers: Vec<(Duration, Responder<Trigger>)>;
    }
    receive { dialect::HOME_POSITION_DATA => home_position, }
} }

impl HomePositionPlugin {
    fn home_position(&mut self, fcu: &mut Fcu, m: &HOME_POSITION_DATA) -> RosResult {
        let Some(geo) = fcu.to_geodetic([m.latitude, m.longitude, m.altitude]) else {
            return Ok(());
        };
        fcu.home = Some(geo).filter(|geo| geo.altitude_m.is_finite());
        let home = Geodetic::from_e7([m.latitude, m.longitude, m.altitude]);
        let local = Vector::<Ned>::from([m.x, m.y, m.z]);
        let is_known = fcu.home.is_some() && home.is_known() && local.norm().is_finite();
        fcu.home_height = if is_known { -f64::from(m.z) } else { 0.0 };
        fcu.infer_origin(is_known.then(|| Geodetic::from_ned(-local, home)));
        self.next_request = None;
        for (_, responder) in self.callers.drain(..) {
            responder.respond(TriggerResponse { success: true, ..Default::default() });
        }
        let stamp = fcu.stamp_us(m.time_usec);
        // Unknown fields are NaN.
        let enu = |v: [f32; 3]| {
            let v = v.map(|x| if x.is_finite() { x } else { f32::NAN });
            Vector::<Enu>::from(Vector::<Ned>::from(v))
        };
        self.home.publish_always(stamp, |home| {
            home.geo = geo_point(geo);
            home.position = point(enu([m.x, m.y, m.z]));
            home.orientation = quaternion(change_world(finite_or_nan(m.q)));
            home.approach = vector3(enu([m.approach_x, m.approach_y, m.approach_z]));
        })
    }

    /// The autopilot connected.
    pub(super) fn connected(&mut self, fcu: &Fcu) {
        if fcu.home.is_none() && self.next_request.is_none() && fcu.abilities().acks {
            self.next_request = Some(fcu.now.mono + FIRST_DELAY);
        }
    }

    /// The connection was lost: the next autopilot may have another home.
    pub(super) fn lost(&mut self, fcu: &mut Fcu) {
        fcu.forget_positions();
        self.next_request = None;
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        let waiting = self.callers.iter().map(|(until, _)| *until);
        waiting.chain(self.next_request).min()
    }

    /// Refuses callers past their deadline; returns the request for HOME_POSITION if it is due.
    pub(super) fn poll(&mut self, fcu: &Fcu) -> Option<CommandLong> {
        let now = fcu.now.mono;
        for (_, responder) in self.callers.extract_if(.., |(until, _)| now >= *until) {
            refuse(responder, "the autopilot did not report its home");
        }
        self.next_request.take_if(|at| now >= *at)?;
        self.next_request = Some(now + PERIOD);
        Some(self.request(fcu))
    }

    fn request(&mut self, fcu: &Fcu) -> CommandLong {
        let is_odd = self.requests % 2 == 1;
        self.requests = self.requests.wrapping_add(1);
        if is_odd {
            fcu.request_message(HOME_POSITION_DATA::ID)
        } else {
            fcu.command(MAV_CMD_GET_HOME_POSITION, 0, [0.0; 7])
        }
    }
}

fn request_update(autopilot: &mut Autopilot, _: TriggerRequest, responder: Responder<Trigger>) {
    let (home, fcu) = (&mut autopilot.telemetry.home_position, &mut autopilot.fcu);
    if home.callers.len() >= MAX_CALLERS {
        return refuse(responder, "too many requests are waiting");
    }
    let command = home.request(fcu);
    match autopilot.services.ask(fcu, command) {
        Ok(()) => home.callers.push((fcu.now.mono + ANSWER_TIMEOUT, responder)),
        Err(reason) => refuse(responder, &reason),
    }
}

fn refuse(responder: Responder<Trigger>, message: &str) {
    responder.respond(TriggerResponse { success: false, message: message.to_owned() });
}

/// The quaternion, or all NaN if a component is unknown.
fn finite_or_nan(q: [f32; 4]) -> [f64; 4] {
    let is_known = q.iter().all(|c| c.is_finite());
    q.map(|c| if is_known { c.into() } else { f64::NAN })
}

/// Converts the world frame of an attitude between NED and ENU and keeps its body frame, as mavros does for the ground
/// attitude at home. It is its own inverse up to the sign.
fn change_world([w, x, y, z]: [f64; 4]) -> [f64; 4] {
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
        q: change_world([q.w, q.x, q.y, q.z]).map(|c| c as f32),
        approach: ned(approach.x, approach.y, approach.z),
        target_system: fcu.system,
        time_usec: stamp_us(&home.header.stamp),
    };
    // A failure is counted.
    let _counted = fcu.send(message);
}
