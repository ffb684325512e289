//! The bridge's reports: `/diagnostics`, `~/stats`, `/rosout`, and the table of `rfly_bridge top`.
mod degraded;
mod doctor_status;
mod health;
mod host_status;
mod program_health;
mod rate;
mod rosout;
mod service_status;
mod stats_topic;
pub mod top;
mod topic_status;

pub use program_health::ProgramHealth;
pub use rate::RateWatch;
pub use rosout::{Rosout, RosoutLayer, RosoutPublisher, rosout};

use crate::node::senders::{RefusedSenders, Senders};
use crate::node::subsystem::{Subsystem, TopicPage};
use crate::node::tasks::{self, Endless, next_moment};
use crate::node::{
    assembly::Assembly, context::Context, error::NodeError, section::Section,
    settings::SettingsWatch, threads::REPORT,
};
use crate::{config::params::QosGroup, program::Watchdog};
use degraded::{DEGRADED, Degraded};
use doctor_status::DoctorStatus;
use health::{Health, LastReport};
use service_status::ServiceStatus;
use stats_topic::{STATS, StatsTopic};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum period of the log of refused senders.
const LOG_PERIOD: Duration = Duration::from_millis(400);

pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics };

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let degraded = Degraded::new(context.watch(), assembly.sources.clone());
    let mut sections: Vec<(&'static str, Box<dyn Section>)> = vec![
        ("services", Box::new(ServiceStatus::new(context.middleware))),
        ("senders", Box::new(RefusedSenders::new(context.senders.clone()))),
        ("shared ports", Box::new(std::mem::take(&mut assembly.binder.shared_ports))),
        ("program", Box::new(ProgramHealth::default())),
        (DEGRADED, Box::new(degraded)),
    ];
    host_status::open(context, assembly)?;
    sections.append(&mut assembly.sections);
    let qos = context.qos(QosGroup::Diagnostics, STATS);
    let reporter = Reporter {
        health: Health {
            middleware: context.middleware.clone(),
            publisher: context.publisher(QosGroup::Diagnostics, "/diagnostics")?,
            node: context.settings.node_name(),
            hardware_id: context.settings.renderer().to_string(),
            sources: assembly.sources.clone(),
            sections,
            clocks: context.clocks.clone(),
            headers: context.clocks.headers(None),
            topic_groups: assembly.topic_groups.clone(),
            stats: StatsTopic::open(context.middleware, qos)?,
            doctor: DoctorStatus::new(context.watch()),
            last: LastReport::default(),
        },
        period: context.settings.params.diagnostics_period,
        senders: context.senders.clone(),
        settings: context.watch(),
        watchdog: Watchdog::of_process(),
    };
    tasks::start(&assembly.threads.runtime(REPORT)?, reporter);
    Ok(())
}

fn topics(page: &mut TopicPage) {
    let group = [QosGroup::Diagnostics];
    let doc = "one status per source, topic and clock, one of all services, one of the frames, and `doctor`: faults and their remedies ([doctor.md](doctor.md))";
    page.topic(&["/diagnostics"], "diagnostic_msgs/msg/DiagnosticArray", &group, doc);
    let doc = "the figures of the sources and clocks as numbers";
    page.topic(&[STATS], "rfly_bridge_msgs/msg/BridgeStats", &group, doc);
}

struct Reporter {
    health: Health,
    period: Duration,
    senders: Arc<Senders>,
    settings: SettingsWatch,
    /// Fed here, because this task reports on all others.
    watchdog: Watchdog,
}

impl Endless for Reporter {
    fn name(&self) -> String {
        "diagnostics".to_owned()
    }

    async fn work(&mut self) {
        let mut next = Instant::now() + self.period;
        loop {
            let pause = next.saturating_duration_since(Instant::now()).min(next_moment(LOG_PERIOD));
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                Ok(()) = self.settings.changed() => {
                    self.period = self.settings.borrow_and_update().params.diagnostics_period;
                    next = next.min(Instant::now() + self.period);
                }
            }
            self.watchdog.alive(Instant::now());
            self.senders.log_refused();
            if Instant::now() >= next {
                // After a stall, one report is published, not one per missed period.
                next = (next + self.period).max(Instant::now());
                let settings = self.settings.borrow().clone();
                self.health.report(&settings);
            }
        }
    }
}
