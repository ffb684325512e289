"""`examples/dataset.py`: what it makes of a bag is what the emulator rendered, and where it truly was."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
import yaml
from geometry import ENU_FROM_NED, FLU_FROM_FRD, LINK_FROM_OPTICAL, angle_between, rigid, rotation_from_euler, rotation_from_quaternion
from images import cloud_array
from peer import decode
from processes import ROOT
from recording import Recording
from system import System
from test_record import read
from topics import main_topic
from truth import Truth, true_image

from sensors import COMPRESSED, RAW, with_defaults

MOUNT = {"position": (0.3, 0.1, -0.05), "angles": (0.0, -20.0, 10.0)}
CAMERA = replace(with_defaults(0, 1, RAW), width=160, height=120, **MOUNT)
DEPTH = replace(with_defaults(1, 2, RAW), width=160, height=120, params=(0.3, 60.0, 0.001), **MOUNT)
LIDAR = replace(with_defaults(2, 20, COMPRESSED), width=64, height=16)
WORLD = replace(with_defaults(3, 21, COMPRESSED), width=64, height=16)
GREY = replace(with_defaults(4, 3, RAW), width=160, height=120, position=(0.3, -0.1, -0.05))
SENSORS = [CAMERA, DEPTH, LIDAR, WORLD, GREY]
SCALE = 1000


def convert(bag: Path, out: Path, *options: object) -> str:
    """What the program prints."""
    command = [sys.executable, ROOT / "examples/dataset.py", bag, out, *options]
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory, domain_id, simulator_ports):
    """The data set, the bag's samples, the emulator's truth, and what the program printed."""
    place = tmp_path_factory.mktemp("dataset")
    parameters = {"time.mode": "sim", "transport_mode": "file", "record.directory": place, "record.ros": "flight"}
    with System(place / "run", domain_id, SENSORS, parameters=parameters, emulator=["--speed", "0.5"]) as system:
        recording = Recording(system)
        recording.subscribe({main_topic(sensor): "sensor_msgs/msg/Image" for sensor in (CAMERA, DEPTH, GREY)})
        recording.collect(20, [main_topic(sensor) for sensor in (CAMERA, DEPTH, GREY)])
    said = convert(place / "flight", place / "out", "--depth-scale", SCALE)
    poses: dict[int, dict[int, np.ndarray]] = defaultdict(dict)
    for line in system.truth_file.read_text().splitlines():
        entry = json.loads(line)
        if entry["kind"] == "frame":
            w, x, y, z = entry["sensor"]["quaternion"]
            rotation = ENU_FROM_NED @ rotation_from_quaternion(x, y, z, w) @ FLU_FROM_FRD
            poses[entry["seq_id"]][entry["sim_ns"]] = rigid(rotation, ENU_FROM_NED @ entry["sensor"]["position"])
    return place / "out", read(place / "flight"), Truth(system.truth_file, system.truth_frames), poses, said


def table(file: Path) -> dict[int, list[str]]:
    """Rows of a table of EuRoC by stamp in ns."""
    head, *lines = file.read_text().splitlines()
    assert head.startswith("#timestamp [ns],"), head
    rows = [line.split(",") for line in lines]
    stamps = [int(row[0]) for row in rows]
    assert stamps == sorted(set(stamps)), f"{file}: stamps ascend"
    return dict(zip(stamps, (row[1:] for row in rows), strict=True))


def pose(row: list[str]) -> np.ndarray:
    """The matrix of p_x p_y p_z q_w q_x q_y q_z."""
    x, y, z, qw, qx, qy, qz = map(float, row[:7])
    return rigid(rotation_from_quaternion(qx, qy, qz, qw), [x, y, z])


def test_images_and_depth_are_as_rendered(made):
    out, _, truth, _, _ = made
    for name, sensor in (("cam0", CAMERA), ("cam4", GREY), ("depth1", DEPTH)):
        rows = table(out / "mav0" / name / "data.csv")
        assert len(rows) >= 20 and len(list((out / "mav0" / name / "data").iterdir())) == len(rows)
        for stamp, (file,) in rows.items():
            image = cv2.imread(str(out / "mav0" / name / "data" / file), cv2.IMREAD_UNCHANGED)
            rendered = true_image(sensor, truth.frames[sensor.seq][stamp].payload())
            if sensor is DEPTH:
                assert image.dtype == np.uint16
                rendered = np.where(rendered == 65535, 0, rendered)  # 65535: no return; 0: no measurement
            assert np.array_equal(image, rendered), f"{name} {stamp}"


def test_clouds_and_samples_are_those_of_the_bag(made):
    out, samples, *_ = made
    for name, sensor in (("lidar2", LIDAR), ("lidar3", WORLD)):
        clouds = [decode(sample, "sensor_msgs/msg/PointCloud2") for sample in samples[main_topic(sensor)]]
        rows = table(out / "mav0" / name / "data.csv")
        assert len(rows) == len(clouds) > 5
        for cloud, (file,) in zip(clouds, rows.values(), strict=True):
            head, body = (out / "mav0" / name / "data" / file).read_bytes().split(b"DATA binary\n")
            lines = dict(line.split(" ", 1) for line in head.decode().splitlines())
            assert lines["FIELDS"] == "x y z label" and lines["POINTS"] == str(cloud.width * cloud.height)
            points, published = np.frombuffer(body, "<f4").reshape(-1, 4), cloud_array(cloud).reshape(-1)
            assert np.isfinite(points[:, 0]).sum() > 500 and (lines["WIDTH"], lines["HEIGHT"]) == (str(cloud.width), str(cloud.height))
            for column, field in enumerate(lines["FIELDS"].split()):
                assert np.array_equal(points[:, column], published[field], equal_nan=True), field
    imu = {message.header.stamp.sec * 10**9 + message.header.stamp.nanosec: message for message in map(imu_sample, samples["/rflysim/imu"])}
    rows = table(out / "mav0/imu0/data.csv")
    assert rows.keys() == imu.keys()
    for stamp, row in rows.items():
        w, a = imu[stamp].angular_velocity, imu[stamp].linear_acceleration
        assert [float(value) for value in row] == [w.x, w.y, w.z, a.x, a.y, a.z]


def imu_sample(sample: bytes):
    """A message of the IMU."""
    return decode(sample, "sensor_msgs/msg/Imu")


def test_poses_are_true_at_the_stamps_of_the_data(made):
    out, _, _, truth, said = made
    for name, sensor in (("cam0", CAMERA), ("depth1", DEPTH), ("lidar2", LIDAR), ("cam4", GREY)):
        data, poses = table(out / "mav0" / name / "data.csv"), table(out / "mav0" / name / "poses.csv")
        assert poses.keys() <= data.keys() and len(poses) >= 0.8 * len(data), said
        frame = np.eye(4) if sensor is LIDAR else rigid(LINK_FROM_OPTICAL, [0, 0, 0])
        for stamp, row in poses.items():
            true = truth[sensor.seq][stamp] @ frame
            assert np.linalg.norm(pose(row)[:3, 3] - true[:3, 3]) < 1e-5 and angle_between(pose(row), true) < 1e-5
        about = yaml.safe_load((out / "mav0" / name / "sensor.yaml").read_text())
        mount = np.array(about["T_BS"]["data"]).reshape(4, 4)
        roll, pitch, yaw = np.radians(sensor.angles)
        rotation = FLU_FROM_FRD @ rotation_from_euler(roll, pitch, yaw) @ FLU_FROM_FRD
        assert np.allclose(mount, rigid(rotation, FLU_FROM_FRD @ sensor.position) @ frame, atol=1e-6), about
    assert all(np.array_equal(pose(row), np.eye(4)) for row in table(out / "mav0/lidar3/poses.csv").values())
    assert "T_BS" not in (out / "mav0/lidar3/sensor.yaml").read_text(), "it measures in the map"
    states = table(out / "mav0/state_groundtruth_estimate0/data.csv")
    bodies = table(out / "mav0/imu0/poses.csv")
    assert len(states) > 50 and all(len(row) == 16 for row in states.values())
    assert bodies and all(np.allclose(pose(states[stamp]), pose(row)) for stamp, row in bodies.items())
    seconds = np.array(list(states)) * 1e-9
    places, speeds = (np.array([[float(v) for v in row[a : a + 3]] for row in states.values()]) for a in (0, 7))
    found = np.gradient(places, seconds, axis=0)[2:-2]
    assert np.abs(found - speeds[2:-2]).max() < 0.05 < np.abs(speeds).max(), "the velocity is in the map"


def test_calibration_and_the_layout_of_tum(made):
    out, *_ = made
    about = yaml.safe_load((out / "mav0/cam0/sensor.yaml").read_text())
    focal = CAMERA.width / 2 / np.tan(np.radians(CAMERA.fov) / 2)
    assert about["resolution"] == [CAMERA.width, CAMERA.height] and about["distortion_model"] == "radial-tangential"
    assert np.allclose(about["intrinsics"], [focal, focal, (CAMERA.width - 1) / 2, (CAMERA.height - 1) / 2])
    assert yaml.safe_load((out / "mav0/depth1/sensor.yaml").read_text())["depth_scale"] == SCALE
    [tum] = out.glob("rgbd*")
    lists = {name: [line.split() for line in (tum / f"{name}.txt").read_text().splitlines()[1:]] for name in ("rgb", "depth", "groundtruth")}
    shared = {stamp for stamp, _ in lists["rgb"]} & {stamp for stamp, _ in lists["depth"]}
    assert len(shared) >= 19 and all((tum / file).exists() for name in ("rgb", "depth") for _, file in lists[name])
    poses = table(out / "mav0/depth1/poses.csv")
    for stamp, x, y, z, qx, qy, qz, qw in lists["groundtruth"]:
        second, nanosecond = stamp.split(".")
        assert poses[int(second) * 10**9 + int(nanosecond)] == [x, y, z, qw, qx, qy, qz]


def test_what_cannot_be_converted_is_said(made, tmp_path):
    out, *_ = made
    bag = out.parent / "flight"
    command = [sys.executable, ROOT / "examples/dataset.py", bag, tmp_path / "none", "--topics", "/sensor0/"]
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert ran.returncode == 2 and "ground_truth/odom" in ran.stderr and "Traceback" not in ran.stderr, ran.stderr
    assert "too far for 16 bits" in convert(bag, tmp_path / "near", "--topics", "/sensor1/|truth/odom$", "--depth-scale", 5000)
