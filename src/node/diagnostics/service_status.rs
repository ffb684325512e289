//! The status of the services.
use crate::node::section::{Finding, Level, Section, value};
use crate::ros::{Middleware, ServiceStats};

/// Maximum number of failed services that have a value of their own.
const MAX_NAMED: usize = 20;

/// All services in one status: there are dozens per vehicle, and most are never called.
pub(super) struct ServiceStatus {
    middleware: Middleware,
    /// Failed calls at the last check.
    failed: u64,
}

impl ServiceStatus {
    pub(super) fn new(middleware: &Middleware) -> Self {
        Self { middleware: middleware.clone(), failed: 0 }
    }
}

impl Section for ServiceStatus {
    fn check(&mut self) -> Finding {
        let services = self.middleware.services();
        let failures = |s: &ServiceStats| s.undecodable + s.unanswered + s.undelivered + s.foreign;
        let sum = |of: fn(&ServiceStats) -> u64| services.iter().map(|s| of(&s.stats)).sum::<u64>();
        let mut values = vec![
            value("services", services.len()),
            value("requests", sum(|s| s.requests)),
            value("undecodable", sum(|s| s.undecodable)),
            value("unanswered", sum(|s| s.unanswered)),
            value("undelivered", sum(|s| s.undelivered)),
            value("foreign", sum(|s| s.foreign)),
        ];
        let with_failures = services.iter().filter(|s| failures(&s.stats) > 0);
        values.extend(with_failures.take(MAX_NAMED).map(|s| {
            let n = &s.stats;
            let text = format!(
                "{} requests, {} undecodable, {} unanswered, {} undelivered, {} foreign",
                n.requests, n.undecodable, n.unanswered, n.undelivered, n.foreign
            );
            value(&s.service, text)
        }));
        let failed: u64 = services.iter().map(|s| failures(&s.stats)).sum();
        // The sum excludes the failures of removed services.
        let new = failed.saturating_sub(self.failed);
        self.failed = failed;
        let (level, message) = match new {
            0 => (Level::Ok, format!("{} services", services.len())),
            n => (Level::Warn, format!("{n} calls failed")),
        };
        Finding { level, message, values }
    }
}
