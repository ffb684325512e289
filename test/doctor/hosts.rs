//! A set-up on hosts of all kinds.
use super::codes;
use rfly_bridge::doctor::{Code, Finding, SensorSetup, Setup, Simulator, check_host};
use rfly_bridge::transport::{BlockFile, HostFacts, NetworkInterface, Route};
use std::net::{Ipv4Addr, SocketAddrV4};

fn interface(name: &str, network: &str) -> NetworkInterface {
    NetworkInterface {
        name: name.to_owned(),
        network: network.parse().unwrap(),
        up: true,
        loopback: name == "lo",
        multicast: true,
    }
}

fn route(network: &str, gateway: Option<&str>, interface: &str) -> Route {
    Route {
        network: network.parse().unwrap(),
        gateway: gateway.map(|gateway| gateway.parse().unwrap()),
        interface: interface.to_owned(),
        metric: 0,
    }
}

/// A PC in a network with a router.
fn host() -> HostFacts {
    HostFacts {
        kernel: "Linux version 6.8.0".to_owned(),
        receive_buffer_max: Some(64 << 20),
        interfaces: vec![interface("lo", "127.0.0.1/8"), interface("eth0", "192.168.1.5/24")],
        routes: vec![
            route("0.0.0.0/0", Some("192.168.1.1"), "eth0"),
            route("192.168.1.0/24", None, "eth0"),
        ],
        user: 1000,
        ..HostFacts::default()
    }
}

fn camera() -> SensorSetup {
    SensorSetup {
        name: "sensor0 img_rgb".to_owned(),
        destination: "127.0.0.1".parse().unwrap(),
        burst: 921_600,
        block: None,
    }
}

fn setup(simulator: &str, sensors: Vec<SensorSetup>) -> Setup {
    Setup {
        renderer: SocketAddrV4::new(simulator.parse().unwrap(), 20010),
        sends_to: [20002, 20010, 20100, 30100].into(),
        listens: [9999, 10000, 20005].into(),
        receive_buffer: 8 << 20,
        sensors,
    }
}

fn the_one(findings: Vec<Finding>, code: Code) -> Finding {
    assert_eq!(codes(&findings), [code], "{findings:?}");
    findings.into_iter().next().unwrap()
}

#[test]
fn a_simulator_here_or_in_the_network_is_fine() {
    for simulator in ["127.0.0.1", "192.168.1.5", "192.168.1.10", "10.1.1.1"] {
        assert_eq!(check_host(&setup(simulator, vec![camera()]), &host()), []);
    }
}

#[test]
fn a_simulator_that_no_network_leads_to_is_an_error() {
    let mut host = host();
    host.routes.remove(0);
    host.routes.push(route("224.0.0.0/4", None, "eth0"));
    assert_eq!(check_host(&setup("192.168.1.10", vec![]), &host), []);
    let found = the_one(check_host(&setup("10.1.1.1", vec![]), &host), Code::NoRoute);
    assert_eq!(found.subject, "10.1.1.1");
}

#[test]
fn in_wsl_behind_nat_windows_is_the_default_gateway() {
    let host = HostFacts {
        kernel: "Linux version 5.15.167.4-microsoft-standard-WSL2".to_owned(),
        interfaces: vec![interface("lo", "127.0.0.1/8"), interface("eth0", "172.20.5.9/20")],
        routes: vec![route("0.0.0.0/0", Some("172.20.0.1"), "eth0")],
        ..host()
    };
    let found = check_host(&setup("127.0.0.1", vec![]), &host);
    assert_eq!(codes(&found), [Code::Wsl, Code::WslAddress]);
    assert!(found[0].subject.contains("NAT"));
    assert!(found[1].remedy.ends_with("simulator_address:=172.20.0.1"));
    let found = check_host(&setup("172.20.0.1", vec![]), &host);
    assert_eq!(codes(&found), [Code::Wsl]);
}

#[test]
fn mirrored_and_bridged_wsl_are_told_apart() {
    let kernel = "Linux version 5.15 (Microsoft@Microsoft.com)".to_owned();
    let mut mirrored = HostFacts { kernel, ..host() };
    let bridged = the_one(check_host(&setup("127.0.0.1", vec![]), &mirrored), Code::Wsl);
    assert!(bridged.subject.contains("bridged"));
    // PowerShell's own names: Get-Process, New-NetFirewallRule.
    assert!(
        bridged.remedy.contains("Get-Process RflySim3D,CopterSim ")
            && bridged
                .remedy
                .contains("-Program $_ -Protocol UDP -LocalPort 20002,20010,20100,30100 "),
        "{bridged:?}"
    );
    mirrored.interfaces.push(interface("loopback0", "127.0.0.2/8"));
    let found = the_one(check_host(&setup("127.0.0.1", vec![]), &mirrored), Code::Wsl);
    assert!(found.subject.contains("mirrored"));
    assert!(found.remedy.contains("-Protocol UDP -LocalPorts 9999-10000,20005 "), "{found:?}");
}

#[test]
fn with_two_networks_data_is_asked_for_where_the_simulator_is() {
    let mut host = host();
    host.interfaces.push(interface("wlan0", "10.0.0.7/24"));
    host.interfaces.push(interface("docker0", "172.17.0.1/16"));
    let mut sensor = camera();
    assert_eq!(check_host(&setup("192.168.1.10", vec![sensor.clone()]), &host), []);
    sensor.destination = "10.0.0.7".parse().unwrap();
    let found = check_host(&setup("192.168.1.10", vec![sensor.clone()]), &host);
    let found = the_one(found, Code::TwoNetworks);
    assert!(found.what.contains("wlan0"), "{found:?}");
    assert_eq!(found.remedy, "-p receive_address:=192.168.1.5");
    sensor.destination = "10.0.0.1".parse().unwrap();
    let found = check_host(&setup("192.168.1.10", vec![sensor]), &host);
    the_one(found, Code::ReceiveAddress);
}

