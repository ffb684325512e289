"""OpenVINS (package ov_msckf) with its configuration for EuRoC, in which the calibration is that of our cameras."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_share_directory
from figures import poses, row
from geometry import FLU_FROM_FRD, LINK_FROM_OPTICAL
from geometry_msgs.msg import PoseWithCovarianceStamped
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
    config = write_settings(tmp_path / "open_vins", cameras)
    with (
        Flight(tmp_path, domain_id, cameras, emulator=("--route", "excite")) as flight,
        node("ov_msckf", "run_subscribe_msckf", "--ros-args", "-r", "__ns:=/ov_msckf", "-p", f"config_path:={config}"),
        Listener("judge") as listener,
    ):
        odometry = listener.collect(PoseWithCovarianceStamped, "/ov_msckf/poseimu", 1000)
        for needed in (IMU, *(sensor.topic for sensor in cameras)):
            wait(lambda name=needed: listener.node.count_subscribers(name), f"a reader of {needed}")
        lost = flight.fly(lambda: newest(odometry))
    true = TrueMotion(flight.truth_file).vehicle
    found = drift(poses(odometry, true), true)
    changes = "euroc_mav; topics, calibration, which is not estimated; starts at rest (try_zupt, at the beginning)"
    row("ov_msckf", source, "drift", found["drift_percent"], 1.0, "% of the path", changes, lost=lost, speed=SPEED, **found)


def write_settings(directory: Path, cameras: list[Sensor]) -> Path:
    """The files for EuRoC with our topics, calibration and number of cameras. The vehicle rests at the start, so it begins
    at rest and need not wait for a jerk; what is known exactly is not estimated."""
    directory.mkdir()
    shipped = Path(get_package_share_directory("ov_msckf")) / "config" / "euroc_mav"
    changes = {
        "use_stereo": str(len(cameras) == 2).lower(),
        "max_cameras": len(cameras),
        "try_zupt": "true",
        "zupt_only_at_beginning": "true",
        "num_opencv_threads": 1,
        "calib_cam_extrinsics": "false",
        "calib_cam_intrinsics": "false",
        "calib_cam_timeoffset": "false",
    }
    text = (shipped / "estimator_config.yaml").read_text()
    for key, value in changes.items():
        text, count = re.subn(rf"(?m)^{key}: \S+", f"{key}: {value}", text)
        assert count == 1, key
    config = directory / "estimator_config.yaml"
    config.write_text(text)
    imu = (shipped / "kalibr_imu_chain.yaml").read_text()
    (directory / "kalibr_imu_chain.yaml").write_text(re.sub(r"(?m)rostopic: .*", f"rostopic: {IMU}", imu))
    (directory / "kalibr_imucam_chain.yaml").write_text("%YAML:1.0\n\n" + "".join(map(calibration, cameras, range(2))))
    return config


def calibration(sensor: Sensor, index: int) -> str:
    """A camera as Kalibr describes it: from its optical frame to the IMU in the vehicle's centre (FLU)."""
    place = FLU_FROM_FRD @ sensor.position
    rows = [[*map(float, row), float(p)] for row, p in zip(LINK_FROM_OPTICAL, place)] + [[0.0, 0.0, 0.0, 1.0]]
    focal = sensor.width / (2 * math.tan(math.radians(sensor.fov) / 2))
    lines = [
        f"cam{index}:",
        "  T_imu_cam:",
        *(f"    - {row}" for row in rows),
        f"  cam_overlaps: [{1 - index}]",
        "  camera_model: pinhole",
        "  distortion_coeffs: [0.0, 0.0, 0.0, 0.0]",
        "  distortion_model: radtan",
        f"  intrinsics: [{focal}, {focal}, {(sensor.width - 1) / 2}, {(sensor.height - 1) / 2}]",
        f"  resolution: [{sensor.width}, {sensor.height}]",
        f"  rostopic: {sensor.topic}",
    ]
    return "\n".join(lines) + "\n"
