//! Checks across parameters.
use super::{Params, RecordParams};
use crate::config::{ControlLink, Problems, SimMode, names};
use regex_lite::Regex;
use std::net::Ipv4Addr;
use std::path::Path;

pub(super) fn check_together(params: &Params, problems: &mut Problems) {
    let mut addresses = params.per_vehicle.values().filter_map(|vehicle| vehicle.address);
    let is_local = params.simulator_address.is_loopback() && addresses.all(|a| a.is_loopback());
    if params.redis.address.is_some() && !is_local {
        let why = "needs simulator_address and every vehicle<id>.address on loopback (127.0.0.1): with Redis, the bridge binds CopterSim's ports on this host";
        problems.push("redis.address", why);
    }
    check_hosts(params, problems);
    check_ultra_simple(params, problems);
    check_renderer_by_redis(params, problems);
    check_flown_here(params, problems);
    let frames = &params.frames;
    for (name, value, other_name, other) in [
        ("odom_frame", &frames.odom, "map_frame", &frames.map),
        ("base_frame", &frames.base, "map_frame", &frames.map),
        ("base_frame", &frames.base, "odom_frame", &frames.odom),
        ("control.local_frame", &params.control.local_frame, "odom_frame", &frames.odom),
        ("control.local_frame", &params.control.local_frame, "base_frame", &frames.base),
    ] {
        if value == other {
            problems.push(name, format!("must differ from {other_name}, both are {value:?}"));
        }
    }
    let (period, timeout) = (params.request.period, params.request.timeout);
    if timeout < period {
        let why = format!("must be at least request.period_s, {period:?}, is {timeout:?}");
        problems.push("request.timeout_s", why);
    }
    if params.control.read_only && params.control.switch_mode {
        problems.push("control.switch_mode", "must be false with control.read_only");
    }
    let example = params.control.prefix.replace("{id}", "1").replace("{n}", "1");
    if let Err(why) = names::check_topic(&example) {
        let prefix = &params.control.prefix;
        let why = format!(
            "must be a topic prefix, in which {{id}} and {{n}} stand for numbers, is {prefix:?}: {why}"
        );
        problems.push("control.prefix", why);
    }
    for (name, topic) in [
        ("cloud.odometry_topic", &params.cloud_odometry_topic),
        ("cloud.global_odometry_topic", &params.cloud_global_odometry_topic),
    ] {
        if !topic.is_empty()
            && let Err(why) = names::check_topic(&topic.replace("{id}", "1"))
        {
            let why = format!(
                "must be a topic, in which {{id}} stands for a number, or empty, is {topic:?}: {why}"
            );
            problems.push(name, why);
        }
    }
    let ids = &params.scene.ids;
    if ids.is_empty() {
        let why = format!("must be at least scene.first_id, {}, is {}", ids.start(), ids.end());
        problems.push("scene.last_id", why);
    }
    let scan = &params.scan;
    for (name, low, high_name, high) in [
        ("scan.min_height", scan.min_height, "scan.max_height", scan.max_height),
        ("scan.angle_min", scan.angle_min, "scan.angle_max", scan.angle_max),
        ("scan.range_min", scan.range_min, "scan.range_max", scan.range_max),
    ] {
        let is_unlimited = high_name == "scan.range_max" && high == 0.0;
        if low >= high && !is_unlimited {
            problems.push(name, format!("must be less than {high_name}, {high}, is {low}"));
        }
    }
    check_recordings(&params.record, problems);
    params.control.plugins.check(problems);
    if frames.prefix.starts_with('/') || frames.prefix.contains(char::is_whitespace) {
        let why = format!("must not begin with `/` or contain white space, is {:?}", frames.prefix);
        problems.push("frame_prefix", why);
    }
}

fn check_recordings(record: &RecordParams, problems: &mut Problems) {
    for (name, path) in [("record.ros", &record.ros), ("record.raw", &record.raw)] {
        let Some(path) = path else { continue };
        let has_name = Path::new(path).file_name().is_some();
        if !has_name || path.starts_with('~') || path.contains(char::is_control) {
            let why = "must be a path that ends with a name, does not begin with `~` (write the whole path, or $HOME on a command line) and has no control characters";
            problems.push(name, format!("{why}, is {path:?}"));
        }
    }
    for (name, text) in
        [("record.regex", &record.regex), ("record.exclude_regex", &record.exclude_regex)]
    {
        if let Err(why) = Regex::new(text) {
            problems.push(name, format!("must be a regular expression, is {text:?}: {why}"));
        }
    }
}

