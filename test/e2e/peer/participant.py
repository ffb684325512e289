"""The DDS participant of the tests: discovery, QoS of offers, subscriptions, the ROS graph."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend import BACKEND
from cyclonedds.builtin import (
    BuiltinDataReader,
    BuiltinTopicDcpsParticipant,
    BuiltinTopicDcpsPublication,
    BuiltinTopicDcpsSubscription,
)
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from peer.messages import decode
from peer.raw import Raw, demangle_type, mangle_type, raw_class

# Loopback only, discovery by unicast as `ROS_LOCALHOST_ONLY=1` does it; as large a receive buffer as the system grants.
LOOPBACK = """<CycloneDDS><Domain Id="any">
  <General>
    <Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>
    <AllowMulticast>{multicast}</AllowMulticast>
  </General>
  <Discovery>
    <ParticipantIndex>auto</ParticipantIndex>
    <MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>
    <Peers><Peer address="127.0.0.1"/></Peers>
  </Discovery>
  <Internal><SocketReceiveBufferSize max="{buffer}"/></Internal>
</Domain></CycloneDDS>"""


@dataclass(frozen=True)
class Offer:
    """What discovery says of one publisher."""

    topic: str
    """ROS name, such as `/rflysim/sensor0/img_rgb`."""
    type: str
    """ROS type, such as `sensor_msgs/msg/Image`."""
    reliable: bool
    transient_local: bool
    depth: int | None
    """History depth; 0 means keep all. Meaningless where the publisher's DDS does not tell it."""
    writer: bytes
    """16-byte GUID of the DDS writer."""


@dataclass(frozen=True)
class Want:
    """What discovery says of one subscription."""

    topic: str
    type: str
    reliable: bool
    transient_local: bool


@dataclass(frozen=True)
class Sample:
    """One received message."""

    arrival: float
    """Host time, Unix seconds, when the peer took it."""
    cdr: bytes
    message: Any
    source_ns: int
    """Host time, Unix nanoseconds, when it was published."""


class Subscription:
    """Collects the messages of one topic."""

    def __init__(self, peer: Peer, topic: str, ros_type: str, *, reliable: bool, transient_local: bool, depth: int):
        self.topic, self.type = topic, ros_type
        qos = Qos(
            Policy.Reliability.Reliable(duration(seconds=1)) if reliable else Policy.Reliability.BestEffort,
            Policy.Durability.TransientLocal if transient_local else Policy.Durability.Volatile,
            Policy.History.KeepLast(depth),
        )
        self._topic = Topic(peer.participant, dds_name(topic), raw_class(mangle_type(ros_type)))
        self._reader = DataReader(peer.participant, self._topic, qos=qos)
        self.samples: list[Sample] = []

    def take(self) -> list[Sample]:
        """Takes what has arrived, appends it to `samples` and returns the new ones."""
        new = []
        while batch := self._reader.take(N=64):
            for raw in batch:
                if isinstance(raw, Raw):
                    sent = raw.sample_info.source_timestamp
                    new.append(Sample(time.time(), raw.cdr, decode(raw.cdr, self.type), sent))
        self.samples += new
        return new

    def matched(self) -> int:
        """Number of publishers that this subscription is connected to."""
        return len(self._reader.get_matched_publications())

    @property
    def messages(self) -> list[Any]:
        """All decoded messages so far, in order of arrival."""
        return [sample.message for sample in self.samples]


# One configuration per process and domain: Cyclone refuses a second one.
_DOMAINS: dict[int, Domain] = {}

# Topics that ROS 2 does not mangle.
DDS_NAMES = {"ros_discovery_info"}


def dds_name(topic: str) -> str:
    """What a ROS topic is called in DDS."""
    return topic if topic in DDS_NAMES else f"rt{topic}"


def process_ids(participants: BuiltinDataReader) -> list[int]:
    """Ids of the processes that are discovered as participants (Cyclone says them in a property)."""
    found = []
    for participant in participants.read(N=1000):
        info = getattr(participant, "sample_info", None)
        if info is not None and (info.instance_state & 16) == 0:  # DDS_ALIVE_INSTANCE_STATE
            continue
        policies = getattr(participant, "qos", ())
        found += [int(policy.value) for policy in policies if getattr(policy, "key", "") == "__Pid"]
    return found


def dead_processes(participants: BuiltinDataReader) -> list[int]:
    """Ids of the discovered processes that run no more."""
    return [pid for pid in process_ids(participants) if not Path("/proc", str(pid)).exists()]


