"""Odometry against the motion that the emulator wrote down."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from geometry import FLU_FROM_FRD, NWU_FROM_NED, angle_between, inverse, nanoseconds, rigid, rotation_from_quaternion, slerp
from truth import Truth


class TrueMotion:
    """The pose of a vehicle at any time, as a matrix from FLU to NWU."""

    def __init__(self, truth: Truth, vehicle: int = 1):
        self._motion = truth.vehicles[vehicle]
        self.stamps = sorted(self._motion)

    def at(self, stamp: int) -> np.ndarray:
        """The pose at a stamp in ns; between two entries, which are 10 ms apart, straight to 0.1 mm and 0.01 degrees."""
        i = bisect_left(self.stamps, stamp)
        before, after = self.stamps[max(i - 1, 0)], self.stamps[i]
        assert before <= stamp and after - before < 100_000_000, f"no truth at {stamp}, only at {before} and {after}"
        share = (stamp - before) / (after - before) if after > before else 1.0
        (p, q), (next_p, next_q) = ((np.array(self._motion[s][k], float) for k in ("position", "quaternion")) for s in (before, after))
        w, x, y, z = slerp(q, next_q, share)
        rotation = NWU_FROM_NED @ rotation_from_quaternion(x, y, z, w) @ FLU_FROM_FRD.T
        return rigid(rotation, NWU_FROM_NED @ ((1 - share) * p + share * next_p))

    def path_m(self, first: int, last: int) -> float:
        """Length of the way between two stamps."""
        places = np.array([self._motion[s]["position"] for s in self.stamps if first <= s <= last])
        return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())


@dataclass(frozen=True)
class Drift:
    """How far odometry is from the truth when both begin with the same pose; nothing is fitted."""

    path_m: float
    end_percent: float
    """Distance at the end, in % of the path."""
    worst_percent: float
    """Largest distance, in % of the whole path."""
    rms_m: float
    end_deg: float
    poses: int
    seconds: float

    def figures(self) -> dict:
        """What a row tells besides the drift."""
        return {
            "worst_percent": round(self.worst_percent, 4),
            "rms_m": round(self.rms_m, 4),
            "end_deg": round(self.end_deg, 3),
            "poses": self.poses,
            "seconds": round(self.seconds, 1),
        }


def drift(odometry: list, motion: TrueMotion) -> Drift:
    """Scores poses of the vehicle: messages with `header.stamp` and `pose.pose`, in simulation time."""
    inside = [m for m in odometry if motion.stamps[0] < nanoseconds(m.header.stamp) < motion.stamps[-1]]
    stamps = [nanoseconds(m.header.stamp) for m in inside]
    assert stamps == sorted(stamps) and len(stamps) > 10, f"{len(stamps)} poses, in order: {stamps == sorted(stamps)}"
    estimated = [_pose(message.pose.pose) for message in inside]
    true = [motion.at(stamp) for stamp in stamps]
    start, true_start = inverse(estimated[0]), inverse(true[0])
    errors = [inverse(true_start @ t) @ (start @ e) for t, e in zip(true, estimated)]
    away = np.array([np.linalg.norm(error[:3, 3]) for error in errors])
    path = motion.path_m(stamps[0], stamps[-1])
    return Drift(
        path_m=path,
        end_percent=float(100 * away[-1] / path),
        worst_percent=float(100 * away.max() / path),
        rms_m=float(np.sqrt((away**2).mean())),
        end_deg=float(np.degrees(angle_between(np.eye(3), errors[-1]))),
        poses=len(stamps),
        seconds=(stamps[-1] - stamps[0]) * 1e-9,
    )


def _pose(pose) -> np.ndarray:
    p, q = pose.position, pose.orientation
    return rigid(rotation_from_quaternion(q.x, q.y, q.z, q.w), [p.x, p.y, p.z])
