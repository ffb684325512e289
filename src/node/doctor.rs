//! `rfly_bridge doctor`: starts a bridge that publishes nothing, or listens to one that runs, and tells what is wrong.
use super::bridge::Bridge;
use super::error::NodeError;
use super::host_checks;
use super::settings::Settings;
use crate::config::Params;
use crate::config::ros_args::RosArgs;
use crate::doctor::{Code, Finding, check_environment, check_loader, from_values, sort};
use crate::msgs::diagnostic_msgs::msg::DiagnosticArray;
use crate::ros::{Middleware, Options, Qos, RosError};
use std::net::UdpSocket;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often the bridge that only looks reports.
const PERIOD: Duration = Duration::from_millis(500);
/// A renderer on this network answers a refused datagram faster.
const REFUSED_WITHIN: Duration = Duration::from_millis(300);
/// How the kernel names this program.
const OWN_NAME: &str = "(rfly_bridge)";

type Latest = Arc<Mutex<Option<DiagnosticArray>>>;

/// Looks for `limit` at what comes; returns the findings, the worst first. `graph` joins the ROS graph, for a bridge that runs.
pub fn examine(
    args: &RosArgs,
    limit: Duration,
    graph: impl FnOnce() -> Result<Middleware, RosError>,
) -> Result<Vec<Finding>, NodeError> {
    let mut found = match Settings::load(args) {
        Ok(settings) => of_settings(settings, limit, graph)?,
        Err(NodeError::Config(problems)) => {
            let variable = |name: &str| std::env::var(name).ok();
            let mut found = check_environment(&variable, &|path| Path::new(path).exists());
            found.extend(problems.0.iter().map(|problem| {
                let remedy =
                    "correct the value; docs/parameters.md and docs/config_json.md explain each";
                Finding::new(Code::Config, &problem.path, &problem.message, remedy)
            }));
            found
        }
        Err(other) => return Err(other),
    };
    sort(&mut found);
    Ok(found)
}

fn of_settings(
    mut settings: Settings,
    limit: Duration,
    graph: impl FnOnce() -> Result<Middleware, RosError>,
) -> Result<Vec<Finding>, NodeError> {
    let mut found = host_checks::check(&settings);
    found.extend(settings.warnings.iter().map(|problem| {
        let remedy = "see docs/config_json.md and docs/parameters.md";
        Finding::new(Code::ConfigDoubt, &problem.path, &problem.message, remedy)
    }));
    let configs = settings
        .origin
        .files
        .iter()
        .filter(|file| file.parameter == "config");
    for file in configs {
        let text = String::from_utf8_lossy(&file.bytes);
        found.extend(check_loader(&file.path.display().to_string(), &text));
    }
    let Params {
        diagnostics_period, ..
    } = &mut settings.params;
    *diagnostics_period = PERIOD;
    let (middleware, recorder) = Middleware::recorder(&Options::new("rfly_bridge_doctor"))?;
    recorder.count_only();
    let (latest, _subscription) = listen(&middleware)?;
    match Bridge::start(&settings, &middleware) {
        Ok(bridge) => {
            // What nobody subscribes to is not looked at; telemetry is, and its rates stay as they are.
            let prefix = middleware.resolve(&settings.params.topic_prefix)?;
            for writer in middleware.report() {
                if writer.topic.starts_with(&prefix) {
                    recorder.set_subscribers(&writer.topic, 1);
                }
            }
            found.extend(refused(&settings));
            std::thread::sleep(limit);
            drop(bridge);
        }
        Err(NodeError::Bind(failures)) => {
            let running = failures.iter().any(|failure| failure.contains(OWN_NAME));
            if running {
                // In a workspace callbacks run while their node is there.
                let asking = graph()?;
                let (theirs, _subscription) = listen(&asking)?;
                std::thread::sleep(limit);
                let heard = theirs.lock().unwrap_or_else(PoisonError::into_inner).take();
                found.extend(match heard {
                    Some(message) => of_report(&message),
                    None => vec![Finding::new(
                        Code::Start,
                        "/diagnostics",
                        "a bridge runs on this host, and nothing is heard from it",
                        "source the same environment as the bridge has (ROS_DOMAIN_ID, ROS_LOCALHOST_ONLY), or --seconds 15",
                    )],
                });
                return Ok(found);
            }
            found.extend(failures.iter().map(|failure| taken(failure)));
        }
        Err(other) => found.push(Finding::new(
            Code::Start,
            "rfly_bridge",
            format!("does not start: {other}"),
            "correct it, then look again",
        )),
    }
    let heard = latest.lock().unwrap_or_else(PoisonError::into_inner).take();
    found.extend(heard.iter().flat_map(of_report));
    Ok(found)
}

fn listen(middleware: &Middleware) -> Result<(Latest, crate::ros::Subscription), RosError> {
    let latest = Latest::default();
    let writer = latest.clone();
    let subscription =
        middleware.subscribe::<DiagnosticArray>("/diagnostics", Qos::DEFAULT, move |message| {
            if message
                .status
                .iter()
                .any(|s| s.name == "rfly_bridge: doctor")
            {
                *writer.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
            }
        })?;
    Ok((latest, subscription))
}

fn of_report(message: &DiagnosticArray) -> Vec<Finding> {
    let doctor = message
        .status
        .iter()
        .find(|s| s.name == "rfly_bridge: doctor");
    let values = doctor.into_iter().flat_map(|status| &status.values);
    from_values(values.map(|v| (v.key.as_str(), v.value.as_str())))
}

/// A port that cannot be bound; the text names who has it.
fn taken(failure: &str) -> Finding {
    let (subject, what) = failure.split_once(": ").unwrap_or((failure, ""));
    let process = what.split("by process ").nth(1);
    let number = process.and_then(|rest| rest.split(' ').next());
    let remedy = match number {
        Some(number) => {
            format!("kill {number}, if it is a left-over; docs/ports.md says whose port it is")
        }
        None => "sudo ss -ulpn shows who has it; docs/ports.md says whose port it is".to_owned(),
    };
    Finding::new(Code::PortTaken, subject, what, remedy)
}

/// Whether the host of the simulator says that nobody listens. An empty datagram is no request.
fn refused(settings: &Settings) -> Option<Finding> {
    let renderer = settings.renderer();
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.set_read_timeout(Some(REFUSED_WITHIN)).ok()?;
    socket.connect(renderer).ok()?;
    socket.send(&[]).ok()?;
    let answer = socket.recv(&mut [0; 1]);
    let refused = answer.is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionRefused);
    let needed = !settings.sensors.is_empty();
    (refused && needed).then(|| {
        Finding::new(
            Code::NoListener,
            renderer.to_string(),
            "that host answers, and says that nothing listens there: RflySim3D does not run on it, or is another window",
            "start RflySim3D there, or -p simulator_address:=<its host>, -p window:=<its number>",
        )
    })
}
