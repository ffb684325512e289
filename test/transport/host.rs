//! What is found out about this host.
use rfly_bridge::transport::{BlockFile, HostFacts, PacketCounts, block_file};

#[test]
fn loopback_and_the_kernel_are_seen() {
    let host = HostFacts::read();
    assert!(host.kernel.starts_with("Linux version "), "{host:?}");
    let loopback = host.interfaces.iter().find(|interface| interface.loopback);
    let loopback = loopback.expect("a loopback interface");
    assert_eq!(loopback.network.to_string(), "127.0.0.1/8");
    assert!(loopback.name == "lo");
}

#[test]
fn a_block_is_what_its_file_is() {
    let name = format!("rfly_test_host_{}", std::process::id());
    let path = std::path::Path::new("/dev/shm").join(&name);
    assert_eq!(block_file(&name), BlockFile::Missing);
    std::fs::write(&path, [0; 37]).unwrap();
    assert_eq!(block_file(&name), BlockFile::File { len: 37 });
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(block_file(&name), BlockFile::NotAFile);
    std::fs::remove_dir(&path).unwrap();
}

#[test]
fn of_packets_for_nobody_those_count_that_are_not_multicast() {
    let before = PacketCounts {
        undelivered: 100,
        device_multicast: 200,
        ipv6_multicast: 300,
        joined_multicast: 400,
        sent_multicast: 500,
    };
    // What is new of `undelivered`, and of multicast of devices, of IPv6, to joined groups, and sent.
    let dropped = |undelivered, [device, ipv6, joined, sent]: [u64; 4]| {
        let now = PacketCounts {
            undelivered: before.undelivered + undelivered,
            device_multicast: before.device_multicast + device,
            ipv6_multicast: before.ipv6_multicast + ipv6,
            joined_multicast: before.joined_multicast + joined,
            sent_multicast: before.sent_multicast + sent,
        };
        now.dropped_since(&before)
    };
    assert_eq!(dropped(30, [0; 4]), 30);
    assert_eq!(dropped(30, [20, 0, 0, 0]), 10, "20 of others to groups that nobody joined");
    assert_eq!(dropped(30, [20, 15, 5, 0]), 30, "IPv6, and joined groups");
    assert_eq!(dropped(30, [0, 0, 0, 5]), 25, "of this host, to others");
    assert_eq!(dropped(30, [0, 0, 20, 20]), 10, "of this host, on its loopback interface");
    assert_eq!(dropped(30, [20, 0, 10, 10]), 0, "both");
    assert_eq!(dropped(30, [0, 40, 0, 0]), 30, "IPv6 of this host");
    assert_eq!(dropped(0, [10, 0, 0, 10]), 0);
    assert_eq!(before.dropped_since(&PacketCounts { undelivered: 101, ..before }), 0);
    assert!(PacketCounts::read().is_some());
}
