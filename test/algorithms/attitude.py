"""Attitude from the IMU alone, by imufusion."""

from __future__ import annotations

import numpy as np
from geometry import angle_between, rotation_from_quaternion
from recorder import SECOND, Recorded

# The gyroscope has no bias, and the thrust of a multirotor looks like gravity: so little weight for the accelerometer.
SETTINGS = {"gain": 0.02, "gyroscope_range": 2000.0, "acceleration_rejection": 10.0, "rejection_timeout": 5.0}
STARTUP = 3.5  # s that the filter needs at rest
GRAVITY = 9.80665


def imufusion_attitudes(imu: np.ndarray) -> dict[int, np.ndarray]:
    """Rotations of the IMU's axes to forward, left, up of the start, by stamp in ns."""
    import imufusion

    ahrs = imufusion.Ahrs()
    settings = imufusion.AhrsSettings()
    period = float(np.median(np.diff(imu[:, 0])))
    for name, value in {**SETTINGS, "sample_rate": 1 / period}.items():
        setattr(settings, name, value)
    ahrs.set_settings(settings)
    found = {}
    for time, *values in imu:
        ahrs.update_no_magnetometer(np.degrees(values[:3]), np.array(values[3:]) / GRAVITY)
        q = ahrs.get_quaternion()
        w, x, y, z = getattr(q, "wxyz", q)
        found[round(time * SECOND)] = rotation_from_quaternion(x, y, z, w)
    return found


def attitude_errors(recorded: Recorded, found: dict[int, np.ndarray]) -> dict:
    """Angles to the truth after the filter's start. The heading, which nothing tells the filter, is right at the start."""
    true = recorded.truth.vehicle
    begin = recorded.imu[0, 0] + STARTUP
    stamps = [stamp for stamp in sorted(true) if stamp in found and stamp > begin * SECOND]
    first = stamps[0]
    heading = lambda r: np.arctan2(r[1, 0], r[0, 0])  # noqa: E731
    turn = heading(true[first][:3, :3]) - heading(found[first])
    c, s = np.cos(turn), np.sin(turn)
    about_up = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    off = np.degrees([angle_between(about_up @ found[stamp], true[stamp]) for stamp in stamps])
    tilt = np.degrees([np.arccos(np.clip(true[stamp][2, 2], -1, 1)) for stamp in stamps])
    return {
        "worst_deg": round(float(off.max()), 3),
        "rms_deg": round(float(np.sqrt(np.mean(off**2))), 3),
        "tilt_max_deg": round(float(tilt.max()), 1),
        "seconds": round((stamps[-1] - first) / SECOND, 1),
    }
