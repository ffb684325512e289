//! `rfly_bridge doctor`: starts a bridge that publishes nothing, or reads the diagnostics of a running bridge, and returns the
//! findings.
use super::error::{BindFailure, NodeError};
use super::{bridge::Bridge, host_checks, settings::Settings};
use crate::config::ros_args::RosArgs;
use crate::doctor::{Code, Finding, check_environment, check_vendor_loader, from_values, sort};
use crate::ros::{Middleware, Options, Qos, RosError, Subscription};
use crate::{msgs::diagnostic_msgs::msg::DiagnosticArray, transport::Holder};
use parking_lot::Mutex;
use std::{net::UdpSocket, path::Path, sync::Arc, time::Duration};

/// Period of the diagnostics of the bridge that `doctor` starts.
const PERIOD: Duration = Duration::from_millis(500);
/// How long to wait for ICMP `port unreachable`; a host in the local network answers faster.
const REFUSAL_TIMEOUT: Duration = Duration::from_millis(300);
/// The name of this program in the kernel's list of processes.
const OWN_NAME: &str = "rfly_bridge";

/// Findings in the newest report; `None` if none has arrived.
type LatestFindings = Arc<Mutex<Option<Vec<Finding>>>>;

/// Observes a bridge for `duration` and returns the findings, the worst first. `graph` joins the ROS graph, to read the
/// diagnostics of a running bridge.
pub fn examine(
    args: &RosArgs,
    duration: Duration,
    graph: impl FnOnce() -> Result<Middleware, RosError>,
) -> Result<Vec<Finding>, NodeError> {
    let mut found = match Settings::load(args) {
        Ok(settings) => check_settings(settings, duration, graph)?,
        Err(NodeError::Config(problems)) => {
            let variable = |name: &str| std::env::var(name).ok();
            let mut found = check_environment(&variable, &|path| Path::new(path).exists());
            found.extend(problems.0.iter().map(|problem| {
                let remedy =
                    "correct the value; docs/parameters.md and docs/config_json.md describe it";
                Finding::new(Code::Config, &problem.path, &problem.message, remedy)
            }));
            found
        }
        Err(other) => return Err(other),
    };
    sort(&mut found);
    Ok(found)
}

