"""Datagrams that do not follow from their stream: they neither blind a sensor nor are published."""

from __future__ import annotations

import math
import random
import socket
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from diagnostics import Report
from geometry import nanoseconds
from recording import Recording
from soak import count
from system import System
from topics import DIAGNOSTICS, IMU, TF, main_topic, topics_of

from sensors import COMPRESSED, RAW, with_defaults

CAMERA = with_defaults(0, 1, RAW, width=160, height=120, rate=30)
FILES = with_defaults(1, 1, COMPRESSED, width=160, height=120, rate=30)
IMU_TOPIC = "/rflysim/imu"
IMU_PORT, TRUTH_PORT = 31000, 30101
ATTACKS = count(119, 5000)


class Victim:
    """A running bridge, stamped with simulation time, so that a sender can know the time of the newest message."""

    def __init__(self, system: System, recording: Recording):
        self.system, self.recording = system, recording
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def send(self, datagram: bytes, port: int) -> None:
        self._socket.sendto(datagram, ("127.0.0.1", port))

    def stamps(self, topic: str) -> np.ndarray:
        self.recording.harvest()
        return np.array([nanoseconds(m.header.stamp) for m in self.recording.messages(topic)]) * 1e-9

    def sent(self, topic: str) -> int:
        """What the simulator has sent of a topic."""
        stats = self.system.command("stats")
        if topic == IMU_TOPIC:
            return stats["imu_samples"]
        [seq] = [sensor.seq for sensor in (CAMERA, FILES) if main_topic(sensor) == topic]
        return stats["sensors"][str(seq)]["frames"]

    def attack(self, topic: str, strike: Callable[[float], None]) -> None:
        """Strikes once after each new message of `topic`, told its time. The topic must go on as if nothing were."""
        sent, first = self.sent(topic), len(self.stamps(topic))
        for _ in range(ATTACKS):
            self.recording.collect_more(1, [topic])
            strike(self.stamps(topic)[-1])
        sent = self.sent(topic) - sent
        self.recording.collect_more(5, [topic])
        times = self.stamps(topic)
        assert (np.diff(times) > 0).all(), "stamps went back"
        published = len(times) - first
        # Only what the sockets of a busy machine lose may be missing.
        assert published >= 0.9 * sent, f"{published} of {sent} were published"

    def report(self) -> Report:
        self.recording.collect_more(2, ["/diagnostics"])
        return Report(self.recording.messages("/diagnostics")[-1])


@contextmanager
def victim(directory, domain_id, topics: dict[str, str], wait: list[str]) -> Iterator[Victim]:
    parameters = {"diagnostics.period_s": 0.2, "time.mode": "sim", "transport_mode": "file"}
    with System(directory, domain_id, [CAMERA, FILES], parameters=parameters) as system:
        recording = Recording(system)
        recording.subscribe({**DIAGNOSTICS, **topics})
        recording.collect(60, wait)
        yield Victim(system, recording)
        system.assert_alive()


def piece(payload: bytes, frame_id: int, sim_time: float, pieces: int = 1) -> bytes:
    """The first datagram of a frame, with its number."""
    return struct.pack("<6id", 1234567893, 32 + len(payload), 0, pieces, frame_id, 0, sim_time) + payload


def numberless(payload: bytes, sim_time: float) -> bytes:
    """A frame of one datagram in the short form."""
    return struct.pack("<4id", 1234567890, 24 + len(payload), 0, 1, sim_time) + payload


