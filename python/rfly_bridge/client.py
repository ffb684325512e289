"""The connection to a bridge: its port `view.port` speaks the Foxglove WebSocket protocol (docs/view.md)."""

from __future__ import annotations

import json
import logging
import struct
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as open_socket
from websockets.typing import Subprotocol

from .messages import CLOUD, IMAGE, Cloud, Image, Types, did_you_mean

if TYPE_CHECKING:
    from .vehicle import Vehicle

T = TypeVar("T")
LOG = logging.getLogger("rfly_bridge")
PORT = 8765
# Messages that are kept of each topic, undecoded.
BULK_DEPTH, DEPTH = 10, 1000
BULK = (IMAGE, CLOUD, "sensor_msgs/msg/CompressedImage", "livox_ros_driver2/msg/CustomMsg")
CONTROL = "start the bridge with -p view.control:=true"


class BridgeError(RuntimeError):
    """What the bridge or the vehicle refuses, with its reason."""


class Buffer:
    """The newest messages of one topic."""

    def __init__(self, topic: str, type_name: str):
        self.topic, self.type_name = topic, type_name
        self.messages: deque[tuple[int, bytes]] = deque(maxlen=BULK_DEPTH if type_name in BULK else DEPTH)
        """Stamp in ns and CDR."""
        self.received = 0


