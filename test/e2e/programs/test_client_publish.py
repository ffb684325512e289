"""Messages that clients of the page's port publish (docs/view.md): they arrive as those of DDS do, and nothing else does."""

from __future__ import annotations

import json
import struct
import threading
import time
import urllib.request
from contextlib import contextmanager

import pytest
from browser import wait_for
from foxglove import Client
from page import answers, free_tcp_port
from peer.messages import JAZZY, make
from programs import Programs
from websockets.sync.client import connect

from sensors import COMPRESSED, with_defaults

CAMERA = with_defaults(0, 1, COMPRESSED)
GIMBAL, STATUS = "/rflysim/sensor0/mount_control/command", "/rflysim/sensor0/mount_control/status"
POSITION, POSE = "/mavros/setpoint_position/local", "geometry_msgs/msg/PoseStamped"
PROMPT = 3.0
"""s. What a command of an operator may take while others flood."""


@pytest.fixture(scope="module", params=[True, False], ids=["control", "watch"])
def bridge(request, tmp_path_factory, domain_id, simulator_ports):
    """Emulator and bridge with a page, with and without `view.control`."""
    port = free_tcp_port()
    parameters = {"view.port": port, "view.control": request.param, "sensor0.gimbal": True}
    directory = tmp_path_factory.mktemp("publish")
    with Programs(directory, domain_id, [CAMERA], parameters=parameters, keep_frames=False, emulator=["--grounded"]) as programs:
        wait_for(lambda: answers(port), "the port")
        programs.port, programs.control = port, request.param
        yield programs


class Publisher:
    """A client of PyPI `websockets`; messages are encoded by `rosbags` with its own definitions."""

    def __init__(self, port: int):
        self.socket = connect(f"ws://127.0.0.1:{port}", subprotocols=["foxglove.websocket.v1"], max_size=None).__enter__()
        self.info = json.loads(self.socket.recv(30))

    def __enter__(self) -> Publisher:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, **message: object) -> None:
        self.socket.send(json.dumps(message))

    def advertise(self, number: int, topic: str, schema: str, encoding: str = "cdr") -> None:
        channel = {"id": number, "topic": topic, "encoding": encoding, "schemaName": schema}
        self.send(op="advertise", channels=[channel])

    def data(self, number: int, payload: bytes) -> None:
        self.socket.send(struct.pack("<BI", 1, number) + payload)

    def statuses(self) -> list[str]:
        """What the server has said to all that was sent before: an unknown operation is its mark."""
        self.send(op="mark")
        found = []
        while True:
            message = self.socket.recv(30)
            message = json.loads(message) if isinstance(message, str) else {"op": "binary"}
            if message["op"] == "status":
                if message["message"] == "unknown operation":
                    return found
                found.append(message["message"])


def cdr(schema: str, **fields: object) -> bytes:
    return bytes(JAZZY.serialize_cdr(make(schema, fields), schema))


def figures(port: int) -> dict[str, int]:
    """What /diagnostics counts of messages of clients, in a report that is made from now on."""
    with Client(port) as client:
        client.subscribe("/diagnostics", 1)
        client.sample(1)
        report = client.decode("/diagnostics", client.sample(1))
    status = next(status for status in report.status if status.name.endswith(": view"))
    values = {value.key: value.value for value in status.values}
    return {key: int(values[key]) for key in ("published by clients", "refused messages")}


def test_publishing_is_offered_with_control_only(bridge):
    with Publisher(bridge.port) as client:
        assert client.info["op"] == "serverInfo"
        assert ("clientPublish" in client.info["capabilities"]) is bridge.control
        assert client.info["supportedEncodings"] == (["json", "cdr"] if bridge.control else [])
        if bridge.control:
            return
        client.advertise(1, POSITION, POSE)
        client.data(1, cdr(POSE))
        said = client.statuses()
        assert len(said) == 2 and all("view.control" in text for text in said), said


