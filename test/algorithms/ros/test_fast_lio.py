"""FAST-LIO2 (package fast_lio) with the configurations it comes with: only topics and the place of the lidar are set."""

from __future__ import annotations

import pytest
from ament_index_python.packages import get_package_share_directory
from figures import poses, row
from geometry import FLU_FROM_FRD
from nav_msgs.msg import Odometry
from run import SPEED, Flight, newest, node, settings
from true_motion import TrueMotion, drift

from ros import Listener, package, wait
from sensors import COMPRESSED, with_defaults

PLACE = (0.2, 0.1, -0.15)
"""Of the lidar in the vehicle, FRD; the IMU is in the vehicle's centre."""
LIVOX = with_defaults(0, 23, COMPRESSED, rate=10, position=PLACE)
OUSTER = with_defaults(0, 20, COMPRESSED, rate=10, position=PLACE, width=512, height=32, params=(80.0, 0.0, -180.0, 180.0, -30.0, 20.0))

# Lidar, topic, FAST-LIO's configuration, its handler if it is not that of the configuration, the bridge's parameters.
INPUTS = {
    "Mid-360, CustomMsg, and IMU": (LIVOX, f"{LIVOX.topic}/custom", "mid360.yaml", None, {}),
    "32 rings of 512, layout ouster, and IMU": (OUSTER, OUSTER.topic, "ouster64.yaml", None, {"cloud.layout": "ouster"}),
    # Handler 2 makes up times of points from their directions where all are 0; 5 is none of its own, and takes them as they are.
    "32 rings of 512, layout velodyne, and IMU": (OUSTER, OUSTER.topic, "velodyne.yaml", 5, {"cloud.layout": "velodyne"}),
}


@pytest.mark.parametrize("source", INPUTS)
def test_fast_lio_drifts_less_than_half_a_percent(tmp_path, domain_id, source):
    package("fast_lio")
    sensor, topic, config, handler, parameters = INPUTS[source]
    emulator = ("--route", "excite", "--lidar-noise", "0.02", "--livox-pattern", "rosette")
    arguments = settings(
        common__lid_topic=topic,
        common__imu_topic="/rflysim/imu",
        mapping__extrinsic_T=[float(x) for x in FLU_FROM_FRD @ PLACE],
        pcd_save__pcd_save_en=False,
        publish__map_en=False,
        **({"preprocess__lidar_type": handler} if handler else {}),
    )
    shipped = f"{get_package_share_directory('fast_lio')}/config/{config}"
    # FAST-LIO keeps ten samples of the IMU that it has not read, and where it finds none between two scans it takes the scan
    # before for the new one. So the clock waits for each scan's result, and the samples until then are about ten.
    parameters = parameters | {"imu.rate_hz": 100}
    with (
        Flight(tmp_path, domain_id, [sensor], parameters=parameters, emulator=emulator) as flight,
        node("fast_lio", "fastlio_mapping", "--ros-args", "--params-file", shipped, *arguments, said="Node init finished"),
        Listener("judge") as listener,
    ):
        odometry = listener.collect(Odometry, "/Odometry", 1000)
        for needed in (topic, "/rflysim/imu"):
            wait(lambda name=needed: listener.node.count_subscribers(name), f"a reader of {needed}")
        wait(lambda: listener.node.count_publishers("/Odometry"), "a publisher of /Odometry")
        lost = flight.fly(lambda: newest(odometry), behind=0.11)
    true = TrueMotion(flight.truth_file).vehicle
    found = drift(poses(odometry, true), true)
    changes = "configurations of the package (mid360, ouster64; velodyne with lidar_type 5); topics, extrinsic_T of the lidar's place, "
    changes += "no PCD file, no map topic"
    row("fast_lio", source, "drift", found["drift_percent"], 0.5, "% of the path", changes, lost=lost, speed=SPEED, **found)
