/// Defines the causes in one table: the enum, the names and the counters.
macro_rules! drop_causes {
    ($($unit:ident $cause:ident $name:ident $doc:literal,)+) => {
        /// Why a datagram or frame was not delivered.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum DropCause {
            $(#[doc = $doc] $cause,)+
        }

        impl DropCause {
            /// Every cause.
            pub const ALL: &[Self] = &[$(Self::$cause),+];

            /// Whether the cause counts frames; the others count datagrams.
            pub const fn counts_frames(self) -> bool {
                match self {
                    $(Self::$cause => matches!(CountedUnit::$unit, CountedUnit::Frames),)+
                }
            }

            /// Returns the name used in diagnostics.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$cause => stringify!($name),)+
                }
            }
        }

        /// Counters of a [`Reassembler`](super::Reassembler) since its start.
        ///
        /// Each frame with a valid fragment is counted in `frames` or in one of the frame causes, unless it is still in
        /// flight.
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
        pub struct ReassemblyCounters {
            /// Datagrams received, good and bad.
            pub datagrams: u64,
            /// Bytes received, with headers.
            pub bytes: u64,
            /// Complete frames, including those whose payload was skipped.
            pub frames: u64,
            $(#[doc = $doc] pub $name: u64,)+
        }

        impl ReassemblyCounters {
            /// Returns the counter of a cause.
            pub const fn dropped(&self, cause: DropCause) -> u64 {
                match cause {
                    $(DropCause::$cause => self.$name,)+
                }
            }

            pub(super) const fn count(&mut self, cause: DropCause) {
                *match cause {
                    $(DropCause::$cause => &mut self.$name,)+
                } += 1;
            }
        }
    };
}

enum CountedUnit {
    Datagrams,
    Frames,
}

drop_causes! {
    Datagrams Malformed malformed "A datagram without a valid header, or larger than the receive buffer.",
    Datagrams Duplicate duplicate "A datagram of a delivered frame, or a second copy of a fragment.",
    Datagrams Late late "A datagram of a dropped frame.",
    Frames Incomplete incomplete "A frame dropped before all its fragments arrived, usually because later frames were complete.",
    Frames Stale stale "A frame that is older than a delivered one.",
    Frames Inconsistent inconsistent "A frame whose fragments differ in its size.",
    Frames Oversize oversize "A frame beyond the maximum size.",
    Frames Unconfirmed unconfirmed "A frame whose number or time contradicts the stream, which restarts when others confirm it.",
    Frames Lost lost "A frame without any datagram: its number was skipped. Subtracted again if it arrives late.",
}

impl ReassemblyCounters {
    /// Returns the number of frames that arrived at least in part but were not delivered.
    pub const fn frames_dropped(&self) -> u64 {
        self.incomplete + self.stale + self.inconsistent + self.oversize + self.unconfirmed
    }
}
