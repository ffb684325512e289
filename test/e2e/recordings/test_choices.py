"""Where a bag is, which topics it has, which encoding of depth, and how its chunks are compressed, as PyPI `rosbags` reads it."""

from __future__ import annotations

import re
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from images import pixels
from peer import decode
from recording import Recording
from rosbags.rosbag2 import Reader
from system import System
from test_parameters import Parameters
from test_record import read
from topics import IMU, topics_of

from sensors import COMPRESSED, RAW, with_defaults

CAMERA = replace(with_defaults(0, 1, RAW), width=320, height=240)
DEPTH = replace(with_defaults(1, 2, COMPRESSED), width=320, height=240, params=(0.3, 60.0, 0.002))
MILLIMETRES, FLOAT = DEPTH.topic, f"{DEPTH.topic}_float"
FILES = {f"{DEPTH.topic}/compressed", f"{DEPTH.topic}/compressedDepth"}
IMAGE = "sensor_msgs/msg/Image"


def test_a_path_at_the_start_is_that_of_ros2_bag_record(tmp_path, domain_id, simulator_ports):
    bag, raw = tmp_path / "other place" / "flight", tmp_path / "raw files/flight.mcap"
    parameters = {"record.directory": tmp_path / "unused", "record.ros": f"{bag}/", "record.raw": raw, "depth.publish_float": False}
    with System(tmp_path / "run", domain_id, [CAMERA, DEPTH], parameters=parameters) as system:
        recording = Recording(system)
        recording.subscribe({MILLIMETRES: IMAGE, CAMERA.topic: IMAGE})
        recording.collect(10, [CAMERA.topic, MILLIMETRES])
    assert not (tmp_path / "unused").exists() and raw.read_bytes()[:8] == b"\x89MCAP0\r\n"
    samples = read(bag)
    assert {topic for topic in samples if "depth" in topic} == {MILLIMETRES}, "without 32FC1 the other one"
    received = [sample.cdr for sample in recording.samples[MILLIMETRES]]
    assert len(set(received) & set(samples[MILLIMETRES])) >= 10


@pytest.fixture(scope="module")
def running(tmp_path_factory, domain_id, simulator_ports):
    """Emulator and bridge; recordings are started by `record`."""
    directory = tmp_path_factory.mktemp("choices")
    parameters = {"record.directory": directory, "transport_mode": "file"}
    with System(directory / "run", domain_id, [CAMERA, DEPTH], parameters=parameters) as system:
        recording = Recording(system)
        recording.subscribe({**IMU, CAMERA.topic: IMAGE, MILLIMETRES: IMAGE})
        recording.collect(3, [CAMERA.topic, MILLIMETRES])
        yield system, recording, Parameters(system.peer), directory


def record(running, path: str, count: int = 5, **values) -> Path:
    """Records `count` images with these parameters; returns the bag."""
    system, recording, parameters, directory = running
    result = parameters.set(atomically=True, record__ros=path, **values)
    assert result.successful, result.reason
    recording.collect_more(count, [CAMERA.topic, MILLIMETRES])
    assert parameters.set(atomically=True, record__ros="").successful
    bag = directory / path
    ended = lambda: re.search(rf"recorded \d+ messages in {bag}/", system.bridge.log.read_text())  # noqa: E731
    system.peer.wait_for(ended, f"the end of {bag}", 60.0)
    return bag


def chunks(bag: Path) -> set[str]:
    """Compressions of the chunks of a bag's MCAP file (https://mcap.dev/spec)."""
    [file] = bag.glob("*.mcap")
    data, at, found = file.read_bytes(), 8, set()
    while at < len(data) - 8:
        opcode, length = struct.unpack_from("<BQ", data, at)
        if opcode == 6:
            (size,) = struct.unpack_from("<I", data, at + 9 + 28)
            found.add(data[at + 9 + 32 : at + 9 + 32 + size].decode())
        at += 9 + length
    return found


