//! Binds the ports of the bridge.
use super::error::{BindFailure, NodeError};
use super::shared_ports::SharedPorts;
use crate::program::limit_that_causes;
use crate::transport::{BindOptions, Holders, PacketTapSlot, UdpReceiver};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, TcpListener};
use std::{io, ops::RangeInclusive};

/// Binds sockets and collects all failures, to report them together.
#[derive(Default)]
pub(super) struct Binder {
    failures: Vec<BindFailure>,
    /// Shared ports, which other programs may bind too.
    pub(super) shared_ports: SharedPorts,
    pub(super) packet_tap: PacketTapSlot,
    /// If `Some`, endpoints are recorded here and not bound.
    pub(super) recorded: Option<ReceiveEndpoints>,
}

/// Endpoints on which a bridge receives.
#[derive(Clone, Debug, Default)]
pub struct ReceiveEndpoints {
    /// UDP ports.
    pub ports: BTreeSet<u16>,
    /// Multicast groups.
    pub groups: BTreeSet<Ipv4Addr>,
    /// Blocks of shared memory with their allowed lengths.
    pub blocks: BTreeMap<String, RangeInclusive<usize>>,
}

impl Binder {
    /// Creates a binder that only records endpoints.
    pub(super) fn recording() -> Self {
        Self { recorded: Some(ReceiveEndpoints::default()), ..Self::default() }
    }

    /// Creates a binder whose sockets copy their datagrams to this tap.
    pub(super) fn with_tap(packet_tap: PacketTapSlot) -> Self {
        Self { packet_tap, ..Self::default() }
    }

    pub(super) fn record_block(&mut self, name: &str, lengths: &RangeInclusive<usize>) {
        if let Some(recorded) = &mut self.recorded {
            recorded.blocks.insert(name.to_owned(), lengths.clone());
        }
    }

    /// Binds a socket for a task; call it inside the task's runtime.
    pub(super) fn bind(&mut self, options: &BindOptions, what: &str) -> Option<UdpReceiver> {
        self.bind_with(UdpReceiver::bind, options, what)
    }

    pub(super) fn bind_with<R>(
        &mut self,
        bind: fn(&BindOptions) -> io::Result<R>,
        options: &BindOptions,
        what: &str,
    ) -> Option<R> {
        if let Some(recorded) = &mut self.recorded {
            // For port 0 the system would choose a port.
            recorded.ports.extend((options.port > 0).then_some(options.port));
            recorded.groups.extend(&options.groups);
            return None;
        }
        let receiver =
            bind(&BindOptions { packet_tap: self.packet_tap.clone(), ..options.clone() });
        match &receiver {
            Ok(_) if options.reuse => self.shared_ports.watch(options, what),
            Ok(_) => {}
            Err(error) => {
                let holders = Holders::default().on(&[options.port].into()).into_iter();
                let holders: Vec<_> = holders.map(|(_, holder)| holder).collect();
                let by: String = holders.iter().map(|holder| format!(", by {holder}")).collect();
                let reason = format!("{error}{by}{}", limit_that_causes(error));
                let port = format!("UDP port {}", options.port);
                self.failures.push(BindFailure { what: what.to_owned(), port, reason, holders });
            }
        }
        receiver.ok()
    }

    /// Binds a TCP port that only this host can reach.
    pub(super) fn bind_tcp(&mut self, port: u16, what: &str) -> Option<TcpListener> {
        if self.recorded.is_some() {
            return None;
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
        if let Err(error) = &listener {
            self.failures.push(BindFailure {
                what: what.to_owned(),
                port: format!("TCP port {port}"),
                reason: error.to_string(),
                holders: Vec::new(),
            });
        }
        listener.ok()
    }

    /// Fails with the ports that could not be bound.
    pub(super) fn finish(self) -> Result<(), NodeError> {
        if self.failures.is_empty() { Ok(()) } else { Err(NodeError::Bind(self.failures)) }
    }
}
