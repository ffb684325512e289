//! Reception of small, frequent datagrams.
use crate::node::{cause::Cause, clock::host_now, stats::SourceStats, tasks::next_moment};
use crate::session::{Continuity, StreamOrder, StreamPosition};
use crate::time::{RosTime, SimTime};
use crate::transport::{Datagram, Received, UdpReceiver};
use std::io::{self, IoSliceMut};
use std::time::Duration;

/// Larger than any datagram of a state, a report or a request.
pub(super) const BUFFER: usize = 2048;

/// Waits until a datagram may have arrived. Unless `is_wanted`, the task wakes up once per [`REST`]; the arrival times of the
/// datagrams are from the kernel.
pub(super) async fn wait(receiver: &mut UdpReceiver, is_wanted: bool) -> io::Result<()> {
    if is_wanted {
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
    is_wanted: impl Fn() -> bool,
) -> Option<Datagram> {
    let take = |receiver: &UdpReceiver| receiver.try_recv(&mut [IoSliceMut::new(buffer)]);
    count_received(take_next(receiver, stats, is_wanted, take).await?, stats)
}

/// Waits until `take`, which reads the queue, returns something; `None` if the socket fails.
pub(super) async fn take_next<T>(
    receiver: &mut UdpReceiver,
    stats: &SourceStats,
    is_wanted: impl Fn() -> bool,
    mut take: impl FnMut(&UdpReceiver) -> io::Result<Option<T>>,
) -> Option<T> {
    // Datagrams may arrive without a gap; other tasks of the thread must run, too.
    tokio::task::coop::consume_budget().await;
    let taken = loop {
        match take(receiver).transpose() {
            Some(taken) => break taken,
            None => {
                let is_wanted = is_wanted() || receiver.is_copied();
                if let Err(error) = wait(receiver, is_wanted).await {
                    break Err(error);
                }
            }
        }
    };
    if taken.is_err() {
        stats.lock().count(Cause::Socket);
        // Keeps a permanently failing socket from spinning.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    taken.ok()
}

/// Counts a datagram as received or refused; `None` if it is refused.
pub(super) fn count_received(received: Received, stats: &SourceStats) -> Option<Datagram> {
    let mut figures = stats.lock();
    let Received::Datagram(datagram) = received else {
        figures.count(Cause::Refused);
        return None;
    };
    figures.received += 1;
    figures.bytes += datagram.len as u64;
    if datagram.overflows > 0 {
        figures.set_overflows(datagram.overflows);
    }
    Some(datagram)
}

pub(super) fn arrival(datagram: &Datagram) -> RosTime {
    datagram.kernel_time.map_or_else(host_now, RosTime)
}

/// Advances the order by an in-order sample and returns its time, or returns the cause of its drop.
pub(super) fn advance_order(
    order: &mut StreamOrder,
    position: StreamPosition,
) -> Result<SimTime, Cause> {
    let time = SimTime::checked_from_secs(position.time).ok_or(Cause::Time)?;
    match order.check(position) {
        // Several datagrams may carry the true state of one instant.
        Continuity::Same if position.id.is_none() => Ok(time),
        Continuity::Next | Continuity::Restart => {
            order.advance(position);
            Ok(time)
        }
        Continuity::Same | Continuity::Duplicate => Err(Cause::Duplicate),
        Continuity::Late => Err(Cause::Late),
        Continuity::Unconfirmed => Err(Cause::Unconfirmed),
    }
}
