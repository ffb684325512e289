"""Odometry from lidar scans and an IMU, by RKO-LIO."""

from __future__ import annotations

import numpy as np
from recorder import SECOND, Recorded

# RKO-LIO: its defaults, but for the range, and two that it recommends: gravity from the first scans, while the vehicle is at rest,
# and no second downsampling of a sparse lidar. A scan is of one instant: no deskewing.
RKO = {"max_range": 30.0, "min_range": 0.5, "deskew": False, "initialization_phase": True, "double_downsample": False}


def rko_lio(recorded: Recorded, seq: int, clouds: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Poses of the sensor in the frame that gravity levels at the first scan; the place of the IMU is that of TF."""
    from rko_lio.config import LIOConfig
    from rko_lio.lio import LIO

    odometry = LIO(LIOConfig(**RKO))
    imu_to_lidar = recorded.transforms.lookup(f"sensor{seq}_link", recorded.imu_frame, 0)
    samples = iter(recorded.imu)
    sample = next(samples)
    poses = {}
    for stamp, cloud in clouds.items():
        while sample is not None and sample[0] * SECOND <= stamp:
            odometry.add_imu_measurement(sample[4:], sample[1:4], round(sample[0] * SECOND), imu_to_lidar)
            sample = next(samples, None)
        odometry.register_scan(cloud, np.full(len(cloud), stamp))
        poses[stamp] = odometry.pose()
    return poses