class Sim:
    """A connection to a bridge; ends with `close()` or its `with` block. Its methods may be called from any thread.

    A name of a topic or service without a slash at its beginning is the end of the full name: `sensor0/img_rgb` is
    `/rflysim/sensor0/img_rgb`, whatever the prefix of the bridge is.
    """

    def __init__(self, url: str, socket: ClientConnection):
        self.url = url
        self._socket, self._types = socket, Types()
        self._changed, self._publishing = threading.Condition(), threading.Lock()
        self._info: dict[str, Any] = {}
        self._channels: dict[str, dict[str, Any]] = {}
        self._services: dict[str, dict[str, Any]] = {}
        self._buffers: dict[str, Buffer] = {}
        self._subscriptions: dict[int, Buffer] = {}
        self._answers: dict[int, Any] = {}
        self._published: dict[str, tuple[int, str]] = {}
        self._refused: dict[str, str] = {}
        self._numbers = count(1)
        self._streams: list[Stream] = []
        self._closed: str | None = None
        self._ends: list[Callable[[], None]] = []
        self._thread = threading.Thread(target=self._receive, name="rfly_bridge", daemon=True)
        self._thread.start()

    def __enter__(self) -> Sim:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all streams and the connection, and the programs that `start()` has started."""
        for stream in list(self._streams):
            stream.stop()
        self._socket.close()
        self._thread.join()
        while self._ends:
            self._ends.pop()()

    def topics(self) -> dict[str, str]:
        """Topics that have a publisher now, with their types."""
        with self._changed:
            return {topic: channel["schemaName"] for topic, channel in self._channels.items()}

    def services(self) -> dict[str, str]:
        """Services that can be called, with their types; none without `view.control`."""
        with self._changed:
            return {name: service["type"] for name, service in self._services.items()}

    def latest(self, topic: str, *, after: float | None = None, timeout: float = 5.0) -> Any:
        """The newest message of a topic: an `Image`, a `Cloud`, or an object with the fields of its type. It is the newest of those
        that arrived since the first call for this topic, which waits for one; with `after`, one with a later stamp (s)."""
        buffer = self._subscribe(topic, timeout)

        def newest() -> bytes | None:
            messages = buffer.messages
            is_new = bool(messages) and (after is None or messages[-1][0] * 1e-9 > after)
            return messages[-1][1] if is_new else None

        cdr = self._wait(newest, timeout, lambda: f"no new message on {buffer.topic}; `rfly_bridge doctor` says what is wrong")
        return self._types.decode(buffer.type_name, cdr)

    def image(self, topic: str, *, after: float | None = None, timeout: float = 5.0) -> Image:
        """The newest image of a topic; arguments as for `latest`."""
        return self._of_type(Image, topic, after, timeout)

    def cloud(self, topic: str, *, after: float | None = None, timeout: float = 5.0) -> Cloud:
        """The newest point cloud of a topic; arguments as for `latest`."""
        return self._of_type(Cloud, topic, after, timeout)

    def history(self, topic: str, *, timeout: float = 5.0) -> list[Any]:
        """The newest messages that arrived since the first call for this topic, which waits for one; the oldest first, at most 1000,
        images and clouds 10."""
        buffer = self._subscribe(topic, timeout)
        messages = self._wait(lambda: list(buffer.messages), timeout, lambda: f"no message on {buffer.topic}")
        return [self._types.decode(buffer.type_name, cdr) for _, cdr in messages]

    def sets(self, *topics: str, timeout: float = 5.0) -> Iterator[tuple[Any, ...]]:
        """Messages of several topics with the same stamp, set by set, for example RGB and depth of one tick. A set that lacks a
        message is left out; a loop that is slower than the sensors misses the oldest."""
        buffers = [self._subscribe(topic, timeout) for topic in topics]
        last = -1

        def complete() -> tuple[int, list[bytes]] | None:
            by_stamp = [dict(buffer.messages) for buffer in buffers]
            stamps = [stamp for stamp in by_stamp[0] if stamp > last and all(stamp in other for other in by_stamp)]
            return (min(stamps), [messages[min(stamps)] for messages in by_stamp]) if stamps else None

        def missing() -> str:
            newest = {buffer.topic: buffer.messages[-1][0] * 1e-9 if buffer.messages else None for buffer in buffers}
            return f"no messages with one stamp; the newest stamps are {newest}"

        while True:
            last, cdrs = self._wait(complete, timeout, missing)
            yield tuple(self._types.decode(buffer.type_name, cdr) for buffer, cdr in zip(buffers, cdrs, strict=True))

    def call(self, service: str, request: Mapping[str, Any] | None = None, *, timeout: float = 15.0) -> dict[str, Any]:
        """Calls a service and returns its response. Missing fields of the request have their defaults.

        Raises `BridgeError` with the bridge's reason if it cannot be called; a response that says no is no error.
        """
        self._need("services", "calls of services")
        name = self._wait(lambda: self._find(service, self._services), timeout, lambda: self._unknown("service", service, self._services))
        body = json.dumps(request or {}, allow_nan=False, default=_plain).encode()
        number = next(self._numbers)
        self._answers[number] = None
        try:
            self._send(struct.pack("<BIII", 2, self._services[name]["id"], number, 4) + b"json" + body)
            answer = self._wait(lambda: self._answers[number], timeout, lambda: f"{name} has not answered")
        finally:
            del self._answers[number]
        if answer["op"] == "serviceCallFailure":
            raise BridgeError(f"{name}: {answer['message']}")
        response: dict[str, Any] = answer["response"]
        return response

    @overload
    def publish(self, topic: str, fields: Mapping[str, Any]) -> None: ...

    @overload
    def publish(self, topic: str, fields: Mapping[str, Any], *, rate: float) -> Stream: ...

    def publish(self, topic: str, fields: Mapping[str, Any], *, rate: float | None = None) -> Stream | None:
        """Publishes a message on a topic that the bridge subscribes to (docs/topics.md, "in"): once, or `rate` times per second
        until the returned stream is stopped. Missing fields are zero or empty.

        Raises `ValueError` for fields that the type does not have, and `BridgeError` where the bridge takes no such topic.
        """
        full, channel, type_name = self._advertise(topic)
        cdr = self._types.encode(type_name, fields)
        if rate is not None:
            return Stream(self, full, type_name, channel, cdr, rate)
        self._publish(full, channel, cdr)
        return None

    def vehicle(self, number: int = 1, *, prefix: str | None = None, timeout: float = 10.0) -> Vehicle:
        """The vehicle below `/mavros` (1), `/mavros2` (2) and so on: the default of `control.prefix`; or below `prefix`."""
        from .vehicle import Vehicle

        return Vehicle(self, prefix or f"/mavros{'' if number == 1 else number}", timeout)

    def _of_type(self, wanted: type[T], topic: str, after: float | None, timeout: float) -> T:
        message = self.latest(topic, after=after, timeout=timeout)
        if not isinstance(message, wanted):
            raise TypeError(f"{topic} has no {wanted.__name__}: read it with latest()")
        return message

    def _need(self, capability: str, what: str) -> None:
        self._wait(lambda: self._info, 5.0, lambda: "the bridge does not say what it offers")
        if capability not in self._info["capabilities"]:
            other = "; `rfly_bridge view` takes no messages" if "services" in self._info["capabilities"] else ""
            raise BridgeError(f"{self.url} does not take {what}: {CONTROL}{other}")

    def _advertise(self, topic: str) -> tuple[str, int, str]:
        """Full name, channel and type of a topic that the bridge subscribes to."""
        self._need("clientPublish", "messages")
        with self._publishing:
            return self._advertised(topic)

    def _advertised(self, topic: str) -> tuple[str, int, str]:
        full = self._find(topic, self._published)
        if full is None:
            request = urllib.request.Request(self.url.replace("ws", "http", 1) + "/subscribed")
            direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with direct.open(request, timeout=10.0) as response:
                subscribed = json.load(response)
            full = self._find(topic, subscribed["topics"])
            if full is None:
                raise BridgeError(self._unknown("topic that the bridge subscribes to", topic, subscribed["topics"]))
            type_name = subscribed["topics"][full]
            self._types.register(type_name, subscribed["schemas"][type_name])
            channel = {"id": next(self._numbers), "topic": full, "encoding": "cdr", "schemaName": type_name}
            self._published[full] = channel["id"], type_name
            self._send(json.dumps({"op": "advertise", "channels": [channel]}))
        if full in self._refused:
            raise BridgeError(self._refused.pop(full))
        return full, *self._published[full]

    def _publish(self, topic: str, channel: int, cdr: bytes) -> None:
        if topic in self._refused:
            raise BridgeError(self._refused.pop(topic))
        self._send(struct.pack("<BI", 1, channel) + cdr)

    def _subscribe(self, topic: str, timeout: float) -> Buffer:
        full = self._wait(lambda: self._find(topic, self._channels), timeout, lambda: self._unknown("topic", topic, self._channels))
        with self._changed:
            buffer = self._buffers.get(full)
            if buffer is None:
                buffer = self._buffers[full] = Buffer(full, self._channels[full]["schemaName"])
                self._ask_for(buffer)
        return buffer

    def _ask_for(self, buffer: Buffer) -> None:
        """Subscribes; the lock is held."""
        channel, number = self._channels[buffer.topic], next(self._numbers)
        self._types.register(channel["schemaName"], channel["schema"])
        self._subscriptions[number] = buffer
        self._send(json.dumps({"op": "subscribe", "subscriptions": [{"id": number, "channelId": channel["id"]}]}))

    def _find(self, name: str, known: Mapping[str, Any]) -> str | None:
        """The full name that ends with `name`."""
        if name.startswith("/"):
            return name if name in known else None
        found = sorted(full for full in known if full.endswith(f"/{name}"))
        if len(found) > 1:
            raise ValueError(f"{name} may be any of {', '.join(found)}")
        return found[0] if found else None

    def _unknown(self, what: str, name: str, known: Mapping[str, Any]) -> str:
        ends = known if name.startswith("/") else ["/".join(full.split("/")[-1 - name.count("/") :]) for full in known]
        return f"there is no {what} {name}{did_you_mean(name, ends)}"

    def _wait(self, condition: Callable[[], T | None], timeout: float, why: Callable[[], str]) -> T:
        """Returns what `condition` returns as soon as it is something."""
        end = time.monotonic() + timeout
        with self._changed:
            while not (found := condition()):
                if self._closed is not None:
                    raise ConnectionError(self._closed)
                left = end - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"{why()} (within {timeout:g} s)")
                self._changed.wait(left)
            return found

    def _send(self, message: str | bytes) -> None:
        try:
            self._socket.send(message)
        except ConnectionClosed as error:
            raise ConnectionError(f"the bridge at {self.url} has closed the connection") from error

    def _receive(self) -> None:
        why = f"the connection to {self.url} is closed"
        try:
            for message in self._socket:
                with self._changed:
                    self._on_binary(message) if isinstance(message, bytes) else self._on_text(json.loads(message))
                    self._changed.notify_all()
        except ConnectionClosed:
            pass
        except Exception as error:  # Any thread that waits is told why.
            LOG.exception("cannot read a message of the bridge")
            why = f"{why}: {error}"
        with self._changed:
            self._closed = why
            self._changed.notify_all()

    def _on_binary(self, data: bytes) -> None:
        if data[0] == 1:
            number, published = struct.unpack_from("<IQ", data, 1)
            buffer, cdr = self._subscriptions.get(number), data[13:]
            if buffer is not None:
                stamp = self._types.stamp(buffer.type_name, cdr)
                buffer.messages.append((published if stamp is None else stamp, cdr))
                buffer.received += 1
        elif data[0] == 3:
            _, number, length = struct.unpack_from("<III", data, 1)
            self._answer(number, {"op": "response", "response": json.loads(data[13 + length :])})

    def _answer(self, number: int, answer: dict[str, Any]) -> None:
        if number in self._answers:  # Else nobody waits for it any more.
            self._answers[number] = answer

    def _on_text(self, message: dict[str, Any]) -> None:
        match message["op"]:
            case "serverInfo":
                self._info = message
            case "advertise":
                for channel in message["channels"]:
                    self._channels[channel["topic"]] = channel
                    if channel["topic"] in self._buffers:  # A sensor was opened again.
                        self._ask_for(self._buffers[channel["topic"]])
            case "unadvertise":
                ended = message["channelIds"]
                self._channels = {topic: c for topic, c in self._channels.items() if c["id"] not in ended}
            case "advertiseServices":
                self._services |= {service["name"]: service for service in message["services"]}
            case "serviceCallFailure":
                self._answer(message["callId"], message)
            case "status":
                LOG.warning("the bridge says: %s", message["message"])
                for topic in list(self._published):
                    if f"{topic}:" in message["message"]:
                        self._refused[topic] = message["message"]


class Stream:
    """Publishes a message at a rate until `stop()` or the end of its `with` block; made by `Sim.publish`."""

    def __init__(self, sim: Sim, topic: str, type_name: str, channel: int, cdr: bytes, rate: float):
        if not 0 < rate <= 1000:
            raise ValueError(f"a rate of {rate} Hz: it must be above 0, and 1000 at most")
        self.topic, self.sent = topic, 0
        self._sim, self._type_name, self._channel, self._cdr, self._period = sim, type_name, channel, cdr, 1 / rate
        self._error: Exception | None = None
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"rfly_bridge {topic}", daemon=True)
        sim._streams.append(self)
        self._thread.start()

    def set(self, fields: Mapping[str, Any]) -> None:
        """Publishes another message from now on. Raises what has ended the stream."""
        self._cdr = self._sim._types.encode(self._type_name, fields)
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Ends the stream."""
        self._ends.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        if self in self._sim._streams:
            self._sim._streams.remove(self)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        due = time.monotonic()
        while not self._ends.is_set():
            try:
                self._sim._publish(self.topic, self._channel, self._cdr)
            except Exception as error:
                self._error = error
                LOG.error("%s is published no longer: %s", self.topic, error)
                return
            self.sent += 1
            due = max(due + self._period, time.monotonic())  # What was missed is not made up for.
            self._ends.wait(max(due - time.monotonic(), 0))


