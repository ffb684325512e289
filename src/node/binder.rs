//! Binds the ports of the bridge.
use super::error::NodeError;
use super::neighbours::Neighbours;
use crate::program::limit_behind;
use crate::transport::{BindOptions, Stand, StreamReceiver, UdpReceiver, holders};
use std::io;
use std::net::{Ipv4Addr, TcpListener};

/// Binds sockets and collects all failures, to report them together.
#[derive(Default)]
pub(super) struct Binder {
    failures: Vec<String>,
    /// Shared ports, which other programs may bind too.
    pub(super) neighbours: Neighbours,
    /// Place of who sees all that is received.
    pub(super) stand: Stand,
}

impl Binder {
    /// Binds a socket for a task; call it inside the task's runtime.
    pub(super) fn bind(&mut self, options: &BindOptions, what: &str) -> Option<UdpReceiver> {
        self.bind_with(UdpReceiver::bind, options, what)
    }

    /// Binds a socket for a thread.
    pub(super) fn bind_stream(
        &mut self,
        options: &BindOptions,
        what: &str,
    ) -> Option<StreamReceiver> {
        self.bind_with(StreamReceiver::bind, options, what)
    }

    fn bind_with<R>(
        &mut self,
        bind: fn(&BindOptions) -> io::Result<R>,
        options: &BindOptions,
        what: &str,
    ) -> Option<R> {
        let receiver = bind(&BindOptions {
            stand: self.stand.clone(),
            ..options.clone()
        });
        match &receiver {
            Ok(_) if options.reuse => self.neighbours.watch(options, what),
            Ok(_) => {}
            Err(error) => {
                let by: String = holders(options.port)
                    .iter()
                    .map(|holder| format!(", by {holder}"))
                    .collect();
                let limit = limit_behind(error);
                self.failures.push(format!(
                    "{what}: UDP port {}: {error}{by}{limit}",
                    options.port
                ));
            }
        }
        receiver.ok()
    }

    /// Listens on a TCP port of this host that only this host reaches.
    pub(super) fn bind_tcp(&mut self, port: u16, what: &str) -> Option<TcpListener> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        if let Err(error) = &listener {
            self.failures
                .push(format!("{what}: TCP port {port}: {error}"));
        }
        listener.ok()
    }

    /// Fails with the ports that could not be bound.
    pub(super) fn finish(self) -> Result<(), NodeError> {
        match self.failures.is_empty() {
            true => Ok(()),
            false => Err(NodeError::Bind(self.failures)),
        }
    }
}
