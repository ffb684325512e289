/// Why something was not delivered.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum DropCause {
    /// A datagram without a valid header, or one that does not fit into the receive buffer.
    Malformed,
    /// A datagram of a frame that was delivered already, or a second copy of a fragment.
    Duplicate,
    /// A datagram of a frame that was given up before.
    Late,
    /// A frame that was superseded before all its fragments had come.
    Incomplete,
    /// A whole frame that is older than one delivered before.
    Stale,
    /// A frame whose fragments disagree about their size.
    Inconsistent,
    /// A frame beyond the maximum size.
    Oversize,
    /// A frame whose number or time follows from nothing; it is believed when others confirm it.
    Unconfirmed,
    /// A frame of which nothing came: its number was left out.
    Lost,
}

impl DropCause {
    /// Every cause, in the order of [`ReassemblyCounters`].
    pub const ALL: [Self; 9] = [
        Self::Malformed,
        Self::Duplicate,
        Self::Late,
        Self::Incomplete,
        Self::Stale,
        Self::Inconsistent,
        Self::Oversize,
        Self::Unconfirmed,
        Self::Lost,
    ];

    /// Tells whether the cause counts frames; the others count datagrams.
    pub const fn counts_frames(self) -> bool {
        matches!(
            self,
            Self::Incomplete
                | Self::Stale
                | Self::Inconsistent
                | Self::Oversize
                | Self::Unconfirmed
                | Self::Lost
        )
    }

    /// Returns the name used in diagnostics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Duplicate => "duplicate",
            Self::Late => "late",
            Self::Incomplete => "incomplete",
            Self::Stale => "stale",
            Self::Inconsistent => "inconsistent",
            Self::Oversize => "oversize",
            Self::Unconfirmed => "unconfirmed",
            Self::Lost => "lost",
        }
    }
}

/// What a [`Reassembler`](super::Reassembler) has seen since its start.
///
/// Every frame of which a valid fragment was seen ends in `frames` or in one of the frame causes, or is still in flight.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ReassemblyCounters {
    /// Datagrams received, good and bad.
    pub datagrams: u64,
    /// Bytes received, with headers.
    pub bytes: u64,
    /// Frames completed, with payload or counted only.
    pub frames: u64,
    /// Datagrams: [`DropCause::Malformed`].
    pub malformed: u64,
    /// Datagrams: [`DropCause::Duplicate`].
    pub duplicate: u64,
    /// Datagrams: [`DropCause::Late`].
    pub late: u64,
    /// Frames: [`DropCause::Incomplete`].
    pub incomplete: u64,
    /// Frames: [`DropCause::Stale`].
    pub stale: u64,
    /// Frames: [`DropCause::Inconsistent`].
    pub inconsistent: u64,
    /// Frames: [`DropCause::Oversize`].
    pub oversize: u64,
    /// Frames: [`DropCause::Unconfirmed`].
    pub unconfirmed: u64,
    /// Frames: [`DropCause::Lost`]. One that comes late after all is taken off again.
    pub lost: u64,
}

impl ReassemblyCounters {
    /// Returns the counter of a cause.
    pub const fn dropped(&self, cause: DropCause) -> u64 {
        match cause {
            DropCause::Malformed => self.malformed,
            DropCause::Duplicate => self.duplicate,
            DropCause::Late => self.late,
            DropCause::Incomplete => self.incomplete,
            DropCause::Stale => self.stale,
            DropCause::Inconsistent => self.inconsistent,
            DropCause::Oversize => self.oversize,
            DropCause::Unconfirmed => self.unconfirmed,
            DropCause::Lost => self.lost,
        }
    }

    /// Returns the number of frames that were seen but not delivered.
    pub const fn frames_dropped(&self) -> u64 {
        self.incomplete + self.stale + self.inconsistent + self.oversize + self.unconfirmed
    }

    pub(super) fn count(&mut self, cause: DropCause) {
        *match cause {
            DropCause::Malformed => &mut self.malformed,
            DropCause::Duplicate => &mut self.duplicate,
            DropCause::Late => &mut self.late,
            DropCause::Incomplete => &mut self.incomplete,
            DropCause::Stale => &mut self.stale,
            DropCause::Inconsistent => &mut self.inconsistent,
            DropCause::Oversize => &mut self.oversize,
            DropCause::Unconfirmed => &mut self.unconfirmed,
            DropCause::Lost => &mut self.lost,
        } += 1;
    }
}
