"""What newer simulators send and take: every form of clouds, odometry, other axes, requests of 148 bytes, a rate of 0."""

from __future__ import annotations

import socket
import struct
from dataclasses import replace

import numpy as np
import pytest
from diagnostics import Report
from geometry import ENU_FROM_NED, FLU_FROM_FRD, nanoseconds, rotation_from_quaternion
from images import cloud_array, pixels, xyz
from recording import Recording
from system import System
from topics import CLOUD, DIAGNOSTICS, IMAGE, IMU, main_topic, topics_of
from truth import Truth, true_image, true_points

from sensors import CLOUD_TYPES, COMPRESSED, IMAGE_TYPES, RAW, SHARED_MEMORY, with_defaults

TYPES = (*IMAGE_TYPES, 5, 7, 20, 21, 22, 23, 30, 31)
LOCAL, GLOBAL = "/rflysim/uav1/local/odom", "/rflysim/uav1/global/odom"
MODES = (COMPRESSED, SHARED_MEMORY)
SENSORS = [with_defaults(i, t, m) for i, (t, m) in enumerate((t, m) for m in MODES for t in CLOUD_TYPES)]
FORMS = [f"{head}:{numbers}:{fourth}" for head in (28, 36) for numbers in ("i16", "f32") for fourth in ("none", "label", "rgb")]
TILTED = ["--pose", "-6,1,-2,5,-8,30"]  # a still scene, in which gravity is not along an axis
LIMIT_S = 5.0


@pytest.fixture(scope="module", params=FORMS)
def run(request, tmp_path_factory, domain_id, simulator_ports):
    """Clouds of every type in one form, with the truth of their ticks."""
    form = request.param
    parameters = {"time.mode": "sim", "transport_mode": "file", "cloud.fourth": "rgb" if form.endswith("rgb") else "label"}
    directory = tmp_path_factory.mktemp("form")
    with System(directory, domain_id, SENSORS, parameters=parameters, emulator=[*TILTED, "--cloud-format", form]) as system:
        recording = Recording(system)
        odometry = {topic: "nav_msgs/msg/Odometry" for topic in (LOCAL, GLOBAL)}
        recording.subscribe({main_topic(sensor): CLOUD for sensor in SENSORS} | odometry | DIAGNOSTICS)
        topics = [main_topic(sensor) for sensor in SENSORS] + (list(odometry) if form.startswith("36") else [])
        recording.collect(3, topics)
        recording.collect_more(1, ["/diagnostics"])
    return form, recording, Truth(system.truth_file, system.truth_frames)


def packed(rgb555: np.ndarray) -> np.ndarray:
    """0x00RRGGBB as PCL has it in a float, each five bits spread over eight."""
    five = [rgb555.astype(np.uint32) >> at & 31 for at in (10, 5, 0)]
    red, green, blue = (bits << 3 | bits >> 2 for bits in five)
    return red << 16 | green << 8 | blue


def test_clouds_of_each_form_have_the_points_that_were_sent(run):
    form, recording, truth = run
    _, numbers, fourth = form.split(":")
    for sensor in SENSORS:
        compared = 0
        for stamp, message in recording.by_stamp(main_topic(sensor)).items():
            frame = truth.frames[sensor.seq].get(stamp)
            if frame is None or not frame.file:
                continue
            points, raw = true_points(sensor, frame.payload())
            there = points.any(axis=1)
            wanted = points[there] @ ENU_FROM_NED.T if sensor.type == 21 else points[there]
            assert len(wanted) > 100, form
            assert np.allclose(xyz(message), wanted, rtol=1e-6, atol=1e-6), (form, sensor)
            cloud = cloud_array(message)
            seen = np.isfinite(cloud["x"])
            if fourth == "rgb":
                colours = cloud["rgb"][seen].ravel().view(np.uint32)
                assert np.array_equal(colours, packed(raw[there])), (form, sensor)
                assert len(set(colours)) > 1
            elif fourth == "label":
                assert np.array_equal(cloud["label"][seen].ravel(), raw[there]), (form, sensor)
                assert set(raw[there]) - {0}, "no class was rendered"
            elif sensor.type == 7:
                assert cloud.dtype.names == ("x", "y", "z")
            compared += 1
        assert compared >= 2, (form, sensor)


