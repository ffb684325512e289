"""What the IMU of a flight says of the motion."""

from __future__ import annotations

import attitude
import numpy as np
import preintegration
import pytest
from lidar_odometry import settings
from rows import row

GIVEN = "IMU at 200 Hz of a flight"
WINDOW = 9.0  # s


def test_imufusion_knows_the_attitude(recorded, rows):
    run = recorded("flight")
    found = attitude.attitude_errors(run, attitude.imufusion_attitudes(run.imu))
    words = settings(attitude.SETTINGS)
    row(rows, run, "imufusion", GIVEN, "attitude, largest error", found["worst_deg"], 0.5, "deg", words, **found)


@pytest.mark.long
def test_gtsam_knows_the_motion(recorded, rows):
    pytest.importorskip("gtsam")
    run = recorded("flight")
    found = preintegration.windows(run, WINDOW)
    worst = {name: round(float(np.max([w[name] for w in found])), 5) for name in found[0]}
    words = f"gyroscope {preintegration.GYRO_NOISE:g} rad/s/sqrt(Hz), accelerometer {preintegration.ACCEL_NOISE:g} m/s²/sqrt(Hz)"
    given = f"{GIVEN}, over {WINDOW:g} s each"
    row(rows, run, "gtsam", given, "largest error", worst["sigmas"], 1.0, "standard deviations", words, **worst)
