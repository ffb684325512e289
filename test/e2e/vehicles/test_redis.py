"""CopterSim through a real Redis server: PyPI's client is the simulator, and its datagrams are those that the vendor recorded."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import time

import pytest
from backend import HAS_SIMULATION, NO_SIMULATION, environment
from peer import Peer
from peer.publisher import Publication, Stream
from peer.services import Client
from processes import ROOT, Process, binary
from programs import free_port

redis = pytest.importorskip("redis", reason="skipped: no PyPI redis (scripts/setup.sh python)")


def vectors(file: str) -> list[dict]:
    """Recorded calls of the vendor's client."""
    return json.loads((ROOT / f"test/fixtures/golden/{file}.json").read_text())


def vendor(file: str, name: str) -> dict:
    """One of them."""
    return next(v for v in vectors(file) if v["name"] == name)


VECTORS = {v["name"]: v for v in vectors("redis_send")}


@pytest.fixture
def server(tmp_path):
    """A Redis server of its own."""
    if not shutil.which("redis-server"):
        pytest.skip("skipped: no redis-server (scripts/setup.sh python)")
    port = free_port()
    command = ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    process = Process("redis-server", command, tmp_path / "redis.log").start()
    process.wait_for_output("Ready to accept connections")
    yield port, process
    process.stop()


def bridge_of(directory, domain_id: int, port: int, link: str, *more: str) -> Process:
    """A bridge that reaches CopterSim through Redis."""
    words = [f"redis.address:=127.0.0.1 redis.port:={port} control.link:={link} imu.enabled:=false".split()]
    arguments = [part for word in (*words[0], *more) for part in ("-p", word)]
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "--ros-args", *arguments]
    return Process("rfly_bridge", command, directory / "bridge.log", environment(domain_id)).start()