def _plain(value: Any) -> Any:
    """What `json` does not know: numbers and arrays of numpy."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be sent to a service")


def connect(address: str | int = PORT, *, timeout: float = 10.0) -> Sim:
    """Connects to a bridge that runs with `-p view.port:=8765` (and `-p view.control:=true` for commands and messages).

    `address` is a port of this host, or `host:port` (docs/view.md says who may ask). Tries again for `timeout` s.
    """
    place = f"127.0.0.1:{address}" if isinstance(address, int) else address
    url, end = f"ws://{place}", time.monotonic() + timeout
    while True:
        try:
            # Pictures are larger than the default limit; deflate costs more time than loopback does.
            socket = open_socket(url, subprotocols=[Subprotocol("foxglove.sdk.v1")], compression=None, max_size=None, proxy=None)
            return Sim(url, socket.__enter__())  # What `connect` returns depends on the version; this is a connection.
        except InvalidStatus as error:
            raise ConnectionError(f"{url} refuses: {error.response.body.decode(errors='replace').strip()}") from error
        except OSError as error:
            if time.monotonic() > end:
                port = place.rsplit(":", 1)[-1]
                how = f"start the bridge with -p view.port:={port} -p view.control:=true, or use rfly_bridge.start()"
                raise ConnectionError(f"nothing answers at {place} ({error}): {how}") from error
            time.sleep(0.1)
