//! UDP ports and multicast groups of the platform. Vehicles count from 1, windows from 0.
use std::net::Ipv4Addr;

/// Reaches the whole network: heartbeats, reports, requests to `CopterSim` and to renderers.
pub const NETWORK_GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 10);
/// Reaches the renderers of one host.
pub const HOST_GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 11);

/// Listening ports; [`Ports::default`] has those of the vendor's programs.
///
/// A base of 0 gives 0 for every vehicle and window: the operating system then chooses a free port.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ports {
    /// Requests to `CopterSim`, by group.
    pub requests: u16,
    /// Start signals, by group.
    pub start: u16,
    /// Heartbeats of `CopterSim`.
    pub heartbeat: u16,
    /// Reports of the renderer.
    pub report: u16,
    /// Requests to the renderers of one host, by group.
    pub host_windows: u16,
    /// Requests to the renderers of the network, by group.
    pub network_windows: u16,
    /// Window 0 of the renderer.
    pub window: u16,
    /// The control port of vehicle 1, for data to its autopilot.
    pub autopilot: u16,
    /// Data from the autopilot of vehicle 1.
    pub autopilot_client: u16,
    /// `CopterSim` of vehicle 1.
    pub coptersim: u16,
    /// True states of vehicle 1.
    pub true_state: u16,
    /// IMU samples of vehicle 1.
    pub imu: u16,
    /// Outputs of a model in the autopilot of vehicle 1.
    pub outputs: u16,
    /// The autopilot of vehicle 1 if it runs without `CopterSim`.
    pub direct: u16,
}

impl Default for Ports {
    fn default() -> Self {
        Self {
            requests: 20002,
            start: 20007,
            heartbeat: 20005,
            report: 20006,
            host_windows: 20008,
            network_windows: 20009,
            window: 20010,
            autopilot: 20100,
            autopilot_client: 20101,
            coptersim: 30100,
            true_state: 30101,
            imu: 31000,
            outputs: 40101,
            direct: 14580,
        }
    }
}

impl Ports {
    /// Port of window `number`.
    #[must_use]
    pub const fn window(&self, number: u16) -> u16 {
        from_base(self.window, number)
    }

    /// Port of a vehicle's autopilot.
    #[must_use]
    pub const fn autopilot(&self, vehicle: u16) -> u16 {
        from_base(self.autopilot, vehicle.saturating_sub(1).saturating_mul(2))
    }

    /// Destination port of a vehicle's autopilot.
    #[must_use]
    pub const fn autopilot_client(&self, vehicle: u16) -> u16 {
        from_base(self.autopilot_client, vehicle.saturating_sub(1).saturating_mul(2))
    }

    /// Port of a vehicle's `CopterSim`.
    #[must_use]
    pub const fn coptersim(&self, vehicle: u16) -> u16 {
        from_base(self.coptersim, vehicle.saturating_sub(1).saturating_mul(2))
    }

    /// Destination port of a vehicle's true states.
    #[must_use]
    pub const fn true_state(&self, vehicle: u16) -> u16 {
        from_base(self.true_state, vehicle.saturating_sub(1).saturating_mul(2))
    }

    /// Destination port of a vehicle's IMU samples if the request names no port.
    #[must_use]
    pub const fn imu(&self, vehicle: u16) -> u16 {
        from_base(self.imu, vehicle.saturating_sub(1))
    }

    /// Destination port of the outputs of a model in a vehicle's autopilot.
    #[must_use]
    pub const fn outputs(&self, vehicle: u16) -> u16 {
        from_base(self.outputs, vehicle.saturating_sub(1).saturating_mul(2))
    }

    /// Port of a vehicle's autopilot that runs without `CopterSim`.
    #[must_use]
    pub const fn direct(&self, vehicle: u16) -> u16 {
        from_base(self.direct, vehicle.saturating_sub(1))
    }

    /// All ports shifted by `offset`; `None` if one exceeds the range of ports.
    #[must_use]
    pub fn shifted(self, offset: u16) -> Option<Self> {
        let shift = |port: u16| port.checked_add(offset);
        Some(Self {
            requests: shift(self.requests)?,
            start: shift(self.start)?,
            heartbeat: shift(self.heartbeat)?,
            report: shift(self.report)?,
            host_windows: shift(self.host_windows)?,
            network_windows: shift(self.network_windows)?,
            window: shift(self.window)?,
            autopilot: shift(self.autopilot)?,
            autopilot_client: shift(self.autopilot_client)?,
            coptersim: shift(self.coptersim)?,
            true_state: shift(self.true_state)?,
            imu: shift(self.imu)?,
            outputs: shift(self.outputs)?,
            direct: shift(self.direct)?,
        })
    }
}

const fn from_base(base: u16, offset: u16) -> u16 {
    match base {
        0 => 0,
        base => base.saturating_add(offset),
    }
}
