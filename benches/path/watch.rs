//! The ROS subscriber, in the process of the benchmark.
use super::Result;
use super::subject::{DOMAIN, ZENOH};
use hdrhistogram::Histogram;
use rfly_bridge::emulator::Emulator;
use rfly_bridge::msgs::Message;
use rfly_bridge::msgs::diagnostic_msgs::msg::DiagnosticArray;
use rfly_bridge::msgs::sensor_msgs::msg::{Image, Imu};
use rfly_bridge::ros::{
    Discovery, Middleware, MiddlewareKind, Options, Qos, RawSample, Subscription, ZenohOptions,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Subscribes and counts.
pub(crate) struct Watch {
    seen: Arc<Seen>,
    _subscriptions: Vec<Subscription>,
    _middleware: Middleware,
}

struct Seen {
    images: AtomicU64,
    samples: AtomicU64,
    latency_us: Mutex<Histogram<u64>>,
    drops: Mutex<String>,
    imu_p99_ms: Mutex<f64>,
}

impl Watch {
    /// Subscribes to `sensors` images, the IMU and the diagnostics, with default (reliable) readers.
    pub(crate) fn start(sensors: u16, emulator: &Arc<Emulator>) -> Result<Self> {
        Self::start_on(MiddlewareKind::Dds, sensors, emulator)
    }

    /// Like [`Self::start`], on this middleware.
    pub(crate) fn start_on(
        middleware: MiddlewareKind,
        sensors: u16,
        emulator: &Arc<Emulator>,
    ) -> Result<Self> {
        let overrides = format!("{ZENOH};transport/shared_memory/enabled=true");
        let zenoh = ZenohOptions { overrides, ..ZenohOptions::default() };
        let options = Options {
            middleware: Some(middleware),
            zenoh,
            domain_id: DOMAIN.parse()?,
            discovery: Discovery::Localhost,
            ..Options::new("bench")
        };
        let middleware = Middleware::join(&options)?;
        let seen = Arc::new(Seen {
            images: AtomicU64::new(0),
            samples: AtomicU64::new(0),
            latency_us: Mutex::new(Histogram::new_with_bounds(1, 10_000_000, 3)?),
            drops: Mutex::default(),
            imu_p99_ms: Mutex::new(f64::NAN),
        });
        let mut subscriptions = Vec::new();
        for sensor in 0..sensors {
            let (seen, clock) = (seen.clone(), emulator.clone());
            let topic = format!("/rflysim/sensor{sensor}/img_rgb");
            subscriptions.push(middleware.subscribe_raw(
                &topic,
                Image::TYPE,
                Qos::DEFAULT,
                move |sample| {
                    seen.image(sample, &clock);
                },
            )?);
        }
        let counted = seen.clone();
        subscriptions.push(middleware.subscribe_raw(
            "/rflysim/imu",
            Imu::TYPE,
            Qos::DEFAULT,
            move |_| {
                counted.samples.fetch_add(1, Ordering::Relaxed);
            },
        )?);
        let reported = seen.clone();
        subscriptions.push(middleware.subscribe::<DiagnosticArray>(
            "/diagnostics",
            Qos::DEFAULT,
            move |m| {
                reported.diagnostics(&m);
            },
        )?);
        Ok(Self { seen, _subscriptions: subscriptions, _middleware: middleware })
    }

    /// Images received so far.
    pub(crate) fn images(&self) -> u64 {
        self.seen.images.load(Ordering::Relaxed)
    }

    /// IMU samples received so far.
    pub(crate) fn samples(&self) -> u64 {
        self.seen.samples.load(Ordering::Relaxed)
    }

    /// Clears the latencies.
    pub(crate) fn forget_latencies(&self) {
        lock(&self.seen.latency_us).reset();
    }

    /// Quantile of the latency: the simulation time at the arrival here minus that of the image.
    pub(crate) fn latency_ms(&self, quantile: f64) -> f64 {
        lock(&self.seen.latency_us).value_at_quantile(quantile) as f64 * 1e-3
    }

    /// Drops according to the bridge's diagnostics.
    pub(crate) fn drops(&self) -> String {
        lock(&self.seen.drops).clone()
    }

    /// The IMU's latency (p99) according to the bridge's diagnostics.
    pub(crate) fn imu_p99_ms(&self) -> f64 {
        *lock(&self.seen.imu_p99_ms)
    }
}

impl Seen {
    fn image(&self, sample: &RawSample<'_>, clock: &Emulator) {
        let now = clock.sim_time();
        self.images.fetch_add(1, Ordering::Relaxed);
        // Header first: i32 seconds, u32 nanoseconds, behind the 4 bytes of the encapsulation.
        let Some([a, b, c, d, e, f, g, h]) =
            sample.cdr.get(4..12).and_then(|b| <[u8; 8]>::try_from(b).ok())
        else {
            return;
        };
        let stamp = f64::from(i32::from_le_bytes([a, b, c, d]))
            + f64::from(u32::from_le_bytes([e, f, g, h])) * 1e-9;
        lock(&self.latency_us).saturating_record(((now - stamp) * 1e6).max(1.0) as u64);
    }

    fn diagnostics(&self, message: &DiagnosticArray) {
        let mut drops = Vec::new();
        for status in &message.status {
            for value in &status.values {
                let dropped = value.key.starts_with("drop_") || value.key == "dropped";
                if dropped && value.value != "0" {
                    drops.push(format!("{} {} {}", status.name, value.key, value.value));
                }
                if status.name.contains("imu of vehicle") && value.key == "latency_p99_ms" {
                    *lock(&self.imu_p99_ms) = value.value.parse().unwrap_or(f64::NAN);
                }
            }
        }
        *lock(&self.drops) = if drops.is_empty() { "nothing".to_owned() } else { drops.join(", ") };
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
