//! Publishes images at a steady rate through the facade, for measuring what arrives (`scripts/dds_matrix.py`).
//!
//! `cargo run --release --example image_source -- 1280 720 30 120` publishes 120 bgr8 frames of 1280x720 at 30 Hz on
//! `/image`, once a reader has matched, and prints a line of JSON.
use anyhow::Context;
use rfly_bridge::{
    msgs::std_msgs::msg::Header,
    ros::{ImageHead, Middleware, Options, Qos},
    time::RosTime,
};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<u32> = std::env::args()
        .skip(1)
        .map(|text| text.parse().with_context(|| format!("`{text}` is not a number")))
        .collect::<Result<_, _>>()?;
    let &[width, height, rate, frames] = arguments.as_slice() else {
        anyhow::bail!("usage: image_source WIDTH HEIGHT RATE_HZ FRAMES");
    };
    let options = Options::new("image_source").with_environment(|name| std::env::var(name).ok())?;
    let middleware = Middleware::join(&options)?;
    let publisher = middleware.image("/image", Qos::IMAGE)?;
    let deadline = Instant::now() + Duration::from_secs(20);
    while publisher.subscribers() == 0 {
        anyhow::ensure!(Instant::now() < deadline, "no reader within 20 s");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500)); // the reader's side of the match

    let step = width * 3;
    let mut data = vec![0_u8; (step * height) as usize];
    let period = Duration::from_secs(1) / rate;
    let start = Instant::now();
    let cpu_start = cpu_time()?;
    let (mut spent, mut longest) = (Duration::ZERO, Duration::ZERO);
    for frame in 0..frames {
        if let Some(wait) = (start + period * frame).checked_duration_since(Instant::now()) {
            std::thread::sleep(wait);
        }
        if let Some((first, last)) = data.first_chunk_mut::<4>().map(|chunk| (chunk, frame)) {
            *first = last.to_le_bytes();
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let stamp = RosTime(i64::try_from(now.as_nanos())?).to_msg();
        let header = Header { stamp, frame_id: "camera_optical_frame".to_owned() };
        let before = Instant::now();
        let head = ImageHead { header: &header, height, width, encoding: "bgr8", step };
        publisher.publish(&head, &data)?;
        let took = before.elapsed();
        spent += took;
        longest = longest.max(took);
    }
    let cpu = cpu_time()? - cpu_start;
    std::thread::sleep(Duration::from_secs(1)); // repairs of the last frames
    let stats = publisher.stats();
    println!(
        "{{\"published\": {}, \"dropped\": {}, \"retransmitted_bytes\": {}, \"publish_ms_mean\": {:.3}, \
         \"publish_ms_max\": {:.3}, \"cpu_ms_per_frame\": {:.3}}}",
        stats.published,
        stats.dropped,
        stats.retransmitted_bytes.unwrap_or(0),
        spent.as_secs_f64() * 1e3 / f64::from(frames),
        longest.as_secs_f64() * 1e3,
        cpu.as_secs_f64() * 1e3 / f64::from(frames),
    );
    Ok(())
}

/// Processor time of all threads of this process.
fn cpu_time() -> anyhow::Result<Duration> {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
    Ok(Duration::from(time))
}
