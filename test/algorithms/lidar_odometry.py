"""Odometry from lidar scans alone, by KISS-ICP and small_gicp."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from recorder import Recorded

# KISS-ICP: its defaults but for the range, of which its voxels are a hundredth. A scan is of one instant: no deskewing.
KISS = {"max_range": 30.0, "min_range": 0.5, "deskew": False}
# small_gicp: the values of its example of scan-to-model odometry.
GICP = {"downsampling_resolution": 0.25, "voxel_resolution": 1.0}


def scans(recorded: Recorded, seq: int) -> dict[int, np.ndarray]:
    """Points in the sensor's own frame by stamp. A cloud in the map is brought there by TF."""
    frame, link = recorded.frame_ids[seq], f"sensor{seq}_link"
    clouds = recorded.clouds[seq]
    if frame == link:
        return {stamp: cloud.astype(float) for stamp, cloud in clouds.items()}
    brought = {}
    for stamp, cloud in clouds.items():
        matrix = recorded.transforms.lookup(link, frame, stamp)
        brought[stamp] = cloud @ matrix[:3, :3].T + matrix[:3, 3]
    return brought


def kiss_icp(clouds: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Poses of the sensor in the frame of its first scan."""
    from kiss_icp.config import load_config
    from kiss_icp.kiss_icp import KissICP

    config = load_config(None)
    for name, value in KISS.items():
        setattr(config.data, name, value)
    config.mapping.voxel_size = config.data.max_range / 100
    odometry = KissICP(config)
    poses = {}
    for stamp, cloud in clouds.items():
        odometry.register_frame(cloud, np.zeros(len(cloud)))
        poses[stamp] = odometry.last_pose.copy()
    return poses


def small_gicp(clouds: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """The same by registration of each scan to a voxel map of those before (VGICP), from constant velocity."""
    import small_gicp as library

    model = library.GaussianVoxelMap(GICP["voxel_resolution"])
    pose, step, poses = np.eye(4), np.eye(4), {}
    for stamp, cloud in clouds.items():
        points, _ = library.preprocess_points(cloud, GICP["downsampling_resolution"])
        if poses:
            found = library.align(model, points, pose @ step).T_target_source
            pose, step = found, np.linalg.inv(pose) @ found
        model.insert(points, pose)
        poses[stamp] = pose
    return poses


def settings(values: dict) -> str:
    """For the table."""
    return ", ".join(f"{name} {value}" for name, value in values.items())


def sizes(clouds: Iterable[np.ndarray]) -> float:
    """Mean number of points of a scan."""
    return float(np.mean([len(cloud) for cloud in clouds]))
