//! Requests to the renderer, and when to send them.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// What the renderer reports on request. It has one request per camera, vehicle and object: there is none for all.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Subject {
    /// Reports of all vehicles.
    Vehicles,
    /// The description of a camera.
    Camera(u16),
    /// The description of a vehicle.
    Vehicle(i32),
    /// The description of an object of the scene.
    Object(String),
}

impl Subject {
    /// Returns the console command that asks for it.
    pub fn request(&self) -> String {
        match self {
            Self::Vehicles => "RflyReqVehicleData 1".to_owned(),
            described => format!("RflyReqObjData {}{described} 0", described.kind()),
        }
    }

    /// Returns the console command that ends it.
    pub fn end(&self) -> String {
        match self {
            Self::Vehicles => "RflyReqVehicleData 0".to_owned(),
            described => format!("RflyReqObjData 1{}{described} 0", described.kind()),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Vehicles => "",
            Self::Camera(_) => "0 ",
            Self::Vehicle(_) => "1 ",
            Self::Object(_) => "2 ",
        }
    }
}

/// The argument of the command.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vehicles => f.write_str("all"),
            Self::Camera(seq_id) => write!(f, "{seq_id}"),
            Self::Vehicle(id) => write!(f, "{id}"),
            Self::Object(name) if name.contains(char::is_whitespace) => write!(f, "\"{name}\""),
            Self::Object(name) => f.write_str(name),
        }
    }
}

/// Commands of one turn: a burst would be lost in the renderer's socket.
const AT_ONCE: usize = 16;

/// Repeats requests. The renderer acknowledges none, and how long it goes on describing is not documented: a silent subject is
/// requested again.
#[derive(Clone, Debug, Default)]
pub struct ReportRequester {
    requests: BTreeMap<Subject, Request>,
    /// Subjects whose reports are to be switched off.
    ending: Vec<Subject>,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    /// Time of the last request or answer, since any fixed instant.
    at: Option<Duration>,
    answered: bool,
}

impl ReportRequester {
    /// Replaces the wanted subjects.
    pub fn want(&mut self, wanted: BTreeSet<Subject>) {
        for subject in self.requests.keys() {
            if !wanted.contains(subject) {
                self.ending.push(subject.clone());
            }
        }
        self.requests.retain(|subject, _| wanted.contains(subject));
        self.ending.retain(|subject| !wanted.contains(subject));
        for subject in wanted {
            let new = Request {
                at: None,
                answered: false,
            };
            self.requests.entry(subject).or_insert(new);
        }
    }

    /// Whether nothing is requested, and nothing is left to be switched off.
    pub fn is_idle(&self) -> bool {
        self.requests.is_empty() && self.ending.is_empty()
    }

    /// Records an answer.
    pub fn answered(&mut self, subject: &Subject, now: Duration) {
        if let Some(asked) = self.requests.get_mut(subject) {
            (asked.at, asked.answered) = (Some(now), true);
        }
    }

    /// Returns the commands that are due: requests every `period` until the first answer, then after every silence of
    /// `timeout`.
    pub fn due(&mut self, now: Duration, period: Duration, timeout: Duration) -> Vec<String> {
        let ends = self.ending.len().min(AT_ONCE);
        let mut commands: Vec<_> = self.ending.drain(..ends).map(|s| s.end()).collect();
        for (subject, asked) in &mut self.requests {
            // A camera's description says what its frames show: each second counts.
            let is_camera = matches!(subject, Subject::Camera(_));
            let pause = if asked.answered && !is_camera {
                timeout
            } else {
                period
            };
            let waits = asked.at.is_some_and(|at| now.saturating_sub(at) < pause);
            if !waits && commands.len() < AT_ONCE {
                asked.at = Some(now);
                commands.push(subject.request());
            }
        }
        commands
    }

    /// Returns the commands that switch all requested reports off.
    pub fn end(&mut self) -> Vec<String> {
        let asked = std::mem::take(&mut self.requests);
        let asked = asked.into_iter().filter(|(_, asked)| asked.at.is_some());
        let all = asked.map(|(subject, _)| subject);
        std::mem::take(&mut self.ending)
            .into_iter()
            .chain(all)
            .map(|subject| subject.end())
            .collect()
    }
}
