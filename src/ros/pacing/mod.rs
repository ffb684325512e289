//! Large samples are sent at a bounded rate, so that they fit through the readers' receive buffers.
//!
//! A DDS writer hands all fragments of a sample to the kernel in one go, at 2 to 3 GB/s on loopback. The receive buffer of
//! a reader in default configuration holds 0.2 or 0.4 MB, an image has 1 to 6 MB: data that the reader's thread does not
//! drain meanwhile is lost, and a best-effort reader never gets a whole image. Pauses let the reader keep up. Readers that
//! report losses get a higher rate. See the measurements in `docs/dds_measured.md`, and ADR 0004.
#[cfg(feature = "dds")]
mod rate;
mod sendmsg;

#[cfg(feature = "dds")]
pub(super) use rate::{PacingRate, SlowestReader};
pub(super) use sendmsg::link;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{cell::Cell, sync::OnceLock};

/// Samples up to this size fit any receive buffer and are not paced.
pub(super) const SMALL_BYTES: usize = 65_536;

/// Bytes that may leave without a pause: 60 % of Linux's default receive buffer (`net.core.rmem_default` = 212992).
const BURST_BYTES: u64 = 128_000;

/// Time when all sent data is drained, in ns since the first use; one for all writers of the process, because
/// their samples end up in the same receive buffers.
static DRAINED: AtomicU64 = AtomicU64::new(0);

/// Returns the replacement for an outgoing packet, if it changes.
type ChangePacket = fn(&[u8]) -> Option<Vec<u8>>;

/// Set once, by the embedded back end.
static CHANGE: OnceLock<ChangePacket> = OnceLock::new();

/// Maximum size of packets to inspect, which covers acknowledgements.
const CHANGEABLE_BYTES: usize = 512;

/// Passes small packets through `change` before they leave.
#[cfg(feature = "dds")]
pub(super) fn change_small_packets(change: ChangePacket) {
    CHANGE.get_or_init(|| change);
}

#[derive(Clone, Copy)]
struct Pace {
    bytes_per_s: u64,
    paused_ns: u64,
}

thread_local! {
    /// Set while this thread writes a large sample.
    static PACE: Cell<Option<Pace>> = const { Cell::new(None) };
}

/// Runs `write` with pauses in its calls of [`before_send`]; returns the total pause.
///
/// `readers` get a copy each, one after the other, and drain in parallel.
pub(super) fn paced<R>(
    bytes_per_s: u64,
    readers: usize,
    size: usize,
    write: impl FnOnce() -> R,
) -> (R, Duration) {
    if bytes_per_s == 0 || size <= SMALL_BYTES {
        return (write(), Duration::ZERO);
    }
    let bytes_per_s = bytes_per_s.saturating_mul(readers.max(1) as u64);
    PACE.set(Some(Pace { bytes_per_s, paused_ns: 0 }));
    let result = write();
    let paused = PACE.take().map_or(0, |pace| pace.paused_ns);
    (result, Duration::from_nanos(paused))
}

/// Call before handing `bytes` to the kernel; returns at once outside [`paced`].
fn before_send(bytes: usize) {
    // Other threads of the middleware also call this, even during their destruction.
    let Some(mut pace) = PACE.try_with(Cell::get).ok().flatten() else { return };
    static START: OnceLock<Instant> = OnceLock::new();
    let now = START.get_or_init(Instant::now).elapsed().as_nanos() as u64;
    let pause = reserve(&DRAINED, now, bytes as u64, pace.bytes_per_s);
    if pause > 0 {
        std::thread::sleep(Duration::from_nanos(pause));
        pace.paused_ns += pause;
        PACE.set(Some(pace));
    }
}

/// Token bucket: books `bytes` at time `now` and returns how many ns to wait before sending them.
fn reserve(drained: &AtomicU64, now: u64, bytes: u64, bytes_per_s: u64) -> u64 {
    let duration = |bytes: u64| bytes.saturating_mul(1_000_000_000) / bytes_per_s;
    let cost = duration(bytes);
    let booked = |drained: u64| drained.max(now) + cost;
    let before = drained
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |drained| Some(booked(drained)))
        .unwrap_or_else(|unchanged| unchanged);
    let (ahead, burst) = (booked(before) - now, duration(BURST_BYTES));
    // Sleeps until half a burst is left: few sleeps, each long enough to justify its system call.
    if ahead > burst { ahead - burst / 2 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_the_mean_rate_is_kept_thereafter() {
        let drained = AtomicU64::new(0);
        let (mut now, mut sent) = (5_000_000_000, 0);
        let start = now;
        for _ in 0..9 {
            assert_eq!(reserve(&drained, now, 14_000, 1_000_000_000), 0);
        }
        for _ in 0..10_000 {
            now += reserve(&drained, now, 14_000, 1_000_000_000);
            sent += 14_000;
        }
        // 1 GB/s is 1 byte per ns.
        assert!(now - start >= sent - BURST_BYTES && now - start <= sent + BURST_BYTES);
    }

    #[test]
    fn a_writer_slower_than_the_rate_never_pauses() {
        let drained = AtomicU64::new(0);
        for step in 0..10_000 {
            assert_eq!(reserve(&drained, step * 15_000, 14_000, 1_000_000_000), 0);
        }
    }

    #[test]
    fn small_samples_and_rate_zero_are_not_paced() {
        for (rate, size) in [(0, 1 << 20), (1, 65_536)] {
            let ((), paused) = paced(rate, 1, size, || before_send(1 << 20));
            assert_eq!(paused, Duration::ZERO);
        }
    }
}
