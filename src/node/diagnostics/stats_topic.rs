//! The topic `~/stats`: the figures of `/diagnostics` as numbers.
use crate::doctor::{LinkState, Shortfall, SourceFacts};
#[cfg(has_rfly_bridge_msgs)]
use crate::msgs::rfly_bridge_msgs::msg::BridgeStats;
use crate::msgs::rfly_bridge_msgs::msg::{ClockStats, DropCount, SourceStats};
use crate::node::{awaited::awaited, cause::Cause, settings::Settings, stats::Figures};
use crate::ros::{Middleware, Qos, RosError};
use crate::time::{ClockStatus, RosTime};
use std::collections::BTreeMap;

/// Figures of one source in one report.
pub(super) struct SourceFigures {
    pub(super) name: String,
    pub(super) state: LinkState,
    pub(super) rate_hz: f64,
    pub(super) new_drops: u64,
    pub(super) bytes_per_s: f64,
    /// Set if the rate is below the requested one.
    pub(super) shortfall: Option<Shortfall>,
    pub(super) figures: Figures,
}

impl SourceFigures {
    /// The facts that `doctor` checks.
    pub(super) fn facts(&self, settings: &Settings) -> SourceFacts {
        let figures = &self.figures;
        let mut drops = BTreeMap::new();
        for (cause, count) in &figures.counts {
            if let Some(fault) = cause.fault() {
                *drops.entry(fault).or_default() += count;
            }
        }
        SourceFacts {
            name: self.name.clone(),
            kind: figures.kind.clone(),
            state: self.state,
            is_requested: figures.asked_hz.is_some(),
            awaited: awaited(settings, &figures.kind),
            age: figures.last_frame.map(|at| at.elapsed()),
            frames: figures.frames,
            drops,
            shortfall: self.shortfall,
            reason: figures.reason(),
        }
    }

    fn to_msg(&self) -> SourceStats {
        let figures = &self.figures;
        let drop_count =
            |(cause, count): (Cause, u64)| DropCount { cause: cause.name().to_owned(), count };
        SourceStats {
            name: self.name.clone(),
            state: self.state as u8,
            rate_hz: self.rate_hz,
            received: figures.received,
            bytes: figures.bytes,
            frames: figures.frames,
            converted: figures.converted,
            drops: figures.drops().map(drop_count).collect(),
            latency_p50_s: figures.latency_s(0.5),
            latency_p99_s: figures.latency_s(0.99),
            latency_max_s: figures.latency_s(1.0),
        }
    }
}

fn clock_msg(vehicle_id: u16, clock: &ClockStatus) -> ClockStats {
    ClockStats {
        vehicle_id,
        offset_ns: clock.offset_ns,
        spread_p50_s: clock.spread.p50_ns as f64 * 1e-9,
        spread_p99_s: clock.spread.p99_ns as f64 * 1e-9,
        drift_ppm: clock.drift_ppm,
        restarts: clock.restarts,
        steps: clock.steps,
        observations: clock.observations,
        rejected: clock.rejected,
    }
}

/// The topic `~/stats`, if its message type was built in.
pub(super) struct StatsTopic {
    #[cfg(has_rfly_bridge_msgs)]
    publisher: crate::ros::Publisher<BridgeStats>,
}

impl StatsTopic {
    /// Opens the topic; `None` if built without `rfly_bridge_msgs`.
    #[cfg(has_rfly_bridge_msgs)]
    pub(super) fn open(middleware: &Middleware, qos: Qos) -> Result<Option<Self>, RosError> {
        let publisher = middleware.publisher(STATS, qos)?;
        Ok(Some(Self { publisher }))
    }

    /// Opens the topic; `None` if built without `rfly_bridge_msgs`.
    #[cfg(not(has_rfly_bridge_msgs))]
    pub(super) fn open(_: &Middleware, _: Qos) -> Result<Option<Self>, RosError> {
        tracing::info!("no topic {STATS}: built without rfly_bridge_msgs (source it, then build)");
        Ok(None)
    }

    /// Publishes if the topic has a subscriber. `clocks`: one per vehicle.
    #[cfg_attr(not(has_rfly_bridge_msgs), expect(unused_variables, reason = "no such topic"))]
    pub(super) fn publish(
        &self,
        now: RosTime,
        sources: &[SourceFigures],
        clocks: &[(u16, ClockStatus)],
    ) {
        #[cfg(has_rfly_bridge_msgs)]
        if self.publisher.subscribers() > 0 {
            let mut message = BridgeStats {
                sources: sources.iter().map(SourceFigures::to_msg).collect(),
                clocks: clocks.iter().map(|(vehicle, clock)| clock_msg(*vehicle, clock)).collect(),
                ..BridgeStats::default()
            };
            message.header.stamp = now.to_msg();
            // The publisher counts failures.
            let _counted = self.publisher.publish(&message);
        }
    }
}

/// Name of the topic, in the namespace of the node.
pub(super) const STATS: &str = "~/stats";