class Peer:
    """A participant in domain `domain_id` on the loopback interface."""

    def __init__(self, domain_id: int, *, buffer: str = "4MB"):
        if domain_id not in _DOMAINS:
            # In Humble a node confined to loopback announces itself by multicast; the embedded back end does it both ways.
            multicast = "true" if BACKEND == "rclrs" else "false"
            _DOMAINS[domain_id] = Domain(domain_id, LOOPBACK.format(multicast=multicast, buffer=buffer))
        self.domain_id = domain_id
        self.participant = DomainParticipant(domain_id)
        self.caller: Any = None
        """A process that calls services for the peer (`peer.rclpy_services`)."""
        self._publications = BuiltinDataReader(self.participant, BuiltinTopicDcpsPublication)
        self._readers = BuiltinDataReader(self.participant, BuiltinTopicDcpsSubscription)
        self._offers: dict[bytes, Offer] = {}
        self.subscriptions: list[Subscription] = []
        # A killed bridge of an earlier test stays discovered for its lease, and a client would call its services.
        participants = BuiltinDataReader(self.participant, BuiltinTopicDcpsParticipant)
        self.wait_for(lambda: not dead_processes(participants), "the end of the lease of killed programs", timeout=60)

    def offers(self) -> list[Offer]:
        """Every ROS publisher that exists in the domain now, the peer's own excluded."""
        own = self.participant.guid
        offers = []
        for endpoint in self._publications.read(N=10_000):
            info = getattr(endpoint, "sample_info", None)
            if info is not None and (info.instance_state & 16) == 0:  # DDS_ALIVE_INSTANCE_STATE
                continue
            if not hasattr(endpoint, "type_name") or endpoint.participant_key == own:
                continue
            ros_type = demangle_type(endpoint.type_name)
            name = endpoint.topic_name
            if ros_type is None or not (name.startswith("rt/") or name in DDS_NAMES):
                continue
            history = endpoint.qos[Policy.History] if Policy.History in endpoint.qos else None
            offers.append(
                Offer(
                    topic=name[2:] if name.startswith("rt/") else name,
                    type=ros_type,
                    reliable=isinstance(endpoint.qos[Policy.Reliability], Policy.Reliability.Reliable),
                    transient_local=endpoint.qos[Policy.Durability] == Policy.Durability.TransientLocal,
                    depth=history and (history.depth if isinstance(history, Policy.History.KeepLast) else 0),
                    writer=endpoint.key.bytes,
                )
            )
        return offers

    def wants(self) -> list[Want]:
        """Every ROS subscription that exists in the domain now, the peer's own excluded."""
        wants = []
        for endpoint in self._readers.read(N=10_000):
            info = getattr(endpoint, "sample_info", None)
            if info is not None and (info.instance_state & 16) == 0:
                continue
            if not hasattr(endpoint, "type_name") or endpoint.participant_key == self.participant.guid:
                continue
            ros_type, name = demangle_type(endpoint.type_name), endpoint.topic_name
            if ros_type is not None and name.startswith("rt/"):
                reliable = isinstance(endpoint.qos[Policy.Reliability], Policy.Reliability.Reliable)
                transient_local = endpoint.qos[Policy.Durability] == Policy.Durability.TransientLocal
                wants.append(Want(name[2:], ros_type, reliable, transient_local))
        return wants

    def user_data(self) -> list[tuple[str, str]]:
        """DDS topic and USER_DATA of every writer and reader in the domain, the peer's own excluded."""
        endpoints = [*self._publications.read(N=10_000), *self._readers.read(N=10_000)]
        alive = [e for e in endpoints if hasattr(e, "topic_name") and e.sample_info.instance_state & 16]
        others = [e for e in alive if e.participant_key != self.participant.guid]
        data = [(e.topic_name, e.qos[Policy.Userdata] if Policy.Userdata in e.qos else None) for e in others]
        return [(topic, data.data.decode() if data else "") for topic, data in data]

    def services(self) -> dict[str, str]:
        """ROS service name -> ROS type of every service that is offered in the domain."""
        found = {}
        for endpoint in self._publications.read(N=10_000):
            name = getattr(endpoint, "topic_name", "")
            if name.startswith("rr/") and name.endswith("Reply") and endpoint.participant_key != self.participant.guid:
                ros_type = demangle_type(endpoint.type_name)
                found[name.removeprefix("rr").removesuffix("Reply")] = ros_type.removesuffix("_Response")
        return found

    def topics(self) -> dict[str, str]:
        """ROS topic name -> ROS type of every publisher in the domain."""
        return {offer.topic: offer.type for offer in self.offers()}

    def offer(self, topic: str) -> Offer:
        """The one publisher of `topic`."""
        found = [offer for offer in self.offers() if offer.topic == topic]
        assert len(found) == 1, f"{len(found)} publishers of {topic}: {found}"
        return found[0]

    def wait_for(self, wanted: Callable[[], Any], what: str, timeout: float = 30.0) -> Any:
        """Polls `wanted`, receiving meanwhile, until it returns something true; fails after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        late = False
        while not (result := wanted()):
            # Whoever was held up until the deadline looks once more at what has come meanwhile.
            assert not late, f"waited {timeout:.0f} s for {what}"
            late = time.monotonic() >= deadline
            self.take()
            time.sleep(0.005)
        return result

    def wait_for_topics(
        self, topics: Iterable[str], timeout: float = 60.0, check: Callable[[], None] = lambda: None
    ) -> None:
        """Returns as soon as every topic of `topics` has a publisher; `check` may fail earlier than the timeout."""
        missing = set(topics)

        def complete() -> bool:
            check()
            missing.difference_update(self.topics())
            return not missing

        try:
            self.wait_for(complete, "topics", timeout)
        except AssertionError:
            check()
            raise AssertionError(f"no publisher of {sorted(missing)}; there are {sorted(self.topics())}") from None

    def subscribe(
        self, topic: str, ros_type: str, *, reliable: bool = True, transient_local: bool = False, depth: int = 50
    ) -> Subscription:
        """Subscribes; the samples collect in the result whenever `take`, `collect` or `wait_for` runs."""
        subscription = Subscription(
            self, topic, ros_type, reliable=reliable, transient_local=transient_local, depth=depth
        )
        self.subscriptions.append(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """Removes the reader; the publisher sees one subscriber less."""
        self.subscriptions.remove(subscription)
        subscription._reader = None
        subscription._topic = None

    def take(self) -> None:
        """Takes what has arrived on every subscription."""
        for subscription in self.subscriptions:
            subscription.take()

    def close(self) -> None:
        """Leaves the domain; whoever still holds a subscription, such as a failed test, holds no reader."""
        for subscription in self.subscriptions:
            subscription._reader = subscription._topic = None
        self.subscriptions.clear()
        if self.caller:
            self.caller.close()
        self._publications = self._readers = self.participant = None
