"""Distances to the surfaces of the emulator's scene, from the solids in its truth log."""

from __future__ import annotations

import numpy as np
from geometry import rotation_from_quaternion


class Scene:
    """The ground and everything that stands still, in NED."""

    def __init__(self, start: dict):
        self._solids = []
        for solid in start["solids"]:
            w, x, y, z = solid["quaternion"]
            pose = np.array(solid["centre"], float), rotation_from_quaternion(x, y, z, w)
            self._solids.append((solid["shape"], *pose, np.array(solid["half"], float)))

    def distance(self, points: np.ndarray) -> np.ndarray:
        """Distance of each point (NED) to the nearest surface in m, negative inside a solid; never too large."""
        nearest = -points[:, 2]
        for shape, centre, rotation, half in self._solids:
            nearest = np.minimum(nearest, DISTANCES[shape]((points - centre) @ rotation, half))
        return nearest

    def cast(self, origins: np.ndarray, directions: np.ndarray, farthest: float) -> np.ndarray:
        """Range in m along each unit vector; infinite where nothing is hit within `farthest`."""
        ranges = np.zeros(len(origins))
        running = np.arange(len(origins))
        for _ in range(400):
            step = self.distance(origins[running] + ranges[running, None] * directions[running])
            ranges[running] += step
            running = running[(step > 1e-4) & (ranges[running] < farthest)]
            if not running.size:
                break
        return np.where(ranges < farthest, ranges, np.inf)


def _box(points: np.ndarray, half: np.ndarray) -> np.ndarray:
    out = np.abs(points) - half
    return np.linalg.norm(np.maximum(out, 0), axis=1) + np.minimum(out.max(axis=1), 0)


def _cylinder(points: np.ndarray, half: np.ndarray) -> np.ndarray:
    out = np.stack([np.hypot(points[:, 0], points[:, 1]) - half[0], np.abs(points[:, 2]) - half[2]], axis=1)
    return np.linalg.norm(np.maximum(out, 0), axis=1) + np.minimum(out.max(axis=1), 0)


def _ellipsoid(points: np.ndarray, half: np.ndarray) -> np.ndarray:
    # To first order; the smallest half axis makes it a lower bound.
    return (np.linalg.norm(points / half, axis=1) - 1) * half.min()


DISTANCES = {"box": _box, "cylinder": _cylinder, "ellipsoid": _ellipsoid}


def ned(points: np.ndarray) -> np.ndarray:
    """Points of the map frame (ENU) in NED."""
    return points[:, [1, 0, 2]] * [1, 1, -1]


def rotation_ned(quaternion: list) -> np.ndarray:
    """Rotation from FRD to NED of a pose in the truth log."""
    w, x, y, z = quaternion
    return rotation_from_quaternion(x, y, z, w)