/// Checks that the addresses of simulators are those of hosts: the bridge accepts answers only from these addresses.
fn check_hosts(params: &Params, problems: &mut Problems) {
    let vehicles = params.per_vehicle.iter();
    let hosts = vehicles.filter_map(|(id, v)| Some((format!("vehicle{id}.address"), v.address?)));
    let simulator = [("simulator_address".to_owned(), params.simulator_address)];
    for (name, address) in simulator.into_iter().chain(hosts) {
        let what = match address {
            Ipv4Addr::BROADCAST => "a broadcast address",
            Ipv4Addr::UNSPECIFIED => "the unspecified address",
            _ if address.is_multicast() => "a multicast address",
            _ => continue,
        };
        let why = format!(
            "must be the address of one host, is {address}, {what}: the bridge accepts answers only from hosts that are named. Name the \
             simulator's host; if vehicles have other hosts, name each by vehicle<CopterID>.address, or let control.discover_s find \
             those that accept_from allows"
        );
        problems.push(name, why);
    }
}

/// Checks what UDP_UltraSimple needs: `true_state.enabled`, because the layout of this mode's states is not published, and no
/// `control.switch_mode`, because its number is not published.
fn check_ultra_simple(params: &Params, problems: &mut Problems) {
    let ultra = ControlLink::Simulator(SimMode::UdpUltraSimple);
    let vehicles = params.per_vehicle.iter();
    let links =
        vehicles.filter_map(|(id, v)| Some((format!("vehicle{id}.link"), v.link.as_ref()?)));
    let links = [("control.link".to_owned(), &params.control.link)].into_iter().chain(links);
    for (name, _) in links.filter(|(_, link)| **link == ultra) {
        if !params.true_state_enabled {
            let why = "udp_ultrasimple takes the vehicle's state from its true state: set true_state.enabled to true";
            problems.push(name.clone(), why);
        }
        if params.control.switch_mode {
            let why = "control.switch_mode cannot choose UDP_UltraSimple, because the vendor does not publish its number: choose it in CopterSim, and set control.switch_mode to false";
            problems.push(name, why);
        }
    }
}

/// Checks the link and the address of a vehicle that the bridge flies, and that Redis does not take the same ports.
fn check_flown_here(params: &Params, problems: &mut Problems) {
    let vehicles = params.per_vehicle.iter();
    for (id, vehicle) in vehicles.filter(|(_, vehicle)| vehicle.is_flown_here()) {
        let link = vehicle.link.as_ref();
        let simple = ControlLink::Simulator(SimMode::UdpSimple);
        if let Some(link) = link.filter(|link| **link != simple && **link != ControlLink::Off) {
            let why = format!(
                "must be udp_simple or off for a vehicle that the bridge flies (vehicle{id}.model), is {link}; leave it out"
            );
            problems.push(format!("vehicle{id}.link"), why);
        }
        if vehicle.address.is_some_and(|address| !address.is_loopback()) {
            let why = format!(
                "must be on loopback (127.0.0.1) for a vehicle that the bridge flies (vehicle{id}.model); leave it out"
            );
            problems.push(format!("vehicle{id}.address"), why);
        }
        if params.redis.address.is_some() {
            let why = "must be coptersim with redis.address: a vehicle that the bridge flies and the Redis link need the same ports of CopterSim on this host";
            problems.push(format!("vehicle{id}.model"), why);
        }
    }
}

fn check_renderer_by_redis(params: &Params, problems: &mut Problems) {
    let redis = &params.redis;
    if !redis.renderer {
        return;
    }
    if redis.address.is_none() {
        problems.push("redis.renderer", "needs the server: set redis.address");
    }
    if params.scene.network {
        let why = "must be false with redis.renderer: all renderers of the server have one channel";
        problems.push("scene.network", why);
    }
    for (name, key) in [
        ("redis.r3d_rec_key", &redis.to_renderer),
        ("redis.r3d_send_key_20006", &redis.from_renderer),
    ] {
        if key.is_empty() {
            problems.push(name, "must be the channel of RedisConfig.ini, is empty");
        }
    }
    if redis.to_renderer == redis.from_renderer {
        problems.push("redis.r3d_rec_key", "must differ from redis.r3d_send_key_20006");
    }
}