def test_nothing_of_a_form_is_dropped(run):
    form, recording, _ = run
    report = Report(recording.messages("/diagnostics")[-1])
    for sensor in SENSORS:
        drops = {cause: n for cause, n in report.drops(sensor.seq).items() if cause in ("cloud_form", "layout") and n}
        assert not drops, (form, sensor, drops)


def test_the_odometry_is_the_true_pose_with_the_stamp_of_the_cloud(run):
    form, recording, truth = run
    if form.startswith("28"):
        assert recording.messages(GLOBAL) == recording.messages(LOCAL) == []
        return
    clouds = set(recording.by_stamp(main_topic(SENSORS[0])))
    compared = 0
    for message in recording.messages(GLOBAL):
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
    assert compared >= 2
    for message in recording.messages(LOCAL):  # the vehicle has not moved
        p, q = message.pose.pose.position, message.pose.pose.orientation
        assert message.header.frame_id == "odom_start"
        assert np.allclose([p.x, p.y, p.z, q.x, q.y, q.z], 0, atol=1e-5)


AXES = ["--imu-axes", "bld", "--depth-cloud-axes", "rdf", "--odometry-axes", "nwu"]
FOUND = {"imu of vehicle 1": "bld", "sensor0 cloud": "rdf", "sensor0 odometry": "nwu"}


def axes_of(message) -> dict[str, str]:
    """What /diagnostics says of axes, once it does."""
    values = Report(message).values
    return next((values[name] for name in values if name.endswith(": axes")), {})


@pytest.mark.parametrize("motion", [TILTED, ["--route", "excite"]], ids=["tilted", "flying"])
def test_axes_that_the_simulator_swapped_are_found(tmp_path, domain_id, simulator_ports, motion):
    sensors = [with_defaults(0, 7, COMPRESSED), with_defaults(1, 20, COMPRESSED)]
    parameters = {"time.mode": "sim", "transport_mode": "file", "diagnostics.period_s": 0.2}
    emulator = [*motion, *AXES, "--lidar-noise", "0.02"]
    with System(tmp_path, domain_id, sensors, parameters=parameters, emulator=emulator) as system:
        recording = Recording(system)
        topics = {main_topic(sensor): CLOUD for sensor in sensors} | {GLOBAL: "nav_msgs/msg/Odometry"}
        recording.subscribe(topics | IMU | DIAGNOSTICS)

        def found(message) -> bool:
            said = axes_of(message)
            return all(said.get(what, "").startswith(f"{axes}, found") for what, axes in FOUND.items())

        recording.wait_for("/diagnostics", found)
        since = len(recording.messages("/rflysim/imu"))
        # From the first sample of the IMU on, in simulation time.
        first, last = (recording.messages("/rflysim/imu")[i].header.stamp for i in (0, -1))
        took = (nanoseconds(last) - nanoseconds(first)) / 1e9
        recording.collect(since + 20, ["/rflysim/imu"])
        if motion is TILTED:
            assert took <= LIMIT_S + 1.0, f"{took:.1f} s, of which the report waits up to 0.2 s and a standstill of this machine"
            # At rest an accelerometer shows 1 g upwards: at a roll of 5 and a pitch of -8 degrees (FRD), in FLU.
            roll, pitch = np.radians([5, -8])
            wanted = 9.80665 * np.array([np.sin(pitch), np.cos(pitch) * np.sin(roll), np.cos(pitch) * np.cos(roll)])
            for message in recording.messages("/rflysim/imu")[-10:]:
                a = message.linear_acceleration
                assert np.allclose([a.x, a.y, a.z], wanted, atol=0.1), a
    told = [line for line in system.bridge.tail().splitlines() if "axes of " in line]
    assert all(any(what in line and axes in line for line in told) for what, axes in FOUND.items()), told


