"""Odometry from the clouds of each lidar."""

from __future__ import annotations

import lidar_odometry
import pytest
from plans import DEPTH_CLOUD, MID40, MID360, ROTARY, WORLD
from rows import row
from true_motion import drift

from sensors import Sensor

AIM = 0.5
NAMES = {
    7: "depth cloud (7)",
    20: "rotating lidar (20)",
    21: "lidar in the map (21), through TF",
    22: "Mid-40 (22)",
    23: "Mid-360 (23)",
}
MOTIONS = {"flight": ", flown", "lidars": ""}
# Where the aim is missed.
KNOWN_MISSES = {
    ("kiss-icp", "flight", 23): "the algorithm's, not explained further: the flight shakes about all axes, and small_gicp meets the aim "
    "on the same clouds by an order of magnitude",
    ("kiss-icp", "lidars", 7): "not explained yet; one view of 90 degrees, not a scan all around. small_gicp on the same clouds meets the aim",
}


def _test(recorded, rows, plan: str, sensor: Sensor, package: str, odometry, settings: dict) -> None:
    run = recorded(plan)
    scans = lidar_odometry.scans(run, sensor.seq)
    found = drift(odometry(scans), run.truth.sensors[sensor.seq])
    given = f"{NAMES[sensor.type]}{MOTIONS[plan]}, {lidar_odometry.sizes(scans.values()):.0f} points at {sensor.rate} Hz"
    words = lidar_odometry.settings(settings)
    why = KNOWN_MISSES.get((package, plan, sensor.type), "")
    row(rows, run, package, given, "drift", found["drift_percent"], AIM, "% of the path", words, why, **found)


def test_small_gicp_follows_a_flight(recorded, rows):
    _test(recorded, rows, "flight", MID360, "small_gicp", lidar_odometry.small_gicp, lidar_odometry.GICP)


@pytest.mark.long
def test_kiss_icp_follows_a_flight(recorded, rows):
    _test(recorded, rows, "flight", MID360, "kiss-icp", lidar_odometry.kiss_icp, lidar_odometry.KISS)


@pytest.mark.long
@pytest.mark.parametrize("sensor", [ROTARY, WORLD, MID40, MID360, DEPTH_CLOUD], ids=lambda s: f"type{s.type}")
def test_kiss_icp_follows_laps(recorded, rows, sensor):
    _test(recorded, rows, "lidars", sensor, "kiss-icp", lidar_odometry.kiss_icp, lidar_odometry.KISS)


@pytest.mark.long
@pytest.mark.parametrize("sensor", [ROTARY, WORLD, MID40, MID360, DEPTH_CLOUD], ids=lambda s: f"type{s.type}")
def test_small_gicp_follows_laps(recorded, rows, sensor):
    _test(recorded, rows, "lidars", sensor, "small_gicp", lidar_odometry.small_gicp, lidar_odometry.GICP)
