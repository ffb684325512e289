use rfly_bridge::transport::{BindOptions, Datagram, Received, UdpReceiver};
use std::io::IoSliceMut;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

fn local() -> BindOptions {
    BindOptions {
        address: Ipv4Addr::LOCALHOST,
        ..BindOptions::port(0)
    }
}

fn target(receiver: &UdpReceiver) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::LOCALHOST, receiver.port())
}

async fn recv(receiver: &UdpReceiver, buffers: &mut [IoSliceMut<'_>]) -> Datagram {
    match receiver.recv(buffers).await.unwrap() {
        Received::Datagram(datagram) => datagram,
        Received::Refused => panic!("refused"),
    }
}

#[tokio::test]
async fn a_datagram_is_scattered_and_its_length_source_and_time_are_known() {
    let receiver = UdpReceiver::bind(&local()).unwrap();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    let before = now();
    sender.send_to(b"headpayload", target(&receiver)).unwrap();
    let (mut head, mut rest) = ([0; 4], [0; 64]);
    let mut buffers = [IoSliceMut::new(&mut head), IoSliceMut::new(&mut rest)];
    let datagram = recv(&receiver, &mut buffers).await;
    assert_eq!(datagram.len, 11);
    assert_eq!(datagram.from.port(), sender.local_addr().unwrap().port());
    assert_eq!(&head, b"head");
    assert_eq!(&rest[..7], b"payload");
    let time = datagram.kernel_time.unwrap();
    assert!(before <= time && time <= now(), "{before} <= {time}");
}

#[tokio::test]
async fn a_datagram_longer_than_the_buffers_tells_its_real_length() {
    let receiver = UdpReceiver::bind(&local()).unwrap();
    UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .send_to(&[7; 60_032], target(&receiver))
        .unwrap();
    let mut head = [0; 32];
    let datagram = recv(&receiver, &mut [IoSliceMut::new(&mut head)]).await;
    assert_eq!(datagram.len, 60_032);
    assert_eq!(head, [7; 32]);
    assert!(
        receiver
            .try_recv(&mut [IoSliceMut::new(&mut head)])
            .unwrap()
            .is_none(),
        "the rest of it is gone"
    );
}

#[tokio::test]
async fn an_empty_datagram_is_received_as_such() {
    let receiver = UdpReceiver::bind(&local()).unwrap();
    UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .send_to(&[], target(&receiver))
        .unwrap();
    let mut head = [0; 32];
    let datagram = recv(&receiver, &mut [IoSliceMut::new(&mut head)]).await;
    assert_eq!(datagram.len, 0);
}

#[tokio::test]
async fn the_granted_receive_buffer_is_reported() {
    let receiver = UdpReceiver::bind(&BindOptions {
        buffer_bytes: 100_000,
        ..local()
    })
    .unwrap();
    assert!(receiver.buffer_bytes() >= 100_000);
}

fn now() -> i64 {
    i64::try_from(
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_nanos(),
    )
    .unwrap()
}

#[tokio::test]
async fn an_empty_socket_waits_instead_of_spinning() {
    let receiver = UdpReceiver::bind(&local()).unwrap();
    let mut byte = [0; 1];
    UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .send_to(&[1], target(&receiver))
        .unwrap();
    receiver.readable().await.unwrap();
    assert!(
        receiver
            .try_recv(&mut [IoSliceMut::new(&mut byte)])
            .unwrap()
            .is_some()
    );
    assert!(
        receiver
            .try_recv(&mut [IoSliceMut::new(&mut byte)])
            .unwrap()
            .is_none()
    );
    tokio::select! {
        biased;
        result = receiver.readable() => panic!("readable without a datagram: {result:?}"),
        () = tokio::task::yield_now() => {}
    }
}

#[tokio::test]
async fn datagrams_that_the_receive_buffer_cannot_hold_are_counted() {
    let options = BindOptions {
        buffer_bytes: 4096,
        ..local()
    };
    let receiver = UdpReceiver::bind(&options).unwrap();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    for _ in 0..100 {
        sender.send_to(&[1; 1000], target(&receiver)).unwrap();
    }
    let mut buffer = [0; 2000];
    let (mut sent, mut held, mut overflows) = (100, 0, 0);
    let mut received = || {
        let datagram = receiver
            .try_recv(&mut [IoSliceMut::new(&mut buffer)])
            .unwrap();
        datagram.map(|received| match received {
            Received::Datagram(datagram) => datagram.overflows,
            Received::Refused => panic!("refused"),
        })
    };
    receiver.readable().await.unwrap();
    let start = Instant::now();
    loop {
        while let Some(count) = received() {
            held += 1;
            overflows = count.max(overflows);
        }
        if held + overflows == sent {
            break;
        }
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "{held} of {sent} datagrams arrived, {overflows} were counted as lost"
        );
        // The count travels with the next datagram that finds room; the system may deliver one late.
        sender.send_to(&[2], target(&receiver)).unwrap();
        sent += 1;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(overflows > 0, "the buffer was meant to be too small");
}
