"""A vehicle that starts away from the map's origin, flown in the UDP modes of CopterSim, seen in the estimate and in the
truth; and the topics of the true state."""

from __future__ import annotations

import math
import socket
import struct

import numpy as np
import pytest
from peer.publisher import Publication, Stream
from peer.services import Client
from system import System

from sensors import COMPRESSED, with_defaults

# What is requested of the renderer does not matter.
WITNESS = with_defaults(0, 5, COMPRESSED, rate=5)
# North and east of the origin, facing east.
START, FACING = np.array([30.0, -12.0]), 90.0
TRUTH = {
    "pose": "geometry_msgs/msg/PoseStamped",
    "twist": "geometry_msgs/msg/TwistStamped",
    "accel": "geometry_msgs/msg/AccelStamped",
    "gps": "sensor_msgs/msg/NavSatFix",
    "motor_speeds": "sensor_msgs/msg/JointState",
    "odom": "nav_msgs/msg/Odometry",
}


class Flown:
    """The bridge, the emulator and everything that is looked at."""

    def __init__(self, system: System, mode: str):
        self.system, self.mode, peer = system, mode, system.peer
        self.truth = {name: peer.subscribe(f"/rflysim/ground_truth/{name}", kind) for name, kind in TRUTH.items()}
        self.state = peer.subscribe("/mavros/state", "mavros_msgs/msg/State")
        self.pose = peer.subscribe("/mavros/local_position/pose", "geometry_msgs/msg/PoseStamped")
        self.imu = peer.subscribe("/mavros/imu/data", "sensor_msgs/msg/Imu")
        self.home = peer.subscribe("/mavros/home_position/home", "mavros_msgs/msg/HomePosition")
        self.globe = peer.subscribe("/mavros/global_position/global", "sensor_msgs/msg/NavSatFix")
        self.tf = peer.subscribe("/tf", "tf2_msgs/msg/TFMessage")
        self.crash = peer.subscribe("/rflysim/ground_truth/crash", "std_msgs/msg/Int32")

    def last(self, subscription):
        self.system.peer.take()
        return subscription.messages[-1] if subscription.messages else None

    def last_crashes(self) -> list[int]:
        """Every id that was told."""
        self.system.peer.take()
        return [message.data for message in self.crash.messages]

    def wait(self, condition, what: str, timeout: float = 60.0):
        def checked():
            self.system.assert_alive()
            return condition()

        return self.system.peer.wait_for(checked, what, timeout)

    def base_link(self):
        """Where TF has the vehicle."""
        self.system.peer.take()
        for message in reversed(self.tf.messages):
            for transform in message.transforms:
                if transform.child_frame_id == "base_link":
                    return xyz(transform.transform.translation)
        return None

    def near(self, subscription, target) -> bool:
        message = self.last(subscription)
        return message is not None and np.linalg.norm(xyz(message.pose.position) - target) < 0.7


def xyz(v) -> np.ndarray:
    return np.array([v.x, v.y, v.z])


@pytest.fixture(scope="module", params=["udp_full", "udp_simple"])
def flown(request, tmp_path_factory, domain_id, simulator_ports):
    """Flies to 4 m east, 3 m north and 5 m up of where it starts."""
    parameters = {"control.link": request.param, "tf.source": "estimate", "control.geoid": "none", "imu.enabled": False}
    start = f"{START[0]},{START[1]},{FACING}"
    emulator = ["--autopilot", request.param, "--spawn", start]
    directory = tmp_path_factory.mktemp(request.param)
    options = {"parameters": parameters, "emulator": emulator, "keep_frames": False}
    with System(directory, domain_id, [WITNESS], **options) as system:
        flown = Flown(system, request.param)
        flown.wait(lambda: (state := flown.last(flown.state)) and state.system_status == 3, "a vehicle that is ready")
        assert not flown.last(flown.state).armed
        target = {"position": {"x": 4.0, "y": 3.0, "z": 5.0}, "orientation": {"w": 1.0}}
        setpoint = Publication(system.peer, "/mavros/setpoint_position/local", "geometry_msgs/msg/PoseStamped")
        with Stream(setpoint, pose=target):
            flown.wait(lambda: flown.near(flown.pose, [4.0, 3.0, 5.0]), "the estimate to be there")
            flown.wait(lambda: flown.last(flown.state).armed, "the state to say so")
            yield flown


def test_the_vehicle_is_armed_and_in_offboard_by_the_first_setpoint(flown):
    def flies() -> bool:
        state = flown.last(flown.state)
        return (state.connected, state.armed, state.mode) == (True, True, "OFFBOARD")

    flown.wait(flies, "OFFBOARD")


def test_the_truth_is_there_too_from_the_maps_origin(flown):
    expected = np.array([START[1] + 4.0, START[0] + 3.0, 5.0])
    flown.wait(lambda: flown.near(flown.truth["pose"], expected), "the truth to be there")
    assert flown.last(flown.truth["pose"]).header.frame_id == "map"