fn check_settings(
    mut settings: Settings,
    duration: Duration,
    graph: impl FnOnce() -> Result<Middleware, RosError>,
) -> Result<Vec<Finding>, NodeError> {
    let (_, mut found) = host_checks::check(&settings);
    found.extend(settings.warnings.iter().map(|problem| {
        let remedy = "see docs/config_json.md and docs/parameters.md";
        Finding::new(Code::ConfigDoubt, &problem.path, &problem.message, remedy)
    }));
    if let Some(part) = &settings.origin.fleet {
        found.extend(part.fleet.hosts.iter().map(|host| {
            let what = format!("the platform's script on {} needs {}", host.simulator, part.fleet.script(host));
            let remedy = "compare with the .bat there; many have TOTOAL_COPTER, which must be the same on all PCs, commented out";
            Finding::new(Code::FleetScript, &host.name, what, remedy)
        }));
    }
    let configs = settings.origin.files.iter().filter(|file| file.parameter == "config");
    for file in configs {
        let text = String::from_utf8_lossy(&file.bytes);
        found.extend(check_vendor_loader(&file.path.display().to_string(), &text));
    }
    settings.params.diagnostics_period = PERIOD;
    let (middleware, recorder) = Middleware::recorder(&Options::new("rfly_bridge_doctor"))?;
    recorder.count_only();
    let node = settings.node_name();
    let (latest, subscription) = subscribe(&middleware, &node)?;
    match Bridge::start(&settings, &middleware) {
        Ok(bridge) => {
            // The bridge converts only topics with subscribers, so each of its own topics gets a subscriber. Topics of telemetry
            // get none, so that the rates of the autopilot stay unchanged.
            let prefix = middleware.resolve(&settings.params.topic_prefix)?;
            for writer in middleware.report() {
                if writer.topic.starts_with(&prefix) {
                    recorder.set_subscribers(&writer.topic, 1);
                }
            }
            found.extend(probe_renderer(&settings));
            std::thread::sleep(duration);
            drop(bridge);
        }
        Err(NodeError::Bind(failures)) => {
            let is_bridge =
                |holder: &Holder| matches!(&holder.process, Some((_, name)) if name == OWN_NAME);
            if failures.iter().flat_map(|failure| &failure.holders).any(is_bridge) {
                // These hold sockets on ports that the running bridge shares, and would take its datagrams.
                drop((subscription, recorder, middleware));
                // Kept until the end, because in a ROS 2 workspace its node runs the callbacks.
                let graph = graph()?;
                let (running, _subscription) = subscribe(&graph, &node)?;
                std::thread::sleep(duration);
                found.extend(running.lock().take().unwrap_or_else(|| {
                    let what = "a bridge runs on this host, but its diagnostics do not arrive";
                    let remedy = "set the same environment as the bridge (ROS_DOMAIN_ID, ROS_LOCALHOST_ONLY), or use --seconds 15";
                    vec![Finding::new(Code::Start, "/diagnostics", what, remedy)]
                }));
                return Ok(found);
            }
            found.extend(failures.iter().map(port_taken));
        }
        Err(other) => found.push(Finding::new(
            Code::Start,
            "rfly_bridge",
            format!("does not start: {other}"),
            "correct the cause, then run doctor again",
        )),
    }
    if let Some(latest) = latest.lock().take() {
        // The bridge makes the same checks of the host, and knows which of their findings its data disproves.
        found.retain(|found| found.code != Code::ReceiveAddress);
        // The bridge that doctor starts is not in the graph.
        found.extend(latest.into_iter().filter(|found| found.code != Code::HostSilent));
    }
    Ok(found)
}

/// Subscribes to `/diagnostics`, and converts the status `doctor` of each report of `node` into findings.
fn subscribe(
    middleware: &Middleware,
    node: &str,
) -> Result<(LatestFindings, Subscription), RosError> {
    let latest = LatestFindings::default();
    let writer = latest.clone();
    let name = format!("{node}: doctor");
    let subscription =
        middleware.subscribe::<DiagnosticArray>("/diagnostics", Qos::DEFAULT, move |message| {
            let doctor = message.status.iter().find(|s| s.name == name);
            if let Some(status) = doctor {
                let values = status.values.iter().map(|v| (v.key.as_str(), v.value.as_str()));
                *writer.lock() = Some(from_values(values));
            }
        })?;
    Ok((latest, subscription))
}

fn port_taken(failure: &BindFailure) -> Finding {
    let BindFailure { what: subject, port, reason, holders } = failure;
    let process = holders.iter().find_map(|holder| holder.process.as_ref());
    let remedy = match process {
        Some((id, _)) => format!("kill {id} if you no longer need it"),
        None => "sudo ss -ulpn shows the process that holds it".to_owned(),
    };
    let what = format!("{port}: {reason}");
    let remedy = format!("{remedy}; docs/ports.md says what the port is for");
    Finding::new(Code::PortTaken, subject, what, remedy)
}

/// Sends an empty datagram, which is no request; returns a finding if the simulator's host answers with ICMP
/// `port unreachable`.
fn probe_renderer(settings: &Settings) -> Option<Finding> {
    let renderer = settings.renderer();
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.set_read_timeout(Some(REFUSAL_TIMEOUT)).ok()?;
    socket.connect(renderer).ok()?;
    socket.send(&[]).ok()?;
    let answer = socket.recv(&mut [0; 1]);
    let refused = answer.is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionRefused);
    let needed = !settings.sensors.is_empty();
    (refused && needed).then(|| {
        let what = "the host refuses datagrams to this port: RflySim3D does not run there, or has another window number";
        let remedy = "start RflySim3D there, or set -p simulator_address:=<its host> or -p window:=<its number>";
        Finding::new(Code::NoListener, renderer.to_string(), what, remedy)
    })
}
