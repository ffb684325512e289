"""A publisher of ROS messages, and one that repeats its last message at a steady rate as controllers do."""

from __future__ import annotations

import threading
import time
from typing import Any

from backend import MIDDLEWARE
from cyclonedds.core import Policy, Qos
from cyclonedds.pub import DataWriter
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from peer.messages import TYPES, make
from peer.participant import Peer, dds_name
from peer.raw import mangle_type, raw_class


class Publication:
    """Publishes on one topic."""

    def __init__(self, peer: Peer, topic: str, ros_type: str, *, reliable: bool = True, transient_local: bool = False):
        self.topic, self.type, self._peer = topic, ros_type, peer
        qos = Qos(
            Policy.Reliability.Reliable(duration(seconds=1)) if reliable else Policy.Reliability.BestEffort,
            Policy.Durability.TransientLocal if transient_local else Policy.Durability.Volatile,
            Policy.History.KeepLast(10),
        )
        self._class = raw_class(mangle_type(ros_type))
        self._writer = DataWriter(peer.participant, Topic(peer.participant, dds_name(topic), self._class), qos=qos)

    def matched(self) -> int:
        """Number of subscriptions that it reaches."""
        return len(self._writer.get_matched_subscriptions())

    def wait(self, timeout: float = 60.0) -> Publication:
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
        self._writer.write(self._class(cdr + bytes(-len(cdr) % 4)))


if MIDDLEWARE == "zenoh":
    from peer.on_zenoh import ZenohPublication as Publication  # noqa: F811


class Stream:
    """Publishes the message that was `set` last, again and again, until it is left or told to `pause`."""

    def __init__(self, publication: Publication, rate_hz: float = 20.0, **fields: Any):
        self._publication, self._period, self._fields = publication, 1 / rate_hz, fields
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def set(self, **fields: Any) -> None:
        """What is sent from now on."""
        self._fields = fields

    def pause(self) -> None:
        """Sends nothing until the next `set`."""
        self._fields = None

    def _run(self) -> None:
        due = time.monotonic()
        while not self._end.wait(max(0.0, due - time.monotonic())):
            due = max(due + self._period, time.monotonic())
            if (fields := self._fields) is not None:
                self._publication.publish(**fields)

    def __enter__(self) -> Stream:
        if self._thread.ident is None:
            self._publication.wait()
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
