//! What is found out about this host.
use rfly_bridge::transport::{BlockFile, HostFacts, block_file};

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
