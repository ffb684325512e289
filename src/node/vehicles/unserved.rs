//! Publishers and clients of other nodes below the vehicles' prefixes whose topic or service the bridge does not serve.
use crate::node::section::{Finding, Level, Section, value};
use crate::vehicle::{SERVICES, TOPICS};
use crate::{config::did_you_mean, ros::Middleware};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Limit of stored and logged entries.
const MAX_FINDINGS: usize = 100;
/// Period of the graph search; with many vehicles the graph has thousands of entries.
const SEARCH_PERIOD: Duration = Duration::from_secs(5);

/// Kind of an endpoint of another node.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Endpoint {
    /// Publishes a topic.
    Publisher,
    /// Calls a service.
    Client,
}

/// Finds unserved topics and services, with the most similar existing name.
#[derive(Debug, Default)]
pub struct Unserved {
    /// Absolute prefixes of the vehicles.
    prefixes: Vec<String>,
    /// Reason by full name.
    found: BTreeMap<String, String>,
}

impl Unserved {
    /// `prefixes`: absolute prefixes to search.
    pub fn new(prefixes: Vec<String>) -> Self {
        Self { prefixes, found: BTreeMap::new() }
    }

    /// Searches the graph (endpoint, full name, type); returns the new findings.
    pub fn search<'a>(
        &mut self,
        graph: impl IntoIterator<Item = (Endpoint, &'a str, &'a str)>,
    ) -> Vec<String> {
        let found: BTreeMap<_, _> = graph
            .into_iter()
            .filter_map(|(end, name, interface)| {
                let why = self.reason(end, name, interface)?;
                Some((name.to_owned(), why))
            })
            .take(MAX_FINDINGS)
            .collect();
        let is_new = |entry: &(&String, &String)| self.found.get(entry.0) != Some(entry.1);
        let new = found.iter().filter(is_new).map(|(name, why)| format!("{name}: {why}")).collect();
        self.found = found;
        new
    }

    /// The current findings: name and reason.
    pub fn found(&self) -> impl Iterator<Item = (&str, &str)> {
        self.found.iter().map(|(name, why)| (name.as_str(), why.as_str()))
    }

    fn reason(&self, end: Endpoint, name: &str, interface: &str) -> Option<String> {
        let below_prefix = |prefix: &String| name.strip_prefix(prefix.as_str())?.strip_prefix('/');
        let relative = self.prefixes.iter().find_map(below_prefix)?;
        let topics = || TOPICS.iter().map(|t| (t.name, t.interface)).collect::<Vec<_>>();
        let services = || SERVICES.iter().map(|s| (s.name, s.interface)).collect();
        let (rows, done, what) = match end {
            Endpoint::Publisher => (topics(), "published", "topic"),
            Endpoint::Client => (services(), "called", "service"),
        };
        match rows.iter().find(|(name, _)| *name == relative) {
            Some((_, served)) if *served == interface => None,
            Some((_, served)) => {
                Some(format!("{done} as {interface}, but the bridge has it as {served}"))
            }
            None => Some(format!(
                "{done} as {interface}, but the bridge has no such {what}{}",
                did_you_mean(relative, rows.iter().map(|(name, _)| *name))
            )),
        }
    }
}

/// Reports unserved topics and services below the vehicles' prefixes, in `/diagnostics` and in the log.
pub(super) struct UnservedStatus {
    middleware: Middleware,
    unserved: Unserved,
    /// When the graph was last searched.
    searched: Option<Instant>,
}

impl UnservedStatus {
    pub(super) fn new(middleware: &Middleware, prefixes: Vec<String>) -> Self {
        Self { middleware: middleware.clone(), unserved: Unserved::new(prefixes), searched: None }
    }

    fn search(&mut self) {
        let (topics, clients) = (self.middleware.topics(), self.middleware.clients());
        let published =
            topics.iter().map(|t| (Endpoint::Publisher, t.name.as_str(), t.type_name.as_str()));
        let called =
            clients.iter().map(|c| (Endpoint::Client, c.name.as_str(), c.type_name.as_str()));
        for text in self.unserved.search(published.chain(called)) {
            tracing::warn!("{text}");
        }
    }
}

impl Section for UnservedStatus {
    fn check(&mut self) -> Finding {
        if self.searched.is_none_or(|at| at.elapsed() >= SEARCH_PERIOD) {
            self.searched = Some(Instant::now());
            self.search();
        }
        let found = self.unserved.found();
        let values: Vec<_> = found.map(|(name, why)| value(name, why)).collect();
        let (level, message) = match values.len() {
            0 => (Level::Ok, "no unserved names below the vehicles' prefixes".to_owned()),
            n => (Level::Warn, format!("{n} topics or services that the bridge does not serve")),
        };
        Finding { level, message, values }
    }
}
