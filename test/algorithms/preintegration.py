"""Motion from the IMU alone, by gtsam's preintegration."""

from __future__ import annotations

import numpy as np
from geometry import angle_between
from recorder import SECOND, Recorded

# What a good MEMS IMU (ADIS16448) is given in configurations of visual-inertial odometry: rad/s/sqrt(Hz), m/s²/sqrt(Hz).
GYRO_NOISE, ACCEL_NOISE = 1.7e-4, 2.0e-3
SUBSTEPS = 8
GRAVITY = 9.81  # the simulator's


def windows(recorded: Recorded, seconds: float) -> list[dict]:
    """Predicts the motion over windows of so many seconds, each from the true state at its start; errors in standard
    deviations of the prediction, as it is published for such an IMU."""
    import gtsam

    params = gtsam.PreintegrationParams.MakeSharedU(GRAVITY)
    params.setGyroscopeCovariance(np.eye(3) * GYRO_NOISE**2)
    params.setAccelerometerCovariance(np.eye(3) * ACCEL_NOISE**2)
    params.setIntegrationCovariance(np.zeros((3, 3)))
    truth, imu = recorded.truth, recorded.imu
    stamps = np.round(imu[:, 0] * SECOND).astype(np.int64)
    known = [i for i, stamp in enumerate(stamps) if int(stamp) in truth.vehicle]
    found = []
    first = known[0]
    for last in known:
        # A time of which the truth was not written down is left out; the window is a little longer then.
        if imu[last, 0] - imu[first, 0] < seconds - 1e-6:
            continue
        integral = gtsam.PreintegratedImuMeasurements(params, gtsam.imuBias.ConstantBias())
        for a, b in zip(imu[first:last], imu[first + 1 : last + 1], strict=True):
            # gtsam turns the acceleration by the attitude at the start of a step: small ones, between two samples.
            for share in (np.arange(SUBSTEPS) + 0.5) / SUBSTEPS:
                sample = a + share * (b - a)
                integral.integrateMeasurement(sample[4:], sample[1:4], (b[0] - a[0]) / SUBSTEPS)
        begin, end = truth.vehicle[int(stamps[first])], truth.vehicle[int(stamps[last])]
        state = gtsam.NavState(gtsam.Pose3(begin), truth.velocity[int(stamps[first])])
        predicted = integral.predict(state, gtsam.imuBias.ConstantBias())
        sigmas = np.sqrt(np.diag(integral.preintMeasCov()))
        moved = np.linalg.norm(predicted.position() - end[:3, 3])
        faster = np.linalg.norm(predicted.velocity() - truth.velocity[int(stamps[last])])
        turned = angle_between(predicted.pose().rotation().matrix(), end)
        found.append(
            {
                "position_m": float(moved),
                "velocity_m_s": float(faster),
                "attitude_deg": float(np.degrees(turned)),
                "sigmas": float(max(turned / sigmas[:3].max(), moved / sigmas[3:6].max(), faster / sigmas[6:9].max())),
            }
        )
        first = last
    return found
