//! The bridge's side of one camera, without its socket: put together, stamp, convert, publish.
use crate::support::sensor::{Rig, config};
use rfly_bridge::msgs::sensor_msgs::msg::Image;
use rfly_bridge::ros::Loan;
use rfly_bridge::sensors::{LentFrame, Options};
use rfly_bridge::session::{LOAN_SPARE, Landing, Outcome, Reassembler, ReassemblyCounters};
use rfly_bridge::time::{RosTime, SimTime, SourceKind, TimeAligner};

/// Longest payload of a datagram, and header.
const DATAGRAM: usize = 65_536;

/// What became of frames that were put together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figures {
    pub(super) published: u64,
    /// Nobody subscribed.
    pub(super) unwatched: u64,
    /// No stamp: its time is not, or not yet, of this simulation.
    pub(super) unstamped: u64,
}

pub(super) struct Bridge {
    rig: Rig,
    reassembler: Reassembler<Loan<Image>>,
    frame_len: usize,
    pub(super) figures: Figures,
}

impl Bridge {
    pub(super) fn new((width, height, _): (u16, u16, u16)) -> Self {
        let frame_len = usize::from(width) * usize::from(height) * 3;
        Self {
            rig: Rig::open(&config(1, width, height, 2, &[]), Options::default()),
            reassembler: Reassembler::for_loans(frame_len),
            frame_len,
            figures: Figures::default(),
        }
    }

    pub(super) fn watch(&self, watched: bool) {
        self.rig.recorder.set_all_subscribers(watched.into());
    }

    pub(super) fn counters(&self) -> &ReassemblyCounters {
        self.reassembler.counters()
    }

    /// Nothing has come for long.
    pub(super) fn abandon(&mut self) {
        self.reassembler.abandon();
    }

    /// Takes a datagram as `node/udp_source.rs` does; returns the image that it made the bridge publish.
    pub(super) fn take(
        &mut self,
        datagram: &[u8],
        arrival: RosTime,
        aligner: &mut TimeAligner,
    ) -> Option<Image> {
        let Self {
            rig,
            reassembler,
            figures,
            ..
        } = self;
        if rig.sensor.wanted() {
            let Landing { header, payload } = reassembler.landing_in(|| rig.sensor.lend());
            let (head, body) = datagram.split_at(header.len().min(datagram.len()));
            header[..head.len()].copy_from_slice(head);
            payload[..body.len()].copy_from_slice(body);
        } else {
            let header = reassembler.landing_for_header();
            let len = header.len().min(datagram.len());
            header[..len].copy_from_slice(&datagram[..len]);
        }
        let mut stamp = |time: f64, arrival: RosTime| {
            let sim_time = SimTime::checked_from_secs(time)?;
            Some((
                sim_time,
                aligner.receive(sim_time, arrival, SourceKind::Image)?,
            ))
        };
        let (frame, payload) = match reassembler.commit(datagram.len(), arrival) {
            Outcome::Stored | Outcome::Dropped(_) => return None,
            Outcome::Counted(info) => {
                figures.unwatched += 1;
                stamp(info.sim_time, info.arrival);
                return None;
            }
            Outcome::Complete(whole) => {
                let Some((sim_time, stamp)) = stamp(whole.info.sim_time, whole.info.arrival) else {
                    figures.unstamped += 1;
                    return None;
                };
                let frame = LentFrame {
                    len: whole.info.len,
                    stamp,
                    sim_time,
                    compressed: false,
                };
                (frame, (!whole.lent).then_some(whole.payload))
            }
        };
        let accepted = match payload {
            Some(payload) => rig.sensor.accept(&frame.with(payload)),
            None => {
                let loan = reassembler
                    .take_loan()
                    .expect("the frame is in lent memory");
                rig.sensor.accept_loan(loan, &frame)
            }
        };
        accepted.expect("an image of this camera");
        let image = rig.last::<Image>();
        rig.recorder.clear();
        match image {
            Some(_) => figures.published += 1,
            None => figures.unwatched += 1,
        }
        image
    }

    /// Memory is bounded whatever comes.
    pub(super) fn check_memory(&self) {
        let most = 2 * (self.frame_len + LOAN_SPARE) + 2 * DATAGRAM;
        let held = self.reassembler.memory();
        assert!(held <= most, "{held} of {most} bytes");
        assert!(self.reassembler.in_flight() <= 2);
    }
}
