use crate::support::ports::free_port;
use rfly_bridge::transport::{BindOptions, Datagram, Received, StreamReceiver, UdpReceiver};
use std::io::IoSliceMut;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

fn local() -> BindOptions {
    BindOptions { address: Ipv4Addr::LOCALHOST, ..BindOptions::port(0) }
}

fn target(receiver: &UdpReceiver) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::LOCALHOST, receiver.port())
}

async fn recv(receiver: &mut UdpReceiver, buffers: &mut [IoSliceMut<'_>]) -> Datagram {
    match receiver.recv(buffers).await.unwrap() {
        Received::Datagram(datagram) => datagram,
        Received::Refused => panic!("refused"),
    }
}

#[tokio::test]
async fn a_datagram_is_scattered_and_its_length_source_and_time_are_known() {
    let mut receiver = UdpReceiver::bind(&local()).unwrap();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    let before = now();
    sender.send_to(b"headpayload", target(&receiver)).unwrap();
    let (mut head, mut rest) = ([0; 4], [0; 64]);
    let mut buffers = [IoSliceMut::new(&mut head), IoSliceMut::new(&mut rest)];
    let datagram = recv(&mut receiver, &mut buffers).await;
    assert_eq!(datagram.len, 11);
    assert_eq!(datagram.from.port(), sender.local_addr().unwrap().port());
    assert_eq!(&head, b"head");
    assert_eq!(&rest[..7], b"payload");
    let time = datagram.kernel_time.unwrap();
    assert!(before <= time && time <= now(), "{before} <= {time}");
}

#[tokio::test]
async fn a_datagram_longer_than_the_buffers_tells_its_real_length() {
    let mut receiver = UdpReceiver::bind(&local()).unwrap();
    UdpSocket::bind("127.0.0.1:0").unwrap().send_to(&[7; 60_032], target(&receiver)).unwrap();
    let mut head = [0; 32];
    let datagram = recv(&mut receiver, &mut [IoSliceMut::new(&mut head)]).await;
    assert_eq!(datagram.len, 60_032);
    assert_eq!(head, [7; 32]);
    assert!(
        receiver.try_recv(&mut [IoSliceMut::new(&mut head)]).unwrap().is_none(),
        "the rest of it is gone"
    );
}

#[tokio::test]
async fn an_empty_datagram_is_received_as_such() {
    let mut receiver = UdpReceiver::bind(&local()).unwrap();
    UdpSocket::bind("127.0.0.1:0").unwrap().send_to(&[], target(&receiver)).unwrap();
    let mut head = [0; 32];
    let datagram = recv(&mut receiver, &mut [IoSliceMut::new(&mut head)]).await;
    assert_eq!(datagram.len, 0);
}

#[tokio::test]
async fn the_granted_receive_buffer_is_reported() {
    let receiver = UdpReceiver::bind(&BindOptions { buffer_bytes: 100_000, ..local() }).unwrap();
    assert!(receiver.buffer_bytes() >= 100_000);
}

fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}

#[tokio::test]
async fn an_empty_socket_waits_instead_of_spinning() {
    let mut receiver = UdpReceiver::bind(&local()).unwrap();
    let mut byte = [0; 1];
    UdpSocket::bind("127.0.0.1:0").unwrap().send_to(&[1], target(&receiver)).unwrap();
    receiver.readable().await.unwrap();
    assert!(receiver.try_recv(&mut [IoSliceMut::new(&mut byte)]).unwrap().is_some());
    assert!(receiver.try_recv(&mut [IoSliceMut::new(&mut byte)]).unwrap().is_none());
    tokio::select! {
        biased;
        result = receiver.readable() => panic!("readable without a datagram: {result:?}"),
        () = tokio::task::yield_now() => {}
    }
}

#[tokio::test]
async fn datagrams_that_arrive_during_a_rest_are_there_after_it_with_their_times() {
    let mut receiver = UdpReceiver::bind(&local()).unwrap();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut byte = [0; 1];
    for round in 0..3 {
        // Registered with the runtime or not before the rest: both.
        if round > 0 {
            sender.send_to(&[9], target(&receiver)).unwrap();
            recv(&mut receiver, &mut [IoSliceMut::new(&mut byte)]).await;
            assert_eq!(byte, [9]);
        }
        let to = target(&receiver);
        let (_, sent) = tokio::join!(receiver.rest(Duration::from_millis(20)), async {
            sender.send_to(&[1], to).unwrap();
            sender.send_to(&[2], to).unwrap();
            now()
        });
        for expected in [1, 2] {
            let received = receiver.try_recv(&mut [IoSliceMut::new(&mut byte)]);
            let Some(Received::Datagram(datagram)) = received.unwrap() else {
                panic!("not there after the rest")
            };
            assert_eq!(byte, [expected]);
            assert!(datagram.kernel_time.unwrap() <= sent);
        }
        let nothing = receiver.try_recv(&mut [IoSliceMut::new(&mut byte)]);
        assert!(nothing.unwrap().is_none());
    }
    // Who waits is woken again.
    let to = target(&receiver);
    let mut buffers = [IoSliceMut::new(&mut byte)];
    tokio::join!(recv(&mut receiver, &mut buffers), async {
        tokio::task::yield_now().await;
        sender.send_to(&[3], to).unwrap();
    });
    assert_eq!(byte, [3]);
}

