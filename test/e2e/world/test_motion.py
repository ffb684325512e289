"""A vehicle that the bridge flies itself: told by mavros' topics, seen by the emulator's sensors, and drawn in its scene."""

from __future__ import annotations

import json
import math
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from backend import HAS_SIMULATION, NO_SIMULATION, environment
from images import metres
from mavros import Vehicle, heading, pose, vector, xyz
from peer import Peer
from processes import ROOT, Process, binary
from recording import Recording
from system import System
from test_scene import OK, Scene
from topics import main_topic

from sensors import RAW, Sensor

pytestmark = pytest.mark.skipif(not HAS_SIMULATION, reason=NO_SIMULATION)

# On the emulator's second vehicle, which only the bridge knows; it looks ahead from the vehicle's centre.
DEPTH = Sensor(0, 2, RAW, width=64, height=48, rate=20, vehicle=2, position=(0.0, 0.0, 0.0), params=(0.1, 60.0, 0.001))
# East, north, up in `map`, and the heading from east.
START, NORTH = np.array([0.0, -20.0, 0.0]), 90.0
# 5 m before 0, -6, 2 the emulator's simple scene has a box: its surface is at north -1.
BOX = -1.0
TRUTH, IMU = "/rflysim/copter2/ground_truth/odom", "/rflysim/copter2/imu"
READY = "/rflysim/fleet/ready"


@contextmanager
def flown(directory: Path, domain_id: int, model: str):
    """Emulator with a vehicle of its own, and a bridge that flies another one."""
    parameters = {
        "vehicles": [1, 2],
        "vehicle2.model": model,
        "vehicle2.start": START.tolist(),
        "vehicle2.start_yaw_deg": NORTH,
        "control.geoid": "none",
    }
    emulator = ["--hover", "--scene", "simple"]
    with System(directory, domain_id, [DEPTH], parameters=parameters, emulator=emulator) as system:
        recording, vehicle = Recording(system), Vehicle(system.peer, "/mavros2")
        recording.subscribe(
            {
                main_topic(DEPTH): "sensor_msgs/msg/Image",
                TRUTH: "nav_msgs/msg/Odometry",
                IMU: "sensor_msgs/msg/Imu",
                READY: "rfly_bridge_msgs/msg/FleetReady",
            }
        )
        vehicle.wait_state(connected=True, armed=False)
        yield system, recording, vehicle
        system.assert_alive()


def stands_where_it_was_put(recording: Recording, vehicle: Vehicle) -> None:
    """Position, heading, home, IMU and readiness of a vehicle at rest."""
    np.testing.assert_allclose(vehicle.position(), [0, 0, 0], atol=1e-3)
    at = recording.wait_for(TRUTH, lambda m: True)
    np.testing.assert_allclose(vector(at.pose.pose.position), START, atol=1e-3)
    assert abs(math.remainder(vehicle.yaw() - math.radians(NORTH), math.tau)) < 1e-3
    home = vehicle.last("home_position/home")
    # Twenty metres south of the origin of the map.
    assert abs((40.1540302 - home.geo.latitude) * 111_000 - 20.0) < 0.2
    ready = recording.wait_for(READY, lambda m: m.ready)
    assert [each.id for each in ready.vehicles] == [1, 2]
    felt = recording.wait_for(IMU, lambda m: True)
    np.testing.assert_allclose(vector(felt.linear_acceleration), [0, 0, 9.80665], atol=1e-2)


def test_a_point_mass_flies_where_setpoints_want_it_and_its_camera_with_it(tmp_path, domain_id, simulator_ports):
    with flown(tmp_path, domain_id, "point_mass") as (system, recording, vehicle):
        stands_where_it_was_put(recording, vehicle)
        target = np.array([0.0, 14.0, 2.0])
        with vehicle.stream("setpoint_position/local", **pose(target, math.radians(NORTH))):
            vehicle.wait_state(armed=True, mode="OFFBOARD")
            vehicle.wait_near(target, within=0.05)

            def sees() -> bool:
                recording.harvest()
                image = metres(recording.newest(main_topic(DEPTH)).message)
                return abs(image[DEPTH.height // 2, DEPTH.width // 2] - (BOX - (START + target)[1])) < 0.1

            system.peer.wait_for(sees, "the box at the distance from where the vehicle is", 60.0)
            recording.wait_for(TRUTH, lambda m: np.linalg.norm(vector(m.pose.pose.position) - START - target) < 0.1)
        with vehicle.stream("setpoint_velocity/cmd_vel", twist={"linear": xyz((1.0, 0.0, 0.5))}):
            vehicle.wait_velocity([1.0, 0.0, 0.5], within=0.1)

        # The standard interface puts it elsewhere.
        call, there = Scene(system), [6.0, -12.0, 0.0]
        place = {"position": xyz(there), "orientation": heading(0.0)}
        moved = call("SetEntityState", entity="copter2", set_pose=True, state={"pose": place})
        assert moved.result.result == OK, moved
        recording.wait_for(TRUTH, lambda m: np.linalg.norm(vector(m.pose.pose.position) - there) < 0.01)
        state = call("GetEntityState", entity="copter2")
        assert state.result.result == OK, state
        np.testing.assert_allclose(vector(state.state.pose.position), there, atol=0.05)


def test_a_vehicle_stands_on_the_terrain_that_the_vendor_reads(tmp_path, domain_id, simulator_ports):
    vectors = json.loads((ROOT / "test/fixtures/golden/terrain.json").read_text())
    recorded = next(v for v in vectors if v["name"] == "small_9")
    (tmp_path / "map.png").write_bytes(bytes.fromhex(recorded["args"]["png_hex"]))
    (tmp_path / "map.txt").write_text(recorded["args"]["txt"])
    north, east, down = recorded["decoded"]["queries"][2]
    words = ["vehicles:=[1]", "vehicle1.model:=point_mass", f"vehicle1.start:=[{east}, {north}, 0.0]", f"terrain.file:={tmp_path}/map.png"]
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "--ros-args", *(part for word in words for part in ("-p", word))]
    peer, bridge = Peer(domain_id), Process("rfly_bridge", command, tmp_path / "bridge.log", environment(domain_id)).start()
    try:
        truth = peer.subscribe("/rflysim/ground_truth/odom", "nav_msgs/msg/Odometry")
        peer.wait_for(lambda: len(truth.messages) > 10, "true states")
        np.testing.assert_allclose(vector(truth.messages[-1].pose.pose.position), [east, north, -down], atol=1e-4)
    finally:
        peer.close()
        assert bridge.stop() == 0, bridge.tail()


def test_a_fixed_wing_takes_off_and_circles(tmp_path, domain_id, simulator_ports):
    with flown(tmp_path, domain_id, "fixed_wing") as (system, recording, vehicle):
        stands_where_it_was_put(recording, vehicle)
        target = np.array([0.0, 150.0, 40.0])
        angles: list[float] = []

        def circles() -> bool:
            offset = vehicle.position() - target
            near = abs(np.hypot(*offset[:2]) - 60.0) < 8.0 and abs(offset[2]) < 2.0
            if not near:
                angles.clear()
            angles.append(math.atan2(offset[1], offset[0]))
            turned = np.unwrap(angles)
            # Clockwise from above.
            return near and turned[0] - turned[-1] > 1.5

        with vehicle.stream("setpoint_position/local", **pose(target, 0.0)):
            system.peer.wait_for(circles, "a quarter of the circle around the place", 120.0)
