"""The peer as a node: without `ros_discovery_info` nobody knows whose its readers and writers are."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from peer.messages import make
from peer.participant import Peer
from peer.publisher import Publication

INFO = "rmw_dds_common/msg/ParticipantEntitiesInfo"


def gid(entity: object) -> dict:
    """As `rmw_dds_common/msg/Gid` has it: its length depends on the distribution."""
    length = len(make("rmw_dds_common/msg/Gid").data)
    return {"data": np.frombuffer(entity.guid.bytes.ljust(length, b"\0"), np.uint8)}


def announce_node(
    peer: Peer, namespace: str, name: str, *, readers: Iterable[object] = (), writers: Iterable[object] = ()
) -> Publication:
    """Says that these endpoints are a node's; the peer is one as long as the result is kept."""
    node = {
        "node_namespace": namespace,
        "node_name": name,
        "reader_gid_seq": [gid(reader) for reader in readers],
        "writer_gid_seq": [gid(writer) for writer in writers],
    }
    told = Publication(peer, "ros_discovery_info", INFO, transient_local=True)
    told.publish(gid=gid(peer.participant), node_entities_info_seq=[node])
    return told
