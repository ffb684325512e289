"""Rigid transforms, a TF buffer and the pinhole model, written from REP 103/105 and the tf2 design with numpy alone.

It shares nothing with the bridge. Points are rows; a 4x4 matrix carries coordinates of one frame to another.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np

# Coordinates of the optical frame (z forward, x right, y down) expressed in a link frame (x forward, y left, z up).
LINK_FROM_OPTICAL = np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]], float)
# Vehicle axes forward-right-down to forward-left-up, and north-east-down to the two world conventions.
FLU_FROM_FRD = np.diag([1.0, -1.0, -1.0])
ENU_FROM_NED = np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]], float)
NWU_FROM_NED = np.diag([1.0, -1.0, -1.0])


def rotation_from_quaternion(x: float, y: float, z: float, w: float) -> np.ndarray:
    """Returns the 3x3 matrix of a unit quaternion given in message order."""
    n = np.sqrt(x * x + y * y + z * z + w * w)
    x, y, z, w = x / n, y / n, z / n, w / n
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def rotation_from_euler(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Returns Rz(yaw) Ry(pitch) Rx(roll), angles in radians, right-handed about the axes of the frame at hand."""
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (np.cos, np.sin))
    rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return rz @ ry @ rx


def rigid(rotation: np.ndarray, translation) -> np.ndarray:
    """Returns the 4x4 matrix of a rotation followed by a translation."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation, translation
    return matrix


def inverse(matrix: np.ndarray) -> np.ndarray:
    """Returns the inverse of a rigid 4x4 matrix."""
    rotation = matrix[:3, :3].T
    return rigid(rotation, -rotation @ matrix[:3, 3])


def apply(matrix: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Carries N x 3 points by a 4x4 matrix."""
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def angle_between(a: np.ndarray, b: np.ndarray) -> float:
    """Returns the angle in radians of the rotation that takes `a` to `b` (3x3 or 4x4)."""
    relative = a[:3, :3].T @ b[:3, :3]
    # The antisymmetric part is accurate for small angles, where the arc cosine of the trace is not.
    sine = 0.5 * np.linalg.norm(relative - relative.T) / np.sqrt(2)
    return float(np.arctan2(sine, 0.5 * (np.trace(relative) - 1)))


