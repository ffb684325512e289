//! PX4's parameters: names, types and defaults, and the protocol that reads and writes them. Integers are encoded byte-wise
//! in the float field.
use super::carrot::Speeds;
use super::dynamics::Gains;
use super::failsafe::{Actions, Charge};
use super::fence::Limits;
use super::fields;
use super::modes::Rules;
use crate::wire::mavlink::dialect::{MavParamType, PARAM_VALUE_DATA};
use crate::wire::mavlink::{Frame, MavMessage, Outbound};

/// A parameter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Integer.
    Int(i32),
    /// Float.
    Float(f32),
}

impl Value {
    fn wire(self) -> (f32, MavParamType) {
        match self {
            Self::Int(v) => (f32::from_bits(v.cast_unsigned()), MavParamType::MAV_PARAM_TYPE_INT32),
            Self::Float(v) => (v, MavParamType::MAV_PARAM_TYPE_REAL32),
        }
    }

    /// As a number.
    pub fn number(self) -> f64 {
        match self {
            Self::Int(v) => v.into(),
            Self::Float(v) => v.into(),
        }
    }
}

/// Parameters sent per second while listing.
const LIST_RATE: f64 = 1000.0;
/// One parameter per line, sorted by name, with an integer or float value: those of PX4 1.16 on a quadrotor
/// of its built-in simulator.
const TABLE: &str = include_str!("parameters.txt");
/// Index of a parameter outside the list.
const NO_INDEX: u16 = u16::MAX;
const HASH: &str = "_HASH_CHECK";

fn read(line: &'static str) -> Option<(&'static str, Value)> {
    let (name, value) = line.split_once(' ')?;
    let whole = value.parse().map(Value::Int);
    let value = whole.or_else(|_| value.parse().map(Value::Float)).ok()?;
    Some((name, value))
}

/// The parameters of a vehicle.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Sorted by name, PX4's numbering.
    values: Vec<(&'static str, Value)>,
    /// Number of parameters still to be listed, and the time of the next one.
    listing: Option<(usize, f64)>,
    /// Number of changes.
    pub version: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        let mut values: Vec<_> = TABLE.lines().filter_map(read).collect();
        values.sort_by_key(|(name, _)| *name);
        Self { values, listing: None, version: 0 }
    }
}

impl Parameters {
    fn find(&self, name: &str) -> Option<usize> {
        self.values.binary_search_by_key(&name, |(n, _)| n).ok()
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.find(name).map(|i| self.values[i].1)
    }

