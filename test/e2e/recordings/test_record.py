"""Recordings: what the bag has is what a subscriber of PyPI `cyclonedds` got, and killing the bridge leaves a readable bag."""

from __future__ import annotations

import json
import subprocess
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from backend import ON_DDS
from processes import binary
from programs import RUNNING
from recording import Recording
from rosbags.rosbag2 import Reader
from system import System
from topics import DIAGNOSTICS, IMU

from sensors import RAW, with_defaults

CAMERA = replace(with_defaults(0, 1, RAW), width=320, height=240)
TOPICS = {**IMU, **DIAGNOSTICS, CAMERA.topic: "sensor_msgs/msg/Image", "/tf_static": "tf2_msgs/msg/TFMessage"}


def read(bag: Path) -> dict[str, list[bytes]]:
    """Samples by topic, in order; the description agrees with the file."""
    samples: dict[str, list[bytes]] = defaultdict(list)
    with Reader(bag) as reader:
        for connection, _, raw in reader.messages():
            samples[connection.topic].append(bytes(raw))
    return samples


@ON_DDS  # Zenoh drops what a reader is late for.
def test_a_bag_has_the_bytes_that_a_subscriber_got(tmp_path, domain_id, simulator_ports):
    parameters = {"record.directory": tmp_path, "record.ros": "flight", "record.raw": "flight.mcap"}
    with System(tmp_path / "run", domain_id, [CAMERA], parameters=parameters) as system:
        recording = Recording(system)
        recording.subscribe(TOPICS)
        recording.collect(20, [CAMERA.topic, *IMU])
    bag = read(tmp_path / "flight")
    for topic in TOPICS:
        received = [sample.cdr for sample in recording.samples[topic]]
        assert received, topic
        start = bag[topic].index(received[0])
        assert bag[topic][start : start + len(received)] == received, topic
    assert (tmp_path / "flight.mcap").read_bytes()[:8] == b"\x89MCAP0\r\n"


@pytest.mark.parametrize("after_s", [1.3, 1.7, 2.1])
def test_a_bridge_that_is_killed_leaves_a_bag_that_lacks_one_second_at_most(
    tmp_path, domain_id, simulator_ports, after_s
):
    system = System(tmp_path / "run", domain_id, [CAMERA], parameters={"record.directory": tmp_path, "record.ros": "flight"})
    system.__enter__()
    try:
        recording = Recording(system)
        recording.subscribe(IMU)
        recording.collect(20, [*IMU])
        time.sleep(after_s)  # into the recording, not waiting for something
        recording.harvest()
        system.bridge.kill()
    finally:
        system.bridge.kill()
        system.emulator.stop()
        RUNNING.remove(system)
    [topic] = IMU
    bag = read(tmp_path / "flight")[topic]
    received = [sample for sample in recording.samples[topic]]
    last = received[-1].source_ns
    old = [sample.cdr for sample in received if sample.source_ns < last - 1_000_000_000]
    assert old and set(old) <= set(bag)


def test_inspect_says_what_is_in_a_file_also_if_it_is_cut_off(tmp_path, domain_id, simulator_ports):
    file = tmp_path / "flight.mcap"
    with System(tmp_path / "run", domain_id, [CAMERA], parameters={"record.directory": tmp_path, "record.raw": file.name}) as system:
        recording = Recording(system)
        recording.subscribe({CAMERA.topic: "sensor_msgs/msg/Image"})
        recording.collect(20, [CAMERA.topic])

    def inspect(path: Path) -> dict:
        command = [binary("rfly_bridge", "RFLY_BRIDGE"), "inspect", path, "--json"]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)

    whole = inspect(file)
    assert whole["cut_off"] is None and "Config.json" in whole["files"]
    assert yaml.safe_load(whole["parameters"]["simulator_address"]) == "127.0.0.1"
    [camera] = [channel for channel in whole["channels"].values() if channel["frames"]]
    assert camera["frames"] >= 20 and camera["missing_fragments"] == camera["not_recorded"] == 0
    assert all(channel["unknown"] is None for channel in whole["channels"].values()), whole
    kinds = {kind for channel in whole["channels"].values() for kind in channel["kinds"]}
    assert {"fragment", "heartbeat", "imu", "true state"} <= kinds

    cut = tmp_path / "cut.mcap"
    cut.write_bytes(file.read_bytes()[: file.stat().st_size * 2 // 3])
    part = inspect(cut)
    assert part["cut_off"]
    [camera_then] = [channel for channel in part["channels"].values() if channel["frames"]]
    assert 0 < camera_then["frames"] <= camera["frames"]