def test_a_bag_has_the_topics_that_expressions_choose(running):
    chosen = record(running, "chosen", record__regex="/sensor|^/tf", record__exclude_regex="camera_info$|static")
    with Reader(chosen) as reader:
        names = set(reader.topics)
    published = {*topics_of(CAMERA), *topics_of(DEPTH), "/tf", "/rflysim/sensors/add"}
    assert names <= published and {"/tf", CAMERA.topic, FLOAT} <= names, names
    assert not any(name.endswith("camera_info") for name in names)
    everything = record(running, "everything", record__regex="", record__exclude_regex="")
    with Reader(everything) as reader:
        assert {"/tf_static", "/diagnostics", "/mavros/state", *IMU} <= set(reader.topics)


def test_a_bag_has_one_encoding_of_depth_with_the_values_of_the_simulator(running):
    system, recording, _, _ = running
    exact = read(record(running, "exact"))
    assert {topic for topic in exact if "depth" in topic} == {FLOAT}
    metres = {stamp: pixels(message) for stamp, message in images(exact[FLOAT])}
    published = {stamp: pixels(message) for stamp, message in recording.by_stamp(MILLIMETRES).items()}
    both = metres.keys() & published.keys()
    assert both
    for stamp in both:
        # Counts of 2 mm: whole metres in the float image are counts again without a rest.
        known = np.isfinite(metres[stamp])
        counts = metres[stamp][known] / 0.002
        assert known.any() and np.abs(counts - np.rint(counts)).max() < 1e-2
        near = known & (metres[stamp] < 65.0)
        assert (np.abs(metres[stamp][near] * 1000 - published[stamp][near]) < 0.01).all()
    assert {t for t in read(record(running, "whole", record__depth="16UC1")) if "depth" in t} == {MILLIMETRES}
    asked = record(running, "asked", record__depth="32FC1", record__regex="img_depth$|img_rgb$")
    assert {t for t in read(asked) if "depth" in t} == {MILLIMETRES}, "it is the only one that was asked for"
    every = read(record(running, "every", record__depth="all", record__regex=""))
    assert {t for t in every if "depth" in t} == {MILLIMETRES, FLOAT} | FILES


def images(samples: list[bytes]):
    """Stamps in ns and messages."""
    for sample in samples:
        message = decode(sample, IMAGE)
        yield message.header.stamp.sec * 10**9 + message.header.stamp.nanosec, message


def test_chunks_are_compressed_and_hold_the_same_samples(running):
    _, recording, _, _ = running
    only = {"record__regex": f"^({CAMERA.topic}|{FLOAT})$", "record__depth": "32FC1"}
    plain = record(running, "plain", count=20, record__compression="none", **only)
    small = record(running, "small", count=20, record__compression="zstd", **only)
    assert (chunks(plain), chunks(small)) == ({""}, {"zstd"})
    assert yaml_compression(small) == "", "rosbag2's own compression is of whole files and messages"
    sizes, held = [], []
    for bag in (plain, small):
        samples = read(bag)
        held.append(sum(len(sample) for found in samples.values() for sample in found))
        sizes.append(sum(file.stat().st_size for file in bag.glob("*.mcap")) / held[-1])
        received = {sample.cdr for sample in recording.samples[CAMERA.topic]}
        assert len(received & set(samples[CAMERA.topic])) >= 10, "the bytes of a subscriber"
    assert min(held) > 20 * 320 * 240 * 7 / 2
    assert 1.0 < sizes[0] < 1.05 and sizes[1] < 0.6, sizes


def yaml_compression(bag: Path) -> str:
    """The compression that metadata.yaml names."""
    [found] = re.findall(r'compression_format: "(.*)"', (bag / "metadata.yaml").read_text())
    return found


def test_while_the_bridge_runs_a_recording_stays_in_its_directory(running, tmp_path):
    _, _, parameters, directory = running
    for name in ("record__ros", "record__raw"):
        for path in (str(tmp_path / "flight"), "../flight", "a/../../flight"):
            result = parameters.set(atomically=True, **{name: path})
            assert not result.successful and str(directory) in result.reason and "-p record." in result.reason, result.reason
    result = parameters.set(atomically=True, record__ros="flight", record__regex="(", record__exclude_regex="*")
    assert not result.successful and "record.regex" in result.reason and "record.exclude_regex" in result.reason, result.reason
    assert not list(directory.glob("flight*")) and not list(tmp_path.iterdir())
    assert record(running, "first/second/third").joinpath("third_0.mcap").exists()
