"""The direction of cameras by topic: what an independent publisher asks for is in image, TF and status from one frame on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from agreement import CAMERA, LIDAR, assert_they_agree
from backend import ANSWERS_PEER
from geometry import FLU_FROM_FRD, nanoseconds, rotation_from_euler
from peer.publisher import Publication, Stream
from recording import Recording
from system import System
from topics import DIAGNOSTICS, TF, main_topic, topics_of

from sensors import COMPRESSED, Sensor

pytestmark = pytest.mark.skipif(not ANSWERS_PEER, reason="the peer's publisher speaks to Cyclone only")

POD = Sensor(2, 9, COMPRESSED, width=160, height=120, rate=10)
MOUNT, DIRECTION = "mavros_msgs/msg/MountControl", "geometry_msgs/msg/Vector3Stamped"
NEUTRAL, TARGETING = 1, 2


def status_topic(sensor: Sensor) -> str:
    return f"/rflysim/sensor{sensor.seq}/mount_control/status"


@pytest.fixture(scope="module")
def running(tmp_path_factory, domain_id, simulator_ports):
    """Emulator and bridge; a depth camera that takes commands, a lidar that stays, and a pod."""
    options = {"transport_mode": "file", "time.mode": "sim", "sensor0.gimbal": True, "diagnostics.period_s": 0.2}
    with System(tmp_path_factory.mktemp("gimbal"), domain_id, [CAMERA, LIDAR, POD], parameters=options) as system:
        recording = Recording(system)
        topics = {status_topic(sensor): DIRECTION for sensor in (CAMERA, POD)}
        recording.subscribe({**TF, **DIAGNOSTICS, **topics, **topics_of(CAMERA), **topics_of(LIDAR), **topics_of(POD)})
        recording.collect(3, [main_topic(sensor) for sensor in (CAMERA, LIDAR, POD)])
        yield system, recording


def commands(system: System, sensor: Sensor) -> Publication:
    """A publisher of commands that reaches the bridge."""
    return Publication(system.peer, f"/rflysim/sensor{sensor.seq}/mount_control/command", MOUNT).wait()


def degrees(status) -> list[float]:
    """Roll, pitch, yaw."""
    return [round(math.degrees(v), 3) for v in (status.vector.x, status.vector.y, status.vector.z)]


def test_a_camera_turns_as_it_is_told(running):
    system, recording = running
    told = commands(system, CAMERA)
    first = recording.wait_for(status_topic(CAMERA), lambda status: degrees(status) == [0, 0, 0])
    assert first.header.frame_id == "sensor0_link"
    # A stream, as controllers send it.
    with Stream(told, 20.0, mode=TARGETING, roll=5.0, pitch=-20.0, yaw=30.0):
        status = recording.wait_for(status_topic(CAMERA), lambda status: degrees(status) == [5, -20, 30])
    shown = nanoseconds(status.header.stamp)
    # Image, camera_info and TF agree with a lidar that did not turn, from that image on.
    recording.collect_more(5, [main_topic(CAMERA)])
    assert shown in recording.by_stamp(main_topic(CAMERA))
    assert_they_agree(recording, CAMERA, LIDAR, shown)
    turned = FLU_FROM_FRD @ rotation_from_euler(*np.radians([5.0, -20.0, 30.0])) @ FLU_FROM_FRD
    link = recording.transforms.lookup("base_link", "sensor0_link", shown)
    assert np.allclose(link[:3, :3], turned, atol=1e-6)
    stamps = [
        nanoseconds(t.header.stamp)
        for message in recording.messages("/tf_static")
        for t in message.transforms
        if t.child_frame_id == "sensor0_link"
    ]
    assert shown in stamps


def test_what_cannot_be_is_counted_and_changes_nothing(running):
    system, recording = running
    told = commands(system, CAMERA)
    with Stream(told, 20.0, mode=TARGETING, pitch=-10.0):
        recording.wait_for(status_topic(CAMERA), lambda status: degrees(status) == [0, -10, 0])
    before = len(recording.messages(status_topic(CAMERA)))

    def counted() -> dict[str, int]:
        recording.harvest()
        found = {}
        for message in recording.messages("/diagnostics"):
            for status in message.status:
                if status.name.endswith("gimbal of sensor0"):
                    found = {v.key: int(v.value) for v in status.values if v.key.startswith("drop_")}
        return found

    with Stream(told, 20.0, mode=4, pitch=1.0):
        system.peer.wait_for(lambda: counted().get("drop_mode"), "a mode that is counted", 60.0)
    with Stream(told, 20.0, mode=TARGETING, pitch=500.0):
        system.peer.wait_for(lambda: counted().get("drop_angle"), "an angle that is counted", 60.0)
    recording.collect_more(5, [main_topic(CAMERA)])
    assert {tuple(degrees(s)) for s in recording.messages(status_topic(CAMERA))[before:]} <= {(0, -10, 0)}
    with Stream(told, 20.0, mode=NEUTRAL):
        recording.wait_for(status_topic(CAMERA), lambda status: degrees(status) == [0, 0, 0], since=before)


def test_a_pod_turns_and_says_itself_where_it_looks(running):
    system, recording = running
    told = commands(system, POD)
    with Stream(told, 20.0, mode=TARGETING, pitch=-35.0, yaw=-15.0):
        status = recording.wait_for(status_topic(POD), lambda status: degrees(status) == [0, -35, -15])
    assert status.header.frame_id == "sensor2_link"
    wanted = FLU_FROM_FRD @ rotation_from_euler(*np.radians([0.0, -35.0, -15.0])) @ FLU_FROM_FRD

    def turned() -> bool:
        recording.harvest()
        newest = max(recording.by_stamp(main_topic(POD)))
        try:
            link = recording.transforms.lookup("base_link", "sensor2_link", newest)
        except LookupError:
            return False
        return np.allclose(link[:3, :3], wanted, atol=1e-6)

    system.peer.wait_for(turned, "the pod to turn in TF", 60.0)
