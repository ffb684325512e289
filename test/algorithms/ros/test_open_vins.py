"""OpenVINS (package ov_msckf) with the files that `rfly_bridge calib --for openvins` writes, as they are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from figures import poses, row
from geometry_msgs.msg import PoseWithCovarianceStamped
from processes import binary
from run import SPEED, Flight, newest, node
from true_motion import TrueMotion, drift

from ros import Listener, package, wait
from sensors import RAW, Sensor, with_defaults

IMU = "/rflysim/imu"


def camera(seq: int, right: float) -> Sensor:
    """A grey camera that looks ahead."""
    return with_defaults(seq, 3, RAW, rate=20, width=640, height=480, fov=90.0, position=(0.3, right, 0.0))


PAIR = [camera(0, -0.1), camera(1, 0.1)]
INPUTS = {"two grey cameras (640 x 480, 20 Hz) and IMU": PAIR, "one grey camera (640 x 480, 20 Hz) and IMU": PAIR[:1]}


@pytest.mark.parametrize("source", INPUTS)
def test_open_vins_drifts_less_than_one_percent(tmp_path, domain_id, source):
    package("ov_msckf")
    cameras = INPUTS[source]
    with Flight(tmp_path, domain_id, cameras, emulator=("--route", "excite")) as flight:
        config = calibrated(flight.config, tmp_path / "open_vins", cameras)
        arguments = ("--ros-args", "-r", "__ns:=/ov_msckf", "-p", f"config_path:={config}")
        with node("ov_msckf", "run_subscribe_msckf", *arguments), Listener("judge") as listener:
            odometry = listener.collect(PoseWithCovarianceStamped, "/ov_msckf/poseimu", 1000)
            for needed in (IMU, *(sensor.topic for sensor in cameras)):
                wait(lambda name=needed: listener.node.count_subscribers(name), f"a reader of {needed}")
            lost = flight.fly(lambda: newest(odometry))
    true = TrueMotion(flight.truth_file).vehicle
    found = drift(poses(odometry, true), true)
    settings = "the files of rfly_bridge calib --for openvins"
    row("ov_msckf", source, "drift", found["drift_percent"], 1.0, "% of the path", settings, lost=lost, speed=SPEED, **found)


def calibrated(config: Path, directory: Path, cameras: list[Sensor]) -> Path:
    """What the bridge writes for OpenVINS of a Config.json."""
    numbers = ",".join(str(sensor.seq) for sensor in cameras)
    options = ["--for", "openvins", "--cameras", numbers, "--output", directory]
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "calib", *options, "--ros-args", "-p", f"config:={config}"]
    subprocess.run(command, check=True, capture_output=True)
    return directory / "estimator_config.yaml"
