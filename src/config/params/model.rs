//! Models, CopterSim and the networks of the simulation.
use super::{FaultNumbers, declare::parameters, table::MODEL};
use std::net::{Ipv4Addr, SocketAddrV4};

parameters! {
    /// `model.*`.
    pub struct ModelParams {
        [MODEL]
        enabled: bool = "model.enabled", Bool = true,
            "Serve the topics and services of each vehicle's model and CopterSim (`model/*`, `coptersim/*`).";
        start_signals: bool = "model.start_signals", Bool = true,
            "Publish start signals that arrive at 224.0.0.10:20007 on `fleet/start`; false leaves the port to another program.";
        fault_numbers: FaultNumbers = "model.fault_numbers", Choice = "sdk",
            "Numbers that the vehicles' models have for faults: `sdk` as in the documents of the vendor's SDK, `template` as in the initialization \
            files of newer models; docs/topics.md has both.";
        custom_data: SocketAddrV4
            = "model.custom_data_address", Address = "127.0.0.1",
                "Host, or multicast group, of the user's own program that receives model/custom_data."
            = "model.custom_data_port", Int(1, 65_535) = 50_000, "UDP port of that program."
            => |r| SocketAddrV4::new(r.read("model.custom_data_address"), r.read("model.custom_data_port"));
    }

    /// `netsim.*`.
    pub struct NetSimParams {
        [MODEL]
        enabled: bool = "netsim.enabled", Bool = false, "Take part in the simulated network between vehicles (topics netsim/*).";
        port: u16 = "netsim.port", Int(1, 65_535) = 60_000,
            "Multicast port of all vehicles in the simulated network; that of one vehicle is this number plus its CopterID.";
    }

    /// `redis.*`.
    pub struct RedisParams {
        [MODEL]
        address: Option<Ipv4Addr> = "redis.address", Address = "",
            "Redis server through which the bridge reaches CopterSim of the full edition (there UDPSIMMODE 7 or 8, here \
            `control.link` `udp_full` or `udp_simple`); the bridge then binds CopterSim's ports on this host. Empty: CopterSim is reached by UDP.";
        port: u16 = "redis.port", Int(1, 65_535) = 6379, "TCP port of the Redis server.";
        renderer: bool = "redis.renderer", Bool = false,
            "RflySim3D of the full edition is reached through the server, too: requests, commands and states on `redis.r3d_rec_key`, its reports on \
            `redis.r3d_send_key_20006`; the keys are those of its RedisConfig.ini. Images come by UDP.";
        to_renderer: String = "redis.r3d_rec_key", Str = "GLOBAL_MESSAGE_REDIS_KEY", "Channel that RflySim3D listens to.";
        from_renderer: String = "redis.r3d_send_key_20006", Str = "GLOBAL_MESSAGE_R3D_SEND_KEY_20006",
            "Channel on which RflySim3D publishes its reports, which without Redis go to UDP port 20006.";
    }
}