    /// A parameter as a number.
    pub fn number(&self, name: &str, otherwise: f64) -> f64 {
        self.get(name).map_or(otherwise, Value::number)
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn message(&self, index: usize) -> Outbound {
        let (name, value) = self.values[index];
        let (param_value, param_type) = value.wire();
        MavMessage::PARAM_VALUE(PARAM_VALUE_DATA {
            param_value,
            param_count: self.values.len() as u16,
            param_index: index as u16,
            param_id: name.into(),
            param_type,
        })
        .into()
    }

    /// PX4's checksum of all names and values, offered as a parameter so that clients need not list all.
    fn hash(&self) -> Outbound {
        let mut hash = crc32fast::Hasher::new();
        for (name, value) in &self.values {
            hash.update(name.as_bytes());
            hash.update(&value.wire().0.to_le_bytes());
        }
        MavMessage::PARAM_VALUE(PARAM_VALUE_DATA {
            param_value: f32::from_bits(hash.finalize()),
            param_count: self.values.len() as u16,
            param_index: NO_INDEX,
            param_id: HASH.into(),
            param_type: MavParamType::MAV_PARAM_TYPE_UINT32,
        })
        .into()
    }

    /// Handles a message of the parameter protocol; `false` for other messages.
    pub fn receive(&mut self, frame: &Frame<'_>, now: f64, replies: &mut Vec<Outbound>) -> bool {
        match frame.id {
            21 => {
                if self.listing.is_none() {
                    replies.push(self.hash());
                }
                self.listing = Some((self.values.len(), now));
            }
            20 => {
                let index = fields::i16(frame, 0);
                let name = fields::text::<16>(frame, 4);
                if name == HASH && index < 0 {
                    replies.push(self.hash());
                } else {
                    // PX4 does not answer for unknown parameters.
                    let index = usize::try_from(index).ok().or_else(|| self.find(&name));
                    let index = index.filter(|i| *i < self.values.len());
                    replies.extend(index.map(|index| self.message(index)));
                }
            }
            23 => {
                let name = fields::text::<16>(frame, 6);
                let kind = fields::u8(frame, 22);
                let bits = fields::u32(frame, 0);
                self.set(&name, kind, bits, replies);
            }
            _ => return false,
        }
        true
    }

    fn set(&mut self, name: &str, kind: u8, bits: u32, replies: &mut Vec<Outbound>) {
        if name == HASH {
            self.listing = None; // a client that already has the list stops it this way
            return;
        }
        let Some(index) = self.find(name) else {
            return;
        };
        let value = match (self.values[index].1, kind) {
            (Value::Int(_), 6) => Value::Int(bits.cast_signed()),
            (Value::Float(_), 9) => Value::Float(f32::from_bits(bits)),
            _ => return, // PX4 ignores a value of the wrong type
        };
        self.values[index].1 = value;
        self.version += 1;
        replies.push(self.message(index));
    }

    /// Sets a parameter internally; `false` if there is none of that name.
    pub fn put(&mut self, name: &str, number: f64) -> bool {
        let Some(index) = self.find(name) else {
            return false;
        };
        self.values[index].1 = match self.values[index].1 {
            Value::Int(_) => Value::Int(number as i32),
            Value::Float(_) => Value::Float(number as f32),
        };
        self.version += 1;
        true
    }

    /// Sends the part of the list that is due.
    pub fn step(&mut self, now: f64, replies: &mut Vec<Outbound>) {
        while let Some((left, due)) = self.listing.filter(|(_, due)| *due <= now) {
            if left == 0 {
                self.listing = None;
                return;
            }
            replies.push(self.message(self.values.len() - left));
            self.listing = Some((left - 1, due + 1.0 / LIST_RATE));
        }
    }

    /// Gains and limits of the controllers.
    pub fn gains(&self) -> Gains {
        let d = Gains::default();
        let degrees = |name, otherwise: f64| self.number(name, otherwise.to_degrees()).to_radians();
        Gains {
            xy_p: self.number("MPC_XY_P", d.xy_p),
            z_p: self.number("MPC_Z_P", d.z_p),
            xy_vel_p: self.number("MPC_XY_VEL_P_ACC", d.xy_vel_p),
            xy_vel_i: self.number("MPC_XY_VEL_I_ACC", d.xy_vel_i),
            z_vel_p: self.number("MPC_Z_VEL_P_ACC", d.z_vel_p),
            z_vel_i: self.number("MPC_Z_VEL_I_ACC", d.z_vel_i),
            xy_vel_max: self.number("MPC_XY_VEL_MAX", d.xy_vel_max),
            up_max: self.number("MPC_Z_VEL_MAX_UP", d.up_max),
            down_max: self.number("MPC_Z_VEL_MAX_DN", d.down_max),
            tilt_max: degrees("MPC_TILTMAX_AIR", d.tilt_max),
            tilt_p: self.number("MC_ROLL_P", d.tilt_p),
            yaw_p: self.number("MC_YAW_P", d.yaw_p),
            tilt_rate_max: degrees("MC_ROLLRATE_MAX", d.tilt_rate_max),
            yaw_rate_max: degrees("MC_YAWRATE_MAX", d.yaw_rate_max),
        }
    }

    /// Speeds of the autonomous modes.
    pub fn speeds(&self) -> Speeds {
        let d = Speeds::default();
        Speeds {
            cruise: self.number("MPC_XY_CRUISE", d.cruise),
            cruise_max: self.number("MPC_XY_VEL_MAX", d.cruise_max),
            acceleration: self.number("MPC_ACC_HOR", d.acceleration),
            up: self.number("MPC_Z_V_AUTO_UP", d.up),
            down: self.number("MPC_Z_V_AUTO_DN", d.down),
            takeoff: self.number("MPC_TKO_SPEED", d.takeoff),
            land: self.number("MPC_LAND_SPEED", d.land),
            up_max: self.number("MPC_Z_VEL_MAX_UP", d.up_max),
            return_altitude: self.number("RTL_RETURN_ALT", d.return_altitude),
            descend_altitude: self.number("RTL_DESCEND_ALT", d.descend_altitude),
            acceptance: self.number("NAV_ACC_RAD", d.acceptance),
        }
    }

    /// Charge level of a battery percentage.
    pub fn charge(&self, percent: f64) -> Charge {
        let below = |name, otherwise| percent < 100.0 * self.number(name, otherwise);
        if below("BAT_EMERGEN_THR", 0.05) {
            Charge::Emergency
        } else if below("BAT_CRIT_THR", 0.07) {
            Charge::Critical
        } else if below("BAT_LOW_THR", 0.15) {
            Charge::Low
        } else {
            Charge::Fine
        }
    }

    /// Sets the fence limits.
    pub fn set_fence(&mut self, limits: Limits) {
        let _ = self.put("GF_MAX_HOR_DIST", limits.distance);
        let _ = self.put("GF_MAX_VER_DIST", limits.height);
    }

    /// The fence limits.
    pub fn fence(&self) -> Limits {
        Limits {
            distance: self.number("GF_MAX_HOR_DIST", 0.0),
            height: self.number("GF_MAX_VER_DIST", 0.0),
        }
    }

    /// Parameters of the state machine.
    pub fn rules(&self) -> Rules {
        let d = Rules::default();
        Rules {
            offboard_loss: self.number("COM_OF_LOSS_T", d.offboard_loss),
            disarm_land: self.number("COM_DISARM_LAND", d.disarm_land),
            disarm_preflight: self.number("COM_DISARM_PRFLT", d.disarm_preflight),
            offboard_loss_action: self.number("COM_OBL_RC_ACT", 0.0) as i32,
            actions: Actions {
                low_battery: self.number("COM_LOW_BAT_ACT", 3.0) as i32,
                fence: self.number("GF_ACTION", 2.0) as i32,
                delay: self.number("COM_FAIL_ACT_T", 5.0),
            },
        }
    }
}
