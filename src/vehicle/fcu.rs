//! What all parts of the mavros-style interface share: the link, the identity of the autopilot, its clock, and the last
//! of what they need from each other.
use super::link::{Abilities, Link, Refusal};
use super::settings::VehicleSettings;
use super::throttle::Throttle;
use crate::frames::{Attitude, Flu, Frd, Geodetic, Geoid, Ned, Separation, Vector};
use crate::msgs::builtin_interfaces::msg::Time;
use crate::msgs::geographic_msgs::msg::GeoPoint;
use crate::msgs::std_msgs::msg::Header;
use crate::session::ClockLine;
use crate::time::RosTime;
use crate::wire::mavlink::raw::Heartbeat;
use crate::wire::mavlink::{Frame, Outbound};
use std::collections::BTreeMap;
use std::time::Duration;

/// MAV_AUTOPILOT_INVALID: in the heartbeat of something that is no autopilot.
pub(super) const NO_AUTOPILOT: u8 = 8;
/// Notices that wait to be published.
const NOTICES: usize = 16;

/// The time, twice.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Now {
    /// Monotonic, for waiting.
    pub mono: Duration,
    /// What a header gets that is stamped now.
    pub ros: RosTime,
}

/// Attitude and body rates as last reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orientation {
    /// Attitude.
    pub attitude: Attitude<Frd, Ned>,
    /// Quaternion (w, x, y, z) of FLU in ENU with the sign that mavros gives it.
    pub enu_wxyz: [f64; 4],
    /// Body rates in rad/s; NaN from a link that does not carry them.
    pub rates: Vector<Flu>,
}

impl Orientation {
    /// The body rates, unless the link does not carry them.
    pub fn known_rates(&self) -> Option<Vector<Flu>> {
        let finite = self.rates.to_array().iter().all(|rate| rate.is_finite());
        finite.then_some(self.rates)
    }
}

/// The autopilot's estimate of where it is, from its local origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// When that was.
    pub stamp: RosTime,
    /// Position in m.
    pub position: Vector<Ned>,
    /// Attitude.
    pub attitude: Attitude<Frd, Ned>,
}

/// The autopilot of one vehicle.
pub struct Fcu {
    /// When the present call began; set before each.
    pub now: Now,
    /// What the user chose.
    pub settings: VehicleSettings,
    /// MAVLink system of the vehicle.
    pub system: u8,
    /// Component of the autopilot.
    pub component: u8,
    /// The newest heartbeat, while connected.
    pub heartbeat: Option<Heartbeat>,
    /// The newest attitude.
    pub orientation: Option<Orientation>,
    /// The newest pose, for TF; whoever publishes it takes it away.
    pub estimate: Option<Estimate>,
    /// Header time as a function of the autopilot's boot time, as far as known.
    pub clock: Option<ClockLine>,
    /// What was said lately.
    pub(super) throttle: Throttle,
    /// Home, as last reported; its altitude is above the ellipsoid.
    pub home: Option<Geodetic>,
    /// Where local positions count from, as the autopilot said (or as home tells); its altitude is above sea level.
    origin: Option<Geodetic>,
    /// The autopilot said so itself.
    origin_said: bool,
    geoid: Separation,
    notices: Vec<String>,
    link: Box<dyn Link>,
    counts: BTreeMap<&'static str, u64>,
}

impl Fcu {
    /// A vehicle that nothing is known of.
    pub fn new(settings: VehicleSettings, link: Box<dyn Link>) -> Self {
        Self {
            now: Now::default(),
            system: u8::try_from(settings.id).unwrap_or(1),
            component: 1,
            heartbeat: None,
            orientation: None,
            estimate: None,
            clock: None,
            throttle: Throttle::default(),
            home: None,
            origin: None,
            origin_said: false,
            geoid: Separation::new(settings.geoid.map_or(Geoid::Egm96, Geoid::Constant)),
            notices: Vec::new(),
            link,
            counts: BTreeMap::new(),
            settings,
        }
    }

    /// What the link can carry.
    pub fn abilities(&self) -> Abilities {
        self.link.abilities()
    }

    /// Sends a message.
    pub fn send(&mut self, message: impl Into<Outbound>) -> Result<(), Refusal> {
        self.send_kept(&message.into())
    }

    /// Sends a message that the caller keeps.
    pub(super) fn send_kept(&mut self, message: &Outbound) -> Result<(), Refusal> {
        let system = self.settings.system.unwrap_or(self.system);
        self.deliver(message, system, self.settings.component)
    }

    /// Sends a message under another name than this bridge's.
    pub(super) fn send_as(
        &mut self,
        message: impl Into<Outbound>,
        system: u8,
        component: u8,
    ) -> Result<(), Refusal> {
        self.deliver(&message.into(), system, component)
    }

    fn deliver(&mut self, message: &Outbound, system: u8, component: u8) -> Result<(), Refusal> {
        let sent = self.link.send(message, system, component);
        self.count(match sent {
            Ok(()) => "sent",
            Err(Refusal::Io) => "not_sent",
            Err(Refusal::Unsupported { .. }) => "unsupported",
        });
        if let Err(refusal @ Refusal::Unsupported { link, what }) = sent
            && self.throttle.due(link, what, self.now.mono).is_some()
        {
            tracing::warn!(vehicle = self.settings.id, "{refusal}");
        }
        sent
    }

