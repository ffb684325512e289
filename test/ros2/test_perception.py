"""A perception node: RViz's QoS and sensor QoS, pixels against the emulator's truth, camera_info, TF, lazy work."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from diagnostics import Report
from geometry import ENU_FROM_NED, FLU_FROM_FRD, TransformBuffer, angle_between, nanoseconds, rotation_from_quaternion
from images import cloud_array, pixels
from programs import Programs
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    QoSProfile,
    ReliabilityPolicy,
    qos_profile_sensor_data,
)
from sensor_msgs.msg import CameraInfo, Image, PointCloud2
from tf2_msgs.msg import TFMessage
from topics import info_topic, main_topic
from truth import Truth, true_image, true_points

from ros import Listener, wait, wait_count
from sensors import COMPRESSED, RAW, with_defaults

COLOUR = with_defaults(0, 1, RAW, width=320, height=240, rate=20)
PNG = with_defaults(1, 1, COMPRESSED, rate=10)
DEPTH = with_defaults(2, 2, RAW, rate=10)
LIDAR = with_defaults(3, 20, COMPRESSED, rate=10)
SENSORS = [COLOUR, PNG, DEPTH, LIDAR]

RVIZ = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=5, reliability=ReliabilityPolicy.RELIABLE)
"""What RViz's displays ask for by default: reliable, volatile, keep the last 5."""
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
PROFILES = {"rviz": RVIZ, "sensor_data": qos_profile_sensor_data}


@dataclass
class Run:
    """What a perception node got in one run, and what was rendered."""

    images: dict[tuple[str, int], list] = field(default_factory=dict)
    infos: dict[tuple[str, int], list] = field(default_factory=dict)
    clouds: dict[str, list] = field(default_factory=dict)
    transforms: TransformBuffer = field(default_factory=TransformBuffer)
    tf2: dict[int, object] = field(default_factory=dict)
    truth: Truth | None = None


@pytest.fixture(scope="module")
def run(tmp_path_factory, domain_id, simulator_ports) -> Run:
    run, cameras = Run(), [COLOUR, PNG, DEPTH]
    directory = tmp_path_factory.mktemp("perception")
    parameters = {"time.mode": "sim", "transport_mode": "file"}
    # Points with a label, which the bridge does not ask for.
    emulator = ["--cloud-format", "36:i16:label"]
    with (
        Programs(directory, domain_id, SENSORS, parameters=parameters, emulator=emulator) as programs,
        Listener("perception") as node,
    ):
        dynamic = node.collect(TFMessage, "/tf", QoSProfile(depth=1000))
        static = node.collect(TFMessage, "/tf_static", LATCHED)
        buffer = tf2_buffer(node)
        for name, qos in PROFILES.items():
            for sensor in cameras:
                run.images[name, sensor.seq] = node.collect(Image, main_topic(sensor), qos)
                # Of whatever image: the queue of a reader that does not run for a moment holds 5.
                every = QoSProfile(depth=1000, reliability=qos.reliability)
                run.infos[name, sensor.seq] = node.collect(CameraInfo, info_topic(sensor), every)
            run.clouds[name] = node.collect(PointCloud2, main_topic(LIDAR), qos)
        lists = {**run.images, **run.infos, **run.clouds}
        for key, messages in lists.items():
            wait_count(messages, 15, f"messages of {key}")
            programs.assert_alive()
        wait_count(static, 1, "messages on /tf_static")
        newest = max(nanoseconds(m.header.stamp) for m in run.images["rviz", COLOUR.seq])
        wait(lambda: any(nanoseconds(t.header.stamp) > newest for m in dynamic[-50:] for t in m.transforms), "newer TF")
        if buffer:
            run.tf2 = {nanoseconds(m.header.stamp): lookup(buffer, m.header) for m in run.images["rviz", COLOUR.seq][-8:]}
        for message in list(static):
            run.transforms.add(message, static=True)
        for message in list(dynamic):
            run.transforms.add(message, static=False)
    run.truth = Truth(programs.truth_file, programs.truth_frames)
    return run


def tf2_buffer(node: Listener):
    """tf2's buffer with its listener, where the workspace has it."""
    try:
        import tf2_ros
    except ImportError:
        return None
    buffer = tf2_ros.Buffer()
    buffer.listener = tf2_ros.TransformListener(buffer, node.node)
    return buffer


def lookup(buffer, header):
    """What tf2 says of a sensor's frame in the map; the message as it is."""
    from rclpy.duration import Duration
    from rclpy.time import Time

    return buffer.lookup_transform("map", header.frame_id, Time.from_msg(header.stamp), Duration(seconds=5.0))



@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("sensor", [COLOUR, PNG, DEPTH], ids=["raw", "PNG", "depth"])
def test_pixels_are_those_that_were_rendered(run, name, sensor):
    compared = 0
    for message in run.images[name, sensor.seq]:
        frame = run.truth.frames[sensor.seq].get(nanoseconds(message.header.stamp))
        assert frame is not None, "a stamp that was never rendered"
        if not frame.file:
            continue
        rendered = true_image(sensor, frame.payload())
        if sensor is DEPTH:
            assert message.encoding == "16UC1"
            rendered = np.where(rendered == 65535, 0, rendered)
        else:
            assert message.encoding == "bgr8"
        assert np.array_equal(pixels(message), rendered)
        compared += 1
    assert compared >= 10


