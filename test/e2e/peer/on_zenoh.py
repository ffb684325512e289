"""The peer on Zenoh (`RFLY_MIDDLEWARE=zenoh`): PyPI `eclipse-zenoh` carries, `zenoh-ros2-sdk` makes keys and tokens, `rosbags`
decodes. It stands in for the Cyclone peer of this package, so that the same tests run on both."""

from __future__ import annotations

import atexit
import itertools
import threading
import time
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
import zenoh
from processes import ROOT, Process, binary
from zenoh import ext
from zenoh_ros2_sdk.attachment import Attachment
from zenoh_ros2_sdk.entity import EndpointEntity, EntityKind, NodeEntity
from zenoh_ros2_sdk.keyexpr import endpoint_liveliness_keyexpr, node_liveliness_keyexpr, topic_keyexpr
from zenoh_ros2_sdk.qos import QosDurability, QosHistoryKind, QosProfile, QosReliability

from backend import GRAPH
from peer.messages import TYPES, decode, make
from peer.participant import Offer, Peer, Sample, Want
from peer.raw import demangle_type, mangle_type

_LINES = (ROOT / "test/fixtures/type_hashes.txt").read_text().splitlines()
HASHES = dict(line.split() for line in _LINES)
"""Hash of each type, from rosidl (test/fixtures/PROVENANCE.md)."""


def rihs(ros_type: str) -> str:
    """The hash as keys have it; of messages that the fixture lacks by rosbags, which knows none of whole services."""
    if ros_type not in HASHES and "/srv/" in ros_type:
        pytest.skip(f"nobody else computes the hash of {ros_type}")
    return f"RIHS01_{HASHES[ros_type]}" if ros_type in HASHES else TYPES.hash_rihs01(ros_type)


@cache
def router() -> Process:
    """The router of this test process: `rfly_bridge router`, on the standard port."""
    log = Path(mkdtemp(prefix="rfly_zenoh_"), "router.log")
    process = Process("router", [binary("rfly_bridge", "RFLY_BRIDGE"), "router"], log).start()
    atexit.register(process.kill)
    process.wait_for_output("Zenoh router on ")
    return process


def typed(ros_type: str) -> tuple[str, str]:
    """The type and its hash, as both stand in keys."""
    known = "TypeHashNotSupported" if GRAPH == "humble" else rihs(ros_type)
    return mangle_type(ros_type), known


def profile(*, reliable: bool, transient_local: bool, depth: int) -> QosProfile:
    """QoS as tokens announce it."""
    return QosProfile(
        reliability=QosReliability.RELIABLE if reliable else QosReliability.BEST_EFFORT,
        durability=QosDurability.TRANSIENT_LOCAL if transient_local else QosDurability.VOLATILE,
        history_depth=depth,
    )


