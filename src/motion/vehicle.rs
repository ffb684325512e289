//! A vehicle: bytes of commands in, packets of states out.
use super::airframe::{Airframe, Limits};
use super::body::{Body, wrap};
use super::order::{Order, Wish, wish};
use crate::frames::{Geodetic, Ned, Vector};
use crate::wire::{
    CopterSimRequestPacket, FullStatePacket, MapCentrePacket, Packet as _, PointMassStatePacket,
    RebootPacket, SimpleCommand, SimpleCommandPacket, SimpleEstimatePacket,
};
use std::sync::Arc;
use std::time::Duration;
use zerocopy::little_endian::{F32, F64};

/// Longest step; a longer pause of the caller is made up for in several.
const LONGEST: f64 = 0.02;
/// No more than this is made up for.
const MOST: f64 = 1.0;

/// After this time in s without it an equal position relative to the body is another one.
const PAUSE: f64 = 1.0;

/// Why a datagram changed nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Ignored {
    /// It is none that a vehicle takes.
    Malformed,
    /// It is for another one.
    OtherVehicle,
    /// The model cannot do it.
    Unable,
}

/// Where a vehicle begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// NED from the origin of the map; without a terrain the ground is at its height.
    pub position: Vector<Ned>,
    /// From north, clockwise, in rad.
    pub yaw: f64,
}

/// Down coordinates of the ground at north and east, all in m from the origin of the map.
#[derive(Clone)]
pub struct Terrain(Arc<dyn Fn([f64; 2]) -> f64 + Send + Sync>);

impl Terrain {
    /// The terrain with these down coordinates.
    pub fn new(down: impl Fn([f64; 2]) -> f64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(down))
    }
}

impl std::fmt::Debug for Terrain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Terrain")
    }
}

/// A vehicle that the bridge flies.
#[derive(Clone, Debug)]
pub struct OwnVehicle {
    id: u16,
    airframe: Airframe,
    /// Class and style of the renderer's model.
    vehicle_type: i32,
    start: Start,
    map_centre: Geodetic,
    /// Without one the ground is at the height of the start.
    terrain: Option<Terrain>,
    body: Body,
    limits: Limits,
    armed: bool,
    /// It was disarmed on request: setpoints do not arm it.
    disarmed: bool,
    order: Option<Order>,
    /// The last position relative to the body, and the seconds since it came.
    step: Option<([u32; 4], f64)>,
}

impl OwnVehicle {
    /// A vehicle at rest; `vehicle_type` is that of the airframe if `None`.
    pub fn new(
        id: u16,
        airframe: Airframe,
        vehicle_type: Option<i32>,
        start: Start,
        map_centre: Geodetic,
    ) -> Self {
        Self {
            id,
            airframe,
            vehicle_type: vehicle_type.unwrap_or(airframe.class()),
            start,
            map_centre,
            terrain: None,
            body: Body::at(start.position, start.yaw, start.position.z()),
            limits: airframe.limits(),
            armed: false,
            disarmed: false,
            order: None,
            step: None,
        }
    }

    /// Puts the vehicle on a terrain, which it then follows, and stays above.
    #[must_use]
    pub fn over(mut self, terrain: Terrain) -> Self {
        let [north, east, _] = self.start.position.to_array();
        self.terrain = Some(terrain);
        let position = Vector::new(north, east, self.ground([north, east]));
        self.restart(Start { position, ..self.start });
        self
    }

    fn ground(&self, place: [f64; 2]) -> f64 {
        let level = self.start.position.z();
        self.terrain
            .as_ref()
            .map(|Terrain(down)| down(place))
            .filter(|down| down.is_finite())
            .unwrap_or(level)
    }

