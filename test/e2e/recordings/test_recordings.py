"""A raw recording has all that its replay needs, is made beside another program as well, and does not say whose it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from backend import HAS_SIMULATION, NO_SIMULATION, environment
from processes import Process, binary, write_terrain
from recording import Recording
from replaying import FLIGHT, by_host, checksums, expected, replay
from rosbags.highlevel import AnyReader
from system import System
from test_record import read
from topics import IMU

from sensors import COMPRESSED, RAW, SHARED_MEMORY, with_defaults

CAMERA = replace(with_defaults(0, 1, RAW), width=96, height=64)
SENSORS = [CAMERA, replace(with_defaults(1, 20, COMPRESSED), width=36, height=8), replace(with_defaults(2, 1, SHARED_MEMORY), width=64, height=48)]
IMAGE = {CAMERA.topic: "sensor_msgs/msg/Image"}
OCCUPANCY = "/rflysim/terrain/occupancy"
SCENE = {"poses": [{"name": "own_place", "position": [1, 2, 3], "yaw_deg": 90}]}


def program(*words: object, domain_id: int | None = None, code: int = 0) -> str:
    """Runs `rfly_bridge`; returns what it prints."""
    around = os.environ | (environment(domain_id) if domain_id is not None else {})
    command = [str(word) for word in (binary("rfly_bridge", "RFLY_BRIDGE"), *words)]
    ran = subprocess.run(command, capture_output=True, text=True, env=around, check=False)
    assert ran.returncode == code, ran.stdout + ran.stderr
    return ran.stdout if code == 0 else ran.stderr


def inspect(file: Path) -> dict:
    """What `inspect` says."""
    return json.loads(program("inspect", file, "--json"))


def record(place: Path, domain_id: int, sensors: list, **more: object) -> dict[str, list[bytes]]:
    """Records in `place` what is received and what is published, which it returns."""
    parameters = {"time.mode": "sim", "record.directory": place, "record.raw": "raw.mcap", "record.ros": "live", **more}
    with System(place / "run", domain_id, sensors, parameters=parameters) as system:
        recording = Recording(system)
        recording.subscribe({**IMU, **IMAGE})
        recording.collect(10, [CAMERA.topic])
    return read(place / "live")


def occupancy(bag: Path) -> list[tuple[int, int, bytes]]:
    """The maps of the terrain in a bag."""
    with AnyReader([bag]) as reader:
        connections = [c for c in reader.connections if c.topic == OCCUPANCY]
        maps = [reader.deserialize(raw, c.msgtype) for c, _, raw in reader.messages(connections)] if connections else []
    return [(m.info.width, m.info.height, m.data.tobytes()) for m in maps]


@pytest.mark.skipif(not HAS_SIMULATION, reason=NO_SIMULATION)
def test_the_files_that_parameters_name_are_in_the_recording(domain_id, simulator_ports, tmp_path):
    files = tmp_path / "files"
    files.mkdir()
    write_terrain(files / "hills.png")
    (files / "scene.json").write_text(json.dumps(SCENE))
    parameters = {"terrain.file": files / "hills.png", "scene.file": files / "scene.json"}
    record(tmp_path, domain_id, [CAMERA], **parameters)
    live = occupancy(tmp_path / "live")
    assert live
    attached = {"Config.json", "terrain.file/hills.png", "terrain.file/hills.txt", "scene.file/scene.json"}
    assert set(inspect(tmp_path / "raw.mcap")["files"]) == attached

    # On another machine they are not there.
    for file in files.iterdir():
        file.unlink()
    (tmp_path / "run/Config.json").unlink()
    with stepping(tmp_path / "raw.mcap", domain_id, tmp_path / "poses") as process:
        poses = yaml.safe_load(program("call", "/rfly_bridge/get_named_poses", domain_id=domain_id))
        assert [pose["name"] for pose in poses["poses"]] == ["own_place"]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    replay(tmp_path / "raw.mcap", domain_id, tmp_path, "--speed", 0)
    assert occupancy(tmp_path / "again") == live


def test_a_recording_beside_the_bridge_has_what_the_bridge_received(domain_id, simulator_ports, tmp_path):
    beside = tmp_path / "beside.mcap"
    config = tmp_path / "run/Config.json"
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "record", beside, "--ros-args", "-p", f"config:={config}"]
    parameters = {"time.mode": "sim", "record.directory": tmp_path, "record.raw": "raw.mcap", "record.ros": "live"}
    parameters["transport_mode"] = "file"  # else there is no shared memory
    system = System(tmp_path / "run", domain_id, SENSORS, parameters=parameters)
    listener = Process("record", [*command, "-p", "time.mode:=sim", "-p", "transport_mode:=file"], tmp_path / "record.log")
    listener.start()
    try:
        while "recording " not in listener.output():
            if "CAP_NET_RAW" in listener.output():
                pytest.skip("this user may not see what other programs receive")
            assert listener.alive(), listener.output()
            time.sleep(0.05)
        with system:
            recording = Recording(system)
            recording.subscribe(IMAGE)
            recording.collect(20, [CAMERA.topic])
    finally:
        assert listener.stop() == 0, listener.output()
    assert "are not in the recording" not in listener.output() and "receive buffer" not in listener.output(), listener.output()

    own, other = inspect(tmp_path / "raw.mcap"), inspect(beside)
    assert set(own["channels"]) <= set(other["channels"]) and other["files"] == own["files"]
    for name, channel in own["channels"].items():
        found = other["channels"][name]
        assert found["messages"] >= channel["messages"] - 1, name  # the first frame of a block may be an old one
        assert set(channel["senders"]) <= set(found["senders"]), name
        assert found["missing_fragments"] == 0 and found["unknown"] is None, name

    live = read(tmp_path / "live")
    again = replay(beside, domain_id, tmp_path, "--speed", 0)
    for sensor in SENSORS:
        missing = [sample for sample in live[sensor.topic] if sample not in again[sensor.topic]]
        assert live[sensor.topic] and len(missing) <= 1, sensor.topic


def test_without_the_right_a_recording_beside_a_program_says_what_to_type(tmp_path):
    tool = subprocess.run(["which", "setpriv"], capture_output=True, check=False)
    if tool.returncode:
        pytest.skip("no setpriv")
    command = ["setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw", binary("rfly_bridge", "RFLY_BRIDGE")]
    ran = subprocess.run([*command, "record", tmp_path / "no.mcap"], capture_output=True, text=True, check=False)
    if "setpriv" in ran.stderr:
        pytest.skip("capabilities cannot be taken away here")
    assert ran.returncode == 1 and "setcap cap_net_raw+ep" in ran.stderr, ran.stderr
    assert not (tmp_path / "no.mcap").exists()


def test_an_anonymous_copy_names_nobody_and_replays_to_the_same(domain_id, simulator_ports, tmp_path):
    home = tmp_path / "home/mallory/secret-project"
    home.mkdir(parents=True)
    more = {"accept_from": ["192.168.77.5"], "view.origins": ["https://viewer.company-of-mallory.org"]}
    record(home, domain_id, SENSORS[:2], **more)
    copy = tmp_path / "copy.mcap"
    said = program("anonymise", home / "raw.mcap", copy, "--hide", "Secret-Project")
    secrets = [b"mallory", b"secret-project", b"192.168.77.5", str(tmp_path).encode(), b"company-of"]
    before, after = (home / "raw.mcap").read_bytes(), copy.read_bytes()
    for secret in secrets:
        assert secret in before.lower(), secret
        assert secret not in after.lower(), secret
    assert "192.168.77.5 is replaced by 198.18.0.5" in said and b"198.18.0.5" in after
    known, copied = inspect(home / "raw.mcap"), inspect(copy)
    assert copied["parameters"].keys() == known["parameters"].keys() and copied["files"] == known["files"]
    for name, channel in known["channels"].items():
        assert copied["channels"][name] == channel, name

    first = checksums(replay(home / "raw.mcap", domain_id, tmp_path / "first", "--speed", 0))
    second = checksums(replay(copy, domain_id, tmp_path / "second", "--speed", 0))
    assert len(first) > 20 and second == first
    assert "must not exist" in program("anonymise", "--help")
    assert "cannot create" in program("anonymise", home / "raw.mcap", copy, code=1)
    [bag] = (home / "live").glob("*.mcap")
    assert "record.raw" in program("anonymise", bag, tmp_path / "bag.mcap", code=1)


class stepping:  # noqa: N801, used like a function
    """A replay step by step with its bag `again` in `place`; the process, whose standard input takes steps."""

    def __init__(self, file: Path, domain_id: int, place: Path, *options: object):
        words = [binary("rfly_bridge", "RFLY_BRIDGE"), "replay", file, "--step", *options, "--ros-args"]
        words += ["-p", f"record.directory:={place}", "-p", "record.ros:=again", "-p", "record.depth:=all"]
        self.command, self.around = [str(word) for word in words], os.environ | environment(domain_id)

    def __enter__(self) -> subprocess.Popen:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(self.command, env=self.around, **pipes)
        self.until("step by step")
        return self.process

    def asks(self, line: str, text: str) -> str:
        """Types a line; the next with this text that the replay prints."""
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.until(text)

    def until(self, text: str) -> str:
        """The line with this text that the replay prints."""
        for line in self.process.stderr:
            if text in line:
                return line
        raise AssertionError(f"the replay ended before it said {text!r}")

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stderr):
            pipe.close()


def first_part(domain_id: int, place: Path, seconds: float) -> tuple[int, dict[str, list[bytes]]]:
    """How many messages the first seconds of the flight have, and what a replay of them publishes."""
    parameters = ["-p", f"record.directory:={place}", "-p", "record.ros:=again", "-p", "record.depth:=all"]
    words = [binary("rfly_bridge", "RFLY_BRIDGE"), "replay", FLIGHT, "--speed", 0, "--seconds", seconds, "--ros-args", *parameters]
    around = os.environ | environment(domain_id)
    ran = subprocess.run([str(word) for word in words], env=around, capture_output=True, text=True, check=True)
    assert "are not received" not in ran.stderr
    [count] = [int(line.split("played ")[1].split()[0]) for line in ran.stderr.splitlines() if "played " in line]
    return count, read(place / "again")


def same(found: dict[str, list[bytes]], expected: dict[str, list[bytes]]) -> None:
    """The same samples of all topics that a replay repeats."""
    for topic in set(found) | set(expected):
        assert by_host(topic) or found[topic] == expected[topic], topic


def test_n_steps_publish_what_the_first_n_datagrams_give(domain_id, simulator_ports, tmp_path):
    count, expected = first_part(domain_id, tmp_path / "part", 0.4)
    assert count > 20 and expected["/rflysim/sensor0/img_rgb"]

    with (typed := stepping(FLIGHT, domain_id, tmp_path / "typed")) as process:
        answers = {"": "played 1,", "5": "played 5,", "nonsense": "is not a step", str(count - 6): f"played {count - 6},"}
        for line, answer in answers.items():
            assert typed.asks(line, answer.split()[0]).count(answer) == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    same(read(tmp_path / "typed/again"), expected)

    with (timed := stepping(FLIGHT, domain_id, tmp_path / "timed")) as process:
        assert f"played {count}," in timed.asks("0.4s", "played ")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    same(read(tmp_path / "timed/again"), expected)


@pytest.mark.skipif(not HAS_SIMULATION, reason=NO_SIMULATION)
def test_a_service_takes_steps_too_and_says_when_there_are_no_more(domain_id, simulator_ports, tmp_path):
    def step(steps: int) -> dict:
        return yaml.safe_load(program("call", "/rfly_bridge/step_simulation", f"{{steps: {steps}}}", domain_id=domain_id))["result"]

    with stepping(FLIGHT, domain_id, tmp_path) as process:
        assert step(3)["result"] == 1 and step(0)["result"] == 1
        last = step(1_000_000)
        assert last["result"] == 4 and "of 1000000 steps" in last["error_message"]
        assert process.wait(60) == 0
    assert checksums(read(tmp_path / "again")) == expected()


def test_after_some_steps_the_rest_can_be_played(domain_id, simulator_ports, tmp_path):
    with (typed := stepping(FLIGHT, domain_id, tmp_path, "--speed", 0)) as process:
        assert "played 5," in typed.asks("5", "played ")
        assert "the end" in typed.asks("go", "played ")
        assert process.wait(60) == 0
    assert checksums(read(tmp_path / "again")) == expected()
