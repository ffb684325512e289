"""The vendor's public Python client, pointed at the emulator, receives every sensor that it supports.

The client is not part of this repository. `RFLYSIM_SDK` names a directory with a copy of it (the one that holds
`VisionCaptureApi.py`, or a parent in the vendor's layout), and `RFLYSIM_SDK_2025` one with that of December 2025; without
them these tests are skipped. What is compared is the emulator alone: the bridge does not run here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from images import psnr
from programs import emulator_process
from truth import BOX_ENTRY, RANGE_RECORD, TARGET_ENTRY, Truth, sim_ns, true_image, true_list, true_points

from sensors import (
    CLOUD_TYPES,
    COMPRESSED,
    COMPRESSED_OTHER,
    IMAGE_TYPES,
    SHARED_MEMORY,
    Sensor,
    every_shared_memory_sensor,
    every_udp_sensor,
    write_config,
)

FRAMES = 3
# The clouds that each client decodes.
CLIENTS = {"RFLYSIM_SDK": "i16", "RFLYSIM_SDK_2025": "2025-12"}

# What the client cannot receive whoever sends it. The reasons are defects of the client, seen in its source and here.
UNSUPPORTED = {
    (8, COMPRESSED): "the client never decodes a compressed fisheye image",
    (8, COMPRESSED_OTHER): "the client never decodes a compressed fisheye image",
    (5, SHARED_MEMORY): "the client's shared-memory thread ends with a NameError at a range finder",
    (23, SHARED_MEMORY): "the client never decodes a Mid-360 cloud from shared memory",
}

# At a rate that leaves the driver time to look at each sensor between two frames.
UDP = [replace(sensor, rate=5) for sensor in every_udp_sensor() if (sensor.type, sensor.mode) not in UNSUPPORTED]
MEMORY = [
    replace(sensor, rate=5) for sensor in every_shared_memory_sensor() if (sensor.type, sensor.mode) not in UNSUPPORTED
]


@dataclass
class Received:
    """What the client had when it ended, and the truth."""

    report: dict
    frames: dict[int, list[tuple[int, np.ndarray]]]
    imu: np.ndarray
    truth: Truth
    output: str


def receive(client: str, directory: Path, sensors: list[Sensor], change_mode: int) -> Received:
    """Runs the client in a process of its own."""
    sdk = os.environ.get(client)
    if not sdk:
        pytest.skip(f"{client} is not set: the vendor's client is not on this machine")
    directory.mkdir(parents=True, exist_ok=True)
    truth_file, frames = directory / "truth.jsonl", directory / "frames"
    emulator = emulator_process(directory, ["--vehicles", "2", "--cloud-format", CLIENTS[client]], truth_file, frames).start()
    emulator.wait_for_output("Ctrl-C ends it")
    config, output = write_config(directory / "Config.json", sensors), directory / "received.npz"
    driver = Path(__file__).parents[1].joinpath("vendor_driver.py")
    command = [sys.executable, driver, sdk, config, str(change_mode), str(FRAMES), "20", output]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    code = emulator.stop()
    text = done.stdout + done.stderr
    assert done.returncode == 0, text[-3000:]
    assert code == 0, emulator.tail()
    stored = np.load(output)
    report = json.loads(bytes(stored["report"]))
    received = {
        s["seq_id"]: [(sim_ns(t), stored[f"frame_{s['seq_id']}_{i}"]) for i, t in enumerate(s["stamps"])]
        for s in report["sensors"]
    }
    return Received(report, received, stored["imu"], Truth(truth_file, frames), text)


@pytest.fixture(scope="module", params=CLIENTS)
def udp(request, tmp_path_factory, simulator_ports) -> Received:
    return receive(request.param, tmp_path_factory.mktemp("vendor_udp"), UDP, change_mode=-1)


@pytest.fixture(scope="module", params=CLIENTS)
def memory(request, tmp_path_factory, simulator_ports) -> Received:
    return receive(request.param, tmp_path_factory.mktemp("vendor_memory"), MEMORY, change_mode=0)


@pytest.mark.parametrize("sensor", UDP, ids=lambda s: f"type{s.type}-mode{s.mode}")
def test_the_client_receives_what_was_rendered(sensor, udp):
    assert_rendered(sensor, udp)


@pytest.mark.parametrize("sensor", MEMORY, ids=lambda s: f"type{s.type}")
def test_the_client_reads_from_memory_what_was_rendered(sensor, memory):
    assert_rendered(sensor, memory)


def assert_rendered(sensor: Sensor, run: Received) -> None:
    frames, rendered = run.frames[sensor.seq], run.truth.frames[sensor.seq]
    assert len(frames) >= FRAMES, f"{len(frames)} frames; {run.report['died']}\n{run.output[-2000:]}"
    exact = 0
    for stamp, value in frames:
        # The client stores no time stamp for lists; for them any rendered frame may be the one.
        candidates = [rendered[stamp]] if stamp in rendered else list(rendered.values())
        assert stamp in rendered or sensor.type in (30, 31), f"{stamp} was never rendered"
        exact += any(agrees(sensor, value, frame.payload()) for frame in candidates if frame.file)
    assert exact == len(frames), f"{exact} of {len(frames)} frames agree"


def agrees(sensor: Sensor, value: np.ndarray, payload: bytes) -> bool:
    """Is what the client stored what was rendered?"""
    if sensor.type in IMAGE_TYPES:
        rendered = true_image(sensor, payload)
        found = value.reshape(rendered.shape)
        return np.array_equal(found, rendered) or (
            sensor.mode in (COMPRESSED, COMPRESSED_OTHER) and sensor.type != 2 and psnr(found, rendered) > 28
        )
    if sensor.type in CLOUD_TYPES:
        points, fourth = true_points(sensor, payload)
        if fourth is not None:  # the client scales the class as well
            points = np.c_[points, fourth / 32767.0 * sensor.params[0]]
        return value.shape == points.shape and np.allclose(value, points, rtol=0, atol=1e-9)
    if sensor.type == 5:
        record = np.frombuffer(payload, RANGE_RECORD, 1)[0]
        return np.allclose(value, np.concatenate([np.ravel(record[name]) for name in RANGE_RECORD.names]))
    entries = true_list(payload, BOX_ENTRY if sensor.type == 30 else TARGET_ENTRY)
    expected = np.array([np.concatenate([np.ravel(e[name]) for name in entries.dtype.names]) for e in entries])
    return value.shape == expected.shape and np.allclose(value, expected)


def test_the_client_takes_the_clock_of_the_simulator(udp):
    [clock] = [c for c in udp.report["clocks"] if c["id"] == 1]
    assert clock["local"]
    frames = next(iter(udp.truth.frames.values())).values()
    # When ticks were due, not when this machine got round to them; time that stood still only makes the start later.
    starts = [(frame.due_ns - sim_ns(frame.sim)) * 1e-9 for frame in frames]
    assert clock["start"] == pytest.approx(min(starts), abs=0.1)


def test_the_client_receives_the_imu(udp):
    assert len(udp.imu) > 30
    stamps = udp.imu[:, 1]
    assert (np.diff(stamps) > 0).all()
    compared = 0
    for _, stamp, *values in udp.imu:
        true = udp.truth.vehicles[1].get(sim_ns(stamp))
        if true is not None:
            assert np.allclose(values, [*true["specific_force"], *true["rate"]], atol=1e-4)
            compared += 1
    assert compared >= 1


def test_the_client_keeps_every_object_apart(tmp_path, simulator_ports):
    sdk = os.environ.get("RFLYSIM_SDK")
    if not sdk:
        pytest.skip("RFLYSIM_SDK is not set: the vendor's client is not on this machine")
    names = ["Box_0", "Box_1", "Box_2", "Walker_0"]
    emulator = emulator_process(tmp_path, ["--hover"], tmp_path / "truth.jsonl", None).start()
    emulator.wait_for_output("Ctrl-C ends it")
    command = [sys.executable, Path(__file__).parents[1].joinpath("vendor_reports.py"), sdk, "30", *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert emulator.stop() == 0
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert sorted(o["name"] for o in seen) == names, seen
    assert len({o["seq_id"] for o in seen}) == len(names)
    box = next(o for o in seen if o["name"] == "Box_1")
    assert box["position"] == pytest.approx([14, 0, -2])  # the second box of the scene


@pytest.mark.parametrize(
    ("kind", "reason"), UNSUPPORTED.items(), ids=lambda v: f"type{v[0]}-mode{v[1]}" if isinstance(v, tuple) else ""
)
def test_sensors_that_the_client_does_not_support(kind, reason):
    pytest.skip(f"vendor: {reason}")
