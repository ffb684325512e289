use rfly_bridge::transport::holders;
use std::net::UdpSocket;

#[test]
fn the_sockets_of_this_process_are_not_those_of_somebody_else() {
    let own = UdpSocket::bind("127.0.0.1:0").unwrap();
    assert_eq!(holders(own.local_addr().unwrap().port()), []);
}