class ZenohPeer(Peer):
    """A session that is one ROS node of domain `domain_id`, beside the router on this host."""

    def __init__(self, domain_id: int, *, buffer: str = "", shared_memory: bool = True):
        router()
        config = zenoh.Config()
        for key, value in {
            "mode": '"peer"',
            "connect/endpoints": '["tcp/127.0.0.1:7447"]',
            "listen/endpoints": '["tcp/127.0.0.1:0"]',
            "scouting/multicast/enabled": "false",
            # As rmw_zenoh_cpp: two nodes that connect to each other at once would lose what they send then.
            "scouting/gossip/target": '{router: ["router", "peer"], peer: ["router"]}',
            "scouting/gossip/autoconnect_strategy": '{peer: {to_router: "always", to_peer: "greater-zid"}}',
            "timestamping/enabled": "true",
            "transport/shared_memory/enabled": str(shared_memory).lower(),
        }.items():
            config.insert_json5(key, value)
        self.domain_id, self.caller, self.subscriptions = domain_id, None, []
        self.session = zenoh.open(config)
        # A session that is open at the end keeps the interpreter from ending.
        atexit.register(self.session.close)
        self.zid = str(self.session.zid())
        self._ids = itertools.count(1)
        self._lock, self._seen = threading.Lock(), set()
        liveliness = self.session.liveliness()
        self._watch = liveliness.declare_subscriber(f"@ros2_lv/{domain_id}/**", self._on_token, history=True)
        self.node = NodeEntity(domain_id=domain_id, session_id=self.zid, node_id=0, node_name="peer", namespace="/")
        self._token = liveliness.declare_token(node_liveliness_keyexpr(self.node))

    def _on_token(self, sample: zenoh.Sample) -> None:
        with self._lock:
            change = self._seen.add if sample.kind == zenoh.SampleKind.PUT else self._seen.discard
            change(str(sample.key_expr))

    def tokens(self, kind: str = "", *, own: bool = False) -> list[list[str]]:
        """The parts of each token of a kind (NN, MP, MS, SS, SC), without those of the peer."""
        with self._lock:
            parts = [token.split("/") for token in sorted(self._seen)]
        return [part for part in parts if kind in ("", part[5]) and (own or part[2] != self.zid)]

    def announce(self, kind: EntityKind, name: str, ros_type: str, qos: QosProfile) -> zenoh.LivelinessToken:
        """Makes an endpoint known."""
        dds_type, known = typed(ros_type)
        entity = EndpointEntity(
            node=self.node, entity_id=next(self._ids), kind=kind, name=name, dds_type_name=dds_type,
            type_hash=known, qos=qos.encode(), gid=bytes(16),
        )  # fmt: skip
        return self.session.liveliness().declare_token(endpoint_liveliness_keyexpr(entity))

    def key(self, name: str, ros_type: str) -> str:
        """Where the data of a topic or service are."""
        return topic_keyexpr(self.domain_id, name, *typed(ros_type))

    def offers(self) -> list[Offer]:
        offers = []
        for part in self.tokens("MP"):
            qos = QosProfile.decode(part[12])
            reliable = qos.reliability == QosReliability.RELIABLE
            transient_local = qos.durability == QosDurability.TRANSIENT_LOCAL
            depth = 0 if qos.history_kind == QosHistoryKind.KEEP_ALL else qos.history_depth
            name, ros_type = part[9].replace("%", "/"), demangle_type(part[10])
            offers.append(Offer(name, ros_type, reliable, transient_local, depth, "/".join(part).encode()))
        return offers

    def wants(self) -> list[Want]:
        wants = []
        for part in self.tokens("MS"):
            qos = QosProfile.decode(part[12])
            reliable = qos.reliability == QosReliability.RELIABLE
            transient_local = qos.durability == QosDurability.TRANSIENT_LOCAL
            wants.append(Want(part[9].replace("%", "/"), demangle_type(part[10]), reliable, transient_local))
        return wants

    def services(self) -> dict[str, str]:
        return {part[9].replace("%", "/"): demangle_type(part[10]) for part in self.tokens("SS")}

    def subscribe(
        self, topic: str, ros_type: str, *, reliable: bool = True, transient_local: bool = False, depth: int = 50
    ) -> ZenohSubscription:
        qos = profile(reliable=reliable, transient_local=transient_local, depth=depth)
        subscription = ZenohSubscription(self, topic, ros_type, qos)
        self.subscriptions.append(subscription)
        return subscription

    def unsubscribe(self, subscription: ZenohSubscription) -> None:
        self.subscriptions.remove(subscription)
        subscription.close()

    def close(self) -> None:
        self.subscriptions.clear()
        self.session.close()


class ZenohSubscription:
    """Collects the messages of one topic."""

    def __init__(self, peer: ZenohPeer, topic: str, ros_type: str, qos: QosProfile):
        self.topic, self.type, self._peer = topic, ros_type, peer
        self.samples: list[Sample] = []
        self.shared = 0
        """Samples that came in shared memory."""
        self._arrived: list[tuple[float, bytes, Attachment]] = []
        options: dict[str, Any] = {}
        if qos.durability == QosDurability.TRANSIENT_LOCAL:
            history = ext.HistoryConfig(detect_late_publishers=True, max_samples=qos.history_depth)
            options = {"history": history, "subscriber_detection": True}
            if qos.reliability == QosReliability.RELIABLE:
                options["recovery"] = ext.RecoveryConfig(periodic_queries=None, heartbeat=True)
        key = peer.key(topic, ros_type)
        self._reader = ext.declare_advanced_subscriber(peer.session, key, self._on_sample, **options)
        self._token = peer.announce(EntityKind.SUBSCRIPTION, topic, ros_type, qos)

    def _on_sample(self, sample: zenoh.Sample) -> None:
        self.shared += sample.payload.as_shm() is not None
        # rmw_zenoh_cpp drops a sample without attachment.
        attachment = Attachment.from_bytes(sample.attachment.to_bytes())
        self._arrived.append((time.time(), sample.payload.to_bytes(), attachment))

    def take(self) -> list[Sample]:
        """Takes what has arrived, appends it to `samples` and returns the new ones."""
        arrived, self._arrived = self._arrived, []
        new = [Sample(at, cdr, decode(cdr, self.type), sent.timestamp_ns) for at, cdr, sent in arrived]
        self.samples += new
        return new

    def matched(self) -> int:
        """Number of publishers that this subscription is connected to."""
        return sum(offer.topic == self.topic for offer in self._peer.offers())

    def close(self) -> None:
        """Ends it."""
        self._token.undeclare()
        self._reader.undeclare()

    @property
    def messages(self) -> list[Any]:
        """All decoded messages so far, in order of arrival."""
        return [sample.message for sample in self.samples]


