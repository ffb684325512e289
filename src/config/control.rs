//! Links between the bridge and a vehicle's autopilot.
use super::problem::did_you_mean;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};

/// UDPSIMMODE of CopterSim, the supported values.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SimMode {
    /// Structs of 120 bytes.
    UdpFull,
    /// Structs of 24 and 52 bytes.
    UdpSimple,
    /// Commands of 24 bytes; states whose layout is not published.
    UdpUltraSimple,
    /// MAVLink, all messages.
    MavlinkFull,
    /// MAVLink, filtered and decimated.
    MavlinkSimple,
    /// CopterSim receives MAVLink and sends none.
    MavlinkNoSend,
    /// As full, without GPS.
    MavlinkNoGps,
    /// As without GPS; the estimator is set up for vision.
    MavlinkVision,
}

impl SimMode {
    /// Words of `control.link`, and CopterSim's mode numbers.
    const NAMES: &'static [(&'static str, Self, Option<u8>)] = &[
        ("udp_full", Self::UdpFull, Some(0)),
        ("udp_simple", Self::UdpSimple, Some(1)),
        ("udp_ultrasimple", Self::UdpUltraSimple, None),
        ("mavlink_full", Self::MavlinkFull, Some(2)),
        ("mavlink_simple", Self::MavlinkSimple, Some(3)),
        ("mavlink_nosend", Self::MavlinkNoSend, Some(4)),
        ("mavlink_nogps", Self::MavlinkNoGps, Some(5)),
        ("mavlink_vision", Self::MavlinkVision, Some(6)),
    ];

    /// UDPSIMMODE on the wire, where it is published.
    pub fn number(self) -> Option<u8> {
        let row = Self::NAMES.iter().find(|(_, mode, _)| *mode == self)?;
        row.2
    }

    /// Reads a word of `control.link`.
    ///
    /// # Errors
    /// What is wrong, and the words that are known.
    pub fn parse(text: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(name, ..)| *name == text);
        found.map(|(_, mode, _)| *mode).ok_or_else(|| {
            let names = Self::NAMES.iter().map(|(name, ..)| *name);
            let hint = did_you_mean(text, names.clone());
            let known: Vec<_> = names.collect();
            format!("must be one of {}, is {text:?}{hint}", known.join(", "))
        })
    }

    fn name(self) -> &'static str {
        Self::NAMES
            .iter()
            .find(|(_, mode, _)| *mode == self)
            .map_or("mavlink_full", |(name, ..)| name)
    }
}

/// Address and protocol of an autopilot.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ControlLink {
    /// No control; only the true state is published.
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

/// The vendor's default rate.
const DEFAULT_BAUD: u32 = 57_600;

impl ControlLink {
    /// Reads the text of the parameter.
    ///
    /// # Errors
    /// What is wrong, and the allowed forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self::Off);
        }
        if let Ok(mode) = SimMode::parse(text) {
            return Ok(Self::Simulator(mode));
        }
        if let Some(rest) = text.strip_prefix("direct:") {
            return direct(rest).ok_or_else(|| {
                format!(
                    "must be direct:<port> or direct:<IPv4 address>:<port>, with <own port>@ before it if the autopilot sends \
                     to a fixed port, is {text:?}"
                )
            });
        }
        let device = text.strip_prefix("serial:").unwrap_or(text);
        if device.starts_with("/dev/") || device.starts_with("COM") || device.len() < text.len() {
            return serial(device)
                .ok_or_else(|| format!("must be serial:<device>[:<baud>], is {text:?}"));
        }
        Err(match text {
            "redis_full" | "redis_simple" => {
                "the Redis modes carry the datagrams of udp_full and udp_simple through a Redis server of the full \
                 edition: set redis.address, and use udp_full or udp_simple here"
                    .to_owned()
            }
            _ => {
                let names = SimMode::NAMES.iter().map(|(name, ..)| *name);
                let hint = did_you_mean(text, names.clone().chain(["off"]));
                let known: Vec<_> = names.collect();
                format!(
                    "must be one of {}, off, direct:[<own port>@][<address>:]<port> or serial:<device>[:<baud>], is {text:?}{hint}",
                    known.join(", ")
                )
            }
        })
    }
}

impl fmt::Display for ControlLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Simulator(mode) => f.write_str(mode.name()),
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

fn direct(rest: &str) -> Option<ControlLink> {
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

fn serial(rest: &str) -> Option<ControlLink> {
    let (device, baud) = match rest.rsplit_once(':') {
        Some((device, baud)) => (device, baud.parse().ok()?),
        None => (rest, DEFAULT_BAUD),
    };
    let named = !device.is_empty() && baud > 0;
    named.then(|| ControlLink::Serial { device: device.to_owned(), baud })
}
