//! Fleet files: all mistakes at once, and the parameters of each host.
use rfly_bridge::config::{Fleet, Params};
use std::net::Ipv4Addr;
use std::path::Path;

const TWO_PCS: &str = "
hosts:
  pc1: {bridge: 192.168.1.21, START_INDEX: 1, VehicleNum: 2, config: Config.json}
  pc2: {bridge: 192.168.1.22, simulator: 192.168.1.12, START_INDEX: 3, VehicleNum: 1, config: [a.json, /b.json]}
  pc3: {bridge: 192.168.1.23, renderer: 192.168.1.12, window: 1, START_INDEX: 4, VehicleNum: 2}
";

fn fleet(text: &str) -> Fleet {
    Fleet::parse("fleet.yaml", text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn host_here(fleet: &Fleet, here: &[&str]) -> Result<String, String> {
    let is_here = |address: Ipv4Addr| here.contains(&address.to_string().as_str());
    fleet.host("", is_here).map(|host| host.name.clone())
}

#[test]
fn each_host_takes_its_part_as_ordinary_parameters() {
    let fleet = fleet(TWO_PCS);
    let text = fleet.hosts.iter().map(|host| {
        let values = fleet.parameters(host, Path::new("/fleet"));
        Params::from_values(&values).unwrap_or_else(|problems| panic!("{problems}"));
        let values = values.iter().map(|(name, value)| format!("  {name}: {value}\n"));
        format!("{}: {}\n{}", host.name, fleet.script(host), values.collect::<String>())
    });
    insta::assert_snapshot!(text.collect::<String>());
}

#[test]
fn vehicles_have_one_host() {
    let fleet = fleet(TWO_PCS);
    let host = |id| fleet.host_of(id).map(|host| host.name.as_str());
    assert_eq!(
        [1, 2, 3, 5, 6].map(host),
        [Some("pc1"), Some("pc1"), Some("pc2"), Some("pc3"), None]
    );
}

#[test]
fn a_host_is_known_by_its_name_or_by_the_address_of_its_bridge() {
    let fleet = fleet(TWO_PCS);
    assert_eq!(fleet.host("pc2", |_| false).map(|host| host.name.as_str()), Ok("pc2"));
    assert_eq!(host_here(&fleet, &["127.0.0.1", "192.168.1.22"]), Ok("pc2".to_owned()));
    let errors = [
        fleet.host("pc4", |_| true).map(|host| host.name.clone()),
        host_here(&fleet, &[]),
        host_here(&fleet, &["192.168.1.21", "192.168.1.22"]),
    ];
    insta::assert_snapshot!(errors.map(Result::unwrap_err).join("\n"));
}

#[test]
fn all_mistakes_of_a_file_are_said_at_once() {
    let text = "
TOTOAL_COPTER: 3
host: {}
hosts:
  pc1: {bridge: 192.168.1.21, START_INDEX: 1, VehicleNum: 50, config: Config.json}
  pc2: {bridge: 192.168.1.22, renderer: 192.168.1.21, START_INDEX: 50, VehicleNum: 10, config: Config.json}
  pc-3: {bridge: pc3.local, START_INDEX: 0, VehicelNum: 5}
  pc4:
    simulator: 255.255.255.255
    START_INDEX: 9990
    VehicleNum: 50
    window: 20
    config: {file: Config.json}
  pc5: 192.168.1.25
  pc1: {bridge: 192.168.1.29, START_INDEX: 70, VehicleNum: many}
";
    insta::assert_snapshot!(Fleet::parse("fleet.yaml", text).unwrap_err());
}

#[test]
fn what_is_no_fleet_file_is_refused() {
    let texts = ["", "hosts: [pc1]\n", "a: b: c\n", "pc1: {bridge: 127.0.0.1}\n"];
    let errors = texts.map(|text| Fleet::parse("f.yaml", text).unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"));
}
