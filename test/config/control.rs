use rfly_bridge::config::{ControlLink, ParamValue, Params, SimMode};
use std::net::Ipv4Addr;

fn text(text: &str) -> ParamValue {
    ParamValue::Str(text.to_owned())
}

fn params(values: &[(&str, &str)]) -> Result<Params, String> {
    let values: Vec<_> =
        values.iter().map(|(name, value)| ((*name).to_owned(), text(value))).collect();
    Params::from_values(&values).map_err(|problems| problems.to_string())
}

#[test]
fn every_way_to_an_autopilot_is_read_and_written() {
    for (given, link, written) in [
        ("off", ControlLink::Off, "off"),
        ("udp_full", ControlLink::Simulator(SimMode::UdpFull), "udp_full"),
        ("udp_ultrasimple", ControlLink::Simulator(SimMode::UdpUltraSimple), "udp_ultrasimple"),
        ("mavlink_nogps", ControlLink::Simulator(SimMode::MavlinkNoGps), "mavlink_nogps"),
        (
            "direct:15600",
            ControlLink::Direct { local: 0, address: None, port: 15_600 },
            "direct:15600",
        ),
        (
            "direct:14600@14601",
            ControlLink::Direct { local: 14_600, address: None, port: 14_601 },
            "direct:14600@14601",
        ),
        (
            "direct:14610@127.0.0.1:14611",
            ControlLink::Direct { local: 14_610, address: Some(Ipv4Addr::LOCALHOST), port: 14_611 },
            "direct:14610@127.0.0.1:14611",
        ),
        (
            "direct:192.168.31.7:15600",
            ControlLink::Direct {
                local: 0,
                address: Some(Ipv4Addr::new(192, 168, 31, 7)),
                port: 15_600,
            },
            "direct:192.168.31.7:15600",
        ),
        (
            "/dev/ttyACM0",
            ControlLink::Serial { device: "/dev/ttyACM0".into(), baud: 57_600 },
            "serial:/dev/ttyACM0:57600",
        ),
        (
            "serial:/dev/pts/3:921600",
            ControlLink::Serial { device: "/dev/pts/3".into(), baud: 921_600 },
            "serial:/dev/pts/3:921600",
        ),
        (
            "COM3:115200",
            ControlLink::Serial { device: "COM3".into(), baud: 115_200 },
            "serial:COM3:115200",
        ),
    ] {
        let read = ControlLink::parse(given);
        assert_eq!(read.as_ref(), Ok(&link), "{given}");
        assert_eq!(link.to_string(), written);
        assert_eq!(ControlLink::parse(written), Ok(link));
    }
}

#[test]
fn what_cannot_be_spoken_is_refused_with_the_reason() {
    for (given, reason) in [
        ("redis_full", "set redis.address"),
        ("mavlink_ful", "did you mean \"mavlink_full\"?"),
        ("direct:", "must be direct:<port>"),
        ("direct:0", "must be direct:<port>"),
        ("direct:0@14600", "must be direct:<port>"),
        ("direct:@14600", "must be direct:<port>"),
        ("direct:14600@", "must be direct:<port>"),
        ("direct:host:1", "must be direct:<port>"),
        ("serial:", "must be serial:<device>"),
        ("serial:/dev/ttyACM0:fast", "must be serial:<device>"),
    ] {
        let why = ControlLink::parse(given).unwrap_err();
        assert!(why.contains(reason), "{given}: {why}");
        assert!(params(&[("control.link", given)]).unwrap_err().contains(reason));
        assert!(params(&[("vehicle2.link", given)]).unwrap_err().contains(reason));
    }
}

#[test]
fn a_vehicle_can_have_its_own_link_prefix_and_machine() {
    let params = params(&[
        ("control.link", "udp_simple"),
        ("control.prefix", "uav{id}/mavros"),
        ("vehicle3.link", "off"),
        ("vehicle3.prefix", "/boss"),
        ("vehicle3.address", "10.0.0.3"),
    ])
    .unwrap();
    assert_eq!(*params.control_link(1), ControlLink::Simulator(SimMode::UdpSimple));
    assert_eq!(*params.control_link(3), ControlLink::Off);
    assert_eq!(params.control_prefix(2), "uav2/mavros");
    assert_eq!(params.control_prefix(3), "/boss");
    assert_eq!(params.copter_sim(1), Ipv4Addr::LOCALHOST);
    assert_eq!(params.copter_sim(3), Ipv4Addr::new(10, 0, 0, 3));
}

