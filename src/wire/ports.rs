//! UDP ports and multicast groups of the platform. Vehicles count from 1, windows from 0.
use std::net::Ipv4Addr;

/// Group of the whole network: heartbeats, reports, requests to `CopterSim` and to renderers.
pub const NETWORK_GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 10);
/// Group of the renderers of one host.
pub const HOST_GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 11);

/// Declares the ports: `name = port of all "documentation"`, or `name = port of vehicle 1, step to the next vehicle "documentation"`.
macro_rules! ports {
    ($($name:ident = $port:literal $(, $step:literal)? $doc:literal;)+) => {
        /// Listening ports; [`Ports::default`] has the ports of the vendor's programs.
        ///
        /// A base of 0 gives 0 for every vehicle and window: the operating system then chooses a free port.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub struct Ports {
            $(#[doc = $doc] pub $name: u16,)+
        }

        impl Default for Ports {
            fn default() -> Self {
                Self { $($name: $port,)+ }
            }
        }

        impl Ports {
            $($(
                #[doc = concat!("Port `", stringify!($name), "` of this vehicle.")]
                #[must_use]
                pub const fn $name(&self, vehicle: u16) -> u16 {
                    from_base(self.$name, vehicle.saturating_sub(1).saturating_mul($step))
                }
            )?)+

            /// Port of window `number`.
            #[must_use]
            pub const fn window(&self, number: u16) -> u16 {
                from_base(self.window, number)
            }

            /// All ports shifted by `offset`; `None` if one exceeds the range of ports.
            #[must_use]
            pub fn shifted(self, offset: u16) -> Option<Self> {
                Some(Self { $($name: self.$name.checked_add(offset)?,)+ })
            }
        }
    };
}

ports! {
    requests = 20002 "Requests to `CopterSim`, by group.";
    start = 20007 "Start signals, by group.";
    heartbeat = 20005 "Heartbeats of `CopterSim`.";
    report = 20006 "Reports of the renderer.";
    host_windows = 20008 "Requests to the renderers of one host, by group.";
    network_windows = 20009 "Requests to the renderers of the network, by group.";
    window = 20010 "Window 0 of the renderer.";
    autopilot = 20100, 2 "The control port of vehicle 1, for data to its autopilot.";
    autopilot_client = 20101, 2 "Data from the autopilot of vehicle 1.";
    coptersim = 30100, 2 "`CopterSim` of vehicle 1.";
    true_state = 30101, 2 "True states of vehicle 1.";
    imu = 31000, 1 "IMU samples of vehicle 1, if the request contains no port.";
    outputs = 40101, 2 "Outputs of the modified autopilot of vehicle 1.";
    direct = 14580, 1 "The autopilot of vehicle 1 if it runs without `CopterSim`.";
}

const fn from_base(base: u16, offset: u16) -> u16 {
    match base {
        0 => 0,
        base => base.saturating_add(offset),
    }
}