def stamped(number: int) -> bytes:
    """An attachment of now."""
    return Attachment(number, time.time_ns(), bytes(range(16))).to_bytes()


class ZenohPublication:
    """Publishes on one topic."""

    def __init__(self, peer: ZenohPeer, topic: str, ros_type: str, *, reliable: bool = True, transient_local: bool = False):
        self.topic, self.type, self._peer = topic, ros_type, peer
        options: dict[str, Any] = {}
        if transient_local:
            options = {"cache": ext.CacheConfig(10), "publisher_detection": True}
            if reliable:
                options["sample_miss_detection"] = ext.MissDetectionConfig(heartbeat=None, sporadic_heartbeat=0.5)
        self._writer = ext.declare_advanced_publisher(peer.session, peer.key(topic, ros_type), **options)
        self._numbers = itertools.count(1)
        qos = profile(reliable=reliable, transient_local=transient_local, depth=10)
        self._token = peer.announce(EntityKind.PUBLISHER, topic, ros_type, qos)

    def matched(self) -> int:
        """Number of subscriptions that it reaches."""
        return sum(want.topic == self.topic for want in self._peer.wants())

    def wait(self, timeout: float = 60.0) -> ZenohPublication:
        """Returns once somebody subscribes."""
        self._peer.wait_for(self.matched, f"a subscription to {self.topic}", timeout)
        return self

    def publish(self, **fields: Any) -> None:
        """Sends a message; nested fields are dictionaries. A header is stamped now unless it is given."""
        message = make(self.type, fields)
        if "header" not in fields and hasattr(message, "header"):
            now = time.time_ns()
            message.header.stamp.sec, message.header.stamp.nanosec = now // 10**9, now % 10**9
        cdr = bytes(TYPES.serialize_cdr(message, self.type))
        self._writer.put(cdr, attachment=stamped(next(self._numbers)))


class ZenohClient:
    """Calls one service."""

    def __init__(self, peer: ZenohPeer, service: str, ros_type: str):
        self.type, self.service, self._peer = ros_type, service, peer
        self._querier = peer.session.declare_querier(
            peer.key(service, ros_type),
            target=zenoh.QueryTarget.ALL_COMPLETE,
            consolidation=zenoh.ConsolidationMode.NONE,
            timeout=600.0,
        )
        self._token = peer.announce(EntityKind.CLIENT, service, ros_type, profile(reliable=True, transient_local=False, depth=10))
        self._numbers = itertools.count(1)
        self._answers: dict[int, Any] = {}

    def available(self) -> bool:
        """Has discovery found the service?"""
        return self._querier.matching_status.matching

    def wait(self, timeout: float = 60.0) -> ZenohClient:
        """Returns once the service is there."""
        self._peer.wait_for(self.available, f"the service {self.service}", timeout)
        return self

    def send(self, request: Any) -> int:
        """Sends a request, fields by name, and returns its number. `bytes` go as they are."""
        number, name = next(self._numbers), f"{self.type}_Request"
        cdr = request if isinstance(request, bytes) else bytes(TYPES.serialize_cdr(make(name, request), name))
        self._querier.get(self._on_reply, payload=cdr, attachment=stamped(number))
        return number

    def _on_reply(self, reply: zenoh.Reply) -> None:
        number = Attachment.from_bytes(reply.ok.attachment.to_bytes()).sequence_id
        assert number not in self._answers, f"a second response to request {number}"
        self._answers[number] = decode(reply.ok.payload.to_bytes(), f"{self.type}_Response")

    def receive(self, number: int, timeout: float = 30.0) -> Any:
        """The response to request `number`."""
        self._peer.wait_for(lambda: number in self._answers, f"the response of {self.service}", timeout)
        return self._answers.pop(number)

    def call(self, timeout: float = 30.0, **fields: Any) -> Any:
        """Sends a request and returns the response."""
        return self.receive(self.send(fields), timeout)
