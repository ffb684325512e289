//! A Zenoh router, as `rmw_zenohd` of `rmw_zenoh_cpp`.
use super::{beside_runtimes, config, failed};
use crate::ros::{RosError, ZenohOptions};
use zenoh::{Session, Wait as _};

/// A router of this process; ends on drop.
pub struct Router {
    session: Session,
    addresses: String,
}

impl Router {
    /// Opens the addresses of the configuration, by default TCP port 7447 of all interfaces.
    pub fn open(options: &ZenohOptions) -> Result<Self, RosError> {
        let config = config::of_router(options)?;
        let addresses = config::listens(&config);
        let session = beside_runtimes(|| zenoh::open(config).wait());
        let session = session.map_err(|error| failed("open", &addresses, &error))?;
        Ok(Self { session, addresses })
    }

    /// The addresses that it listens on, as a list in JSON.
    pub fn addresses(&self) -> &str {
        &self.addresses
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let _closed = beside_runtimes(|| self.session.close().wait());
    }
}