def bomb(side: int) -> bytes:
    """A PNG of `side` x `side` pixels of one colour."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    pixels = zlib.compress(bytes(side * (3 * side + 1)), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def test_frame_times_ahead_do_not_blind_a_camera(tmp_path, domain_id, simulator_ports):
    topic = main_topic(CAMERA)
    with victim(tmp_path, domain_id, topics_of(CAMERA), [topic]) as bridge:
        bridge.attack(topic, lambda now: bridge.send(piece(b"x", 7, now + 0.9), CAMERA.port))
        # Two pieces each: they are after a place to wait in.
        bridge.attack(topic, lambda now: bridge.send(piece(b"x", 7, now + 0.9, 2), CAMERA.port))
        assert bridge.report().drops(CAMERA.seq)["unconfirmed"] >= 2 * ATTACKS - 2


def test_frame_ids_that_jump_do_not_blind_a_camera(tmp_path, domain_id, simulator_ports):
    topic = main_topic(CAMERA)
    dice = random.Random(5)
    image = bytes(CAMERA.width * CAMERA.height * 3)

    with victim(tmp_path, domain_id, topics_of(CAMERA), [topic]) as bridge:

        def strike(now: float) -> None:
            bridge.send(piece(image, dice.randrange(100_000, 1 << 31), now + 1 / 30), CAMERA.port)

        bridge.attack(topic, strike)
        drops = bridge.report().drops(CAMERA.seq)
        # A slow machine strikes when the next frame is there already.
        assert drops["unconfirmed"] + drops.get("stale", 0) >= ATTACKS - 1, drops
        shown = sum(1 for message in bridge.recording.messages(topic) if not any(message.data))
        assert shown == 0, f"{shown} foreign images were published"


def test_a_small_file_of_many_pixels_is_refused_before_it_is_decoded(tmp_path, domain_id, simulator_ports):
    topic = main_topic(FILES)
    file = bomb(2900)
    assert len(file) < 60_000, "one datagram"
    with victim(tmp_path, domain_id, topics_of(FILES), [topic]) as bridge:
        before = bridge.system.bridge.resident_bytes()
        # Just behind the newest frame: only what it holds is wrong.
        bridge.attack(topic, lambda now: bridge.send(numberless(file, now + 0.001), FILES.port))
        after = bridge.system.bridge.resident_bytes()
        assert after - before < 16 << 20, f"{before >> 20} MiB before, {after >> 20} MiB after"
        assert bridge.report().drops(FILES.seq)["too_large"] >= 1
        sizes = {(message.width, message.height) for message in bridge.recording.messages(topic)}
        assert sizes == {(FILES.width, FILES.height)}
        assert "image.allow_larger:=true" in bridge.system.report()


def test_imu_samples_from_nowhere_are_not_published(tmp_path, domain_id, simulator_ports):
    dice = random.Random(11)

    def sample(seq: int, now: float, *numbers: float) -> bytes:
        return struct.pack("<2id6f", 1234567898, seq, now, *numbers)

    with victim(tmp_path, domain_id, IMU, [IMU_TOPIC]) as bridge:

        def strike(now: float) -> None:
            seq = dice.randrange(1_000_000, 1 << 31)
            for when in (now + 0.9, now - 0.9, 3e9, 1e300, math.nan, now):
                bridge.send(sample(seq, when, *[77.0] * 6), IMU_PORT)
            bridge.send(sample(seq, now, *[math.nan] * 6), IMU_PORT)

        bridge.attack(IMU_TOPIC, strike)
        messages = bridge.recording.messages(IMU_TOPIC)
        numbers = np.array([[m.linear_acceleration.x, m.angular_velocity.z] for m in messages])
        assert np.isfinite(numbers).all() and (numbers != 77.0).all()


def test_true_states_of_other_times_move_nothing(tmp_path, domain_id, simulator_ports):
    """1e300 and 3e9 s reached /tf."""

    def state(now: float, *place: float) -> bytes:
        head = struct.pack("<4i", 123456789, 1, 3, 0)
        body = struct.pack("<24f", *[0.0] * 6, 1.0, *[0.0] * 17)
        return head + body + struct.pack("<7d", now, *place, 40.0, 116.0, 50.0)

    topic = main_topic(CAMERA)
    with victim(tmp_path, domain_id, {**TF, **topics_of(CAMERA)}, [topic]) as bridge:

        def strike(now: float) -> None:
            for when in (now + 0.9, now - 0.9, now + 100, 3e9, 1e300, -1e300, math.inf, math.nan):
                bridge.send(state(when, 9000.0, 0.0, 0.0), TRUTH_PORT)
            for place in (math.nan, math.inf):
                bridge.send(state(now + 0.01, place, 0.0, 0.0), TRUTH_PORT)

        bridge.attack(topic, strike)
        newest = bridge.stamps(topic)[-1]
        moved = [t for m in bridge.recording.messages("/tf") for t in m.transforms]
        assert len(moved) > ATTACKS
        places = np.array([[t.transform.translation.x, t.transform.translation.y] for t in moved])
        times = np.array([nanoseconds(t.header.stamp) for t in moved]) * 1e-9
        assert np.isfinite(places).all() and (np.abs(places) < 8000).all()
        assert (times < newest + 5).all() and (times >= 0).all()
