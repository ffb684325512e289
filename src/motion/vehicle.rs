//! A vehicle: bytes of commands in, packets of states out.
use super::airframe::{Airframe, Limits};
use super::body_state::{BodyState, wrap};
use super::setpoint::{MotionCommand, Setpoint, to_command};
use crate::frames::{Geodetic, Ned, Vector};
use crate::wire::{
    CopterSimRequestPacket, FullStatePacket, MapCentrePacket, Packet as _, PointMassStatePacket,
    RebootPacket, SimpleCommand, SimpleCommandPacket, SimpleEstimatePacket,
};
use std::sync::Arc;
use std::time::Duration;
use zerocopy::little_endian::{F32, F64};

/// Longest step in s; a longer time is divided into several steps.
const MAX_STEP: f64 = 0.02;
/// Longest time of one call in s; the rest is dropped.
const MAX_TIME: f64 = 1.0;

/// Time in s after which a repeated position relative to the body is a new command.
const PAUSE: f64 = 1.0;

/// Reason why a datagram was ignored.
#[derive(Clone, Copy, Debug, Eq, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Ignored {
    /// It is not valid.
    Malformed,
    /// It is for another vehicle.
    OtherVehicle,
    /// The model cannot do it.
    Unable,
}

/// Start pose of a vehicle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// In m from the origin of the map; without a terrain, the ground has the same height.
    pub position: Vector<Ned>,
    /// From north, clockwise, in rad.
    pub yaw: f64,
}

/// Down coordinates of the ground at north and east, all in m from the origin of the map.
#[derive(Clone)]
pub struct Terrain(Arc<dyn Fn([f64; 2]) -> f64 + Send + Sync>);

impl Terrain {
    /// Creates a terrain with these down coordinates.
    pub fn new(down: impl Fn([f64; 2]) -> f64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(down))
    }
}

/// A vehicle that the bridge simulates.
#[derive(Clone)]
pub struct OwnVehicle {
    id: u16,
    airframe: Airframe,
    /// Class and style of the renderer's model.
    vehicle_type: i32,
    start: Start,
    map_centre: Geodetic,
    /// `None`: the ground is at the height of the start.
    terrain: Option<Terrain>,
    body: BodyState,
    limits: Limits,
    is_armed: bool,
    /// Whether a command disarmed it: setpoints then do not arm it.
    was_disarmed: bool,
    setpoint: Option<Setpoint>,
    /// The last position relative to the body, and its age in s.
    last_relative: Option<([u32; 4], f64)>,
}

