use rfly_bridge::transport::{Accept, BindOptions, Received, UdpReceiver};
use std::io::IoSliceMut;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};

fn address(last: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, last)
}

fn listening(accept: &Accept) -> (UdpReceiver, SocketAddrV4) {
    let options =
        BindOptions { address: address(1), accept: accept.clone(), ..BindOptions::port(0) };
    let receiver = UdpReceiver::bind(&options).unwrap();
    let to = SocketAddrV4::new(address(1), receiver.port());
    (receiver, to)
}

fn send(from: Ipv4Addr, to: SocketAddrV4) {
    let sender = UdpSocket::bind((from, 0)).unwrap();
    sender.send_to(b"hello", to).unwrap();
}

/// Reads one datagram; whether it was taken.
async fn taken(receiver: &mut UdpReceiver) -> bool {
    let mut buffer = [0; 16];
    let mut buffers = [IoSliceMut::new(&mut buffer)];
    let received = receiver.recv(&mut buffers).await;
    matches!(received.unwrap(), Received::Datagram(_))
}

#[tokio::test]
async fn only_datagrams_of_accepted_addresses_are_taken() {
    let accept = Accept::new([address(1).into(), "127.0.0.8/29".parse().unwrap()], false);
    let (mut receiver, to) = listening(&accept);
    for (last, accepted) in [(1, true), (2, false), (8, true), (15, true), (16, false)] {
        send(address(last), to);
        assert_eq!(taken(&mut receiver).await, accepted, "127.0.0.{last}");
    }
    let refused = accept.refused();
    assert_eq!(refused.total(), 2);
    assert_eq!(refused.senders.keys().copied().collect::<Vec<_>>(), [address(2), address(16)]);
    assert_eq!(refused.senders[&address(2)].port, to.port());
}

#[tokio::test]
async fn reading_without_waiting_refuses_too() {
    let (mut receiver, to) = listening(&Accept::new([address(1).into()], false));
    send(address(2), to);
    receiver.readable().await.unwrap();
    let mut buffer = [0; 16];
    let mut read = || receiver.try_recv(&mut [IoSliceMut::new(&mut buffer)]).unwrap();
    assert!(matches!(read(), Some(Received::Refused)));
    assert!(read().is_none());
}

#[tokio::test]
async fn however_many_addresses_send_the_table_stays_small_and_the_sum_right() {
    let accept = Accept::new([address(1).into()], false);
    let (mut receiver, to) = listening(&accept);
    for last in 2..=101 {
        for _ in 0..2 {
            send(address(last), to);
            assert!(!taken(&mut receiver).await);
        }
    }
    let refused = accept.refused();
    assert_eq!(refused.total(), 200);
    assert_eq!(refused.senders.len(), 32);
    assert!(refused.senders.values().all(|sender| sender.count == 2));
    assert_eq!(refused.others, 200 - 64);
}

#[test]
fn this_host_means_the_addresses_of_its_interfaces_not_all_that_loopback_has() {
    let accept = Accept::new([], true);
    assert!(accept.takes(address(1)));
    assert!(!accept.takes(address(2)));
    accept.look_up_own_addresses();
    assert!(accept.takes(address(1)));
    assert!(!Accept::new([], false).takes(address(1)));
    assert!(Accept::anybody().takes(Ipv4Addr::new(198, 51, 100, 7)));
}
