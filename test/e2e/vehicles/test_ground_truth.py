"""The true state as odometry and path, against what the emulator wrote down."""

from __future__ import annotations

import numpy as np
import pytest
from geometry import nanoseconds, rotation_from_quaternion
from recording import Recording
from system import System
from truth import Truth

from sensors import COMPRESSED, with_defaults

ODOMETRY, PATH = "/rflysim/ground_truth/odom", "/rflysim/ground_truth/path"
TOPICS = {ODOMETRY: "nav_msgs/msg/Odometry", PATH: "nav_msgs/msg/Path"}
# The truth of a vehicle is written down with each rendered frame.
WITNESS = with_defaults(0, 5, COMPRESSED, rate=30)
ENU_FROM_NED = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, -1]])
FLU_FROM_FRD = np.diag([1.0, -1, -1])


@pytest.fixture(scope="module")
def flight(tmp_path_factory, domain_id, simulator_ports):
    """Four seconds of a vehicle that moves, stamped with simulation time."""
    directory = tmp_path_factory.mktemp("ground_truth")
    parameters = {"transport_mode": "file", "time.mode": "sim"}
    with System(directory, domain_id, [WITNESS], parameters=parameters) as system:
        recording = Recording(system)
        recording.subscribe({**TOPICS, "/tf": "tf2_msgs/msg/TFMessage", "/tf_static": "tf2_msgs/msg/TFMessage"})
        recording.collect(400, [ODOMETRY])
        recording.collect(4, [PATH])
        # The path begins before anybody subscribes.
        known = recording.by_stamp(ODOMETRY).keys()
        recording.wait_for(PATH, lambda m: sum(nanoseconds(p.header.stamp) in known for p in m.poses) >= 5)
    return recording, Truth(system.truth_file, system.truth_frames)


def position(pose) -> np.ndarray:
    return np.array([pose.position.x, pose.position.y, pose.position.z])


def rotation(pose) -> np.ndarray:
    q = pose.orientation
    return rotation_from_quaternion(q.x, q.y, q.z, q.w)


def test_odometry_is_the_true_pose(flight):
    recording, truth = flight
    compared = 0
    for stamp, message in recording.by_stamp(ODOMETRY).items():
        assert (message.header.frame_id, message.child_frame_id) == ("map", "base_link")
        if (true := truth.vehicle_pose(1, stamp)) is None:
            continue
        place, attitude = true
        # The wire carries positions and angles as f32.
        assert np.abs(position(message.pose.pose) - ENU_FROM_NED @ place).max() < 1e-4
        assert np.abs(rotation(message.pose.pose) - ENU_FROM_NED @ attitude @ FLU_FROM_FRD).max() < 1e-5
        compared += 1
    assert compared >= 20


def test_odometry_and_tf_say_the_same_at_the_same_time(flight):
    recording, _ = flight
    poses = recording.by_stamp(ODOMETRY)
    transforms = {
        nanoseconds(t.header.stamp): t.transform
        for m in recording.messages("/tf")
        for t in m.transforms
        if t.child_frame_id == "base_link"
    }
    both = sorted(poses.keys() & transforms.keys())
    assert len(both) >= 100
    for stamp in both:
        t = transforms[stamp].translation
        assert position(poses[stamp].pose.pose).tolist() == [t.x, t.y, t.z]


def test_the_twist_is_the_motion_of_the_pose_in_the_body(flight):
    recording, _ = flight
    messages = [message for _, message in sorted(recording.by_stamp(ODOMETRY).items())]
    speeds, wrong_frame = [], []
    for before, now, after in zip(messages, messages[10:], messages[20:], strict=False):
        seconds = (nanoseconds(after.header.stamp) - nanoseconds(before.header.stamp)) * 1e-9
        moved = (position(after.pose.pose) - position(before.pose.pose)) / seconds
        twist = now.twist.twist.linear
        body = np.array([twist.x, twist.y, twist.z])
        speeds.append(np.abs(rotation(now.pose.pose) @ body - moved).max())
        wrong_frame.append(np.abs(body - moved).max())
    assert np.median(speeds) < 0.05, np.median(speeds)
    # Negative control: taken for a vector of the map, it does not fit.
    assert np.median(wrong_frame) > 0.2, np.median(wrong_frame)


def test_the_path_passes_where_the_vehicle_was(flight):
    recording, _ = flight
    odometry = recording.by_stamp(ODOMETRY)
    path = recording.messages(PATH)[-1]
    assert path.header.frame_id == "map"
    assert len(path.poses) >= 5
    known = 0
    for pose in path.poses:
        if (message := odometry.get(nanoseconds(pose.header.stamp))) is not None:
            assert position(pose.pose).tolist() == position(message.pose.pose).tolist()
            known += 1
    assert known >= 5
    places = np.array([position(pose.pose) for pose in path.poses])
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).min() >= 0.1 - 1e-9
    lengths = [len(message.poses) for message in recording.messages(PATH)]
    assert lengths == sorted(lengths)
