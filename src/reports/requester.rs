//! Decides which reports to request from the renderer, and when.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// What the renderer reports on request. Each camera, vehicle and object needs a request of its own.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum ReportSubject {
    /// Reports of all vehicles.
    Vehicles,
    /// The description of a camera.
    Camera(u16),
    /// The description of a vehicle.
    Vehicle(i32),
    /// The description of an object of the scene.
    Object(String),
}

impl ReportSubject {
    /// Returns the console command that requests it.
    pub fn request(&self) -> String {
        match self {
            Self::Vehicles => "RflyReqVehicleData 1".to_owned(),
            described => format!("RflyReqObjData {}{described} 0", described.operation_digit()),
        }
    }

    /// Returns the console command that ends it.
    pub fn end(&self) -> String {
        match self {
            Self::Vehicles => "RflyReqVehicleData 0".to_owned(),
            described => format!("RflyReqObjData 1{}{described} 0", described.operation_digit()),
        }
    }

    /// The last digit of the operation of `RflyReqObjData`, and a space: 0 camera, 1 vehicle, 2 object. Operations 10, 11 and 12
    /// end what 0, 1 and 2 request.
    fn operation_digit(&self) -> &'static str {
        match self {
            Self::Vehicles => "",
            Self::Camera(_) => "0 ",
            Self::Vehicle(_) => "1 ",
            Self::Object(_) => "2 ",
        }
    }
}

/// The target of `RflyReqObjData`; `all` stands for [`Self::Vehicles`], whose command has none.
impl fmt::Display for ReportSubject {
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

/// Maximum number of commands at once: the renderer's socket would drop a longer burst.
const MAX_COMMANDS: usize = 16;

/// Repeats the request for a silent subject: the renderer acknowledges no request, and the vendor does not document how long
/// it sends descriptions.
#[derive(Clone, Debug, Default)]
pub struct ReportRequester {
    requests: BTreeMap<ReportSubject, RequestState>,
    /// Subjects whose reports the next commands end.
    ending: Vec<ReportSubject>,
}

#[derive(Clone, Copy, Debug, Default)]
struct RequestState {
    /// Time of the last request or report, since a fixed instant.
    at: Option<Duration>,
    is_answered: bool,
}

impl ReportRequester {
    /// Replaces the requested subjects.
    pub fn set_wanted(&mut self, wanted: BTreeSet<ReportSubject>) {
        for subject in self.requests.keys() {
            if !wanted.contains(subject) {
                self.ending.push(subject.clone());
            }
        }
        self.requests.retain(|subject, _| wanted.contains(subject));
        self.ending.retain(|subject| !wanted.contains(subject));
        for subject in wanted {
            self.requests.entry(subject).or_default();
        }
    }

    /// Whether there is no subject to request or to end.
    pub fn is_idle(&self) -> bool {
        self.requests.is_empty() && self.ending.is_empty()
    }

    /// Records that a report of the subject arrived.
    pub fn answered(&mut self, subject: &ReportSubject, now: Duration) {
        if let Some(request) = self.requests.get_mut(subject) {
            (request.at, request.is_answered) = (Some(now), true);
        }
    }

    /// Returns the commands that are due: first those that end reports, then requests. A subject is requested every `period`
    /// until its first report; after that, whenever it was silent for `timeout` (a camera: for `period`).
    pub fn take_due(&mut self, now: Duration, period: Duration, timeout: Duration) -> Vec<String> {
        let ends = self.ending.len().min(MAX_COMMANDS);
        let mut commands: Vec<_> = self.ending.drain(..ends).map(|s| s.end()).collect();
        for (subject, request) in &mut self.requests {
            // The description gives the field of view of a camera's frames, so it is requested again soon after a loss.
            let is_camera = matches!(subject, ReportSubject::Camera(_));
            let pause = if request.is_answered && !is_camera { timeout } else { period };
            let is_recent = request.at.is_some_and(|at| now.saturating_sub(at) < pause);
            if !is_recent && commands.len() < MAX_COMMANDS {
                request.at = Some(now);
                commands.push(subject.request());
            }
        }
        commands
    }

    /// Returns the commands that end all requested reports.
    pub fn end(&mut self) -> Vec<String> {
        let mut requests = std::mem::take(&mut self.requests);
        requests.retain(|_, request| request.at.is_some());
        let ending = std::mem::take(&mut self.ending);
        ending.iter().chain(requests.keys()).map(ReportSubject::end).collect()
    }
}