class Channels:
    """Collects what is published on channels."""

    def __init__(self, port: int, *channels: str):
        self.client = redis.Redis("127.0.0.1", port)
        self._subscription = self.client.pubsub(ignore_subscribe_messages=True)
        self._subscription.subscribe(*channels)
        self.seen: list[tuple[str, bytes]] = []

    def collect(self, seconds: float) -> None:
        """Takes what comes for so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            message = self._subscription.get_message(timeout=0.1)
            if message:
                self.seen.append((message["channel"].decode(), message["data"]))

    def wait_for(self, channel: str, payload: bytes, timeout: float = 60.0, times: int = 1) -> None:
        """Returns once this was published so often; of UDP_Full the floats count, because it has a time and its mask differs."""

        def same(one: bytes) -> bool:
            full = len(payload) == 120 == len(one)
            return struct.unpack("<24f", one[24:]) == struct.unpack("<24f", payload[24:]) if full else one == payload

        deadline = time.monotonic() + timeout
        while sum(name == channel and same(one) for name, one in self.seen) < times:
            assert time.monotonic() < deadline, f"not published; {[(c, p.hex()) for c, p in self.seen[-5:]]}"
            message = self._subscription.get_message(timeout=0.1)
            if message:
                self.seen.append((message["channel"].decode(), message["data"]))


@pytest.mark.parametrize("link", ["udp_simple", "udp_full"])
def test_setpoints_and_inputs_are_published_as_the_vendor_publishes_them(tmp_path, domain_id, simulator_ports, server, link):
    port, _ = server
    channels = Channels(port, "key20100", "key30100")
    peer, bridge = Peer(domain_id), bridge_of(tmp_path, domain_id, port, link)
    try:
        velocity = Publication(peer, "/mavros/setpoint_velocity/cmd_vel_unstamped", "geometry_msgs/msg/Twist")
        # NED 1 2 3 and 0.5 rad/s clockwise.
        with Stream(velocity, linear={"x": 2.0, "y": 1.0, "z": -3.0}, angular={"z": -0.5}):
            recorded = VECTORS[f"redis_{link.removeprefix('udp_')}_vel_1"]
            channels.wait_for(recorded["port"], bytes.fromhex(recorded["hex"]))
        uorb = Publication(peer, "/rflysim/model/uorb", "rfly_bridge_msgs/msg/ModelUorb").wait()
        uorb.publish(modes=1, flags=1, data=[1.0] * 16)
        recorded = VECTORS["redis_true_1"]
        channels.wait_for(recorded["port"], bytes.fromhex(recorded["hex"]))
    finally:
        peer.close()
        assert bridge.stop() == 0, bridge.tail()


def test_states_come_through_the_server_and_again_after_it_restarted(tmp_path, domain_id, simulator_ports, server):
    port, process = server
    peer, bridge = Peer(domain_id), bridge_of(tmp_path, domain_id, port, "udp_full")
    try:
        odometry = peer.subscribe("/rflysim/ground_truth/odom", "nav_msgs/msg/Odometry")
        recorded = json.loads((ROOT / "test/fixtures/golden/recv_dll_true.json").read_text())[0]["input_hex_packets"][0]
        state, times = bytes.fromhex(recorded), iter(range(1, 100_000))

        def told() -> bool:
            # A state of its own instant each time (offset of the time in the 168 bytes).
            client.publish("key30101", state[:112] + struct.pack("<d", 10 + next(times) / 50) + state[120:])
            time.sleep(0.02)
            return len(odometry.messages) > before + 5

        for round in range(2):
            if round:
                process.stop()
                process.start()
            client, before = redis.Redis("127.0.0.1", port, retry_on_error=[redis.ConnectionError]), len(odometry.messages)
            peer.wait_for(lambda: subprocess.run(["redis-cli", "-p", str(port), "ping"], capture_output=True).stdout == b"PONG\n", "the server")
            peer.wait_for(told, "the true state", 60.0)
    finally:
        peer.close()
        assert bridge.stop() == 0, bridge.tail()


@pytest.mark.skipif(not HAS_SIMULATION, reason=NO_SIMULATION)
def test_the_renderer_is_told_and_heard_through_the_server(tmp_path, domain_id, simulator_ports, server):
    port, _ = server
    to_renderer, from_renderer = "GLOBAL_MESSAGE_REDIS_KEY", "GLOBAL_MESSAGE_R3D_SEND_KEY_20006"
    channels = Channels(port, to_renderer)
    peer, bridge = Peer(domain_id), bridge_of(tmp_path, domain_id, port, "udp_full", "redis.renderer:=true", "scene.windows:=[0,3]")
    try:
        # Commands and states: once, although there are two windows.
        command = Client(peer, "/rflysim/scene/command", "rfly_bridge_msgs/srv/SceneCommand").wait()
        for window in (-1, 5):
            assert command.call(command="RflyChangeMapbyName Grasslands", window=window).success
        drawn = vendor("ue4_send", "cmd_RflyChangeMapbyNam_30")["hex"]
        channels.wait_for(to_renderer, bytes.fromhex(drawn))
        channels.collect(2.0)
        assert [payload.hex() for _, payload in channels.seen].count(drawn) == 2, channels.seen

        # A report that the vendor's client was recorded with.
        reports = peer.subscribe("/rflysim/scene/vehicle_reports", "rfly_bridge_msgs/msg/VehicleReport")
        channels.wait_for(to_renderer, struct.pack("<i52s", 1234567890, b"RflyReqVehicleData 1"))
        recorded = next(v for v in vectors("recv_ue4msg") if len(v["input_hex_packets"][0]) == 2 * 160)
        packet = bytes.fromhex(recorded["input_hex_packets"][0])

        def told() -> bool:
            channels.client.publish(from_renderer, packet)
            time.sleep(0.05)
            return bool(reports.messages)

        peer.wait_for(told, "the report", 60.0)
        assert reports.messages[0].vehicle == struct.unpack_from("<i", packet, 4)[0]
    finally:
        peer.close()
        assert bridge.stop() == 0, bridge.tail()