def test_what_can_be_published_is_told_with_its_types(bridge):
    with urllib.request.urlopen(f"http://127.0.0.1:{bridge.port}/subscribed", timeout=30) as response:
        told = json.load(response)
    assert told["topics"][POSITION] == POSE and told["topics"][GIMBAL] == "mavros_msgs/msg/MountControl"
    assert "/rflysim/sensor0/img_rgb" not in told["topics"]
    assert set(told["topics"].values()) == set(told["schemas"])
    assert "geometry_msgs/Pose pose" in told["schemas"][POSE]
    foreign = urllib.request.Request(f"http://127.0.0.1:{bridge.port}/subscribed", headers={"Origin": "http://evil.example"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(foreign, timeout=30)


controlled = pytest.mark.parametrize("bridge", [True], indirect=True, ids=["control"])


@controlled
@pytest.mark.parametrize("encoding", ["cdr", "json"])
def test_a_message_does_what_one_of_dds_does(bridge, encoding):
    pitch = {"cdr": -20.0, "json": -35.0}[encoding]
    schema = "mavros_msgs/msg/MountControl"
    with Publisher(bridge.port) as client, Client(bridge.port) as reader:
        reader.subscribe("/rflysim/sensor0/img_rgb", 1)  # The direction is that of an image.
        reader.subscribe(STATUS, 2)
        client.advertise(7, GIMBAL, schema, encoding)
        client.data(7, cdr(schema, mode=2, pitch=pitch) if encoding == "cdr" else json.dumps({"mode": 2, "pitch": pitch}).encode())
        assert client.statuses() == []

        def reached() -> bool:
            angles = reader.decode(STATUS, reader.sample(2)).vector
            return abs(angles.y - pitch * 3.14159265 / 180) < 1e-3

        wait_for(reached, f"a camera at {pitch} degrees")


@controlled
def test_what_is_wrong_is_refused_with_its_reason_and_counted(bridge):
    before = figures(bridge.port)
    whole = cdr(POSE)
    with Publisher(bridge.port) as client:

        def told(expected: str) -> None:
            said = client.statuses()
            assert len(said) == 1 and expected in said[0], (said, expected)

        for number, (topic, schema, encoding, why) in enumerate([
            ("/mavros/setpoint_position/locl", POSE, "cdr", f'did you mean "{POSITION}"'),
            ("/rflysim/sensor0/img_rgb", "sensor_msgs/msg/Image", "cdr", "does not subscribe to it"),
            (POSITION, "geometry_msgs/msg/Pose", "cdr", f"it is a {POSE}, not a geometry_msgs/msg/Pose"),
            (POSITION, POSE, "protobuf", "the encoding must be one of json, cdr"),
        ]):  # fmt: skip
            client.advertise(number, topic, schema, encoding)
            told(why)
            client.data(number, whole)
            told(f"no such channel: {number}")
        client.advertise(10, POSITION, POSE)
        client.advertise(11, POSITION, POSE, "json")
        client.advertise(10, POSITION, POSE)
        told("in use")
        for number, payload, why in [
            (10, whole[:-8], "cannot decode"),
            (10, b"", "cannot decode"),
            (10, b"\x00\x07\x00\x00" + whole[4:], "unknown encapsulation"),
            (11, b"{", "line 2: invalid YAML"),
            (11, b'{"speed": 1}', 'has no field "speed"'),
            (11, b'{"pose": {"position": {"x": "a"}}}', "pose.position.x"),
            (11, b"\xff\xfe", "utf-8"),
            (11, b'{"header": {"frame_id": "' + b"x" * (64 << 10) + b'"}}', "limit"),
        ]:
            client.data(number, payload)
            told(why)
        client.socket.send(b"\x01\x0a\x00")
        told("truncated")
        # A stream of the same fault is told once a second, and counted.
        start = time.monotonic()
        for _ in range(200):
            client.data(10, whole[:-8])
        said = client.statuses()
        assert 1 <= len(said) <= 1 + (time.monotonic() - start), said
        client.data(10, whole)
        client.send(op="unadvertise", channelIds=[10])
        assert client.statuses() == []
        client.data(10, whole)
        told("no such channel: 10")
        many = [{"id": 100 + i, "topic": f"/none{i}", "encoding": "cdr", "schemaName": POSE} for i in range(50)]
        client.send(op="advertise", channels=many)
        said = client.statuses()
        assert len(said) == 11 and said[-1] == "40 more channels are refused"
    after = figures(bridge.port)
    assert after["published by clients"] - before["published by clients"] == 1
    assert after["refused messages"] - before["refused messages"] == 4 * 2 + 1 + 8 + 1 + 200 + 1 + 50


@contextmanager
def flood(port: int, payloads: list[bytes]):
    """A client that publishes these as fast as it can, and their number so far."""
    ends, sent = threading.Event(), [0]

    def run() -> None:
        with Publisher(port) as client:
            client.advertise(1, POSITION, POSE)
            while not ends.is_set():
                for payload in payloads:
                    client.data(1, payload)
                sent[0] += len(payloads)
            client.statuses()  # All has been read.

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield sent
    finally:
        ends.set()
        thread.join()


@controlled
@pytest.mark.parametrize("kind", ["setpoints", "nonsense"])
def test_a_command_does_not_wait_behind_a_flood_of_messages(bridge, kind):
    payload = cdr(POSE, pose={"position": {"z": 1.0}}) if kind == "setpoints" else b"\0\1\0\0" + b"\xff" * 20_000
    with Client(bridge.port) as operator:
        wait_for(lambda: operator.call("/mavros/cmd/arming", {"value": False})["response"]["success"], "the vehicle")
        memory = bridge.bridge.resident_bytes()
        with flood(bridge.port, [payload] * 50) as sent:
            wait_for(lambda: sent[0] > 500, "the flood")
            times = []
            for _ in range(10):
                begin = time.monotonic()
                answer = operator.call("/mavros/cmd/arming", {"value": False})
                times.append(time.monotonic() - begin)
                assert answer["response"]["success"], answer
            assert max(times) < PROMPT, times
            wait_for(lambda: sent[0] > 5000, "more of the flood")
        grown = bridge.bridge.resident_bytes() - memory
        print(f"{sent[0]} messages, answers within {max(times):.2f} s, {grown >> 10} KiB")
        assert grown < 16 << 20, f"{grown >> 20} MiB more"
