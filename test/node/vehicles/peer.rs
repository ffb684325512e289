use rfly_bridge::node::Peer;
use std::net::SocketAddrV4;

fn at(text: &str) -> SocketAddrV4 {
    text.parse().unwrap()
}

#[test]
fn a_vehicle_stays_with_the_socket_it_was_connected_from_until_that_is_lost() {
    let (first, port, host) = (at("10.0.0.1:20100"), at("10.0.0.1:20999"), at("10.0.0.2:20100"));
    let mut peer = Peer::default();
    // Nobody is connected: anybody may be the vehicle.
    for from in [host, first] {
        assert!(peer.accepts(from, false, 1));
        peer.record(from, false);
    }
    peer.record(first, true);
    assert!(peer.accepts(first, true, 1));
    assert!(!peer.accepts(port, true, 1) && !peer.accepts(host, true, 1));
    // Lost: the vehicle may come back from elsewhere, and stays there.
    assert!(peer.accepts(port, false, 1));
    peer.record(port, true);
    assert!(peer.accepts(port, true, 1) && !peer.accepts(first, true, 1));
}
