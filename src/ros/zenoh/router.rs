//! A Zenoh router, like `rmw_zenohd` of `rmw_zenoh_cpp`.
use super::{beside_runtimes, config, failed};
use crate::ros::{RosError, ZenohOptions};
use std::{
    io::ErrorKind,
    net::{TcpStream, ToSocketAddrs as _},
    sync::mpsc,
    time::Duration,
};
use zenoh::{Session, Wait as _};

/// Limit for a router to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest wait for the next reason in [`absence`].
const REASON_TIMEOUT: Duration = Duration::from_secs(3);

/// A router of this process; ends on drop.
pub struct Router {
    session: Session,
    addresses: String,
}

impl Router {
    /// Opens the addresses of the configuration, by default TCP port 7447 of all interfaces.
    pub fn open(options: &ZenohOptions) -> Result<Self, RosError> {
        let config = config::of_router(options)?;
        let addresses = config::endpoints(&config, config::LISTEN).join(", ");
        let session = beside_runtimes(|| zenoh::open(config).wait());
        let session = session.map_err(|error| failed("open", &addresses, &error))?;
        Ok(Self { session, addresses })
    }

    /// The addresses that it listens on, such as `tcp/[::]:7447`.
    pub fn addresses(&self) -> &str {
        &self.addresses
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let _closed = beside_runtimes(|| self.session.close().wait());
    }
}

/// Returns why no router can be reached at these endpoints, and what to do.
pub(super) fn absence(endpoints: Vec<String>) -> String {
    if endpoints.is_empty() {
        return format!("{} is empty", config::CONNECT);
    }
    let (found, reasons) = mpsc::channel();
    let count = endpoints.len();
    let all = endpoints.join(", ");
    // One thread per endpoint: if a name server takes longer than the limit, its thread is left behind.
    for endpoint in endpoints {
        let found = found.clone();
        start_search(move || {
            let _nobody_waits = found.send(format!("{endpoint}: {}", reason(&endpoint)));
        });
    }
    let next = || reasons.recv_timeout(REASON_TIMEOUT).ok();
    let known: Vec<_> = std::iter::from_fn(next).take(count).collect();
    if known.is_empty() { format!("{all}: no answer") } else { known.join("; ") }
}

/// Starts a thread that searches for a router.
pub(super) fn start_search(search: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().name("rfly-router".to_owned()).spawn(search);
    if let Err(error) = thread {
        tracing::warn!("no thread searches for the Zenoh router: {error}");
    }
}

fn reason(endpoint: &str) -> String {
    let address = endpoint.trim_start_matches(config::TCP);
    // `?` begins metadata of Zenoh, `#` settings.
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let addresses = match address.to_socket_addrs() {
        Ok(addresses) => addresses.collect::<Vec<_>>(),
        Err(error) => return format!("cannot be resolved ({error}): check its name"),
    };
    let mut last = String::from("the name has no address");
    for address in addresses {
        last = match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(_) => {
                return "accepts connections and opens no Zenoh session: another program, a router that wants TLS, or Zenoh \
                        before 1.0"
                    .to_owned();
            }
            Err(error) => match error.kind() {
                ErrorKind::ConnectionRefused => {
                    "nobody listens there: start a router with `rfly_bridge router` (or `ros2 run rmw_zenoh_cpp rmw_zenohd`)"
                        .to_owned()
                }
                ErrorKind::TimedOut => {
                    "no answer: check the address, the network and the firewall of that host"
                        .to_owned()
                }
                _ => format!("{error}: check the address and the network"),
            },
        };
    }
    last
}