def nanoseconds(stamp) -> int:
    """Returns a `builtin_interfaces/Time` as one integer."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


@dataclass
class _Edge:
    parent: str
    static: bool
    stamps: list[int] = field(default_factory=list)
    translations: list[np.ndarray] = field(default_factory=list)
    quaternions: list[np.ndarray] = field(default_factory=list)


class Extrapolation(LookupError):
    """The time asked for lies outside what was received, as in tf2."""


class TransformBuffer:
    """What tf2's buffer does: a forest of edges, dynamic ones interpolated (linear, slerp), never extrapolated."""

    def __init__(self) -> None:
        self.edges: dict[str, _Edge] = {}

    def add(self, message, *, static: bool) -> None:
        """Takes a `tf2_msgs/TFMessage` from /tf or /tf_static."""
        for transform in message.transforms:
            child, parent = transform.child_frame_id, transform.header.frame_id
            edge = self.edges.setdefault(child, _Edge(parent, static))
            assert edge.parent == parent, f"{child} has two parents, {edge.parent} and {parent}"
            assert edge.static == static, f"{child} is published on /tf and on /tf_static"
            t, r = transform.transform.translation, transform.transform.rotation
            stamp = 0 if static else nanoseconds(transform.header.stamp)
            at = bisect_left(edge.stamps, stamp)
            values = np.array([t.x, t.y, t.z]), np.array([r.x, r.y, r.z, r.w])
            if at < len(edge.stamps) and edge.stamps[at] == stamp:
                edge.translations[at], edge.quaternions[at] = values
                continue
            edge.stamps.insert(at, stamp)
            edge.translations.insert(at, values[0])
            edge.quaternions.insert(at, values[1])

    def known_until(self) -> int:
        """The newest time for which every edge that moves is known."""
        return min((edge.stamps[-1] for edge in self.edges.values() if not edge.static), default=-1)

    def is_known(self, stamp: int, within: int) -> bool:
        """Is there, for every edge that moves, a transform so near (ns) on either side of `stamp`?"""

        def near(edge: _Edge) -> bool:
            at = bisect_left(edge.stamps, stamp)
            around = edge.stamps[max(at - 1, 0) : at + 1]
            return stamp in edge.stamps[at : at + 1] or len(around) == 2 and around[1] - around[0] <= within

        return all(near(edge) for edge in self.edges.values() if not edge.static)

    def path_to_root(self, frame: str) -> list[str]:
        """Returns `frame`, its parent, ... up to the root."""
        path = [frame]
        while path[-1] in self.edges:
            path.append(self.edges[path[-1]].parent)
            assert len(path) < 100, f"loop in the frame tree: {path}"
        return path

    def _edge_at(self, child: str, stamp: int) -> np.ndarray:
        edge = self.edges[child]
        if edge.static:
            return rigid(rotation_from_quaternion(*edge.quaternions[-1]), edge.translations[-1])
        at = bisect_left(edge.stamps, stamp)
        if at < len(edge.stamps) and edge.stamps[at] == stamp:
            return rigid(rotation_from_quaternion(*edge.quaternions[at]), edge.translations[at])
        if at in (0, len(edge.stamps)):
            raise Extrapolation(
                f"{edge.parent} -> {child} is known for {edge.stamps[0]}..{edge.stamps[-1]}, not {stamp}"
            )
        share = (stamp - edge.stamps[at - 1]) / (edge.stamps[at] - edge.stamps[at - 1])
        translation = (1 - share) * edge.translations[at - 1] + share * edge.translations[at]
        rotation = slerp(edge.quaternions[at - 1], edge.quaternions[at], share)
        return rigid(rotation_from_quaternion(*rotation), translation)

    def lookup(self, target: str, source: str, stamp) -> np.ndarray:
        """Returns the matrix that carries coordinates of `source` to `target` at `stamp` (message or nanoseconds)."""
        at = stamp if isinstance(stamp, int) else nanoseconds(stamp)
        paths = {frame: self.path_to_root(frame) for frame in (target, source)}
        # Like tf2: only edges below the common ancestor matter, so a static pair needs no moving edge at this time.
        common = next((frame for frame in paths[target] if frame in paths[source]), None)
        if common is None:
            raise LookupError(f"{target} and {source} are not connected: {paths[target][-1]}, {paths[source][-1]}")
        to_common = {}
        for frame, path in paths.items():
            matrix = np.eye(4)
            for child in path[: path.index(common)]:
                matrix = self._edge_at(child, at) @ matrix
            to_common[frame] = matrix
        return inverse(to_common[target]) @ to_common[source]


def slerp(a: np.ndarray, b: np.ndarray, share: float) -> np.ndarray:
    """Interpolates unit quaternions along the shorter arc."""
    dot = float(a @ b)
    if dot < 0:
        b, dot = -b, -dot
    if dot > 1 - 1e-12:
        mixed = (1 - share) * a + share * b
        return mixed / np.linalg.norm(mixed)
    angle = np.arccos(dot)
    return (np.sin((1 - share) * angle) * a + np.sin(share * angle) * b) / np.sin(angle)


