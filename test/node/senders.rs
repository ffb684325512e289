use rfly_bridge::config::{ParamValue, Params};
use rfly_bridge::node::Senders;
use std::net::Ipv4Addr;

fn senders(values: &[(&str, &str)]) -> Senders {
    let value = |text: &str| match text.strip_prefix('[') {
        Some(list) => {
            let words = list.trim_end_matches(']').split(',');
            ParamValue::List(words.map(|word| ParamValue::Str(word.to_owned())).collect())
        }
        None => ParamValue::Str(text.to_owned()),
    };
    let values: Vec<_> =
        (values.iter()).map(|(name, text)| ((*name).to_owned(), value(text))).collect();
    Senders::new(&Params::from_values(&values).unwrap())
}

fn taken(senders: &Senders, addresses: &[&str]) -> Vec<bool> {
    let accepts = |text: &&str| senders.accepts(text.parse().unwrap());
    addresses.iter().map(accepts).collect()
}

const ADDRESSES: [&str; 4] = ["127.0.0.1", "127.0.0.2", "192.0.2.7", "198.51.100.1"];

#[test]
fn by_default_only_this_host_may_send_and_ports_are_bound_to_loopback() {
    let default = senders(&[]);
    assert_eq!(taken(&default, &ADDRESSES), [true, false, false, false]);
    assert_eq!(default.listen(), Ipv4Addr::LOCALHOST);
}

#[test]
fn the_machines_that_parameters_name_may_send() {
    let remote = senders(&[("simulator_address", "192.0.2.7")]);
    assert_eq!(taken(&remote, &ADDRESSES), [false, false, true, false]);
    assert_eq!(remote.listen(), Ipv4Addr::UNSPECIFIED);
    for name in ["vehicle2.address", "vehicle2.link", "control.link", "accept_from"] {
        let value = match name {
            "vehicle2.link" | "control.link" => "direct:192.0.2.7:14550",
            _ => "192.0.2.7",
        };
        let several = senders(&[(name, value)]);
        assert_eq!(taken(&several, &ADDRESSES), [true, false, true, false], "{name}");
        assert_eq!(several.listen(), Ipv4Addr::UNSPECIFIED, "{name}");
    }
}

#[test]
fn networks_and_any_widen_who_may_send() {
    let network = senders(&[("accept_from", "[192.0.2.0/24,127.0.0.2]")]);
    assert_eq!(taken(&network, &ADDRESSES), [true, true, true, false]);
    let any = senders(&[("accept_from", "any")]);
    assert_eq!(taken(&any, &ADDRESSES), [true; 4]);
    assert_eq!(any.listen(), Ipv4Addr::UNSPECIFIED);
    let loopback = senders(&[("accept_from", "127.0.0.0/8")]);
    assert_eq!(loopback.listen(), Ipv4Addr::LOCALHOST);
}

#[test]
fn ports_are_bound_where_the_user_says_or_where_the_simulator_was_told_to_send() {
    let given = senders(&[("bind_address", "192.0.2.1"), ("simulator_address", "192.0.2.7")]);
    assert_eq!(given.listen(), Ipv4Addr::new(192, 0, 2, 1));
    assert_eq!(senders(&[("bind_address", "0.0.0.0")]).listen(), Ipv4Addr::UNSPECIFIED);
    assert_eq!(senders(&[("receive_address", "192.0.2.1")]).listen(), Ipv4Addr::UNSPECIFIED);
}

#[test]
fn who_is_refused_is_named_with_the_parameter_that_would_take_him() {
    let stranger = "192.168.7.9".parse().unwrap();
    let advice = senders(&[]).advice(stranger, 9999);
    assert!(advice.starts_with("192.168.7.9 sends to UDP port 9999"), "{advice}");
    assert!(advice.contains("-p 'accept_from:=[192.168.7.9]',"), "{advice}");
    let given = senders(&[("accept_from", "[10.0.0.0/8,172.16.0.1]")]);
    let advice = given.advice(stranger, 9999);
    assert!(advice.contains("-p 'accept_from:=[10.0.0.0/8,172.16.0.1,192.168.7.9]',"), "{advice}");
}

#[test]
fn what_is_no_address_is_refused_with_what_is_possible() {
    for bad in ["10.0.0.300", "10.0.0.0/33", "everybody", "::1"] {
        let values = [("accept_from".to_owned(), ParamValue::Str(bad.to_owned()))];
        let problems = Params::from_values(&values).unwrap_err().to_string();
        assert!(
            problems.contains("192.168.31.0/24, or any") && problems.contains(bad),
            "{problems}"
        );
    }
}
