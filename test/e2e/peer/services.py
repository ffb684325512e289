"""A client of ROS 2 services as rmw_cyclonedds_cpp is one: `rq<name>Request`, `rr<name>Reply`, 16 bytes (client,
sequence number) in front of every request and response, and one id at both of its ends."""

from __future__ import annotations

import itertools
import struct
import time
import uuid
from typing import Any

from cyclonedds.core import DDSException, Policy, Qos
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from backend import ANSWERS_PEER, BACKEND, MIDDLEWARE
from peer.messages import TYPES, make
from peer.participant import Peer
from peer.raw import Raw, mangle_type, raw_class
from peer.rclpy_services import RclpyClient

QOS = [Policy.Reliability.Reliable(duration(seconds=1)), Policy.Durability.Volatile, Policy.History.KeepLast(1000)]


class CycloneClient:
    """Calls one service.

    By its id rmw_cyclonedds_cpp finds the reader that a response must wait for: the service may know it later than we
    know the service. A client with an empty id has none, as old ones, and a workspace may answer it too early.
    """

    def __init__(
        self, peer: Peer, service: str, ros_type: str, *, with_reader: bool = True, client_id: str | None = None
    ):
        self.type, self.service, self._peer = ros_type, service, peer
        if client_id is None:
            client_id = ".".join(f"{byte:x}" for byte in uuid.uuid4().bytes)
        named = [Policy.Userdata(f"clientid={client_id};".encode())] if client_id else []
        self._qos = Qos(*QOS, *named)
        self._requests = Topic(
            peer.participant, f"rq{service}Request", raw_class(mangle_type(f"{ros_type}_Request"))
        )
        self._responses = Topic(
            peer.participant, f"rr{service}Reply", raw_class(mangle_type(f"{ros_type}_Response"))
        )
        self._writer = DataWriter(peer.participant, self._requests, qos=self._qos)
        self._reader = None
        if with_reader:
            self.open_reader()
        self._guid = int.from_bytes(self._writer.guid.bytes[8:], "little")
        self._number = itertools.count(1)
        self._answers: dict[int, Any] = {}

    def open_reader(self) -> None:
        """Creates the half that receives."""
        self._reader = DataReader(self._peer.participant, self._responses, qos=self._qos)

    def available(self) -> bool:
        """Has discovery found the service?"""
        found = len(self._writer.get_matched_subscriptions()) > 0
        return found and (self._reader is None or len(self._reader.get_matched_publications()) > 0)

    def wait(self, timeout: float = 60.0) -> CycloneClient:
        """Returns once the service is there."""
        self._peer.wait_for(self.available, f"the service {self.service}", timeout)
        if BACKEND == "rclrs":
            # rmw loses a request that comes before its service knows the client, and DDS does not tell the client when that
            # is. The embedded back end keeps such requests (src/ros/dds/early.rs).
            time.sleep(0.3)
        return self

    def send(self, request: Any) -> int:
        """Sends a request, fields by name, and returns its number. `bytes` go as they are."""
        number = next(self._number)
        if not isinstance(request, bytes):
            name = f"{self.type}_Request"
            cdr = bytes(TYPES.serialize_cdr(make(name, request), name))
        else:
            cdr = request
        header = struct.pack("<Qq", self._guid, number)
        data = cdr[:4] + header + cdr[4:]
        self._writer.write(raw_class(mangle_type(f"{self.type}_Request"))(data + bytes(-len(data) % 4)))
        return number

    def receive(self, number: int, timeout: float = 30.0) -> Any:
        """The response to request `number`."""
        deadline = time.monotonic() + timeout
        late = False
        while number not in self._answers:
            assert not late, f"waited {timeout:.0f} s for the response of {self.service}: {self._delivery()}"
            late = time.monotonic() >= deadline
            for raw in self._reader.take(N=64):
                if not isinstance(raw, Raw):
                    continue
                guid, sequence = struct.unpack_from("<Qq", raw.cdr, 4)
                if guid == self._guid:
                    cdr = raw.cdr[:4] + raw.cdr[20:]
                    assert sequence not in self._answers, f"a second response to request {sequence}"
                    self._answers[sequence] = TYPES.deserialize_cdr(cdr, f"{self.type}_Response")
            time.sleep(0.002)
        return self._answers.pop(number)

    def _delivery(self) -> str:
        """What DDS knows of the requests: lost before the service, or after it?"""
        try:
            acknowledged = self._writer.wait_for_acks(duration(milliseconds=10))
        except (AttributeError, DDSException):  # cyclonedds raises the first one where it means "timeout"
            acknowledged = False
        services, writers = self._writer.get_matched_subscriptions(), self._reader.get_matched_publications()
        return f"requests acknowledged: {acknowledged}, {len(services)} services, {len(writers)} writers of responses"

    def call(self, timeout: float = 30.0, **fields: Any) -> Any:
        """Sends a request and returns the response."""
        return self.receive(self.send(fields), timeout)


if MIDDLEWARE == "zenoh":
    from peer.on_zenoh import ZenohClient as CycloneClient  # noqa: F811

Client = CycloneClient if ANSWERS_PEER else RclpyClient
"""Calls the services of the bridge under test."""
