"""Recordings and configurations of somebody who means harm, or knows no better."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

import pytest
from backend import environment
from cyclonedds.core import Qos
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from peer import Peer
from peer.raw import raw_class
from peer.services import QOS
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


def test_texts_and_lists_of_any_length_are_refused(domain_id, tmp_path):
    params = tmp_path / "params.yaml"
    params.write_text("/**:\n  ros__parameters:\n    map_frame: " + "a" * (1 << 20) + "\n")
    ended = run(domain_id, "--ros-args", "--params-file", params)
    assert ended.returncode == 1 and "map_frame" in ended.stderr and "at most 4096 bytes" in ended.stderr, ended.stderr[:2000]
    params.write_text("/**:\n  ros__parameters:\n" + "".join(f"    unknown{n}: 1\n" for n in range(300_000)))
    ended = run(domain_id, "--ros-args", "--params-file", params)
    assert ended.returncode == 1 and "are 300000" in ended.stderr and len(ended.stderr) < 2000, ended.stderr[:2000]
    config = tmp_path / "Config.json"
    keys = ",".join(f'"unknown{n}": 1' for n in range(500_000))
    config.write_text('{"VisionSensors": [{"SeqID": 0, "TypeID": 1, ' + keys + "}]}")
    ended = run(domain_id, "--ros-args", "-p", f"config:={config}")
    assert ended.returncode == 1 and "has 500002 keys" in ended.stderr, ended.stderr[:2000]


def test_names_of_a_recording_do_not_command_the_terminal(tmp_path, domain_id):
    file = tmp_path / "names.mcap"
    topic = "evil\x1b]0;pwned\x07\x1b[2J\nfake: line"
    file.write_bytes(recording([(topic, "rfly_block", bytes(4)), ("other\x1b[31m", "cdr", bytes(4))], {}))
    for words in (("inspect", file), ("anonymise", file, tmp_path / "copy.mcap")):
        shown = run(domain_id, *words)
        assert "\x1b" not in shown.stdout + shown.stderr and "\nfake" not in shown.stdout, shown.stdout


def test_a_recording_is_not_held_in_memory(tmp_path, domain_id, simulator_ports):
    file = tmp_path / "large.mcap"
    parts = [record(0x01, text("") + text("test"))]
    parts.append(record(0x04, struct.pack("<HH", 0, 0) + text("udp/20005") + text("rfly_datagram") + struct.pack("<I", 0)))
    head = struct.pack("<HIQQ", 0, 0, 10**9, 10**9) + SENDER
    size = 200 << 20
    with file.open("wb") as out:
        out.write(MAGIC + b"".join(parts))
        for _ in range(8):
            out.write(struct.pack("<BQ", 0x05, len(head) + size) + head)
            out.seek(size, 1)
        out.write(record(0x0F, struct.pack("<I", 0)) + record(0x02, struct.pack("<QQI", 0, 0, 0)) + MAGIC)
    command = [str(binary("rfly_bridge", "RFLY_BRIDGE")), "replay", str(file), "--speed", "0"]
    limited = ["sh", "-c", 'ulimit -v 4000000 && exec "$@"', "sh", *command]
    ended = subprocess.run(limited, capture_output=True, text=True, check=False, env=os.environ | environment(domain_id))
    assert ended.returncode == 0 and "8 messages cannot be played" in ended.stderr, ended.stderr


def test_more_channels_than_any_bridge_has_are_refused(tmp_path, domain_id):
    file = tmp_path / "channels.mcap"
    names = [record(0x04, struct.pack("<HH", 0, 0) + text(f"topic{n}") + text("cdr") + struct.pack("<I", 0)) for n in range(200_000)]
    file.write_bytes(MAGIC + record(0x01, text("") + text("test")) + b"".join(names) + MAGIC)
    for words in (("inspect", file), ("anonymise", file, tmp_path / "copy.mcap"), ("replay", file)):
        ended = run(domain_id, *words)
        assert ended.returncode == 1 and "more than 10000 channels" in ended.stderr, ended.stderr[:2000]


def test_names_of_many_lengths_are_hidden_in_time(tmp_path, domain_id):
    """Each home is looked for everywhere; `run` has a limit."""
    parts = [record(0x01, text("") + text("test"))]
    homes = " ".join("/home/" + "n" * length for length in range(3, 2000))
    data = (homes + " a" * (1 << 20)).encode()
    attached = struct.pack("<QQ", 0, 0) + text("Config.json") + text("application/json") + struct.pack("<Q", len(data)) + data
    parts += [record(0x09, attached + struct.pack("<I", 0))]
    parts += [record(0x04, struct.pack("<HH", 0, 0) + text("udp/20005") + text("rfly_datagram") + struct.pack("<I", 0))]
    parts += [record(0x0F, struct.pack("<I", 0)), record(0x02, struct.pack("<QQI", 0, 0, 0))]
    file = tmp_path / "homes.mcap"
    file.write_bytes(MAGIC + b"".join(parts) + MAGIC)
    copied = run(domain_id, "anonymise", file, tmp_path / "copy.mcap")
    assert copied.returncode == 0, copied.stderr
    copy = (tmp_path / "copy.mcap").read_bytes()
    assert b"/home/name" in copy and b"/home/nnn" not in copy


def test_a_mavros_in_the_graph_refuses_a_replay(tmp_path, domain_id, simulator_ports):
    """A recording may have any names of topics: its data would mix with those of a vehicle."""
    file = tmp_path / "flight.mcap"
    file.write_bytes(recording([("udp/20005", "rfly_datagram", SENDER + bytes(4))], {}))
    peer = Peer(domain_id)
    ends = [
        (DataReader, Topic(peer.participant, "rq/mavros/set_modeRequest", raw_class("mavros_msgs::srv::dds_::SetMode_Request_"))),
        (DataWriter, Topic(peer.participant, "rr/mavros/set_modeReply", raw_class("mavros_msgs::srv::dds_::SetMode_Response_"))),
    ]
    service = [end(peer.participant, topic, qos=Qos(*QOS)) for end, topic in ends]
    try:
        ended = run(domain_id, "replay", file)
    finally:
        del service
        peer.close()
    assert ended.returncode == 1 and "mavros runs in this graph" in ended.stderr, ended.stderr
