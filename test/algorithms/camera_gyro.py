"""The time of images against that of the IMU: rotation from images (OpenCV: KLT, five points; SciPy) against the gyroscope."""

from __future__ import annotations

import numpy as np
from recorder import SECOND, Recorded

FEATURES = {"maxCorners": 250, "qualityLevel": 0.01, "minDistance": 10}
FLOW = {"winSize": (21, 21), "maxLevel": 3}
BACK, INLIER = 0.2, 0.1  # pixels
SCALE = 0.05  # pixels, of the loss that tells outliers
SEARCH, STEP = 0.05, 0.0001  # s


def rotations(recorded: Recorded, seq: int, begin: float) -> list[tuple[float, float, np.ndarray]]:
    """Begin and end of an image pair in s, and the mean rate of the camera between them, in its optical axes; of images
    after `begin`, because there is no geometry in two images of the same place."""
    import cv2

    camera = recorded.projections[seq][:, :3]
    found = []
    images = [(stamp, image) for stamp, image in recorded.images[seq].items() if stamp > begin * SECOND]
    grey = [cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) for _, image in images]
    for (t0, _), (t1, _), a, b in zip(images, images[1:], grey, grey[1:], strict=False):
        corners = cv2.goodFeaturesToTrack(a, **FEATURES)
        if corners is None or len(corners) < 30:
            continue
        tracked, ok, _ = cv2.calcOpticalFlowPyrLK(a, b, corners, None, **FLOW)
        back, ok_back, _ = cv2.calcOpticalFlowPyrLK(b, a, tracked, None, **FLOW)
        good = (ok & ok_back).ravel().astype(bool) & (np.linalg.norm(back - corners, axis=-1).ravel() < BACK)
        if good.sum() < 30:
            continue
        essential, _ = cv2.findEssentialMat(
            corners[good], tracked[good], camera, method=cv2.RANSAC, prob=0.9999, threshold=INLIER
        )
        if essential is None or essential.shape != (3, 3):
            continue
        *both, direction = cv2.decomposeEssentialMat(essential)
        # Of the two rotations one is turned by half a circle more.
        rotation = min(both, key=lambda r: np.linalg.norm(cv2.Rodrigues(r)[0]))
        points = (p[good].reshape(-1, 2) for p in (corners, tracked))
        rotation = _refined(camera, *points, rotation, direction.ravel())
        turn = -cv2.Rodrigues(rotation)[0].ravel()
        found.append((t0 / SECOND, t1 / SECOND, turn * SECOND / (t1 - t0)))
    return found


def _refined(camera: np.ndarray, a: np.ndarray, b: np.ndarray, rotation: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """The rotation by all points. Five points alone scatter so much that a flight's offset did by a millisecond."""
    import cv2
    from scipy.optimize import least_squares

    rays = [np.c_[points, np.ones(len(points))] @ np.linalg.inv(camera).T for points in (a, b)]
    across = np.linalg.svd(direction[None])[2][1:]

    def turned(x: np.ndarray) -> np.ndarray:
        return cv2.Rodrigues(x[:3])[0] @ rotation

    def sampson(x: np.ndarray) -> np.ndarray:
        moved = direction + x[3:] @ across
        essential = np.cross(moved / np.linalg.norm(moved), turned(x), axisb=0, axisc=0)
        there, back = rays[0] @ essential.T, rays[1] @ essential
        return camera[0, 0] * (rays[1] * there).sum(1) / np.linalg.norm(np.c_[there[:, :2], back[:, :2]], axis=1)

    return turned(least_squares(sampson, np.zeros(5), loss="cauchy", f_scale=SCALE).x)


def offset(recorded: Recorded, seq: int) -> dict:
    """By how much images are stamped later than samples of the IMU of the same instant, in ms: where the correlation of
    both rates is largest."""
    to_camera = recorded.transforms.lookup(recorded.frame_ids[seq], recorded.imu_frame, 0)[:3, :3]
    # The accelerometer says when the vehicle has taken off.
    away = np.abs(np.linalg.norm(recorded.imu[:, 4:], axis=1) - recorded.imu[0, 6]) > 0.5
    pairs = rotations(recorded, seq, recorded.imu[np.argmax(away), 0] + 1.0)
    begin, end = (np.array([pair[i] for pair in pairs]) for i in (0, 1))
    seen = np.array([pair[2] for pair in pairs])
    time, rates = recorded.imu[:, 0], recorded.imu[:, 1:4] @ to_camera.T
    steps = np.diff(time)[:, None]
    turned = np.concatenate([np.zeros((1, 3)), np.cumsum((rates[1:] + rates[:-1]) / 2 * steps, axis=0)])
    inside = (begin - SEARCH > time[0]) & (end + SEARCH < time[-1])
    begin, end, seen = begin[inside], end[inside], seen[inside]

    def measured(shift: float) -> np.ndarray:
        at = lambda t: np.stack([np.interp(t + shift, time, turned[:, i]) for i in range(3)], -1)  # noqa: E731
        return (at(end) - at(begin)) / (end - begin)[:, None]

    # A pair of images of which the geometry was not understood is far off the gyroscope at any time.
    wrong = np.linalg.norm(seen - measured(0.0), axis=1)
    understood = wrong < max(5 * np.median(wrong), 0.02)
    shifts = np.arange(-SEARCH, SEARCH + STEP, STEP)
    correlation = [_correlation(seen[understood], measured(shift)[understood]) for shift in shifts]
    best = int(np.argmax(correlation))
    # Images that are late look like what the gyroscope saw before.
    return {
        "offset_ms": round(float(-shifts[best]) * 1000, 2),
        "correlation": round(correlation[best], 5),
        "pairs": int(understood.sum()),
        "left_out": int(len(seen) - understood.sum()),
    }


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))