def project(points: np.ndarray, camera_info) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Projects N x 3 points of the optical frame with P of `camera_info`: pixel u, pixel v, depth z."""
    p = np.asarray(camera_info.p, float).reshape(3, 4)
    z = points[:, 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        u = (p[0, 0] * points[:, 0] + p[0, 2] * z) / z
        v = (p[1, 1] * points[:, 1] + p[1, 2] * z) / z
    return u, v, z


@dataclass(frozen=True)
class Agreement:
    """How well points agree with a depth image."""

    compared: int
    """Points that project onto a locally plane piece of surface and are not hidden behind it."""
    hidden: int
    """Points far behind the surface the camera sees: they are seen from elsewhere only."""
    agreeing: int
    worst: float
    """Largest deviation in m, of the agreeing 99 %."""

    @property
    def share(self) -> float:
        """Fraction of the compared points that agree."""
        return self.agreeing / max(self.compared, 1)


# A point this much farther than what the camera sees there (in m) is hidden from the camera, not misplaced.
HIDDEN = 0.5


def compare_with_depth(
    points: np.ndarray, depth: np.ndarray, camera_info, *, depth_step: float, point_step: float
) -> Agreement:
    """Compares points of the optical frame with a depth image (float metres, non-finite where there is no return).

    Over a plane 1/z is linear in the pixel coordinates, so bilinear interpolation of 1/z gives the depth at the very
    spot where a point projects; no tolerance for the pixel grid is needed. A 3x3 neighbourhood whose 1/z is not linear
    (an edge, a curved surface) is left out, and so are points that something hides from the camera. What remains must
    agree within the resolution of the depth image (`depth_step`) and of the points (`point_step` per axis, propagated
    through the projection). A point in front of the surface is always wrong.
    """
    height, width = depth.shape
    u, v, z = project(points, camera_info)
    inside = (z > 0.05) & (u >= 1) & (u < width - 2) & (v >= 1) & (v < height - 2)
    points, u, v, z = points[inside], u[inside], v[inside], z[inside]

    with np.errstate(divide="ignore", invalid="ignore"):
        w = np.where(np.isfinite(depth) & (depth > 0), 1.0 / depth, np.nan)
    plane = _is_plane(w, depth, depth_step)
    column, row = np.floor(u).astype(int), np.floor(v).astype(int)
    # All four pixels that the interpolation uses must see the same plane.
    usable = plane[row, column] & plane[row + 1, column] & plane[row, column + 1] & plane[row + 1, column + 1]
    points, u, v, z, column, row = (a[usable] for a in (points, u, v, z, column, row))
    if len(z) == 0:
        return Agreement(0, 0, 0, float("nan"))

    def deviation(p: np.ndarray) -> np.ndarray:
        pu, pv, pz = project(p, camera_info)
        du, dv = pu - column, pv - row
        inverse_depth = (
            (1 - du) * (1 - dv) * w[row, column]
            + du * (1 - dv) * w[row, column + 1]
            + (1 - du) * dv * w[row + 1, column]
            + du * dv * w[row + 1, column + 1]
        )
        return 1.0 / inverse_depth - pz

    found = deviation(points)
    allowed = np.full(len(z), 1.5 * depth_step)
    for axis in range(3):
        shift = np.zeros(3)
        shift[axis] = point_step
        allowed += np.abs(deviation(points + shift) - found)
    hidden = found < -HIDDEN
    agreeing = (np.abs(found) <= allowed) & ~hidden
    worst = float(np.quantile(np.abs(found[agreeing]), 0.99)) if agreeing.any() else float("nan")
    return Agreement(int((~hidden).sum()), int(hidden.sum()), int(agreeing.sum()), worst)


def _is_plane(w: np.ndarray, depth: np.ndarray, depth_step: float) -> np.ndarray:
    """Where the 3x3 neighbourhood of inverse depth `w` is linear within the resolution of the image."""
    with np.errstate(invalid="ignore"):
        # A depth off by one step moves 1/z by step/z^2; a second difference sums four of them.
        noise = 4.0 * depth_step / depth**2
        result = np.zeros(w.shape, bool)
        centre = w[1:-1, 1:-1]
        flat = np.ones(centre.shape, bool)
        for a, b in (
            (w[1:-1, :-2], w[1:-1, 2:]),
            (w[:-2, 1:-1], w[2:, 1:-1]),
            (w[:-2, :-2], w[2:, 2:]),
            (w[:-2, 2:], w[2:, :-2]),
        ):
            flat &= np.abs(a + b - 2 * centre) <= noise[1:-1, 1:-1]
        result[1:-1, 1:-1] = flat
    return result
