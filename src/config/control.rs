//! Links between the bridge and a vehicle's autopilot.
use super::problem::did_you_mean;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use strum::VariantNames as _;

/// Supported values of CopterSim's UDPSIMMODE, with the words of `control.link`.
#[derive(
    Clone,
    Copy,
    Debug,
    Eq,
    Hash,
    PartialEq,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantNames,
)]
#[strum(serialize_all = "snake_case")]
pub enum SimMode {
    /// Structs of 120 bytes.
    UdpFull = 0,
    /// Structs of 24 and 52 bytes.
    UdpSimple = 1,
    /// Commands of 24 bytes; neither the layout of its states nor its number is published.
    #[strum(serialize = "udp_ultrasimple")]
    UdpUltraSimple = 0xff,
    /// MAVLink, all messages.
    MavlinkFull = 2,
    /// MAVLink, filtered and decimated.
    MavlinkSimple = 3,
    /// CopterSim receives MAVLink and sends none.
    #[strum(serialize = "mavlink_nosend")]
    MavlinkNoSend = 4,
    /// As `MavlinkFull`, without GPS.
    #[strum(serialize = "mavlink_nogps")]
    MavlinkNoGps = 5,
    /// As `MavlinkNoGps`; the estimator is set up for vision.
    MavlinkVision = 6,
}

impl SimMode {
    /// Returns the number on the wire; `None` if it is not published.
    pub fn number(self) -> Option<u8> {
        (self != Self::UdpUltraSimple).then_some(self as u8)
    }

    /// Parses a word of `control.link`. Errors: what is wrong, and the known words.
    pub fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_unknown| {
            let hint = did_you_mean(text, Self::VARIANTS.iter().copied());
            format!("must be one of {}, is {text:?}{hint}", Self::VARIANTS.join(", "))
        })
    }
}

/// Address and protocol of an autopilot.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ControlLink {
    /// No link to the autopilot: neither telemetry nor control.
    Off,
    /// CopterSim's control port of the vehicle.
    Simulator(SimMode),
    /// MAVLink over one UDP socket.
    Direct {
        /// Port to bind; 0: any.
        local: u16,
        /// Host of the autopilot; `None`: the simulator's.
        address: Option<Ipv4Addr>,
        /// Port of the autopilot.
        port: u16,
    },
    /// MAVLink over a serial line.
    Serial {
        /// For example `/dev/ttyACM0`.
        device: String,
        /// Bits per second.
        baud: u32,
    },
}

/// The vendor's default baud rate.
const DEFAULT_BAUD: u32 = 57_600;

impl ControlLink {
    /// Parses a value of `control.link`. Errors: what is wrong, and the allowed forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self::Off);
        }
        if let Ok(mode) = SimMode::parse(text) {
            return Ok(Self::Simulator(mode));
        }
        if let Some(rest) = text.strip_prefix("direct:") {
            let forms = "direct:<port> or direct:<IPv4 address>:<port>, with <own port>@ before it if the autopilot sends to a fixed port";
            return parse_direct(rest).ok_or_else(|| format!("must be {forms}, is {text:?}"));
        }
        let device = text.strip_prefix("serial:").unwrap_or(text);
        if device.starts_with("/dev/") || device.starts_with("COM") || device.len() < text.len() {
            return parse_serial(device)
                .ok_or_else(|| format!("must be serial:<device>[:<baud>], is {text:?}"));
        }
        Err(match text {
            "redis_full" | "redis_simple" => {
                "the Redis modes carry the datagrams of udp_full and udp_simple through a Redis server of the full \
                 edition: set redis.address, and use udp_full or udp_simple here"
                    .to_owned()
            }
            _ => {
                let hint = did_you_mean(text, SimMode::VARIANTS.iter().copied().chain(["off"]));
                let known = SimMode::VARIANTS.join(", ");
                let links = "direct:[<own port>@][<address>:]<port> or serial:<device>[:<baud>]";
                format!("must be one of {known}, off, {links}, is {text:?}{hint}")
            }
        })
    }
}

impl fmt::Display for ControlLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Simulator(mode) => f.write_str(mode.into()),
            Self::Direct { local, address, port } => {
                f.write_str("direct:")?;
                if *local != 0 {
                    write!(f, "{local}@")?;
                }
                if let Some(address) = address {
                    write!(f, "{address}:")?;
                }
                write!(f, "{port}")
            }
            Self::Serial { device, baud } => write!(f, "serial:{device}:{baud}"),
        }
    }
}

fn parse_direct(rest: &str) -> Option<ControlLink> {
    let (local, rest) = match rest.split_once('@') {
        Some((local, rest)) => (local.parse().ok().filter(|port| *port != 0)?, rest),
        None => (0, rest),
    };
    let (address, port) = match rest.parse::<SocketAddrV4>() {
        Ok(address) => (Some(*address.ip()), address.port()),
        Err(_) => (None, rest.parse().ok()?),
    };
    (port != 0).then_some(ControlLink::Direct { local, address, port })
}

fn parse_serial(rest: &str) -> Option<ControlLink> {
    let (device, baud) = match rest.rsplit_once(':') {
        Some((device, baud)) => (device, baud.parse().ok()?),
        None => (rest, DEFAULT_BAUD),
    };
    let is_complete = !device.is_empty() && baud > 0;
    is_complete.then(|| ControlLink::Serial { device: device.to_owned(), baud })
}
