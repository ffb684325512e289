"""A raw recording plays through the bridge again: sensors as they were published live, all topics the same in each run."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from backend import environment
from diagnostics import Report
from processes import ROOT, binary
from programs import Programs
from recording import Recording
from replaying import FLIGHT, by_host, checksums, expected, replay
from rosbags.highlevel import AnyReader
from system import System
from test_record import read
from topics import DIAGNOSTICS, IMU

from sensors import COMPRESSED, RAW, SHARED_MEMORY, with_defaults

SENSORS = [
    replace(with_defaults(0, 1, RAW), width=320, height=240),
    replace(with_defaults(1, 2, RAW), width=320, height=240),
    with_defaults(2, 20, COMPRESSED),
    replace(with_defaults(3, 1, SHARED_MEMORY), width=320, height=240),
]
FAULTS = "faults loss=0.02 duplicate=0.02 reorder=0.02"
COUNTED = {"received", "bytes", "frames", "converted"}


@pytest.fixture(scope="module")
def flight(tmp_path_factory, domain_id, simulator_ports) -> tuple[Path, dict[str, list[bytes]]]:
    """A raw recording with faults of the network that are switched on and off, and what was published meanwhile."""
    place = tmp_path_factory.mktemp("flight")
    names = {"record.directory": place, "record.raw": "raw.mcap", "record.ros": "live"}
    parameters = {"time.mode": "sim", "record.depth": "all", **names}
    with System(place / "run", domain_id, SENSORS, parameters=parameters) as system:
        recording = Recording(system)
        recording.subscribe({**IMU, **DIAGNOSTICS, SENSORS[0].topic: "sensor_msgs/msg/Image"})
        recording.collect(20, [SENSORS[0].topic])
        system.command(FAULTS)
        recording.collect_more(30, [SENSORS[0].topic])
        system.command("faults loss=0 duplicate=0 reorder=0")
        recording.collect_more(20, [SENSORS[0].topic])
        assert system.emulator.stop() == 0
        recording.collect_more(3, list(DIAGNOSTICS))  # the last has all that was received
    return place / "raw.mcap", read(place / "live")


def test_sensors_are_as_live_and_all_topics_the_same_in_each_run(flight, domain_id, tmp_path):
    file, live = flight
    once = replay(file, domain_id, tmp_path / "once", "--speed", 0)
    again = replay(file, domain_id, tmp_path / "again", "--speed", 3)
    for topic in set(once) | set(again):
        assert by_host(topic) or once[topic] == again[topic], topic
    as_live = {topic for topic in live if topic.startswith(("/rflysim/sensor", "/rflysim/ground_truth", "/rflysim/imu"))} | {"/tf"}
    assert {sensor.topic for sensor in SENSORS} <= as_live
    for topic in as_live:
        assert live[topic] and once[topic] == live[topic], topic
    assert len(once["/mavros/imu/data"]) > 20 and once["/clock"]


def counters(bag: Path) -> dict[str, dict[str, float]]:
    """What the last `/diagnostics` of a bag counts, by source."""
    with AnyReader([bag]) as reader:
        [connection] = [c for c in reader.connections if c.topic == "/diagnostics"]
        *_, (_, _, last) = reader.messages([connection])
        report = Report(reader.deserialize(last, connection.msgtype))
    return {
        name: {k: v for k, v in values.items() if k in COUNTED or k.startswith(("drop_", "ignored_"))}
        for name, values in report.values.items()
        if re.search(": (sensor|true state|imu)", name)
    }


def test_what_went_wrong_goes_wrong_again(flight, domain_id, tmp_path):
    replay(flight[0], domain_id, tmp_path, "--speed", 0, "--delay", 3)
    live, again = counters(flight[0].parent / "live"), counters(tmp_path / "again")
    lost = sum(count for values in live.values() for key, count in values.items() if key.startswith(("drop_", "ignored_")))
    assert len(live) >= len(SENSORS) and lost > 10, live
    assert again == live


def test_a_recording_of_another_machine_gives_the_same_topics(domain_id, tmp_path):
    wanted = expected()
    assert len(wanted) > 30 and "/rflysim/sensor0/img_rgb" in wanted
    assert checksums(replay(FLIGHT, domain_id, tmp_path, "--speed", 0)) == wanted


def begins(bag: Path, topic: str) -> float:
    """When the first sample of a topic was published, in seconds after the first true state."""
    first: dict[str, int] = {}
    with AnyReader([bag]) as reader:
        for connection, time_ns, _ in reader.messages():
            first.setdefault(connection.topic, time_ns)
    return (first[topic] - first["/rflysim/ground_truth/odom"]) * 1e-9


def test_a_part_is_played_and_parameters_are_replaced(flight, domain_id, tmp_path):
    file, live = flight
    image = SENSORS[0].topic
    since = begins(file.parent / "live", image) + 0.5
    part = replay(
        file, domain_id, tmp_path, "--speed", 0, "--from", since, "--seconds", 1, more=("topic_prefix:=/other",)
    )
    moved = image.replace("/rflysim", "/other")
    assert 0 < len(part[moved]) < len(live[image]) and image not in part
    assert set(part[moved]) <= set(live[image])


def test_a_recording_that_is_cut_off_is_played_to_there(flight, domain_id, tmp_path):
    file, live = flight
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    part = replay(cut, domain_id, tmp_path, "--speed", 0)[SENSORS[0].topic]
    assert part and live[SENSORS[0].topic][: len(part)] == part


def test_what_is_no_recording_is_refused(domain_id, tmp_path, flight):
    def says(file: Path) -> str:
        command = [binary("rfly_bridge", "RFLY_BRIDGE"), "replay", file]
        ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        assert ran.returncode == 1
        return ran.stderr

    text = tmp_path / "text.mcap"
    text.write_text("no recording at all, but longer than what every file of that kind begins with")
    assert "cannot play" in says(text) and "not a recording" in says(text)
    [bag] = (flight[0].parent / "live").glob("*.mcap")
    assert "record.raw" in says(bag)
    assert "cannot play" in says(tmp_path / "missing.mcap")


def test_a_signal_ends_it_in_order(flight, domain_id, tmp_path):
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "replay", flight[0], "--speed", 0.01]
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    around = os.environ | environment(domain_id) | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen([str(word) for word in command], env=around, **pipe) as process:
        try:
            for line in process.stdout:
                if "playing" in line:
                    break
            assert list(tmp_path.iterdir()), "the recorded Config.json"
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
            assert process.wait(60) == 0 and "stopped" in rest
        finally:
            process.kill()
    assert not list(tmp_path.iterdir()) and not list(Path("/dev/shm").glob(f"rfly_replay_{process.pid}_*"))


EVIL = ROOT / "test/fixtures/attack/evil_view_control.mcap"
"""Its parameters open a page that commands, for a foreign origin."""


def test_a_recording_opens_nothing_and_commands_nothing(domain_id):
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "replay", EVIL, "--speed", 0, "--delay", 2]
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    said, open_ports = [], []
    with subprocess.Popen([str(word) for word in command], env=os.environ | environment(domain_id), **pipe) as process:
        for line in process.stdout:
            said.append(line)
            if "playing" in line:
                with socket.socket() as probe:
                    open_ports += [9123] if probe.connect_ex(("127.0.0.1", 9123)) == 0 else []
    said = "".join(said)
    assert process.returncode == 0 and "played" in said, said
    assert open_ports == [] and "http://" not in said
    assert "view.control, view.origins, view.port" in said and "are ignored" in said, said


def test_a_replay_is_alone_in_its_graph_unless_asked(flight, domain_id, tmp_path):
    with Programs(tmp_path, domain_id, SENSORS, keep_frames=False):
        command = [str(word) for word in (binary("rfly_bridge", "RFLY_BRIDGE"), "replay", flight[0], "--speed", 0)]
        around = os.environ | environment(domain_id)
        refused = subprocess.run(command, capture_output=True, text=True, check=False, env=around)
        assert refused.returncode == 1 and "--beside" in refused.stderr, refused.stderr
        played = subprocess.run([*command, "--beside"], capture_output=True, text=True, check=False, env=around)
        assert played.returncode == 0 and "played" in played.stderr, played.stderr
