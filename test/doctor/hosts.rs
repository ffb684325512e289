//! A set-up on hosts of all kinds.
use super::codes;
use rfly_bridge::doctor::{
    Arrangement, Code, Finding, SensorSetup, Setup, Simulator, arrangement, check_host,
};
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

/// The finding beside the note that the simulator is on another host.
fn the_one(mut findings: Vec<Finding>, code: Code) -> Finding {
    if findings.len() > 1 && findings[0].subject == "second PC" {
        findings.remove(0);
    }
    assert_eq!(codes(&findings), [code], "{findings:?}");
    findings.remove(0)
}

#[test]
fn a_simulator_here_or_in_the_network_is_fine() {
    for simulator in ["127.0.0.1", "192.168.1.5"] {
        assert_eq!(check_host(&setup(simulator, vec![camera()]), &host()), []);
    }
    for simulator in ["192.168.1.10", "10.1.1.1"] {
        let note = the_one(check_host(&setup(simulator, vec![camera()]), &host()), Code::Hosts);
        let parameters = format!(
            "-p simulator_address:={simulator} -p receive_address:=192.168.1.5 (docs/hosts.md)"
        );
        assert_eq!((note.subject.as_str(), note.remedy), ("second PC", parameters));
    }
}

#[test]
fn every_row_of_the_page_is_recognised_by_what_its_makers_document() {
    let wsl = "Linux version 5.15.167.4-microsoft-standard-WSL2";
    let linux = "Linux version 6.8.0";
    let machine =
        |kernel: &str, machine: &str, container, network: &str, gateway: &str| HostFacts {
            kernel: kernel.to_owned(),
            machine: machine.to_owned(),
            container,
            interfaces: vec![interface("lo", "127.0.0.1/8"), interface("eth0", network)],
            routes: vec![route("0.0.0.0/0", Some(gateway), "eth0")],
            ..host()
        };
    let lan =
        |kernel, name, container| machine(kernel, name, container, "192.168.1.5/24", "192.168.1.1");
    let mut mirrored = lan(wsl, "", false);
    mirrored.interfaces.push(interface("loopback0", "127.0.0.2/8"));
    let hyper_v = "Microsoft Corporation Virtual Machine";
    let (vmware, virtualbox) = ("VMware, Inc. VMware20,1", "innotek GmbH VirtualBox");
    #[rustfmt::skip] // a table
    let hosts = [
        ("one Linux PC", "127.0.0.1", lan(linux, "LENOVO 20XW", false)),
        ("WSL 2, NAT", "127.0.0.1", machine(wsl, "", false, "172.20.5.9/20", "172.20.0.1")),
        ("WSL 2, NAT", "127.0.0.1", machine(wsl, "", false, "192.168.112.9/20", "192.168.112.1")),
        ("WSL 2, mirrored", "127.0.0.1", mirrored),
        ("WSL 2, bridged", "192.168.1.10", lan(wsl, "", false)),
        ("virtual machine, NAT", "127.0.0.1", machine(linux, vmware, false, "192.168.50.128/24", "192.168.50.2")),
        ("virtual machine, NAT", "127.0.0.1", machine(linux, hyper_v, false, "172.28.3.4/20", "172.28.0.1")),
        ("VirtualBox, NAT", "127.0.0.1", machine(linux, virtualbox, false, "10.0.2.15/24", "10.0.2.2")),
        ("virtual machine, bridged", "192.168.1.10", lan(linux, virtualbox, false)),
        ("one Linux PC", "127.0.0.1", lan(linux, vmware, false)),
        ("second PC", "192.168.1.10", lan(linux, "LENOVO 20XW", false)),
        ("second PC", "192.168.1.10", lan(linux, "Microsoft Corporation Surface Pro 9", false)),
        ("Jetson", "192.168.1.10", lan(linux, "NVIDIA Jetson Orin Nano Developer Kit", false)),
        ("container, the host's network", "192.168.1.10", lan(linux, "LENOVO 20XW", true)),
        ("container, own network", "127.0.0.1", machine(linux, "", true, "172.17.0.2/16", "172.17.0.1")),
        ("container, own network", "127.0.0.1", machine(wsl, "", true, "172.18.0.3/16", "172.18.0.1")),
        ("container, own network", "192.168.1.10", machine(linux, "", true, "10.88.0.4/16", "10.88.0.1")),
    ];
    for (row, simulator, host) in &hosts {
        let found: &str = arrangement(simulator.parse().unwrap(), host).into();
        assert_eq!(found, *row, "{simulator}, {host:?}");
    }
    let page = include_str!("../../docs/hosts.md");
    for row in <Arrangement as strum::VariantNames>::VARIANTS {
        assert!(hosts.iter().any(|(name, ..)| name == row), "{row} is not tried");
        assert!(page.contains(&format!("\n| `{row}`")), "{row} is not in docs/hosts.md");
    }
    let typed = |row: &str| {
        let (_, simulator, host) = hosts.iter().rfind(|(name, ..)| *name == row).unwrap();
        check_host(&setup(simulator, vec![]), host).remove(0).remedy
    };
    let hyper_v = "-p simulator_address:=172.28.0.1 -p receive_address:=172.28.3.4 ";
    assert!(typed("virtual machine, NAT").starts_with(hyper_v));
    let vmware = check_host(&setup("127.0.0.1", vec![]), &hosts[5].2).remove(0).remedy;
    let parameters = "-p simulator_address:=192.168.50.1 -p receive_address:=192.168.50.128 ";
    assert!(vmware.starts_with(parameters), "{vmware}");
    let published = "-p 9999-10000:9999-10000/udp -p 20005:20005/udp and -p receive_address:=";
    assert!(typed("container, own network").contains(published));
}

