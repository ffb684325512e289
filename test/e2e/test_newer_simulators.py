"""What newer simulators send and take: clouds with f32 points and odometry, requests of 148 bytes, a rate of 0."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from diagnostics import Report
from geometry import ENU_FROM_NED, FLU_FROM_FRD, nanoseconds, rotation_from_quaternion
from images import cloud_array, xyz
from recording import Recording
from system import System
from topics import CLOUD, DIAGNOSTICS, main_topic, topics_of
from truth import Truth

from sensors import CLOUD_TYPES, COMPRESSED, IMAGE_TYPES, RAW, SHARED_MEMORY, with_defaults

TYPES = (*IMAGE_TYPES, 5, 7, 20, 21, 22, 23, 30, 31)
ODOM = "/rflysim/uav1/local/odom"
MODES = (COMPRESSED, SHARED_MEMORY)
SENSORS = [with_defaults(i, t, m) for i, (t, m) in enumerate((t, m) for m in MODES for t in CLOUD_TYPES)]


def record(directory, domain_id, form: str):
    """Clouds of every type in one form, with the truth of their ticks."""
    parameters = {"time.mode": "sim", "transport_mode": "file"}
    emulator = ["--cloud-format", form, "--pose", "-6,1,-2,5,-8,30"]  # a still scene: both forms see the same
    system = System(directory, domain_id, SENSORS, parameters=parameters, emulator=emulator)
    with system:
        recording = Recording(system)
        recording.subscribe({main_topic(sensor): CLOUD for sensor in SENSORS} | {ODOM: "nav_msgs/msg/Odometry"})
        topics = [main_topic(sensor) for sensor in SENSORS] + ([ODOM] if form == "f32" else [])
        recording.collect(8, topics)
    return recording, Truth(system.truth_file, system.truth_frames)


@pytest.fixture(scope="module")
def newer(tmp_path_factory, domain_id, simulator_ports):
    return record(tmp_path_factory.mktemp("f32"), domain_id, "f32")


@pytest.fixture(scope="module")
def older(tmp_path_factory, domain_id, simulator_ports):
    return record(tmp_path_factory.mktemp("i16"), domain_id, "i16")


@pytest.mark.parametrize("sensor", SENSORS, ids=lambda s: f"type{s.type}-mode{s.mode}")
def test_clouds_have_the_points_that_were_sent_in_metres(newer, sensor):
    recording, truth = newer
    compared = 0
    for stamp, message in recording.by_stamp(main_topic(sensor)).items():
        frame = truth.frames[sensor.seq].get(stamp)
        if frame is None:
            continue
        # The header by the table of docs/wire/payloads.md: 36 bytes, the count last; then x, y, z, class.
        payload = frame.payload()
        [count] = np.frombuffer(payload, "<i4", 1, 32)
        sent = np.frombuffer(payload, "<f4", 4 * count, 36).reshape(count, 4)
        assert len(payload) == 36 + 16 * count
        there = sent[sent[:, :3].any(axis=1)]
        wanted = there[:, :3] @ ENU_FROM_NED.T if sensor.type == 21 else there[:, :3]
        assert np.array_equal(xyz(message), wanted) and len(wanted) > 100
        if sensor.type != 7:
            labels = cloud_array(message)
            seen = np.isfinite(labels["x"])
            assert np.array_equal(labels["label"][seen].ravel(), there[:, 3])
        compared += 1
    assert compared >= 5


# A point beyond the range in a world coordinate exists in one form only.
@pytest.mark.parametrize("sensor", [s for s in SENSORS if s.type != 21], ids=lambda s: f"type{s.type}-mode{s.mode}")
def test_both_forms_become_the_same_cloud(newer, older, sensor):
    new, old = (recording.messages(main_topic(sensor))[0] for recording, _ in (newer, older))
    assert (new.header.frame_id, new.height, new.width) == (old.header.frame_id, old.height, old.width)
    assert (new.fields, new.point_step) == (old.fields, old.point_step)
    a, b = xyz(new), xyz(old)
    assert len(a) == len(b) > 100 and np.abs(a - b).max() <= sensor.params[0] / 32767


def test_the_odometry_is_the_true_pose_with_the_stamp_of_the_cloud(newer):
    recording, truth = newer
    clouds = set(recording.by_stamp(main_topic(SENSORS[0])))
    compared = 0
    for message in recording.messages(ODOM):
        stamp = nanoseconds(message.header.stamp)
        pose = truth.vehicle_pose(1, stamp)
        if stamp not in clouds or pose is None:
            continue
        position, rotation = pose
        assert (message.header.frame_id, message.child_frame_id) == ("map", "base_link")
        p, q = message.pose.pose.position, message.pose.pose.orientation
        assert np.allclose([p.x, p.y, p.z], ENU_FROM_NED @ position, atol=1e-4)
        wanted = ENU_FROM_NED @ rotation @ FLU_FROM_FRD
        assert np.allclose(rotation_from_quaternion(q.x, q.y, q.z, q.w), wanted, atol=1e-5)
        assert message.twist.covariance[0] == -1
        compared += 1
    assert compared >= 5


def test_the_older_form_has_no_odometry(older):
    recording, _ = older
    assert recording.messages(ODOM) == []


def test_diagnostics_suggest_why_one_sensor_never_delivers(tmp_path, domain_id, simulator_ports):
    """The emulator renders nothing for a vehicle that it does not have, and does not say so."""
    sensors = [with_defaults(0, 5, COMPRESSED), with_defaults(1, 23, COMPRESSED, vehicle=7)]
    with System(tmp_path, domain_id, sensors, parameters={"diagnostics.period_s": 0.2}) as system:
        recording = Recording(system)
        recording.subscribe(DIAGNOSTICS)

        def said(message) -> bool:
            [text] = [text for name, text in Report(message).messages.items() if name.endswith("sensor1 mid360_lidar")]
            return "no data yet; other sensors deliver; some maps give no cloud of TypeID 23" in text

        recording.wait_for("/diagnostics", said)
        [status] = [s for s in recording.messages("/diagnostics")[-1].status if s.name.endswith("sensor0 range")]
        assert status.level in (0, b"\0") and "Hz" in status.message


@pytest.mark.parametrize("format_", ["vendor", "long"])
def test_every_type_delivers_whatever_the_format_of_its_request(tmp_path, domain_id, simulator_ports, format_):
    sensors = [with_defaults(seq, type_id, RAW if type_id in IMAGE_TYPES else COMPRESSED) for seq, type_id in enumerate(TYPES)]
    sensors[0] = replace(sensors[0], rate=0)  # 30 Hz
    with System(tmp_path, domain_id, sensors, parameters={"request.format": format_}) as system:
        recording = Recording(system)
        recording.subscribe(DIAGNOSTICS | {t: kind for sensor in sensors for t, kind in topics_of(sensor).items()})
        recording.collect(3, [main_topic(sensor) for sensor in sensors])
        recording.wait_for("/diagnostics", lambda message: Report(message).sensor(0)["asked_hz"] == 30)
        assert system.command("stats")["refused"] == 0
