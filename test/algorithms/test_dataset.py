"""The data set that `examples/dataset.py` makes of a bag, as programs of PyPI read its layouts: evo, KISS-ICP, Open3D."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import lidar_odometry
import numpy as np
import pytest
import yaml
from geometry import LINK_FROM_OPTICAL, rigid
from plans import COLOUR, DEPTH, NOISE, ROTARY, SEED
from recorder import PATIENT
from recording import Recording
from system import System
from topics import IMAGE, main_topic
from true_motion import TrueMotion

ROOT = Path(__file__).parents[2]
# The focal length of the cameras of TUM's sequences, 525 pixels.
COLOUR, DEPTH = (replace(sensor, fov=62.7265, rate=20) for sensor in (COLOUR, DEPTH))
LIDAR = replace(ROTARY, seq=2)
SENSORS = [COLOUR, DEPTH, LIDAR]
IMAGES = 60
EXACT = 1e-9
"""m and rad: what numbers in text and in seconds of a double cost."""


@pytest.fixture(scope="module")
def made(tmp_path_factory, domain_id, simulator_ports) -> tuple[Path, Path, TrueMotion]:
    """A data set of a lap, its bag, and the emulator's truth."""
    place = tmp_path_factory.mktemp("dataset")
    parameters = {"time.mode": "sim", "transport_mode": "file", "record.directory": place, "record.ros": "flight", **PATIENT}
    options = {"parameters": parameters, "emulator": [*SEED, *NOISE, "--speed", "0.5"], "keep_frames": False}
    with System(place / "run", domain_id, SENSORS, **options) as system:
        recording = Recording(system)
        recording.subscribe({main_topic(sensor): IMAGE for sensor in (COLOUR, DEPTH)})
        recording.collect(IMAGES, [main_topic(COLOUR), main_topic(DEPTH)])
    command = [sys.executable, ROOT / "examples/dataset.py", place / "flight", place / "out"]
    subprocess.run([str(word) for word in command], check=True)
    return place / "out", place / "flight", TrueMotion(system.truth_file)


def error(reference, estimate) -> dict[str, float]:
    """Largest errors of position in m and of rotation in rad by evo, at the stamps that both have, without alignment."""
    from evo.core import metrics, sync

    pair = sync.associate_trajectories(reference, estimate, max_diff=1e-6)
    found = {"poses": pair[0].num_poses}
    for name, relation in (("m", metrics.PoseRelation.translation_part), ("rad", metrics.PoseRelation.rotation_angle_rad)):
        metric = metrics.APE(relation)
        metric.process_data(pair)
        found[name] = float(metric.get_statistic(metrics.StatisticsType.max))
    return found


def median_step(reference, poses: dict[float, np.ndarray]) -> tuple[int, float]:
    """How many poses both have, and the median error in m of the motion from each to the next, by evo."""
    from evo.core import metrics, sync
    from evo.core.trajectory import PoseTrajectory3D

    estimate = PoseTrajectory3D(poses_se3=list(poses.values()), timestamps=np.array(list(poses)))
    pair = sync.associate_trajectories(reference, estimate, max_diff=1e-6)
    steps = metrics.RPE(metrics.PoseRelation.translation_part, 1, metrics.Unit.frames)
    steps.process_data(pair)
    return pair[0].num_poses, float(steps.get_statistic(metrics.StatisticsType.median))


def test_evo_finds_no_error_in_either_layout(made):
    from evo.core.trajectory import PoseTrajectory3D
    from evo.tools import file_interface
    from rosbags.rosbag2 import Reader

    out, bag, truth = made
    with Reader(bag) as reader:
        published = file_interface.read_bag_trajectory(reader, "/rflysim/ground_truth/odom")
    euroc = file_interface.read_euroc_csv_trajectory(str(out / "mav0/state_groundtruth_estimate0/data.csv"))
    body = error(published, euroc)
    assert body["poses"] == published.num_poses == euroc.num_poses > 100 and body["m"] < EXACT and body["rad"] < 1e-6, body

    optical = rigid(LINK_FROM_OPTICAL, [0, 0, 0])
    tum = file_interface.read_tum_trajectory_file(str(out / f"rgbd{DEPTH.seq}/groundtruth.txt"))
    stamps = np.array(sorted(truth.sensors[DEPTH.seq]))
    true = PoseTrajectory3D(poses_se3=[truth.sensors[DEPTH.seq][s] @ optical for s in stamps], timestamps=stamps * 1e-9)
    camera = error(true, tum)
    assert camera["poses"] == tum.num_poses > 0.8 * IMAGES and camera["m"] < 1e-5 and camera["rad"] < 1e-5, camera
    same = file_interface.read_euroc_csv_trajectory(str(out / f"mav0/depth{DEPTH.seq}/poses.csv"))
    assert error(same, tum)["m"] < EXACT
    print({"body": body, "camera": camera})


@pytest.mark.long
def test_kiss_icp_reads_the_clouds_and_follows_the_poses_beside_them(made):
    pytest.importorskip("open3d")
    from evo.tools import file_interface
    from kiss_icp.datasets import dataset_factory

    out, *_ = made
    sensor = out / f"mav0/lidar{LIDAR.seq}"
    clouds = dataset_factory("generic", data_dir=sensor / "data")
    stamps = [int(Path(file).stem) for file in clouds.scan_files]
    poses = lidar_odometry.kiss_icp({s: np.asarray(clouds[i][0], float) for i, s in enumerate(stamps)})
    true = file_interface.read_euroc_csv_trajectory(str(sensor / "poses.csv"))
    count, median = median_step(true, {s * 1e-9: pose for s, pose in poses.items()})
    print({"poses": count, "median_mm": median * 1000})
    assert count > 20 and median < 0.03


@pytest.mark.long
def test_open3d_reads_the_layout_of_tum_and_follows_its_poses(made):
    open3d = pytest.importorskip("open3d")
    from evo.tools import file_interface

    out, *_ = made
    tum = out / f"rgbd{DEPTH.seq}"
    rows = [[line.split() for line in (tum / f"{name}.txt").read_text().splitlines()[1:]] for name in ("rgb", "depth")]
    colour, depth = (dict(found) for found in rows)
    about = yaml.safe_load((out / f"mav0/cam{COLOUR.seq}/sensor.yaml").read_text())
    camera = open3d.camera.PinholeCameraIntrinsic(*about["resolution"], *about["intrinsics"])
    odometry = open3d.pipelines.odometry
    pose, step, before, poses = np.eye(4), np.eye(4), None, {}
    for stamp in sorted(colour.keys() & depth.keys(), key=float):
        files = (open3d.io.read_image(str(tum / names[stamp])) for names in (colour, depth))
        now = open3d.geometry.RGBDImage.create_from_tum_format(*files)
        if before is not None:
            jacobian = odometry.RGBDOdometryJacobianFromHybridTerm()
            _, step, _ = odometry.compute_rgbd_odometry(now, before, camera, step, jacobian, odometry.OdometryOption())
            pose = pose @ step
        before, poses[float(stamp)] = now, pose
    count, median = median_step(file_interface.read_tum_trajectory_file(str(tum / "groundtruth.txt")), poses)
    print({"poses": count, "median_mm": median * 1000})
    assert count > 0.8 * IMAGES and median < 1e-3
