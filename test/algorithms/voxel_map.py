"""A map of depth images that TF and `camera_info` bring into one frame, against the true surfaces."""

from __future__ import annotations

import numpy as np
from geometry import ENU_FROM_NED, apply, rotation_from_quaternion
from recorder import Recorded

VOXEL = 0.05  # m


def points(recorded: Recorded, seq: int, *, every: int, farthest: float) -> np.ndarray:
    """Points of every so many depth images and pixels, in the map."""
    projection = recorded.projections[seq]
    found = []
    for stamp, image in list(recorded.images[seq].items())[::every]:
        v, u = np.mgrid[0 : image.shape[0], 0 : image.shape[1]]
        z = image.astype(float) / 1000
        x = (u - projection[0, 2]) / projection[0, 0] * z
        y = (v - projection[1, 2]) / projection[1, 1] * z
        seen = (image > 0) & (z < farthest)
        matrix = recorded.transforms.lookup("map", recorded.frame_ids[seq], stamp)
        found.append(apply(matrix, np.stack([x, y, z], -1)[seen][::3]))
    return np.concatenate(found)


def distances(cloud: np.ndarray, solids: list[dict]) -> np.ndarray:
    """Signed distances in m of points (east, north, up) from the nearest surface of the ground and the solids."""
    nearest = cloud[:, 2].copy()
    for solid in solids:
        w, x, y, z = solid["quaternion"]
        axes = ENU_FROM_NED @ rotation_from_quaternion(x, y, z, w)
        half = np.array(solid["half"])
        near = np.linalg.norm(cloud - ENU_FROM_NED @ solid["centre"], axis=1) < np.linalg.norm(half) + 1.0
        local = (cloud[near] - ENU_FROM_NED @ solid["centre"]) @ axes
        off = SHAPES[solid["shape"]](local, half)
        nearest[near] = np.where(np.abs(off) < np.abs(nearest[near]), off, nearest[near])
    return nearest


def _box(p: np.ndarray, half: np.ndarray) -> np.ndarray:
    q = np.abs(p) - half
    return np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0)


def _cylinder(p: np.ndarray, half: np.ndarray) -> np.ndarray:
    q = np.stack([np.linalg.norm(p[:, :2], axis=1) - half[0], np.abs(p[:, 2]) - half[2]], -1)
    return np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0)


def _ellipsoid(p: np.ndarray, half: np.ndarray) -> np.ndarray:
    # First order, which is exact where it is small.
    k = np.linalg.norm(p / half, axis=1)
    return k * (k - 1) / np.maximum(np.linalg.norm(p / half**2, axis=1), 1e-9)


SHAPES = {"box": _box, "cylinder": _cylinder, "ellipsoid": _ellipsoid}


def thickness(cloud: np.ndarray, off: np.ndarray) -> dict:
    """How thick the surfaces of the map are: of each voxel, the range that 95 % of its points are in, across the true
    surface; the median of the voxels, and what 95 % of them are below."""
    import open3d as o3d

    point_cloud = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(cloud))
    low, high = point_cloud.get_min_bound() - VOXEL, point_cloud.get_max_bound() + VOXEL
    _, _, members = point_cloud.voxel_down_sample_and_trace(VOXEL, low, high)
    dense = [np.asarray(indices) for indices in members if len(indices) >= 20]
    thick = [np.subtract(*np.quantile(off[indices], [0.975, 0.025])) for indices in dense]
    return {
        "voxels": len(dense),
        "median_mm": round(float(np.median(thick)) * 1000, 3),
        "p95_mm": round(float(np.quantile(thick, 0.95)) * 1000, 3),
        "off_p95_mm": round(float(np.quantile(np.abs(off), 0.95)) * 1000, 3),
        "points": len(cloud),
    }
