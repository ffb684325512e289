//! Reception of small, frequent datagrams.
use crate::node::cause::Cause;
use crate::node::clock::host_now;
use crate::node::stats::SourceStats;
use crate::node::tasks::next_moment;
use crate::session::{Mark, Order, Verdict};
use crate::time::{RosTime, SimTime};
use crate::transport::{Datagram, Received, UdpReceiver};
use std::io::{self, IoSliceMut};
use std::time::Duration;

/// Longer than any of these datagrams.
pub(super) const BUFFER: usize = 2048;

/// Waits until a datagram may have arrived; unless `wanted`, one wake-up serves all datagrams of [`REST`]. Arrival times come
/// from the kernel.
pub(super) async fn wait(receiver: &mut UdpReceiver, wanted: bool) -> io::Result<()> {
    if wanted {
        receiver.readable().await
    } else {
        receiver.rest(next_moment(REST)).await;
        Ok(())
    }
}

/// How long datagrams wait in the socket while their topics have no subscriber; also the longest wait of a new subscriber.
const REST: Duration = Duration::from_millis(200);

/// Waits for a datagram and counts it; `None` if its sender is refused or the socket fails.
pub(super) async fn receive(
    receiver: &mut UdpReceiver,
    buffer: &mut [u8; BUFFER],
    stats: &SourceStats,
    wanted: impl Fn() -> bool,
) -> Option<Datagram> {
    // Datagrams may arrive without a gap; this lets other tasks of the thread run.
    tokio::task::coop::consume_budget().await;
    let received = loop {
        match receiver
            .try_recv(&mut [IoSliceMut::new(buffer)])
            .transpose()
        {
            Some(received) => break received,
            None => {
                let wanted = wanted() || receiver.is_copied();
                if let Err(error) = wait(receiver, wanted).await {
                    break Err(error);
                }
            }
        }
    };
    match received {
        Ok(Received::Refused) => {
            stats.lock().drop_one(Cause::Refused);
            None
        }
        Ok(Received::Datagram(datagram)) => {
            let mut figures = stats.lock();
            figures.received += 1;
            figures.bytes += datagram.len as u64;
            if datagram.overflows > 0 {
                figures.overflowed(datagram.overflows);
            }
            Some(datagram)
        }
        Err(_) => {
            stats.lock().drop_one(Cause::Socket);
            // Keeps a permanently failing socket from spinning.
            tokio::time::sleep(Duration::from_millis(10)).await;
            None
        }
    }
}

/// Host time of arrival.
pub(super) fn arrival(datagram: &Datagram) -> RosTime {
    datagram.kernel_time.map_or_else(host_now, RosTime)
}

/// Returns the time of an in-order sample, or the cause of its drop.
pub(super) fn in_order(order: &mut Order, mark: Mark) -> Result<SimTime, Cause> {
    let time = SimTime::checked_from_secs(mark.time).ok_or(Cause::Time)?;
    match order.judge(mark) {
        // Several datagrams may carry the true state of one instant.
        Verdict::Same if mark.id.is_none() => Ok(time),
        Verdict::Next | Verdict::Restart => {
            order.advance(mark);
            Ok(time)
        }
        Verdict::Same | Verdict::Duplicate => Err(Cause::Duplicate),
        Verdict::Late => Err(Cause::Late),
        Verdict::Unconfirmed => Err(Cause::Unconfirmed),
    }
}