    /// Takes the ids of an autopilot that is heard while none is connected.
    pub(super) fn adopt(&mut self, frame: &Frame<'_>) {
        let other = (frame.system, frame.component) != (self.system, self.component);
        let autopilot = || Heartbeat::parse(frame).is_some_and(|h| h.autopilot != NO_AUTOPILOT);
        if !self.connected() && other && autopilot() {
            (self.system, self.component) = (frame.system, frame.component);
            tracing::info!(
                vehicle = self.settings.id,
                system = self.system,
                component = self.component,
                "an autopilot with other ids than expected: taken as this vehicle"
            );
        }
    }

    /// Turns received bytes into MAVLink frames.
    pub(super) fn incoming(&mut self, bytes: &[u8], frames: &mut Vec<u8>) {
        frames.clear();
        frames.extend_from_slice(self.link.incoming(bytes));
        if let Some(problem) = self.link.problem() {
            self.count(problem);
        }
    }

    /// System and component that this bridge sends with.
    pub fn own(&self) -> (u8, u8) {
        let system = self.settings.system.unwrap_or(self.system);
        (system, self.settings.component)
    }

    /// Something that people who watch the vehicle's status texts should know.
    pub(super) fn notice(&mut self, text: String) {
        if self.notices.len() < NOTICES {
            self.notices.push(text);
        }
    }

    /// What was noticed since the last call.
    pub(super) fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// The vehicle has fallen silent.
    pub(super) fn lost(&mut self) {
        self.heartbeat = None;
        self.link.lost();
        self.count("link_lost");
    }

    /// Counts an event; shown in /diagnostics.
    pub fn count(&mut self, key: &'static str) {
        *self.counts.entry(key).or_default() += 1;
    }

    /// Sets a count that somebody else keeps.
    pub(super) fn set_count(&mut self, key: &'static str, total: u64) {
        if total > 0 {
            self.counts.insert(key, total);
        }
    }

    /// Events so far.
    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// Whether heartbeats come.
    pub fn connected(&self) -> bool {
        self.heartbeat.is_some()
    }

    /// Whether the vehicle says that it is armed.
    pub fn armed(&self) -> bool {
        self.heartbeat.is_some_and(|h| h.base_mode & 128 != 0)
    }

    /// Header time of something that the autopilot stamped with its boot time; the present if that is not known yet
    /// or cannot be.
    pub fn stamp(&self, boot: Duration) -> RosTime {
        let stamp = self.clock.and_then(|clock| {
            let boot = i64::try_from(boot.as_nanos()).ok()?;
            Some(clock.host_ns(boot)).filter(|stamp| *stamp >= 0)
        });
        stamp.map_or(self.now.ros, RosTime)
    }

    /// Such a stamp, from milliseconds.
    pub fn stamp_ms(&self, boot_ms: u32) -> Time {
        self.stamp(Duration::from_millis(boot_ms.into())).to_msg()
    }

    /// Such a stamp, from microseconds since boot or since 1970, whichever the autopilot writes.
    pub fn stamp_us(&self, time_us: u64) -> Time {
        /// 2001; no autopilot runs that long.
        const UNIX_US: u64 = 1_000_000_000_000_000;
        if time_us >= UNIX_US {
            return self.now.ros.to_msg();
        }
        self.stamp(Duration::from_micros(time_us)).to_msg()
    }

    /// A header with the present time.
    pub fn header_now(&self, frame: &str) -> Header {
        Header {
            stamp: self.now.ros.to_msg(),
            frame_id: frame.to_owned(),
        }
    }

    /// Where local positions count from; its altitude is above sea level.
    pub fn origin(&self) -> Option<Geodetic> {
        self.origin
    }

    /// The same with its altitude above the ellipsoid.
    pub fn origin_above_ellipsoid(&mut self) -> Option<Geodetic> {
        let origin = self.origin?;
        let altitude_m = origin.altitude_m + self.separation(origin);
        Some(Geodetic {
            altitude_m,
            ..origin
        })
    }

    /// Whether the autopilot said where its origin is.
    pub(super) fn origin_is_said(&self) -> bool {
        self.origin_said
    }

    /// The autopilot says where its origin is.
    pub(super) fn set_origin(&mut self, origin: Geodetic) {
        if origin.is_known() {
            (self.origin, self.origin_said) = (Some(origin), true);
        }
    }

    /// Home and its local position give the origin, which is as good until the autopilot says it itself.
    pub(super) fn infer_origin(&mut self, origin: Option<Geodetic>) {
        if !self.origin_said {
            self.origin = origin;
        }
    }

    /// The autopilot that comes back, or has just started again, may be elsewhere.
    pub(super) fn forget_places(&mut self) {
        (self.home, self.origin, self.origin_said) = (None, None, false);
    }

    /// A place as MAVLink writes it (1e-7 degrees, and mm above sea level), with its altitude above the ellipsoid.
    pub fn place(&mut self, e7: [i32; 3]) -> Geodetic {
        let place = Geodetic::from_e7(e7);
        Geodetic {
            altitude_m: place.altitude_m + self.separation(place),
            ..place
        }
    }

    /// The way back; `None` if it is no place.
    pub fn to_e7(&mut self, place: &GeoPoint) -> Option<[i32; 3]> {
        let place = Geodetic::new(place.latitude, place.longitude, place.altitude);
        if !place.is_known() {
            return None;
        }
        let above_sea = Geodetic {
            altitude_m: place.altitude_m - self.separation(place),
            ..place
        };
        above_sea.to_e7()
    }

    fn separation(&mut self, place: Geodetic) -> f64 {
        self.geoid.at(place.latitude_deg, place.longitude_deg)
    }
}
