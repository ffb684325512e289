"""Packages that nobody changed for us consume our topics under our names. What is not installed is skipped by name."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import COLOUR, DEPTH, LIDAR, PNG
from geometry import nanoseconds
from images import cloud_array, metres, pixels
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import CameraInfo, Image, PointCloud2
from topics import info_topic, main_topic

from ros import Background, package, ros2, wait, wait_count

pytestmark = pytest.mark.usefixtures("running")


def stamped(messages: list) -> dict:
    return {nanoseconds(m.header.stamp): m for m in messages}


def pairs(first: list, second: list, count: int = 5) -> list[tuple]:
    """Waits until two lists have `count` messages with the same stamps."""

    def common():
        a, b = stamped(list(first)), stamped(list(second))
        both = sorted(set(a) & set(b))
        return [(a[stamp], b[stamp]) for stamp in both] if len(both) >= count else None

    return wait(common, f"{count} pairs; there are {len(first)} and {len(second)} messages", 40)


def test_image_transport_republishes_the_compressed_image(listener):
    package("image_transport")
    package("compressed_image_transport")
    raw = listener.collect(Image, main_topic(PNG), 50)
    republished = listener.collect(Image, "/republished", 50)
    source = f"in/compressed:={main_topic(PNG)}/compressed"
    remaps = ["--ros-args", "-r", source, "-r", "out:=/republished"]
    with Background("run", "image_transport", "republish", "compressed", "raw", *remaps):
        for ours, theirs in pairs(raw, republished):
            assert np.array_equal(pixels(ours), pixels(theirs))


def component(name: str, plugin: str, remaps: dict[str, str]) -> Background:
    package(name)
    words = [word for source, target in remaps.items() for word in ("-r", f"{source}:={target}")]
    return Background("component", "standalone", name, plugin, *words)


def test_depth_image_proc_makes_a_cloud_of_the_depth_image(listener):
    remaps = {"image_rect": main_topic(DEPTH), "camera_info": info_topic(DEPTH), "points": "/points"}
    with component("depth_image_proc", "depth_image_proc::PointCloudXyzNode", remaps):
        depth = listener.collect(Image, main_topic(DEPTH), 50)
        info = listener.collect(CameraInfo, info_topic(DEPTH), 5)
        clouds = listener.collect(PointCloud2, "/points", qos_profile_sensor_data)  # what the package offers
        for image, cloud in pairs(depth, clouds):
            z = metres(image)
            points = cloud_array(cloud)
            assert points.shape == z.shape and cloud.header.frame_id == image.header.frame_id
            assert np.allclose(points["z"], z, atol=1e-3, equal_nan=True)
            k = np.array(info[0].k).reshape(3, 3)
            u = np.arange(z.shape[1])[None, :]
            assert np.allclose(points["x"], (u - k[0, 2]) * z / k[0, 0], atol=1e-3, equal_nan=True)


def test_image_proc_rectifies_an_image_without_distortion_into_itself(listener):
    remaps = {"image": main_topic(COLOUR), "camera_info": info_topic(COLOUR), "image_rect": "/image_rect"}
    with component("image_proc", "image_proc::RectifyNode", remaps):
        raw = listener.collect(Image, main_topic(COLOUR), 50)
        rectified = listener.collect(Image, "/image_rect", 50)
        for ours, theirs in pairs(raw, rectified):
            assert np.array_equal(pixels(ours), pixels(theirs))


def test_sensor_msgs_py_reads_the_cloud(listener):
    point_cloud2 = pytest.importorskip("sensor_msgs_py.point_cloud2", reason="sensor_msgs_py is not installed")
    [cloud, *_] = wait_count(listener.collect(PointCloud2, main_topic(LIDAR), 5), 1, "clouds")
    read = point_cloud2.read_points(cloud, field_names=("x", "y", "z", "label"))
    ours = cloud_array(cloud).ravel()
    for name in ("x", "y", "z", "label"):
        assert np.array_equal(read[name].ravel(), ours[name], equal_nan=name != "label")
    assert len(point_cloud2.read_points(cloud, skip_nans=True)) == np.isfinite(ours["x"]).sum() > 100


def test_message_filters_pairs_image_and_camera_info_exactly(listener):
    message_filters = pytest.importorskip("message_filters", reason="message_filters is not installed")
    image = message_filters.Subscriber(listener.node, Image, main_topic(COLOUR))
    info = message_filters.Subscriber(listener.node, CameraInfo, info_topic(COLOUR))
    both: list = []
    synchronizer = message_filters.TimeSynchronizer([image, info], 10)
    synchronizer.registerCallback(lambda *pair: both.append(pair))
    wait_count(both, 20, "pairs")
    assert all(i.header == c.header for i, c in both)


def test_robot_state_publisher_moves_what_the_bridge_describes(listener):
    package("robot_state_publisher")
    from std_msgs.msg import String
    from tf2_msgs.msg import TFMessage

    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    if not any("robot_description" in topic for topic in ros2("topic", "list").split()):
        pytest.skip("this version describes no robot")
    topic = next(topic for topic in ros2("topic", "list").split() if "robot_description" in topic)
    [urdf, *_] = wait_count(listener.collect(String, topic, latched), 1, "descriptions")
    static = listener.collect(TFMessage, "/rsp/tf_static", latched)
    remaps = ["-r", "/tf_static:=/rsp/tf_static", "-r", "/tf:=/rsp/tf", "-r", "robot_description:=/rsp/description"]
    parameters = ["--ros-args", "-p", f"robot_description:={urdf.data}", *remaps]
    with Background("run", "robot_state_publisher", "robot_state_publisher", *parameters):
        wait_count(static, 1, "messages of robot_state_publisher")
    children = {t.child_frame_id for m in static for t in m.transforms}
    assert f"sensor{COLOUR.seq}_link" in children, children
