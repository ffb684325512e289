//! The floor: receives or maps a frame and publishes it, and nothing else.
use super::Result;
use nix::sys::socket::{setsockopt, sockopt};
use rfly_bridge::msgs::std_msgs::msg::Header;
use rfly_bridge::ros::{Bytes, ImageHead, ImagePublisher, Middleware, Options, Qos};
use rfly_bridge::time::{RosTime, SimTime};
use rfly_bridge::transport::SharedBlock;
use rfly_bridge::wire::{FragmentHeader, HeaderVariant, SHM_HEADER_LEN, ShmFlag, shm_name};
use socket2::{Domain, Socket, Type};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::time::Duration;

/// Default port of sensor 0.
const PORT: u16 = 9999;

/// Runs until the process is killed.
pub(crate) fn run(transport: &str, width: u32, height: u32) -> Result<()> {
    let options = Options::new("floor").with_environment(|name| std::env::var(name).ok())?;
    let middleware = Middleware::join(&options)?;
    let qos = Qos { depth: 3, ..Qos::DEFAULT };
    let publisher = middleware.image("/rflysim/sensor0/img_rgb", qos)?;
    let mut writer = Writer { publisher, header: Header::default(), width, height };
    writer.header.frame_id = "sensor0_optical_frame".to_owned();
    match transport {
        "udp" => udp(&mut writer),
        _ => shm(&mut writer),
    }
}

struct Writer {
    publisher: ImagePublisher,
    header: Header,
    width: u32,
    height: u32,
}

impl Writer {
    fn len(&self) -> usize {
        self.width as usize * self.height as usize * 3
    }

    fn write(&mut self, sim_time: f64, data: Bytes<'_>) -> Result<()> {
        self.header.stamp = RosTime(SimTime::from_secs(sim_time).0).to_msg();
        let head = ImageHead {
            header: &self.header,
            height: self.height,
            width: self.width,
            encoding: "bgr8",
            step: self.width * 3,
        };
        self.publisher.publish(&head, data)?;
        Ok(())
    }
}

fn udp(writer: &mut Writer) -> Result<()> {
    const HEADER: usize = HeaderVariant::B.len();
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
    socket.set_recv_buffer_size(8 << 20)?;
    // Like the bridge: beyond net.core.rmem_max, if permitted.
    let _not_privileged = setsockopt(&socket, sockopt::RcvBufForce, &(8 << 20));
    socket.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, PORT).into())?;
    let socket = UdpSocket::from(socket);
    let len = writer.len();
    // Each datagram is received in place: its header overwrites the end of the piece before, which is then restored.
    let mut frame = vec![0; HEADER + len + 65_536];
    let mut at = 0;
    loop {
        let mut saved = [0; HEADER];
        saved.copy_from_slice(&frame[at..at + HEADER]);
        let received = socket.recv(&mut frame[at..])?;
        let header = FragmentHeader::parse(&frame[at..at + HEADER], received)?;
        frame[at..at + HEADER].copy_from_slice(&saved);
        at += received - HEADER;
        if header.seq + 1 == header.count {
            if at == len {
                writer.write(header.sim_time, frame[HEADER..HEADER + len].into())?;
            }
            at = 0;
        }
    }
}

fn shm(writer: &mut Writer) -> Result<()> {
    let len = writer.len() + SHM_HEADER_LEN;
    let name = shm_name(0);
    let block = loop {
        match SharedBlock::open(&name, len) {
            Ok(block) => break block,
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    loop {
        if block.swap_flag(ShmFlag::Ready as u8, ShmFlag::Reading as u8) {
            let mut time = [0; 8];
            block.copy_out(1, &mut time);
            block.lend(SHM_HEADER_LEN, |data| {
                let pixels = data.subslice(0, len - SHM_HEADER_LEN)?;
                writer.write(f64::from_le_bytes(time), Bytes::Foreign(pixels))
            })?;
            block.set_flag(ShmFlag::Released as u8);
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}
