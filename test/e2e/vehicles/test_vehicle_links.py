"""What each link can do beyond the common: other ports, UDP_UltraSimple, positions of the body, held heights."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from mavros import BODY_NED, ONLY_POSITION, WITNESS, Vehicle, heading, pose, vector, xyz
from peer.publisher import Publication, Stream
from system import System


def system(directory, domain_id, link: str, autopilot: str | None = None, more=(), **parameters) -> System:
    """Bridge and emulator; the emulator speaks `autopilot` where that is not the link."""
    options = {"control.link": link, "transport_mode": "file", **parameters}
    emulator = ["--autopilot", autopilot or link, *more]
    return System(directory, domain_id, [WITNESS], parameters=options, emulator=emulator)


def flown_to(vehicle: Vehicle, offset) -> tuple:
    """In the UDP modes a stream of setpoints is all that it takes; in MAVLink OFFBOARD and arming as well."""
    target = vehicle.position() + offset
    stream = vehicle.stream("setpoint_position/local", **pose(target, math.pi / 2))
    return stream, target


def grounded(running: System, link: str) -> Vehicle:
    """Vehicle 1, ready on the ground."""
    vehicle = Vehicle(running.peer)
    vehicle.wait_ready()
    if link == "mavlink_full":
        vehicle.patient()
    return vehicle


@pytest.mark.parametrize("link", ["mavlink_full", "udp_full"])
def test_vehicles_are_flown_on_ports_from_another_base(tmp_path, domain_id, simulator_ports, link):
    ports = {"control.base_port": 21100, "model.base_port": 31100, "vehicles": [1, 2]}
    more = ["--grounded", "--vehicles", "2", "--base-port", "21100", "--model-base-port", "31100"]
    with system(tmp_path, domain_id, link, more=more, **ports) as running:
        vehicles = [Vehicle(running.peer), Vehicle(running.peer, "/mavros2")]
        truth = running.peer.subscribe("/rflysim/copter2/ground_truth/pose", "geometry_msgs/msg/PoseStamped")
        for vehicle in vehicles:
            vehicle.wait_ready()
        if link == "mavlink_full":
            vehicles[1].patient()
        stream, target = flown_to(vehicles[1], [0.0, 0.0, 3.0])
        with stream:
            if link == "mavlink_full":
                vehicles[1].engage()
            vehicles[1].wait_near(target)
            running.peer.wait_for(lambda: truth.take() or truth.messages, "the true state")
            high = lambda: truth.take() or abs(truth.messages[-1].pose.position.z - 3.0) < 0.7  # noqa: E731
            running.peer.wait_for(high, "it to be up in truth")
        assert not vehicles[0].wait_state(connected=True).armed
        running.assert_alive()


def test_udp_ultrasimple_is_flown_by_the_true_state(tmp_path, domain_id, simulator_ports):
    more = ["--spawn", "30,-12,90"]
    with system(tmp_path, domain_id, "udp_ultrasimple", "udp_simple", more) as running:
        vehicle = Vehicle(running.peer)
        truth = running.peer.subscribe("/rflysim/ground_truth/pose", "geometry_msgs/msg/PoseStamped")
        vehicle.wait_ready()
        assert np.linalg.norm(vehicle.position()) < 0.5, "it counts from where it stands"
        vehicle.last("global_position/global")
        stream, target = flown_to(vehicle, [4.0, 3.0, 5.0])
        with stream:
            vehicle.wait_near(target, 0.7)
            state = vehicle.wait_state(armed=True, mode="OFFBOARD")
            assert state.connected
            truth.take()
            # East, north, up; it began at 30 m north, 12 m west.
            found = vector(truth.messages[-1].pose.position)
            assert np.linalg.norm(found - [-12.0 + 4.0, 30.0 + 3.0, 5.0]) < 1.0, found
        running.assert_alive()


@pytest.mark.parametrize("link", ["mavlink_full", "udp_simple"])
def test_a_position_of_the_body_is_one_step_ahead(tmp_path, domain_id, simulator_ports, link):
    with system(tmp_path, domain_id, link, more=["--grounded"]) as running:
        vehicle = grounded(running, link)
        # North, so that ahead is not x.
        stream, target = flown_to(vehicle, [0.0, 0.0, 3.0])
        with stream:
            if link == "mavlink_full":
                vehicle.engage()
            vehicle.wait_near(target)
            vehicle.wait_yaw(math.pi / 2)
        step = {"coordinate_frame": BODY_NED, "type_mask": ONLY_POSITION, "position": xyz((4.0, 1.0, 1.0)), "yaw": 0.0}
        with vehicle.stream("setpoint_raw/local", **step):
            vehicle.wait_near(target + [-1.0, 4.0, 1.0], 0.6)
            until = time.monotonic() + 3.0
            while time.monotonic() < until:
                vehicle.next("local_position/pose")
                assert np.linalg.norm(vehicle.position() - target - [-1.0, 4.0, 1.0]) < 1.0, "it flies on"
            vehicle.wait_yaw(math.pi / 2)
        running.assert_alive()


@pytest.mark.parametrize("link", ["mavlink_full", "udp_simple"])
def test_a_height_is_held_with_an_attitude(tmp_path, domain_id, simulator_ports, link):
    with system(tmp_path, domain_id, link, more=["--grounded"]) as running:
        vehicle = grounded(running, link)
        ground = vehicle.position()[2]
        level = {"pose": {"position": xyz((0.0, 0.0, ground + 3.0)), "orientation": heading(0.0)}}
        height = Publication(running.peer, "/mavros/setpoint_attitude/height", "geometry_msgs/msg/PoseStamped")
        with Stream(height, 50.0, **level):
            if link == "mavlink_full":
                vehicle.engage()
            for _ in range(2):
                near = lambda: abs(vehicle.position()[2] - ground - 3.0) < 0.3  # noqa: E731
                running.peer.wait_for(near, "the height", 60.0)
                time.sleep(3.0)
            assert abs(vehicle.position()[2] - ground - 3.0) < 0.5, "it stays"
        running.assert_alive()
