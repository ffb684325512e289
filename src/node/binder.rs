//! Binds the ports of the bridge.
use super::error::NodeError;
use super::neighbours::Neighbours;
use crate::program::limit_behind;
use crate::transport::{BindOptions, Holders, PacketTapSlot, StreamReceiver, UdpReceiver};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::RangeInclusive;

/// Binds sockets and collects all failures, to report them together.
#[derive(Default)]
pub(super) struct Binder {
    failures: Vec<String>,
    /// Shared ports, which other programs may bind too.
    pub(super) neighbours: Neighbours,
    /// Place of who sees all that is received.
    pub(super) packet_tap: PacketTapSlot,
    /// Instead of binding anything it is only noted.
    noted: Option<Listens>,
}

/// Where a bridge receives.
#[derive(Clone, Debug, Default)]
pub struct Listens {
    /// UDP ports.
    pub ports: BTreeSet<u16>,
    /// Multicast groups.
    pub groups: BTreeSet<Ipv4Addr>,
    /// Blocks of shared memory, with the lengths that they may have.
    pub blocks: BTreeMap<String, RangeInclusive<usize>>,
}

impl Binder {
    /// Binds nothing.
    pub(super) fn only_notes() -> Self {
        Self {
            noted: Some(Listens::default()),
            ..Self::default()
        }
    }

    /// Binds while the bridge runs.
    pub(super) fn with_tap(packet_tap: PacketTapSlot) -> Self {
        Self {
            packet_tap,
            ..Self::default()
        }
    }

    /// What would have been bound.
    pub(super) fn noted(self) -> Listens {
        self.noted.unwrap_or_default()
    }

    /// Notes a block of shared memory that is read.
    pub(super) fn reads(&mut self, name: &str, lens: &RangeInclusive<usize>) {
        if let Some(noted) = &mut self.noted {
            noted.blocks.insert(name.to_owned(), lens.clone());
        }
    }

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
        if let Some(noted) = &mut self.noted {
            // The system would choose another port for 0.
            noted
                .ports
                .extend((options.port > 0).then_some(options.port));
            noted.groups.extend(&options.groups);
            return None;
        }
        let receiver = bind(&BindOptions {
            packet_tap: self.packet_tap.clone(),
            ..options.clone()
        });
        match &receiver {
            Ok(_) if options.reuse => self.neighbours.watch(options, what),
            Ok(_) => {}
            Err(error) => {
                let by: String = (Holders::default().on(&[options.port].into()).iter())
                    .map(|(_, holder)| format!(", by {holder}"))
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
        if self.noted.is_some() {
            return None;
        }
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