def test_pixels_of_another_frame_are_told_apart(run):
    """The comparison above can fail: the scene moves from frame to frame."""
    first, *_, last = run.images["rviz", COLOUR.seq]
    assert not np.array_equal(pixels(first), pixels(last))


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("sensor", [COLOUR, PNG, DEPTH], ids=["raw", "PNG", "depth"])
def test_every_image_has_a_camera_info_with_its_stamp_and_frame(run, name, sensor):
    infos = {nanoseconds(m.header.stamp): m for m in run.infos[name, sensor.seq]}
    images = {nanoseconds(m.header.stamp): m for m in run.images[name, sensor.seq]}
    inner = [stamp for stamp in images if min(infos) <= stamp <= max(infos)]
    assert len(inner) >= 10
    for stamp in inner:
        assert stamp in infos, f"no camera_info for the image of {stamp}"
        assert infos[stamp].header.frame_id == images[stamp].header.frame_id
        assert (infos[stamp].width, infos[stamp].height) == (sensor.width, sensor.height)


@pytest.mark.parametrize("name", PROFILES)
def test_clouds_have_the_rendered_points(run, name):
    for message in run.clouds[name][:5]:
        frame = run.truth.frames[LIDAR.seq][nanoseconds(message.header.stamp)]
        cloud, (points, label) = cloud_array(message), true_points(LIDAR, frame.payload())
        found = np.stack([cloud["x"], cloud["y"], cloud["z"]], -1).reshape(-1, 3)
        finite = np.isfinite(found).all(axis=1)
        assert finite.sum() > 100
        assert np.allclose(found[finite], points[finite], rtol=1e-6, atol=1e-6)
        assert np.array_equal(cloud["label"].ravel()[finite], label[finite])


def assert_is_the_camera(run: Run, stamp: int, matrix: np.ndarray) -> None:
    """Is the optical frame where the vehicle carried the camera at `stamp`?"""
    position, rotation = run.truth.vehicle_pose(1, stamp)
    body = ENU_FROM_NED @ rotation @ FLU_FROM_FRD
    expected = ENU_FROM_NED @ position + body @ (FLU_FROM_FRD @ np.array(COLOUR.position))
    assert np.allclose(matrix[:3, 3], expected, atol=1e-3)
    optical = np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]], float)
    assert angle_between(matrix[:3, :3], body @ optical) < 1e-3


def test_the_camera_is_where_the_vehicle_carries_it(run):
    compared = 0
    for message in run.images["rviz", COLOUR.seq]:
        stamp = nanoseconds(message.header.stamp)
        if run.truth.vehicle_pose(1, stamp) is None or stamp not in run.transforms.edges["base_link"].stamps:
            continue
        assert_is_the_camera(run, stamp, run.transforms.lookup("map", message.header.frame_id, stamp))
        compared += 1
    assert compared >= 5


def test_tf2_finds_the_camera_at_the_stamp_of_an_image(run):
    if not run.tf2:
        pytest.skip("tf2_ros is not installed in this workspace")
    compared = 0
    for stamp, found in run.tf2.items():
        if run.truth.vehicle_pose(1, stamp) is None:
            continue
        t, r = found.transform.translation, found.transform.rotation
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = rotation_from_quaternion(r.x, r.y, r.z, r.w), (t.x, t.y, t.z)
        assert_is_the_camera(run, stamp, matrix)
        compared += 1
    assert compared >= 3


def test_nothing_is_converted_without_a_subscriber_and_conversion_ends_with_the_last(
    tmp_path, domain_id, simulator_ports
):
    parameters = {"transport_mode": "file", "diagnostics.period_s": 0.1}
    with Programs(tmp_path, domain_id, SENSORS, parameters=parameters, keep_frames=False), Listener("lazy") as node:
        reports = node.collect(DiagnosticArray, "/diagnostics", 10)

        def report_when(ready, what: str) -> Report:
            def latest():
                report = Report(reports[-1]) if reports else None
                return report if report and ready(report) else None

            return wait(latest, what)

        idle = report_when(lambda r: r.sensor(COLOUR.seq)["frames"] >= 20, "20 frames")
        assert [idle.sensor(s.seq)["converted"] for s in SENSORS] == [0] * len(SENSORS)
        images = node.collect(Image, main_topic(PNG), RVIZ)
        wait_count(images, 10, "images")
        busy = report_when(lambda r: r.sensor(PNG.seq)["converted"] >= 10, "conversions")
        assert busy.sensor(COLOUR.seq)["converted"] == 0, "only what is subscribed is converted"
        node.forget(images)
        report_when(lambda r: r.find(f"topic {main_topic(PNG)}")["subscribers"] == 0, "the end of the subscription")
        time.sleep(0.3)
        before = report_when(lambda r: True, "a report").sensor(PNG.seq)
        after = report_when(lambda r: r.sensor(PNG.seq)["frames"] >= before["frames"] + 20, "20 more frames")
        assert after.sensor(PNG.seq)["converted"] - before["converted"] <= 2