    /// Takes a datagram of the control port: a command, or a restart.
    pub fn command(&mut self, bytes: &[u8]) -> Result<(), Ignored> {
        if RebootPacket::parse(bytes).is_ok() {
            self.restart(self.start);
            return Ok(());
        }
        let packet = SimpleCommandPacket::parse(bytes).map_err(|_error| Ignored::Malformed)?;
        let command = SimpleCommand::try_from(packet).map_err(|_error| Ignored::Malformed)?;
        if self.goes_on(command) {
            return Ok(());
        }
        let (now, home) = (self.order.as_ref(), self.home());
        match wish(command, now, &self.body, self.start.position, home) {
            Wish::Nothing => {}
            Wish::Arm(armed) => {
                if !self.armed && armed {
                    self.order = None;
                }
                (self.armed, self.disarmed) = (armed, !armed);
            }
            Wish::Limits(speed, radius) => {
                let set = |value: &mut f64, new: f64| {
                    if new > 0.0 && new.is_finite() {
                        *value = new;
                    }
                };
                set(&mut self.limits.speed, speed);
                set(&mut self.limits.radius, radius);
            }
            Wish::Do(order) => {
                // As CopterSim, which arms by itself as soon as a setpoint arrives.
                self.armed |= !self.disarmed;
                self.order = Some(order);
            }
            Wish::TakeOff(order) => {
                (self.armed, self.disarmed) = (true, false);
                self.order = Some(order);
            }
            Wish::Unable => return Err(Ignored::Unable),
        }
        Ok(())
    }

    /// Whether the command repeats the position relative to the body that the vehicle is on its way to.
    fn goes_on(&mut self, command: SimpleCommand) -> bool {
        let SimpleCommand::PositionFrd { position: [x, y, z], yaw } = command else {
            self.step = None;
            return false;
        };
        let asked = [x, y, z, yaw].map(f32::to_bits);
        let last = self.step.replace((asked, 0.0));
        self.armed && last.is_some_and(|(last, since)| last == asked && since <= PAUSE)
    }

    /// Takes a datagram of `CopterSim`'s port: a request to be put somewhere. Inputs of models change nothing.
    pub fn request(&mut self, bytes: &[u8]) -> Result<(), Ignored> {
        let packet = CopterSimRequestPacket::parse(bytes).map_err(|_error| Ignored::Unable)?;
        if packet.copter_id.get() != i32::from(self.id) {
            return Err(Ignored::OtherVehicle);
        }
        let [x, y] = packet.xy.map(F64::get);
        let yaw = f64::from(packet.yaw.get()).to_radians();
        let (level, centre) = match packet.place {
            1 => ([x, y], self.map_centre),
            2 => {
                self.map_centre = Geodetic::new(x, y, packet.yaw.get().into());
                return Ok(());
            }
            3 => {
                let place = Geodetic::new(x, y, self.map_centre.altitude_m);
                let [north, east, _] = place.to_ned(self.map_centre).to_array();
                ([north, east], self.map_centre)
            }
            _ => return Ok(()),
        };
        let [down, ..] = packet.z_roll_pitch.map(F32::get);
        let down = if packet.stand > 0 { down.into() } else { self.ground(level) };
        let numbers = [level[0], level[1], down, yaw];
        if !numbers.iter().all(|number| number.is_finite()) || !centre.is_known() {
            return Err(Ignored::Malformed);
        }
        self.restart(Start { position: Vector::new(level[0], level[1], down), yaw: wrap(yaw) });
        Ok(())
    }

    fn restart(&mut self, start: Start) {
        let terrain = self.terrain.take();
        *self = Self {
            terrain,
            ..Self::new(self.id, self.airframe, Some(self.vehicle_type), start, self.map_centre)
        };
        self.follow_ground(false);
        self.start.position = self.body.position;
    }