#[tokio::test]
async fn datagrams_that_the_receive_buffer_cannot_hold_are_counted() {
    let options = BindOptions { buffer_bytes: 4096, ..local() };
    let mut receiver = UdpReceiver::bind(&options).unwrap();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    for _ in 0..100 {
        sender.send_to(&[1; 1000], target(&receiver)).unwrap();
    }
    let mut buffer = [0; 2000];
    let (mut sent, mut held, mut overflows) = (100, 0, 0);
    receiver.readable().await.unwrap();
    let mut received = || {
        let datagram = receiver.try_recv(&mut [IoSliceMut::new(&mut buffer)]).unwrap();
        datagram.map(|received| match received {
            Received::Datagram(datagram) => datagram.overflows,
            Received::Refused => panic!("refused"),
        })
    };
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

/// A datagram of `len` bytes that says it has `claimed`.
fn claiming(len: usize, claimed: u32) -> Vec<u8> {
    let mut bytes = vec![7; len];
    if let Some(place) = bytes.get_mut(4..8) {
        place.copy_from_slice(&claimed.to_le_bytes());
    }
    bytes
}

fn stream(buffer_bytes: usize) -> (StreamReceiver, UdpSocket) {
    let options = BindOptions { buffer_bytes, port: free_port(), ..local() };
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    sender.connect(("127.0.0.1", options.port)).unwrap();
    (StreamReceiver::bind(&options).unwrap(), sender)
}

fn lengths(heads: &[([u8; 32], Received)]) -> Vec<usize> {
    let length = |(_, received): &_| match received {
        Received::Datagram(datagram) => Datagram::clone(datagram).len,
        Received::Refused => panic!("refused"),
    };
    heads.iter().map(length).collect()
}

#[test]
fn heads_tell_the_length_of_datagrams_that_were_cut_off() {
    let (mut receiver, sender) = stream(1 << 20);
    assert!(receiver.keep_heads());
    let sent = [
        (60_032, 60_032),
        (33, 33),
        (32, 32),
        (40_000, 39_999), // tells a lie: kept whole, so that its length is seen
        (31, 31),
        (5, 0),
        (0, 0),
        (16_777, 16_777),
    ];
    for (len, claimed) in sent {
        sender.send(&claiming(len, claimed)).unwrap();
    }
    let heads = receiver.recv_heads(true).unwrap();
    assert_eq!(lengths(&heads), sent.map(|(len, _)| len));
    assert_eq!(heads[0].0, claiming(32, 60_032)[..]);
    assert!(receiver.recv_heads(false).unwrap().is_empty());

    // What waited is a head still; what comes later is whole.
    sender.send(&claiming(50_000, 50_000)).unwrap();
    receiver.keep_all();
    assert_eq!(lengths(&receiver.recv_heads(true).unwrap()), [50_000]);
    sender.send(&claiming(50_000, 50_000)).unwrap();
    let mut bytes = vec![0; 50_000];
    let received = receiver.recv(&mut [IoSliceMut::new(&mut bytes)]).unwrap();
    assert!(matches!(received, Some(Received::Datagram(d)) if d.len == 50_000));
    assert_eq!(bytes, claiming(50_000, 50_000));
}

#[test]
fn heads_of_many_datagrams_fit_where_few_datagrams_do() {
    let (mut receiver, sender) = stream(200_000);
    let waiting = |receiver: &StreamReceiver| {
        for _ in 0..150 {
            sender.send(&claiming(60_032, 60_032)).unwrap();
        }
        let mut count = 0;
        loop {
            match receiver.recv_heads(false).unwrap().len() {
                0 => return count,
                more => count += more,
            }
        }
    };
    assert!(waiting(&receiver) < 20);
    assert!(receiver.keep_heads());
    assert_eq!(waiting(&receiver), 150);
}

#[test]
fn a_wait_ends_when_a_datagram_is_there_or_its_time_is_over() {
    let (receiver, sender) = stream(1 << 18);
    let start = Instant::now();
    let most = Duration::from_micros(12_300);
    assert!(!receiver.wait(most).unwrap());
    assert!(start.elapsed() >= most, "rounded up, not down");
    sender.send(&[7; 40]).unwrap();
    assert!(receiver.wait(Duration::MAX).unwrap());
    let mut bytes = [0; 64];
    let received = receiver.recv(&mut [IoSliceMut::new(&mut bytes)]).unwrap();
    assert!(received.is_some() && bytes[..40] == [7; 40]);
    assert!(!receiver.wait(Duration::ZERO).unwrap());
}
