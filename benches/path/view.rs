//! What clients of the view cost on the path of an image: time of its thread in the bridge, and latency at a ROS subscriber.
use super::subject::{Config, Subject};
use super::watch::Watch;
use super::{HZ, Result, WARM_UP, report, simulator};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

/// The topic that clients and the ROS subscriber read.
const TOPIC: &str = "/rflysim/sensor0/img_rgb";
/// The thread that receives, assembles and publishes the image.
const THREAD: &str = "rfly-stream";
/// WebSocket subprotocols of clients: the page's (a small picture, ten times a second), and Foxglove's (every image).
const PAGE: &str = "rfly.page.v1";
const FOXGLOVE: &str = "foxglove.sdk.v1";

/// One measurement.
#[derive(Serialize)]
struct Run {
    thread_ms: f64,
    p50_ms: f64,
    p99_ms: f64,
    received: u64,
}

/// Compares a bridge without a view with one that has it and a number of clients, of which the first reads nothing.
pub(crate) fn compare(seconds: u64, rounds: usize) -> Result<Value> {
    let cases = [
        (None, 0),
        (Some(PAGE), 0),
        (Some(PAGE), 1),
        (Some(PAGE), 5),
        (Some(PAGE), 20),
        (Some(FOXGLOVE), 1),
        (Some(FOXGLOVE), 5),
        (Some(FOXGLOVE), 20),
    ];
    println!(
        "\n(c) one raw camera of 640x480 at {HZ} Hz, and clients of the view, one of which reads nothing\n"
    );
    println!(
        "| clients | thread of the camera, per image | latency p50 | p99 | images received of {} |",
        seconds * HZ
    );
    println!("|---|---|---|---|---|");
    let config = Config::write(1, 640, 480, 2, HZ)?;
    let mut runs: Vec<Vec<Run>> = cases.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for ((protocol, clients), runs) in cases.iter().zip(&mut runs) {
            runs.push(measure(&config, *protocol, *clients, seconds)?);
        }
    }
    let mut rows = Vec::new();
    for ((protocol, clients), runs) in cases.iter().zip(&runs) {
        let name = match protocol {
            None => "no view".to_owned(),
            Some(PAGE) => format!("{clients} pages"),
            Some(_) => format!("{clients} of Foxglove"),
        };
        let run = median(runs);
        println!(
            "| {name} | {:.3} ms | {:.2} ms | {:.2} ms | {} |",
            run.thread_ms, run.p50_ms, run.p99_ms, run.received
        );
        rows.push(json!({"clients": name, "median": run, "rounds": runs}));
    }
    Ok(json!({
        "bench": "view",
        "machine": report::machine(),
        "rounds": rounds,
        "seconds": seconds,
        "hz": HZ,
        "rows": rows,
    }))
}

fn median(runs: &[Run]) -> Run {
    let of = |value: fn(&Run) -> f64| {
        let mut values: Vec<f64> = runs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    Run {
        thread_ms: of(|run| run.thread_ms),
        p50_ms: of(|run| run.p50_ms),
        p99_ms: of(|run| run.p99_ms),
        received: runs.iter().map(|run| run.received).min().unwrap_or(0),
    }
}

fn measure(config: &Config, protocol: Option<&str>, clients: usize, seconds: u64) -> Result<Run> {
    let emulator = simulator()?;
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
    let parameter = format!("view.port:={port}");
    let parameters: &[&str] = match protocol {
        Some(_) => &["imu.enabled:=false", &parameter],
        None => &["imu.enabled:=false"],
    };
    let subject = Subject::bridge(config, parameters, &[])?;
    let watch = Watch::start(1, &emulator)?;
    std::thread::sleep(WARM_UP);
    let mut connected = Vec::new();
    for number in 0..clients {
        let stream = subscribe(port, protocol.unwrap_or(PAGE))?;
        if number > 0 {
            let reader = stream.try_clone()?;
            let thread = std::thread::Builder::new().name("client".to_owned());
            thread.spawn(move || drain(reader))?;
        }
        connected.push(stream);
    }
    // Until the buffers of the client that reads nothing are full.
    std::thread::sleep(Duration::from_secs(2));
    let before = (subject.thread_seconds(THREAD)?, watch.images());
    watch.forget_latencies();
    std::thread::sleep(Duration::from_secs(seconds));
    let after = (subject.thread_seconds(THREAD)?, watch.images());
    for stream in &connected {
        let _ended_already = stream.shutdown(std::net::Shutdown::Both);
    }
    let received = after.1 - before.1;
    Ok(Run {
        thread_ms: (after.0 - before.0) * 1e3 / received.max(1) as f64,
        p50_ms: watch.latency_ms(0.5),
        p99_ms: watch.latency_ms(0.99),
        received,
    })
}

/// Connects a client and subscribes it to the image; reads no image yet.
fn subscribe(port: u16, protocol: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    write!(
        stream,
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Protocol: {protocol}\r\n\r\n"
    )?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.extend(byte);
    }
    if !head.starts_with(b"HTTP/1.1 101") {
        return Err(String::from_utf8_lossy(&head).into());
    }
    loop {
        let message: Value = serde_json::from_slice(&text(&mut stream)?)?;
        let channels = message["channels"].as_array().into_iter().flatten();
        let Some(channel) = channels.clone().find(|c| c["topic"] == TOPIC) else {
            continue;
        };
        let wanted =
            json!({"op": "subscribe", "subscriptions": [{"id": 1, "channelId": channel["id"]}]});
        let wanted = wanted.to_string();
        // A short text, masked with zeros.
        stream.write_all(&[0x81, 0x80 | u8::try_from(wanted.len())?, 0, 0, 0, 0])?;
        stream.write_all(wanted.as_bytes())?;
        return Ok(stream);
    }
}

/// Reads the payload of the next frame (RFC 6455, 5.2).
fn text(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut head = [0; 2];
    stream.read_exact(&mut head)?;
    let mut length = [0; 8];
    let room = match head[1] {
        127 => &mut length[..],
        126 => &mut length[6..],
        short => {
            length[7] = short;
            &mut []
        }
    };
    stream.read_exact(room)?;
    let mut payload = vec![0; usize::try_from(u64::from_be_bytes(length))?];
    stream.read_exact(&mut payload)?;
    Ok(payload)
}

/// Reads and discards everything until the connection ends.
fn drain(mut stream: TcpStream) {
    let mut buffer = vec![0; 1 << 20];
    while stream.read(&mut buffer).is_ok_and(|taken| taken > 0) {}
}