    /// Flies for a time.
    pub fn step(&mut self, time: Duration) {
        let time = time.as_secs_f64().min(MOST);
        let steps = (time / LONGEST).ceil().max(1.0);
        let dt = time / steps;
        if dt <= 0.0 {
            return;
        }
        if let Some((_, since)) = &mut self.step {
            *since += time;
        }
        for _ in 0..steps as u32 {
            let order = match (self.armed, &self.order) {
                (false, _) => None,
                (true, Some(order)) => Some(order),
                (true, None) if self.body.on_ground() => None,
                (true, None) => Some(&Order::Stay),
            };
            // What lies or rolls stays on a ground that falls away below it.
            let holds = self.body.on_ground()
                && (order.is_none() || matches!(self.airframe, Airframe::FixedWing));
            self.airframe.step(&mut self.body, order, &self.limits, dt);
            let holds = holds && self.body.velocity.z() >= 0.0;
            self.follow_ground(holds);
        }
    }

    /// Takes the height of the ground below the vehicle, which may carry it up, and down if it `holds` on to it.
    fn follow_ground(&mut self, holds: bool) {
        let [north, east, down] = self.body.position.to_array();
        self.body.ground = self.ground([north, east]);
        if holds || down > self.body.ground {
            self.body.position = Vector::new(north, east, self.body.ground);
        }
    }

    fn home(&self) -> Geodetic {
        Geodetic::from_ned(self.start.position, self.map_centre)
    }

    /// The state of UDP_Simple, from home.
    pub fn estimate(&self) -> SimpleEstimatePacket {
        let single = |v: [f64; 3]| v.map(|value| value as f32);
        SimpleEstimatePacket::state(
            self.home().to_e7().unwrap_or_default(),
            single(self.angles()),
            single((self.body.position - self.start.position).to_array()),
            single(self.body.velocity.to_array()),
        )
    }

    fn angles(&self) -> [f64; 3] {
        let euler = self.body.euler();
        [euler.roll, euler.pitch, euler.yaw]
    }

    /// Where the origin of the map is.
    pub fn map_centre(&self) -> MapCentrePacket {
        let Geodetic { latitude_deg, longitude_deg, altitude_m } = self.map_centre;
        MapCentrePacket::new(self.id.into(), [latitude_deg, longitude_deg, altitude_m])
    }

    /// The true state.
    pub fn truth(&self, sim_time: Duration) -> FullStatePacket {
        let single = |v: [f64; 3]| v.map(|value| F32::new(value as f32));
        let gps = Geodetic::from_ned(self.body.position, self.map_centre);
        FullStatePacket {
            checksum: FullStatePacket::TAG.into(),
            copter_id: i32::from(self.id).into(),
            vehicle_type: self.vehicle_type.into(),
            reserved: 0.into(),
            velocity: single(self.body.velocity.to_array()),
            euler: single(self.angles()),
            quaternion: self.body.attitude().wxyz().map(|q| F32::new(q as f32)),
            motor_rpm: self.motors().map(F32::new),
            acc: single(self.body.specific_force().to_array()),
            rate: single(self.body.rate.to_array()),
            sim_time: sim_time.as_secs_f64().into(),
            position: self.body.position.to_array().map(F64::new),
            gps: [gps.latitude_deg, gps.longitude_deg, gps.altitude_m].map(F64::new),
        }
    }

    /// What the renderer draws, as the vendor's point-mass vehicles send it.
    pub fn picture(&self, sim_time: Duration) -> PointMassStatePacket {
        let single = |v: [f64; 3]| v.map(|value| value as f32);
        let packet = PointMassStatePacket::new(
            self.id.into(),
            self.vehicle_type,
            self.body.position.to_array(),
            single(self.angles()),
            single(self.body.velocity.to_array()),
        );
        PointMassStatePacket {
            motor_rpm: self.motors().map(F32::new),
            sim_time: sim_time.as_secs_f64().into(),
            ..packet
        }
    }

    /// Motors turn while the vehicle is armed.
    fn motors(&self) -> [f32; 8] {
        let rpm = if self.armed { 1000.0 } else { 0.0 };
        let count = match self.airframe {
            Airframe::PointMass => 4,
            Airframe::FixedWing => 1,
        };
        std::array::from_fn(|i| if i < count { rpm } else { 0.0 })
    }
}