#[test]
fn prefixes_are_those_of_the_vendor_unless_said_otherwise() {
    let params = Params::default();
    let prefixes = [1, 2, 30].map(|id| params.control_prefix(id));
    assert_eq!(prefixes, ["mavros", "mavros2", "mavros30"]);
}

#[test]
fn a_prefix_that_is_no_topic_is_refused() {
    let why = params(&[("control.prefix", "my drone{n}")]).unwrap_err();
    assert!(why.contains("control.prefix"), "{why}");
}

#[test]
fn what_udp_ultrasimple_needs_is_asked_for_at_once() {
    let values = [
        ("vehicle2.link", text("udp_ultrasimple")),
        ("control.switch_mode", ParamValue::Bool(true)),
        ("true_state.enabled", ParamValue::Bool(false)),
    ];
    let read = |values: &[(&str, ParamValue)]| {
        let values: Vec<_> =
            values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Params::from_values(&values).map_err(|problems| problems.to_string())
    };
    let why = read(&values).unwrap_err();
    assert!(why.contains("vehicle2.link"), "{why}");
    assert!(why.contains("true_state.enabled"), "{why}");
    assert!(why.contains("does not publish its number"), "{why}");
    assert!(read(&values[..1]).is_ok());
}

#[test]
fn an_address_that_no_answer_comes_from_is_refused_with_a_way_out() {
    for name in ["simulator_address", "vehicle3.address"] {
        for (address, what) in [
            ("255.255.255.255", "a broadcast address"),
            ("224.0.0.10", "a multicast address"),
            ("0.0.0.0", "the unspecified address"),
        ] {
            let why = params(&[(name, address)]).unwrap_err();
            for part in [name, address, what, "vehicle<CopterID>.address", "accept_from"] {
                assert!(why.contains(part), "{name} {address}: {part}: {why}");
            }
        }
        assert!(params(&[(name, "192.168.31.255")]).is_ok(), "a host of a larger network");
    }
    // Both at once.
    let why = params(&[
        ("simulator_address", "255.255.255.255"),
        ("vehicle3.address", "255.255.255.255"),
    ]);
    let why = why.unwrap_err();
    assert!(why.contains("simulator_address") && why.contains("vehicle3.address"));
}

#[test]
fn ports_of_vehicles_begin_where_the_parameters_say() {
    let read = |values: &[(&str, i64)]| {
        let values: Vec<_> = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), ParamValue::Int(*value)))
            .collect();
        Params::from_values(&values).map_err(|problems| problems.to_string())
    };
    let ports = read(&[]).unwrap().ports;
    assert_eq!(ports, rfly_bridge::wire::Ports::default());
    let ports = read(&[("control.base_port", 21_100), ("model.base_port", 31_000)]);
    let ports = ports.unwrap().ports;
    let of = |id| {
        [
            ports.autopilot(id),
            ports.autopilot_client(id),
            ports.coptersim(id),
            ports.true_state(id),
            ports.outputs(id),
        ]
    };
    assert_eq!(of(1), [21_100, 21_101, 31_000, 31_001, 41_001]);
    assert_eq!(of(3), [21_104, 21_105, 31_004, 31_005, 41_005]);
    // No vehicle has a port beyond the last one.
    let last = read(&[("control.base_port", 45_000), ("model.base_port", 35_000)]);
    let last = last.unwrap().ports;
    assert_eq!(last.autopilot_client(10_000), 45_000 + 1 + 2 * 9999);
    assert_eq!(last.outputs(10_000), 35_000 + 10_001 + 2 * 9999);
    assert!(read(&[("control.base_port", 0)]).is_err());
    assert!(read(&[("control.base_port", 45_001)]).is_err());
}
