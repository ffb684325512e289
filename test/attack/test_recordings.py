"""Recordings and configurations of somebody who means harm, or knows no better."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

import pytest
from backend import environment
from processes import binary

MAGIC = b"\x89MCAP0\r\n"
SENDER = bytes([127, 0, 0, 1]) + struct.pack(">HI", 1234, 4)


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def record(opcode: int, data: bytes) -> bytes:
    return struct.pack("<BQ", opcode, len(data)) + data


def recording(channels: list[tuple[str, str, bytes]], parameters: dict[str, str]) -> bytes:
    """An MCAP file with one message in each channel (topic, encoding, data)."""
    pairs = b"".join(text(name) + text(value) for name, value in parameters.items())
    parts = [record(0x01, text("") + text("test")), record(0x0C, text("rfly_bridge/parameters") + struct.pack("<I", len(pairs)) + pairs)]
    for number, (topic, encoding, data) in enumerate(channels):
        parts.append(record(0x04, struct.pack("<HH", number, 0) + text(topic) + text(encoding) + struct.pack("<I", 0)))
        parts.append(record(0x05, struct.pack("<HIQQ", number, 0, 10**9 + number, 10**9 + number) + data))
    parts += [record(0x0F, struct.pack("<I", 0)), record(0x02, struct.pack("<QQI", 0, 0, 0))]
    return MAGIC + b"".join(parts) + MAGIC


def run(domain_id: int, *words: object) -> subprocess.CompletedProcess:
    command = [str(word) for word in (binary("rfly_bridge", "RFLY_BRIDGE"), *words)]
    around = os.environ | environment(domain_id)
    return subprocess.run(command, capture_output=True, text=True, check=False, env=around, timeout=120)


def test_a_message_that_cannot_be_played_ends_nothing(domain_id, simulator_ports, tmp_path):
    before = set(Path("/dev/shm").iterdir())
    file = tmp_path / "bad.mcap"
    file.write_bytes(
        recording(
            [
                ("shm/../../tmp/evil", "rfly_block", bytes(64)),
                ("shm/" + "x" * 5000, "rfly_block", bytes(64)),
                ("udp/20005", "rfly_datagram", SENDER + bytes(70_000)),
                ("udp/99999", "rfly_datagram", SENDER + bytes(4)),
                ("udp/20005", "rfly_datagram", b"short"),
                ("udp/20006", "rfly_datagram", SENDER + bytes(4)),
            ],
            {"vehicles": "[1]", "a\n := b": "1", "-p": "x", "x" * 70_000: "1", "view.port": "9123"},
        )
    )
    played = run(domain_id, "replay", file, "--speed", 0)
    assert played.returncode == 0, played.stderr
    assert played.stderr.count("cannot be played") == 5, played.stderr
    assert "panicked" not in played.stderr and len(played.stderr) < 20_000
    assert set(Path("/dev/shm").iterdir()) <= before


@pytest.mark.parametrize("words", [["-p", "config:=/dev/zero"], ["--params-file", "/dev/zero"], ["-p", "scene.file:=/dev/zero"]])
def test_a_file_without_an_end_is_refused(domain_id, words):
    ended = run(domain_id, "--ros-args", *words)
    assert ended.returncode == 1 and "/dev/zero" in ended.stderr and "larger than" in ended.stderr, ended.stderr


def test_long_lists_are_refused_with_their_length(domain_id, tmp_path):
    config = tmp_path / "Config.json"
    config.write_text('{"VisionSensors": [' + ",".join(['{"SeqID": 0, "TypeID": 1}'] * 100_000) + "]}")
    ended = run(domain_id, "--ros-args", "-p", f"config:={config}")
    assert ended.returncode == 1 and "has 100000 sensors" in ended.stderr, ended.stderr[:2000]
    scene = tmp_path / "scene.json"
    scene.write_text('{"models": [' + ",".join('{"name": "m%d", "class": 1}' % n for n in range(200_000)) + "]}")
    ended = run(domain_id, "--ros-args", "-p", f"scene.file:={scene}")
    assert ended.returncode == 1 and "has 200000 entries" in ended.stderr, ended.stderr[:2000]


def test_numbers_and_names_at_their_ends_are_problems_and_no_panics(domain_id, tmp_path):
    config = tmp_path / "Config.json"
    sensor = '{"SeqID": %d, "TypeID": %d, "TargetCopter": %d, "TargetMountType": %d, "DataWidth": 320, "DataHeight": 240, "DataCheckFreq": 30}'
    for number in (-1, 0, 1, 9999, 10_000, 10_001, 12_719, 22_719, 32_768, 65_535, 65_536, 2**31, 2**63, 10**30):
        for values in ((0, 1, number, 0), (number, 1, 1, 0), (0, number, 1, 0), (0, 1, number, 4)):
            config.write_text('{"VisionSensors": [' + sensor % values + "]}")
            said = run(domain_id, "doctor", "--ros-args", "-p", f"config:={config}").stderr
            assert "panicked" not in said, (values, said)
    said = run(domain_id, "--ros-args", "-p", "x" * 100_000 + ":=1").stderr
    assert "panicked" not in said and len(said) < 5000
    gbk = os.fsencode(tmp_path) + b"/\xc5\xe4\xd6\xc3.json"
    command = [os.fsencode(binary("rfly_bridge", "RFLY_BRIDGE")), b"replay", gbk]
    ended = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert ended.returncode == 1 and b"UTF-8" in ended.stderr and b"panicked" not in ended.stderr, ended.stderr
