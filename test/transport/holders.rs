use rfly_bridge::transport::Holders;
use std::io::BufRead as _;
use std::net::UdpSocket;
use std::process::{Command, Stdio};

#[test]
fn the_sockets_of_this_process_are_not_those_of_somebody_else() {
    let mut holders = Holders::default();
    for _ in 0..2 {
        let own = UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = own.local_addr().unwrap().port();
        assert_eq!(holders.on(&[port].into()), []);
    }
}

#[test]
fn the_socket_of_another_process_has_its_name_at_every_search_and_is_gone_with_it() {
    let script = "import socket, sys; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('127.0.0.1', 0)); \
                  print(s.getsockname()[1], flush=True); sys.stdin.read()";
    let mut other = Command::new("python3")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut said = std::io::BufReader::new(other.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    let port: u16 = line.trim().parse().unwrap();
    let mut holders = Holders::default();
    for _ in 0..2 {
        let found = holders.on(&[port].into());
        let [(on, holder)] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(*on, port);
        let (id, name) = holder.process.as_ref().unwrap();
        assert_eq!(*id, other.id());
        assert!(name.starts_with("python3"), "{name}");
    }
    drop(other.stdin.take());
    other.wait().unwrap();
    assert_eq!(holders.on(&[port].into()), []);
}