#[test]
fn data_that_is_sent_to_another_host_is_an_error_wherever_the_simulator_is() {
    let mut sensor = camera();
    sensor.destination = "192.168.1.77".parse().unwrap();
    for (simulator, receive) in [("127.0.0.1", "127.0.0.1"), ("192.168.1.10", "192.168.1.5")] {
        let found = check_host(&setup(simulator, vec![camera(), sensor.clone()]), &host());
        let found = the_one(found, Code::ReceiveAddress);
        assert_eq!(found.subject, "sensor0 img_rgb");
        assert!(found.what.contains("192.168.1.77 (SendProtocol[1] to [4]"), "{found:?}");
        assert!(found.remedy.starts_with(&format!("-p receive_address:={receive};")), "{found:?}");
    }
    // 0.0.0.0 stands for the sender of the request, as 127.0.0.1 does.
    for fine in ["0.0.0.0", "192.168.1.5", "239.1.1.1"] {
        sensor.destination = fine.parse().unwrap();
        assert_eq!(check_host(&setup("192.168.1.10", vec![sensor.clone()]), &host()), []);
    }
}

#[test]
fn the_simulator_may_be_windows_unless_it_runs_on_this_linux() {
    let seen = |simulator, host: &HostFacts| {
        let found = Simulator::new(&setup(simulator, vec![]), host);
        (found.may_be_windows, found.bridge.map(|ip: Ipv4Addr| ip.to_string()))
    };
    assert_eq!(seen("127.0.0.1", &host()), (false, Some("127.0.0.1".to_owned())));
    assert_eq!(seen("192.168.1.5", &host()), (false, Some("192.168.1.5".to_owned())));
    assert_eq!(seen("192.168.1.10", &host()), (true, Some("192.168.1.5".to_owned())));
    let wsl = HostFacts { kernel: "Linux version 6.6-microsoft-standard".to_owned(), ..host() };
    assert!(seen("127.0.0.1", &wsl).0);
    assert_eq!(seen("192.168.1.10", &HostFacts::default()), (true, None));
}

#[test]
fn multicast_needs_an_interface_that_carries_it_and_a_route() {
    let mut quiet = host();
    quiet.interfaces[1].multicast = false;
    let found = check_host(&setup("192.168.1.10", vec![]), &quiet);
    let found = the_one(found, Code::MulticastOff);
    assert_eq!(found.remedy, "sudo ip link set dev eth0 multicast on");
    let mut closed = host();
    closed.routes.remove(0);
    let found = check_host(&setup("192.168.1.10", vec![]), &closed);
    let found = the_one(found, Code::MulticastRoute);
    assert_eq!(found.remedy, "sudo ip route add 224.0.0.0/4 dev eth0");
}

#[test]
fn a_frame_fits_into_the_receive_buffer_or_the_sysctl_line_is_there() {
    let stock = HostFacts { receive_buffer_max: Some(212_992), ..host() };
    let found = check_host(&setup("127.0.0.1", vec![camera()]), &stock);
    let found = the_one(found, Code::Buffers);
    assert_eq!(found.remedy, "sudo sysctl -w net.core.rmem_max=8388608");
    let small = Setup { receive_buffer: 65_536, ..setup("127.0.0.1", vec![camera()]) };
    let found = the_one(check_host(&small, &host()), Code::Buffers);
    assert_eq!(found.remedy, "-p receive_buffer_bytes:=1843200");
    let file = SensorSetup { burst: 0, ..camera() };
    assert_eq!(check_host(&setup("127.0.0.1", vec![file]), &stock), []);
}

#[test]
fn a_block_that_cannot_be_used_is_told_with_its_cause() {
    let found = |simulator: &str, host: &HostFacts, file: BlockFile| {
        let sensor =
            SensorSetup { block: Some(("RflySim3DImg_0".to_owned(), 921_637, file)), ..camera() };
        codes(&check_host(&setup(simulator, vec![sensor]), host))
    };
    let here = host();
    let inside = HostFacts { container: true, ..host() };
    let file = |len| BlockFile::File { len };
    assert_eq!(found("127.0.0.1", &here, file(921_637)), []);
    assert_eq!(found("127.0.0.1", &here, file(921_600)), [Code::ShmType]);
    assert_eq!(found("127.0.0.1", &here, BlockFile::NotAFile), [Code::ShmType]);
    assert_eq!(found("127.0.0.1", &here, BlockFile::Missing), [Code::ShmMissing]);
    assert_eq!(found("127.0.0.1", &inside, BlockFile::Missing), [Code::ShmContainer]);
    assert_eq!(found("127.0.0.1", &here, BlockFile::Denied { owner: 0 }), [Code::ShmDenied]);
    assert_eq!(found("192.168.1.10", &here, file(921_637)), [Code::ShmRemote]);
}

#[test]
fn shared_memory_of_fast_dds_of_another_user_is_named() {
    let own = HostFacts { fast_dds_owners: vec![1000], ..host() };
    assert_eq!(check_host(&setup("127.0.0.1", vec![]), &own), []);
    let other = HostFacts { fast_dds_owners: vec![0, 1000], ..host() };
    let found = the_one(check_host(&setup("127.0.0.1", vec![]), &other), Code::FastDdsShm);
    assert!(found.what.contains("user id 0 "), "{found:?}");
}
