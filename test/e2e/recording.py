"""What the subscribers got in one run, grouped for the tests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from geometry import TransformBuffer, nanoseconds
from peer import Offer, Sample
from system import System


SMALL = {
    "tf2_msgs/msg/TFMessage", "sensor_msgs/msg/Imu", "rosgraph_msgs/msg/Clock", "nav_msgs/msg/Odometry",
    "sensor_msgs/msg/CameraInfo", "diagnostic_msgs/msg/DiagnosticArray", "rfly_bridge_msgs/msg/BridgeStats",
    "rcl_interfaces/msg/ParameterEvent", "rcl_interfaces/msg/Log",
}  # fmt: skip


class Recording:
    """Subscribes to topics of a running system and keeps every message by topic and by stamp."""

    def __init__(self, system: System):
        self.system = system
        self.offers: dict[str, Offer] = {}
        self.samples: dict[str, list[Sample]] = defaultdict(list)
        self.transforms = TransformBuffer()
        self._subscriptions: dict[str, Any] = {}

    def subscribe(self, topics: dict[str, str]) -> None:
        """Subscribes to `topics` (name -> type) as soon as they are offered."""
        peer = self.system.peer
        peer.wait_for_topics(topics, check=self.system.assert_alive)
        self.offers = {offer.topic: offer for offer in peer.offers()}
        for topic, ros_type in topics.items():
            assert self.offers[topic].type == ros_type, f"{topic} is a {self.offers[topic].type}, not a {ros_type}"
            latched = self.offers[topic].transient_local
            # Nothing is overwritten before it is taken, even if this process gets nothing done for seconds.
            depth = 5000 if ros_type in SMALL else 200
            self._subscriptions[topic] = peer.subscribe(
                topic, ros_type, reliable=self.offers[topic].reliable, transient_local=latched, depth=depth
            )

    def collect(self, count: int, topics: list[str], timeout: float = 120.0) -> None:
        """Receives until every topic of `topics` has `count` messages."""

        self._wait({topic: count for topic in topics}, timeout)

    def collect_more(self, count: int, topics: list[str], timeout: float = 120.0) -> None:
        """Receives until every topic of `topics` has `count` messages more than now. For what comes again and again; what
        an action causes once is what `wait_for` is for."""
        self.harvest()
        self._wait({topic: len(self.samples[topic]) + count for topic in topics}, timeout)

    def wait_for(self, topic: str, wanted: Callable[[Any], bool], *, since: int = 0, timeout: float = 60.0) -> Any:
        """The first message of `topic` that is as `wanted`, whether it came before this call or comes after it; the first
        `since` messages are not looked at. What an action causes may be here before one gets round to waiting for it."""
        seen = since

        def found() -> list[Any]:
            nonlocal seen
            self.system.assert_alive()
            self.harvest()
            new = self.messages(topic)[seen:]
            seen += len(new)
            return [message for message in new if wanted(message)]

        try:
            return self.system.peer.wait_for(found, f"a message on {topic}", timeout)[0]
        except AssertionError as error:
            raise AssertionError(f"{error}; {seen - since} others came\n{self.system.report()}") from None

    def _wait(self, wanted: dict[str, int], timeout: float) -> None:
        def missing() -> dict[str, int]:
            return {t: n for t, count in wanted.items() if (n := len(self._subscriptions[t].samples)) < count}

        try:
            self.system.peer.wait_for(lambda: self.system.assert_alive() or not missing(), "messages", timeout)
        except AssertionError:
            raise AssertionError(f"too few messages: {missing()}\n{self.system.report()}") from None
        self.harvest()

    def collect_transforms(self, timeout: float = 60.0) -> None:
        """Receives /tf until it is as new as everything that was collected. (What was taken last may be newer than what had
        been taken of /tf a moment before.)"""
        newest = max(
            nanoseconds(message.header.stamp)
            for topic in self.samples
            for message in self.messages(topic)[-1:]
            if hasattr(message, "header")
        )

        def complete() -> bool:
            self.system.assert_alive()
            self._subscriptions["/tf"].take()
            self._keep("/tf")
            return self.transforms.known_until() >= newest

        try:
            self.system.peer.wait_for(complete, "transforms", timeout)
        except AssertionError as error:
            raise AssertionError(f"{error} until {newest}, not {self.transforms.known_until()}") from None

    def harvest(self) -> None:
        """Takes what has arrived into `samples` and `transforms`."""
        self.system.peer.take()
        for topic in self._subscriptions:
            self._keep(topic)

    def _keep(self, topic: str) -> None:
        fresh = self._subscriptions[topic].samples[len(self.samples[topic]) :]
        self.samples[topic] += fresh
        if topic in ("/tf", "/tf_static"):
            for sample in fresh:
                self.transforms.add(sample.message, static=topic == "/tf_static")

    def messages(self, topic: str) -> list[Any]:
        """Messages of a topic in order of arrival."""
        return [sample.message for sample in self.samples[topic]]

    def newest(self, topic: str) -> Sample:
        """The last message of a topic that was taken, whether it was harvested or not."""
        return self._subscriptions[topic].samples[-1]

    def by_stamp(self, topic: str) -> dict[int, Any]:
        """Header stamp in ns -> message."""
        return {nanoseconds(message.header.stamp): message for message in self.messages(topic)}
