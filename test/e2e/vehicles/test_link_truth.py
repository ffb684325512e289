"""What CopterSim and others say on the autopilot's link, through pymavlink, to a bridge that hears nothing else."""

from __future__ import annotations

import socket
import struct
import time

import numpy as np
import pytest
from backend import environment
from geometry import nanoseconds
from mavros import Vehicle, vector
from peer import Peer
from processes import Process, binary
from pymavlink.dialects.v20 import common as mavlink

TRUTH = 1_234_567_890
"""Flags of HIL_ACTUATOR_CONTROLS by which CopterSim says that it is the true state, with a time in milliseconds."""
EULER, PLACE, VELOCITY, RATES = (0.1, -0.2, 0.3), (10.0, 20.0, -5.0), (1.0, 2.0, -3.0), (0.4, 0.5, 0.6)
ODOMETRY = "/rflysim/ground_truth/odom"


class Speaker:
    """Sends MAVLink to the bridge as some component of system 1."""

    def __init__(self):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        # Answers of the bridge go to the vehicle's port: somebody must be there, or sending fails now and then.
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._listener.bind(("127.0.0.1", 20100))
        self._start = time.monotonic()

    def milliseconds(self) -> int:
        """Time since the autopilot started."""
        return int((time.monotonic() - self._start) * 1000) + 5000

    def say(self, message: mavlink.MAVLink_message, component: int = 1) -> None:
        """Sends one message."""
        link = mavlink.MAVLink(None, srcSystem=1, srcComponent=component)
        self._socket.sendto(message.pack(link), ("127.0.0.1", 20101))

    def live(self, *others: tuple[mavlink.MAVLink_message, int]) -> None:
        """Says what an autopilot says in a moment, and CopterSim its truth, and what others add."""
        ms = self.milliseconds()
        self.say(mavlink.MAVLink_heartbeat_message(2, 12, 81, 3 << 16, 3, 3))
        self.say(mavlink.MAVLink_attitude_message(ms, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        self.say(mavlink.MAVLink_local_position_ned_message(ms, 1.0, 2.0, -3.0, 0.0, 0.0, 0.0))
        truth = [*EULER, *PLACE, *VELOCITY, *RATES, 0.0, 0.0, 0.0, 1.0]
        self.say(mavlink.MAVLink_hil_actuator_controls_message(ms, truth, 0, TRUTH))
        self.say(mavlink.MAVLink_hil_actuator_controls_message(ms * 1000, [0.5] * 16, 129, 1))
        for message, component in others:
            self.say(message, component)

    def true_port(self, position: tuple[float, float, float]) -> None:
        """Sends a true state to its port, as SOut2SimulatorSimpleTime."""
        state = struct.pack("<6i14f4d", 1234567891, 1, 3, *[0] * 3, *[0.0] * 14, *position, self.milliseconds() * 1e-3)
        self._socket.sendto(state, ("127.0.0.1", 30101))

    def close(self) -> None:
        """Closes the sockets."""
        self._socket.close()
        self._listener.close()


@pytest.fixture
def speaker(tmp_path, domain_id, simulator_ports):
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "--ros-args", "-p", "imu.enabled:=false"]
    bridge = Process("rfly_bridge", command, tmp_path / "bridge.log", environment(domain_id))
    peer, speaker = Peer(domain_id), Speaker()
    bridge.start()
    try:
        yield speaker, peer
        assert bridge.alive(), bridge.tail()
    finally:
        speaker.close()
        peer.close()
        bridge.stop()


def test_the_truth_on_the_link_is_the_truth_and_only_the_autopilot_is_the_vehicle(speaker):
    speaker, peer = speaker
    vehicle = Vehicle(peer)
    odometry = peer.subscribe(ODOMETRY, "nav_msgs/msg/Odometry", reliable=True, depth=100)
    controls = peer.subscribe("/mavros/hil/actuator_controls", "mavros_msgs/msg/HilActuatorControls", reliable=True, depth=100)
    poses = vehicle.topic("local_position/pose", reliable=True)

    def heard() -> bool:
        nan = float("nan")
        ms = speaker.milliseconds()
        speaker.live(
            *[(mavlink.MAVLink_local_position_ned_message(ms, 99.0, 0.0, 0.0, 0.0, 0.0, 0.0), c) for c in (2, 154, 191, 197)],
            (mavlink.MAVLink_local_position_ned_message(ms + 1, nan, 0.0, 0.0, 0.0, 0.0, 0.0), 1),
        )
        time.sleep(0.01)
        peer.take()
        return min(len(t.samples) for t in (odometry, controls, poses)) >= 50

    peer.wait_for(heard, "50 of each", 60.0)
    assert {tuple(vector(m.pose.position)) for m in poses.messages} == {(2.0, 1.0, 3.0)}
    assert {m.flags for m in controls.messages} == {1}
    last = odometry.messages[-1]
    assert np.allclose(vector(last.pose.pose.position), (20.0, 10.0, 5.0))
    assert np.allclose(vector(last.twist.twist.angular), (0.4, -0.5, -0.6))
    for topic in (odometry, controls, poses):
        # Neither does the age of a stamp grow, nor is it later than when it was published.
        ages = np.array([s.source_ns - nanoseconds(s.message.header.stamp) for s in topic.samples[-25:]]) * 1e-9
        assert ages.min() >= 0.0, topic.topic
        assert np.median(ages) < 1.0, topic.topic


def test_states_of_the_link_are_published_in_a_silence_of_the_port_only(speaker):
    speaker, peer = speaker
    odometry = peer.subscribe(ODOMETRY, "nav_msgs/msg/Odometry", reliable=True, depth=1000)
    peer.wait_for(odometry.matched, "the bridge")
    # The first state is of the link, whether or not its thread or that of the port is the first to run.
    speaker.live()
    time.sleep(0.1)

    def heard() -> bool:
        speaker.true_port((7.0, 8.0, -9.0))
        speaker.live()
        time.sleep(0.01)
        peer.take()
        return len(odometry.samples) >= 50

    peer.wait_for(heard, "50 states", 60.0)
    assert {tuple(vector(m.pose.pose.position)) for m in odometry.messages} == {(8.0, 7.0, 9.0)}

    def link_is_heard() -> bool:
        speaker.live()
        time.sleep(0.01)
        peer.take()
        return np.allclose(vector(odometry.messages[-1].pose.pose.position), (20.0, 10.0, 5.0))

    peer.wait_for(link_is_heard, "a state of the link", 60.0)