def test_axes_that_were_given_wrongly_are_a_warning(tmp_path, domain_id, simulator_ports):
    sensors = [with_defaults(0, 7, COMPRESSED)]
    given = {"imu.acceleration_axes": "frd", "cloud.depth_axes": "flu", "diagnostics.period_s": 0.2}
    with System(tmp_path, domain_id, sensors, parameters=given, emulator=[*TILTED, *AXES]) as system:
        recording = Recording(system)
        recording.subscribe({main_topic(sensors[0]): CLOUD} | IMU | DIAGNOSTICS)

        def doubted(message) -> bool:
            said = axes_of(message)
            return (
                said.get("imu of vehicle 1") == "differs: frd configured, measurements fit bld (imu.acceleration_axes)"
                and said.get("sensor0 cloud") == "differs: flu configured, measurements fit rdf (cloud.depth_axes)"
            )

        recording.wait_for("/diagnostics", doubted)


def test_a_payload_that_fits_no_form_is_logged_once_with_what_it_says(tmp_path, domain_id, simulator_ports):
    sensor = with_defaults(0, 20, COMPRESSED)
    parameters = {"time.mode": "sim", "diagnostics.period_s": 0.2}
    with System(tmp_path, domain_id, [sensor], parameters=parameters) as system:
        recording = Recording(system)
        recording.subscribe({main_topic(sensor): CLOUD} | DIAGNOSTICS)
        recording.collect(2, [main_topic(sensor)])
        # 100 points of 10 bytes behind 28: docs/wire/image.md has the header of the datagram.
        payload = struct.pack("<6fi", *[1.0] * 6, 100) + bytes(1000)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:

            def dropped(message) -> bool:
                # Soon after the newest cloud: a frame of long ago is not of this simulation.
                now = nanoseconds(recording.messages(main_topic(sensor))[-1].header.stamp) / 1e9
                header = struct.pack("<iiiid", 1234567890, 24 + len(payload), 0, 1, now + 0.05)
                sender.sendto(header + payload, ("127.0.0.1", sensor.port))
                return Report(message).drops(0).get("cloud_form", 0) >= 3

            recording.wait_for("/diagnostics", dropped)
    lines = [line for line in system.bridge.tail().splitlines() if "cloud of no known form" in line]
    assert len(lines) == 1, lines
    assert "1028 bytes" in lines[0] and "100 at offset 24" in lines[0] and "recording" in lines[0]


@pytest.mark.parametrize("bursts", [[], ["--bursts"]], ids=["alone", "coalesced"])
def test_pieces_of_1400_bytes_are_put_together(tmp_path, domain_id, simulator_ports, bursts):
    """Coalesced by the kernel or not; sensor 1 has no subscriber at first, and its frames are counted."""
    sensors = [with_defaults(seq, 1, RAW, width=640, height=480) for seq in (0, 1)]
    parameters = {"time.mode": "sim", "request.piece_bytes": 1400, "diagnostics.period_s": 0.2}
    with System(tmp_path, domain_id, sensors, parameters=parameters, emulator=bursts) as system:
        recording = Recording(system)
        first, second = (main_topic(sensor) for sensor in sensors)
        recording.subscribe({first: IMAGE} | DIAGNOSTICS)
        recording.collect(20, [first])
        recording.subscribe({second: IMAGE})
        recording.collect(20, [first, second])

        def whole(message) -> bool:
            figures = [Report(message).sensor(seq) for seq in (0, 1)]
            # 640 x 480 x 3 bytes in pieces of 1400 are 659 datagrams.
            return all(f["received"] >= 659 * 20 for f in figures)

        recording.wait_for("/diagnostics", whole)
        report = Report(recording.messages("/diagnostics")[-1])
        assert {seq: sum(report.drops(seq).values()) for seq in (0, 1)} == {0: 0, 1: 0}
    truth = Truth(system.truth_file, system.truth_frames)
    for sensor in sensors:
        frames = truth.frames[sensor.seq]
        seen = [(m, frames[stamp]) for stamp, m in recording.by_stamp(main_topic(sensor)).items() if frames[stamp].file]
        assert len(seen) >= 10
        for message, frame in seen:
            assert np.array_equal(pixels(message), true_image(sensor, frame.payload()))


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