impl OwnVehicle {
    /// Creates a vehicle at rest; without `vehicle_type`, the airframe gives the type.
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
            body: BodyState::at_rest(start.position, start.yaw, start.position.z()),
            limits: airframe.limits(),
            is_armed: false,
            was_disarmed: false,
            setpoint: None,
            last_relative: None,
        }
    }

    /// Places the vehicle on a terrain.
    #[must_use]
    pub fn on_terrain(mut self, terrain: Terrain) -> Self {
        let [north, east, _] = self.start.position.to_array();
        self.terrain = Some(terrain);
        let position = Vector::new(north, east, self.ground_at([north, east]));
        self.restart(Start { position, ..self.start });
        self
    }

    fn ground_at(&self, position: [f64; 2]) -> f64 {
        let down = self.terrain.as_ref().map(|Terrain(down)| down(position));
        down.filter(|down| down.is_finite()).unwrap_or(self.start.position.z())
    }

    /// Handles a datagram of the control port: a command or a restart.
    pub fn command(&mut self, bytes: &[u8]) -> Result<(), Ignored> {
        if RebootPacket::parse(bytes).is_ok() {
            self.restart(self.start);
            return Ok(());
        }
        let packet = SimpleCommandPacket::parse(bytes).map_err(|_error| Ignored::Malformed)?;
        let command = SimpleCommand::try_from(packet).map_err(|_error| Ignored::Malformed)?;
        if self.remember_relative(command) {
            return Ok(());
        }
        let (current, home) = (self.setpoint.as_ref(), self.home());
        match to_command(command, current, &self.body, self.start.position, home) {
            MotionCommand::Nothing => {}
            MotionCommand::Arm(armed) => {
                if !self.is_armed && armed {
                    self.setpoint = None;
                }
                (self.is_armed, self.was_disarmed) = (armed, !armed);
            }
            MotionCommand::Limits(speed, radius) => {
                let set = |value: &mut f64, new: f64| {
                    if new > 0.0 && new.is_finite() {
                        *value = new;
                    }
                };
                set(&mut self.limits.speed, speed);
                set(&mut self.limits.radius, radius);
            }
            MotionCommand::Do(setpoint) => {
                // As in CopterSim, a setpoint arms a vehicle that no command disarmed.
                self.is_armed |= !self.was_disarmed;
                self.setpoint = Some(setpoint);
            }
            MotionCommand::TakeOff(setpoint) => {
                (self.is_armed, self.was_disarmed) = (true, false);
                self.setpoint = Some(setpoint);
            }
            MotionCommand::Unable => return Err(Ignored::Unable),
        }
        Ok(())
    }

    /// Stores a position relative to the body; returns whether the vehicle already flies to it, because the command is repeated.
    fn remember_relative(&mut self, command: SimpleCommand) -> bool {
        let SimpleCommand::PositionFrd { position: [x, y, z], yaw } = command else {
            self.last_relative = None;
            return false;
        };
        let wanted = [x, y, z, yaw].map(f32::to_bits);
        let last = self.last_relative.replace((wanted, 0.0));
        self.is_armed && last.is_some_and(|(last, since)| last == wanted && since <= PAUSE)
    }

    /// Handles a datagram of `CopterSim`'s port: a request to change the pose or the map's centre. Inputs of models are ignored.
    pub fn request(&mut self, bytes: &[u8]) -> Result<(), Ignored> {
        let packet = CopterSimRequestPacket::parse(bytes).map_err(|_error| Ignored::Unable)?;
        if packet.copter_id.get() != i32::from(self.id) {
            return Err(Ignored::OtherVehicle);
        }
        let [x, y] = packet.xy.map(F64::get);
        let yaw = f64::from(packet.yaw.get()).to_radians();
        let [north, east] = match packet.place {
            1 => [x, y],
            2 => {
                let centre = Geodetic::new(x, y, packet.yaw.get().into());
                if !centre.is_known() {
                    return Err(Ignored::Malformed);
                }
                self.map_centre = centre;
                return Ok(());
            }
            3 => {
                let position = Geodetic::new(x, y, self.map_centre.altitude_m);
                let [north, east, _] = position.to_ned(self.map_centre).to_array();
                [north, east]
            }
            _ => return Ok(()),
        };
        let [down, ..] = packet.z_roll_pitch.map(F32::get);
        let down = if packet.stand > 0 { down.into() } else { self.ground_at([north, east]) };
        let is_finite = [north, east, down, yaw].iter().all(|number| number.is_finite());
        if !is_finite || !self.map_centre.is_known() {
            return Err(Ignored::Malformed);
        }
        self.restart(Start { position: Vector::new(north, east, down), yaw: wrap(yaw) });
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

    /// Simulates the motion over a time.
    pub fn step(&mut self, time: Duration) {
        let time = time.as_secs_f64().min(MAX_TIME);
        let steps = (time / MAX_STEP).ceil().max(1.0);
        let dt = time / steps;
        if dt <= 0.0 {
            return;
        }
        if let Some((_, since)) = &mut self.last_relative {
            *since += time;
        }
        for _ in 0..steps as u32 {
            let setpoint = match (self.is_armed, &self.setpoint) {
                (false, _) => None,
                (true, Some(setpoint)) => Some(setpoint),
                (true, None) if self.body.is_on_ground() => None,
                (true, None) => Some(&Setpoint::Stay),
            };
            // A vehicle that lies or rolls on the ground follows it down a slope.
            let can_sink = self.body.is_on_ground()
                && (setpoint.is_none() || matches!(self.airframe, Airframe::FixedWing));
            self.airframe.step(&mut self.body, setpoint, &self.limits, dt);
            let can_sink = can_sink && self.body.velocity.z() >= 0.0;
            self.follow_ground(can_sink);
        }
    }

    /// Updates the ground below the vehicle, which may lift it and, with `can_sink`, lower it.
    fn follow_ground(&mut self, can_sink: bool) {
        let [north, east, down] = self.body.position.to_array();
        self.body.ground = self.ground_at([north, east]);
        if can_sink || down > self.body.ground {
            self.body.position = Vector::new(north, east, self.body.ground);
        }
    }

    fn home(&self) -> Geodetic {
        Geodetic::from_ned(self.start.position, self.map_centre)
    }

    /// Returns the state of UDP_Simple, relative to home.
    pub fn estimate(&self) -> SimpleEstimatePacket {
        SimpleEstimatePacket::state(
            self.home().to_e7().unwrap_or_default(),
            to_f32(self.body.euler.to_array()),
            to_f32((self.body.position - self.start.position).to_array()),
            to_f32(self.body.velocity.to_array()),
        )
    }

    /// Returns the geodetic position of the origin of the map.
    pub fn map_centre(&self) -> MapCentrePacket {
        let Geodetic { latitude_deg, longitude_deg, altitude_m } = self.map_centre;
        MapCentrePacket::new(self.id.into(), [latitude_deg, longitude_deg, altitude_m])
    }

    /// Returns the true state.
    pub fn truth(&self, sim_time: Duration) -> FullStatePacket {
        let to_wire = |v: [f64; 3]| to_f32(v).map(F32::new);
        let gps = Geodetic::from_ned(self.body.position, self.map_centre);
        FullStatePacket {
            checksum: FullStatePacket::TAG.into(),
            copter_id: i32::from(self.id).into(),
            vehicle_type: self.vehicle_type.into(),
            reserved: 0.into(),
            velocity: to_wire(self.body.velocity.to_array()),
            euler: to_wire(self.body.euler.to_array()),
            quaternion: self.body.attitude().wxyz().map(|q| F32::new(q as f32)),
            motor_rpm: self.motors().map(F32::new),
            acc: to_wire(self.body.specific_force().to_array()),
            rate: to_wire(self.body.rate.to_array()),
            sim_time: sim_time.as_secs_f64().into(),
            position: self.body.position.to_array().map(F64::new),
            gps: [gps.latitude_deg, gps.longitude_deg, gps.altitude_m].map(F64::new),
        }
    }

    /// Returns the state for the renderer, as the vendor's point-mass vehicles send it.
    pub fn renderer_state(&self, sim_time: Duration) -> PointMassStatePacket {
        let packet = PointMassStatePacket::new(
            self.id.into(),
            self.vehicle_type,
            self.body.position.to_array(),
            to_f32(self.body.euler.to_array()),
            to_f32(self.body.velocity.to_array()),
        );
        PointMassStatePacket {
            motor_rpm: self.motors().map(F32::new),
            sim_time: sim_time.as_secs_f64().into(),
            ..packet
        }
    }

    /// Returns the speeds of the motors, which turn while the vehicle is armed.
    fn motors(&self) -> [f32; 8] {
        let rpm = if self.is_armed { 1000.0 } else { 0.0 };
        let count = match self.airframe {
            Airframe::PointMass => 4,
            Airframe::FixedWing => 1,
        };
        std::array::from_fn(|i| if i < count { rpm } else { 0.0 })
    }
}

fn to_f32(v: [f64; 3]) -> [f32; 3] {
    v.map(|value| value as f32)
}