#[test]
fn the_page_has_the_rules_for_windows_as_they_are_printed() {
    let page = include_str!("../../docs/hosts.md");
    let mut wsl = HostFacts { kernel: "Linux 5.15-microsoft-standard-WSL2".to_owned(), ..host() };
    wsl.interfaces[1] = interface("eth0", "192.168.1.20/24");
    let mut setup = setup("192.168.1.10", vec![]);
    setup.listens = (9999..=10014).chain([20005, 20101, 30101, 31000]).collect();
    let printed = |host: &HostFacts| {
        let remedy = check_host(&setup, host).remove(0).remedy;
        let (_, rule) = remedy.split_once(": ").expect("a line for PowerShell");
        rule.trim_end_matches(" (docs/hosts.md)").to_owned()
    };
    assert!(page.contains(&printed(&wsl)), "{}", printed(&wsl));
    wsl.interfaces.push(interface("loopback0", "127.0.0.2/8"));
    assert!(page.contains(&printed(&wsl)), "{}", printed(&wsl));
}

#[test]
fn a_simulator_that_no_network_leads_to_is_an_error() {
    let mut host = host();
    host.routes.remove(0);
    host.routes.push(route("224.0.0.0/4", None, "eth0"));
    assert_eq!(codes(&check_host(&setup("192.168.1.10", vec![]), &host)), [Code::Hosts]);
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
    assert_eq!(codes(&found), [Code::Hosts, Code::WslAddress]);
    assert_eq!(found[0].subject, "WSL 2, NAT");
    let parameters = "-p simulator_address:=172.20.0.1 -p receive_address:=172.20.5.9 ";
    assert!(found[0].remedy.starts_with(parameters), "{found:?}");
    assert!(found[1].remedy.ends_with("simulator_address:=172.20.0.1"));
    let found = check_host(&setup("172.20.0.1", vec![]), &host);
    assert_eq!(codes(&found), [Code::Hosts]);
}

#[test]
fn mirrored_and_bridged_wsl_are_told_apart() {
    let kernel = "Linux version 5.15 (Microsoft@Microsoft.com)".to_owned();
    let mut mirrored = HostFacts { kernel, ..host() };
    let bridged = the_one(check_host(&setup("127.0.0.1", vec![]), &mirrored), Code::Hosts);
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
    let found = the_one(check_host(&setup("127.0.0.1", vec![]), &mirrored), Code::Hosts);
    assert!(found.subject.contains("mirrored"));
    assert!(found.remedy.contains("-Protocol UDP -LocalPorts 9999-10000,20005 "), "{found:?}");
    // Of New-NetFirewallHyperVRule, which has no -Program.
    assert!(found.remedy.contains(" -RemoteAddresses <its address> "), "{found:?}");
    let found = the_one(check_host(&setup("192.168.1.10", vec![]), &mirrored), Code::Hosts);
    assert!(found.remedy.contains(" -RemoteAddresses 192.168.1.10 "), "{found:?}");
}

#[test]
fn with_two_networks_data_is_asked_for_where_the_simulator_is() {
    let mut host = host();
    host.interfaces.push(interface("wlan0", "10.0.0.7/24"));
    host.interfaces.push(interface("docker0", "172.17.0.1/16"));
    let mut sensor = camera();
    let fine = check_host(&setup("192.168.1.10", vec![sensor.clone()]), &host);
    assert_eq!(codes(&fine), [Code::Hosts]);
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
        let found = check_host(&setup("192.168.1.10", vec![sensor.clone()]), &host());
        assert_eq!(codes(&found), [Code::Hosts]);
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
    // The address that Windows around it can send to.
    assert_eq!(seen("127.0.0.1", &wsl), (true, Some("192.168.1.5".to_owned())));
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
    assert_eq!(found("192.168.1.10", &here, file(921_637)), [Code::Hosts, Code::ShmRemote]);
}

#[test]
fn shared_memory_of_fast_dds_of_another_user_is_named() {
    let own = HostFacts { fast_dds_owners: vec![1000], ..host() };
    assert_eq!(check_host(&setup("127.0.0.1", vec![]), &own), []);
    let other = HostFacts { fast_dds_owners: vec![0, 1000], ..host() };
    let found = the_one(check_host(&setup("127.0.0.1", vec![]), &other), Code::FastDdsShm);
    assert!(found.what.contains("user id 0 "), "{found:?}");
}
