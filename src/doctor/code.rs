//! All kinds of findings; `docs/doctor.md` has a row for each.

/// How bad a finding is; also the exit code of `rfly_bridge doctor`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Information.
    Note,
    /// Something is missing or impaired.
    Warning,
    /// Something does not work.
    Error,
}

impl Severity {
    /// Returns the word in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

macro_rules! codes {
    ($($severity:ident { $($code:ident $name:literal,)+ })+) => {
        /// Kind of a finding.
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        #[expect(missing_docs, reason = "docs/doctor.md has a row for each; a test compares them")]
        pub enum Code {
            $($($code,)+)+
        }

        impl Code {
            /// All kinds, the worst first.
            pub const ALL: &[Self] = &[$($(Self::$code,)+)+];

            /// Name in tables, JSON and documents.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(Self::$code => $name,)+)+
                }
            }

            /// Severity.
            pub const fn severity(self) -> Severity {
                match self {
                    $($(Self::$code)|+ => Severity::$severity,)+
                }
            }
        }
    };
}

codes! {
    Error {
        Config "config",
        Start "start",
        PortTaken "port-taken",
        NoRoute "no-route",
        WslAddress "wsl-address",
        Firewall "firewall",
        ReceiveAddress "receive-address",
        NoListener "no-listener",
        ShmRemote "shm-remote",
        ShmDenied "shm-denied",
        ShmType "shm-type",
        RosVariable "ros-variable",
        RosMiddleware "ros-middleware",
        RosProfile "ros-profile",
        SimulatorStopped "simulator-stopped",
        SimulatorSilent "simulator-silent",
        RendererSilent "renderer-silent",
        CapturesEnded "captures-ended",
        WrongAddress "wrong-address",
        SizeMismatch "size-mismatch",
        TypeMismatch "type-mismatch",
        AutopilotSilent "autopilot-silent",
        WillNotArm "will-not-arm",
        HostSilent "host-silent",
        Panic "panic",
    }
    Warning {
        ConfigDoubt "config-doubt",
        LinkOdd "link-odd",
        LoaderDrops "loader-drops",
        Buffers "buffers",
        TwoNetworks "two-networks",
        MulticastOff "multicast-off",
        MulticastRoute "multicast-route",
        ShmMissing "shm-missing",
        ShmContainer "shm-container",
        FastDdsShm "fast-dds-shm",
        RosRange "ros-range",
        RosDomain "ros-domain",
        NoHeartbeat "no-heartbeat",
        VehicleMissing "vehicle-missing",
        AskedInVain "asked-in-vain",
        SenderRefused "sender-refused",
        PortShared "port-shared",
        SensorSilent "sensor-silent",
        RendererOverloaded "renderer-overloaded",
        BuffersOverflow "buffers-overflow",
        DatagramsLost "datagrams-lost",
        OffboardSlow "offboard-slow",
        ClocksApart "clocks-apart",
        ReaderQos "reader-qos",
        FovMismatch "fov-mismatch",
        AxesMismatch "axes-mismatch",
        LogLost "log-lost",
    }
    Note {
        Hosts "hosts",
        FleetScript "fleet-script",
        RosLocalhost "ros-localhost",
        VehicleNotServed "vehicle-not-served",
        AskedByUnicast "asked-by-unicast",
    }
}

impl Code {
    /// Whether it may be the reason why nothing arrives from the simulator.
    pub(super) fn explains_silence(self) -> bool {
        use Code::*;
        #[rustfmt::skip] // a table
        const EXPLAINING: [Code; 12] = [
            NoRoute, WslAddress, Firewall, ReceiveAddress, ShmRemote, ShmDenied, ShmType, SimulatorStopped, SimulatorSilent,
            RendererSilent, CapturesEnded, NoHeartbeat,
        ];
        EXPLAINING.contains(&self)
    }
}