def test_the_estimate_in_tf_is_where_the_truth_is(flown):
    def together():
        here = flown.base_link()
        return here is not None and np.linalg.norm(here - xyz(flown.last(flown.truth["pose"]).pose.position)) < 0.7

    flown.wait(together, "TF and truth to agree")
    assert np.linalg.norm(xyz(flown.last(flown.pose).pose.position) - flown.base_link()) > 20


def test_home_is_where_it_started(flown):
    home = flown.wait(lambda: flown.last(flown.home), "home")
    metres = 6378137.0 * math.pi / 180
    north = (home.geo.latitude - 40.1540302) * metres
    east = (home.geo.longitude - 116.2593683) * metres * math.cos(math.radians(home.geo.latitude))
    assert np.abs(np.array([north, east]) - START).max() < 0.5, (north, east)


def test_orientation_is_told_and_rates_are_not(flown):
    imu = flown.wait(lambda: flown.last(flown.imu), "imu/data")
    assert imu.angular_velocity_covariance[0] == -1 and imu.linear_acceleration_covariance[0] == -1
    assert xyz(imu.angular_velocity).tolist() == [0, 0, 0]
    # The setpoint asks it to face east, which is yaw 0 in ENU.
    flown.wait(lambda: abs(flown.last(flown.imu).orientation.w) > 0.99, "it to face east")


def test_global_positions_are_in_udp_full_only(flown):
    if flown.mode == "udp_simple":
        flown.system.peer.take()
        assert not flown.globe.messages
        return
    flown.wait(lambda: flown.last(flown.globe), "a global position")
    flown.wait(lambda: flown.last(flown.truth["gps"]), "the true place")

    def agree() -> bool:
        # Neither is of the time of the other.
        estimate, truth = flown.last(flown.globe), flown.last(flown.truth["gps"])
        level = abs(estimate.latitude - truth.latitude) < 2e-5 and abs(estimate.longitude - truth.longitude) < 2e-5
        return level and abs(estimate.altitude - truth.altitude) < 2.0

    flown.wait(agree, "estimate and truth to agree")


def test_every_topic_of_the_truth_has_sound_values(flown):
    for name in TRUTH:
        flown.wait(lambda name=name: flown.last(flown.truth[name]), name)
    flown.wait(lambda: np.linalg.norm(xyz(flown.last(flown.truth["twist"]).twist.linear)) < 2.0, "it to be slow")
    motors = flown.last(flown.truth["motor_speeds"])
    assert len(motors.name) == len(motors.velocity) == 8
    gps = flown.wait(lambda: (m := flown.last(flown.truth["gps"])) and abs(m.altitude - 55.0) < 1.5 and m, "its height")
    assert abs(gps.latitude - 40.154) < 0.01
    accel = flown.last(flown.truth["accel"])
    assert accel.header.frame_id == "base_link"
    flown.wait(lambda: abs(flown.last(flown.truth["accel"]).accel.linear.z - 9.81) < 1.0, "it to hover")


def test_what_the_mode_cannot_do_is_refused_at_once(flown):
    peer = flown.system.peer
    mode = Client(peer, "/mavros/set_mode", "mavros_msgs/srv/SetMode").wait()
    assert not mode.call(base_mode=0, custom_mode="AUTO.LAND").mode_sent
    land = Client(peer, "/mavros/cmd/land", "mavros_msgs/srv/CommandTOL").wait()
    assert not land.call().success


def to_truth_port(layout: str, *values) -> None:
    """Sends what CopterSim sends to port 30101."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(struct.pack(layout, *values), ("127.0.0.1", 30101))


def test_a_collision_is_told_once_and_when_it_is_over(flown):
    flown.system.peer.take()
    for with_id in (7, 7, -1):
        to_truth_port("<3i", 1234567890, 1, with_id)
    to_truth_port("<3i", 1234567890, 2, 9)  # of another vehicle
    flown.wait(lambda: flown.crash.matched() and len(flown.last_crashes()) >= 2, "crash events")
    assert flown.last_crashes() == [7, -1]


def test_the_estimate_moves_with_the_origin_of_the_map(flown):
    before = flown.base_link()
    try:
        # 0.001 degrees further south: everything is 111 m further north in the map.
        to_truth_port("<2i3d", 1234567890, 1, 40.1530302, 116.2593683, 50.0)
        flown.wait(lambda: abs(flown.base_link()[1] - before[1] - 111.0) < 1.5, "TF to move")
        assert abs(flown.base_link()[0] - before[0]) < 1.0
        # Where nothing is, is no origin.
        to_truth_port("<2i3d", 1234567890, 1, 0.0, 0.0, 0.0)
        count = len(flown.tf.samples)
        flown.wait(lambda: flown.last(flown.tf) and len(flown.tf.samples) > count + 50, "more of TF")
        flown.wait(lambda: abs(flown.base_link()[1] - before[1] - 111.0) < 1.5, "TF to stay")
    finally:
        to_truth_port("<2i3d", 1234567890, 1, 40.1540302, 116.2593683, 50.0)
    flown.wait(lambda: abs(flown.base_link()[1] - before[1]) < 1.5, "TF to come back")
