"""The emulator's truth log in the axes of ROS, and how far an estimate is from it."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
from geometry import ENU_FROM_NED, FLU_FROM_FRD, angle_between, inverse, rigid, rotation_from_quaternion


def _pose(entry: dict) -> np.ndarray:
    w, x, y, z = entry["quaternion"]
    rotation = ENU_FROM_NED @ rotation_from_quaternion(x, y, z, w) @ FLU_FROM_FRD
    return rigid(rotation, ENU_FROM_NED @ entry["position"])


class TrueMotion:
    """Poses carry coordinates of a link (forward, left, up) to the map (east, north, up), by simulation time in ns."""

    def __init__(self, file: Path):
        self.sensors: dict[int, dict[int, np.ndarray]] = defaultdict(dict)
        self.vehicle: dict[int, np.ndarray] = {}
        self.velocity: dict[int, np.ndarray] = {}
        """Of the vehicle, m/s in the map."""
        for line in file.read_text().splitlines():
            entry = json.loads(line)
            if entry["kind"] == "start":
                self.solids = entry["solids"]
            elif entry["kind"] == "frame":
                stamp = entry["sim_ns"]
                self.sensors[entry["seq_id"]][stamp] = _pose(entry["sensor"])
                if entry["vehicle"]:
                    self.vehicle[stamp] = _pose(entry["vehicle"])
                    self.velocity[stamp] = ENU_FROM_NED @ entry["vehicle"]["velocity"]


def drift(estimated: dict[int, np.ndarray], true: dict[int, np.ndarray]) -> dict:
    """How far an odometry is off: both begin at the same pose. `drift` is the largest distance between them at any time,
    as a share of the whole path; `segments` the mean error over all parts of the path that are 10, 20 and 40 m long, as
    a share of their length (the metric of the KITTI odometry benchmark)."""
    stamps = sorted(estimated)
    found = np.array([estimated[s] for s in stamps])
    real = np.array([true[s] for s in stamps])
    found = np.array([inverse(found[0]) @ pose for pose in found])
    real = np.array([inverse(real[0]) @ pose for pose in real])
    steps = np.linalg.norm(np.diff(real[:, :3, 3], axis=0), axis=1)
    path = np.concatenate([[0], np.cumsum(steps)])
    off = np.linalg.norm(found[:, :3, 3] - real[:, :3, 3], axis=1)
    turned = [angle_between(a, b) for a, b in zip(found, real, strict=True)]
    return {
        "path_m": round(float(path[-1]), 1),
        "drift_percent": round(float(off.max() / path[-1] * 100), 3),
        "segments_percent": round(_segments(found, real, path) * 100, 3),
        "end_m": round(float(off[-1]), 4),
        "worst_m": round(float(off.max()), 4),
        "worst_deg": round(float(np.degrees(max(turned))), 3),
        "frames": len(stamps),
        "error": [[round(float(s), 2), round(float(e), 4)] for s, e in list(zip(path, off, strict=True))[::6]],
    }


def _segments(found: np.ndarray, real: np.ndarray, path: np.ndarray) -> float:
    shares = []
    for length in (10.0, 20.0, 40.0):
        ends = np.searchsorted(path, path + length)
        for first, last in enumerate(ends):
            if last < len(path):
                wrong = inverse(inverse(real[first]) @ real[last]) @ inverse(found[first]) @ found[last]
                shares.append(np.linalg.norm(wrong[:3, 3]) / length)
    return float(np.mean(shares))
