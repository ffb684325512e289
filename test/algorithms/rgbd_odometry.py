"""Odometry from colour and depth, by Open3D."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from recorder import Recorded

# Open3D's defaults but for the range; the sensor's unit is mm. Each search begins at constant velocity.
DEPTH_MAX, DEPTH_SCALE = 15.0, 1000.0


def pairs(recorded: Recorded, colour: int, depth: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Colour (red, green, blue) and depth of one stamp."""
    for stamp, image in recorded.images[colour].items():
        if stamp in recorded.images[depth]:
            yield stamp, np.ascontiguousarray(image[:, :, ::-1]), recorded.images[depth][stamp]


def open3d_rgbd(recorded: Recorded, colour: int, depth: int) -> dict[int, np.ndarray]:
    """Poses of the camera's optical frame in that of its first image: each image against the one before."""
    import open3d as o3d

    odometry, tensor = o3d.t.pipelines.odometry, o3d.core.Tensor
    intrinsics = tensor(recorded.projections[colour][:, :3].copy())
    pose, step, before, poses = np.eye(4), np.eye(4), None, {}
    for stamp, image, counts in pairs(recorded, colour, depth):
        now = o3d.t.geometry.RGBDImage(o3d.t.geometry.Image(image), o3d.t.geometry.Image(counts))
        if before is not None:
            found = odometry.rgbd_odometry_multi_scale(now, before, intrinsics, tensor(step), DEPTH_SCALE, DEPTH_MAX)
            step = found.transformation.numpy()
            pose = pose @ step
        before = now
        poses[stamp] = pose
    return poses
