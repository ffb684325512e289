"""A client of the Foxglove WebSocket protocol; decodes CDR with `rosbags` and the definitions that the server sends."""

from __future__ import annotations

import json
import struct
import time

import websocket
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

PATIENCE_S = 30.0
GRAPH = [("publishedTopics", "publisherIds"), ("subscribedTopics", "subscriberIds"), ("advertisedServices", "providerIds")]
REMOVED = {"publishedTopics": "removedTopics", "subscribedTopics": "removedTopics", "advertisedServices": "removedServices"}


class Client:
    def __init__(self, port: int, protocol: str = "foxglove.sdk.v1", **options: object):
        self.socket = websocket.create_connection(
            f"ws://127.0.0.1:{port}/", subprotocols=[protocol], timeout=PATIENCE_S, **options
        )
        self.info: dict = {}
        self.channels: dict[str, dict] = {}
        self.services: dict[str, dict] = {}
        self.statuses: list[str] = []
        self.updates: list[dict] = []
        """Updates of the graph."""
        self.graph: dict[str, dict[str, set[str]]] = {kind: {} for kind, _ in GRAPH}
        """What they make of it: nodes by topic or service, as Foxglove puts it together."""
        self.types = get_typestore(Stores.EMPTY)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def receive(self) -> dict | tuple[int, int, bytes]:
        """The next message: JSON, or subscription, time and payload; a ping as `{"op": "ping"}`, so that a wait has an end."""
        opcode, data = self.socket.recv_data(control_frame=True)
        if opcode in (websocket.ABNF.OPCODE_PING, websocket.ABNF.OPCODE_PONG):
            return {"op": "ping"}
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            raise websocket.WebSocketConnectionClosedException("closed by the server")
        data = data if opcode == websocket.ABNF.OPCODE_BINARY else data.decode()
        if isinstance(data, bytes):
            if data[0] == 3:
                service, call, length = struct.unpack_from("<III", data, 1)
                return {"op": "response", "callId": call, "response": json.loads(data[13 + length :])}
            if data[0] == 4:
                request, failed, length = struct.unpack_from("<IBI", data, 1)
                error, asset = data[10 : 10 + length].decode(), data[10 + length :]
                return {"op": "asset", "requestId": request, "error": error if failed else None, "data": asset}
            assert data[0] == 1, data[:1]
            subscription, stamp = struct.unpack_from("<IQ", data, 1)
            return subscription, stamp, data[13:]
        message = json.loads(data)
        match message["op"]:
            case "serverInfo":
                self.info = message
            case "advertise":
                self.channels |= {channel["topic"]: channel for channel in message["channels"]}
            case "unadvertise":
                gone = message["channelIds"]
                self.channels = {topic: c for topic, c in self.channels.items() if c["id"] not in gone}
            case "advertiseServices":
                self.services |= {service["name"]: service for service in message["services"]}
            case "unadvertiseServices":
                gone = message["serviceIds"]
                self.services = {name: s for name, s in self.services.items() if s["id"] not in gone}
            case "connectionGraphUpdate":
                self._update(message)
            case "status":
                self.statuses.append(message["message"])
        return message

    def _update(self, update: dict) -> None:
        assert update.keys() == {"op", *REMOVED, *REMOVED.values()}
        self.updates.append(update)
        for kind, ids in GRAPH:
            self.graph[kind] |= {entry["name"]: set(entry[ids]) for entry in update[kind]}
            for name in update[REMOVED[kind]]:
                self.graph[kind].pop(name, None)

    def first(self, wanted, what: str) -> dict:
        """The first JSON message that is `wanted`."""
        end = time.monotonic() + PATIENCE_S
        while True:
            assert time.monotonic() < end, f"waited for {what}"
            message = self.receive()
            if isinstance(message, dict) and wanted(message):
                return message

    def until(self, condition, what: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, f"waited for {what}"
            self.receive()

    def subscribe(self, topic: str, number: int) -> None:
        self.until(lambda: topic in self.channels, topic)
        self.send({"op": "subscribe", "subscriptions": [{"id": number, "channelId": self.channels[topic]["id"]}]})

    def send(self, message: dict) -> None:
        self.socket.send(json.dumps(message))

    def sample(self, number: int) -> bytes:
        """The next payload of a subscription."""
        while True:
            message = self.receive()
            if isinstance(message, tuple) and message[0] == number:
                return message[2]

    def decode(self, topic: str, cdr: bytes) -> object:
        channel = self.channels[topic]
        assert (channel["encoding"], channel["schemaEncoding"]) == ("cdr", "ros2msg")
        types = get_types_from_msg(channel["schema"], channel["schemaName"])
        self.types.register({name: fields for name, fields in types.items() if name not in self.types.fielddefs})
        return self.types.deserialize_cdr(cdr, channel["schemaName"])

    def call(self, service: str, request: dict) -> dict:
        self.until(lambda: service in self.services, service)
        head = struct.pack("<BIII", 2, self.services[service]["id"], 1, 4)
        self.socket.send_binary(head + b"json" + json.dumps(request).encode())
        return self.answer()

    def fetch(self, uri: str, number: int = 1) -> dict:
        """A file that a description names."""
        self.send({"op": "fetchAsset", "uri": uri, "requestId": number})
        answer = self.answer()
        assert answer["requestId"] == number
        return answer

    def answer(self) -> dict:
        while True:
            message = self.receive()
            if isinstance(message, dict) and message["op"] in ("response", "serviceCallFailure", "status", "parameterValues", "asset"):
                return message
