"""`ros2 bag record` keeps what the bridge publishes, `ros2 bag play` gives it back."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from conftest import COLOUR, LIDAR
from geometry import nanoseconds
from images import pixels
from processes import ROOT
from programs import Programs
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import Image, PointCloud2
from tf2_msgs.msg import TFMessage
from topics import info_topic, main_topic

from ros import Background, package, ros2, wait, wait_count

# The shipped overrides.
QOS = ("--qos-profile-overrides-path", str(ROOT / "config" / "rosbag2_qos.yaml"))
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def storage() -> str:
    """A storage plugin that is installed."""
    package("ros2bag")
    package("rosbag2_transport")
    for name, plugin in (("rosbag2_storage_default_plugins", "sqlite3"), ("rosbag2_storage_mcap", "mcap")):
        try:
            package(name)
        except pytest.skip.Exception:
            continue
        return plugin
    pytest.skip("no storage plugin of rosbag2 is installed in this workspace")


def test_what_is_recorded_comes_back_on_play(storage, tmp_path, domain_id, simulator_ports, listener):
    bag = tmp_path / "bag"
    topics = [main_topic(COLOUR), info_topic(COLOUR), main_topic(LIDAR), "/tf", "/tf_static", "/rflysim/imu"]
    live: dict[int, Image] = {}
    with Programs(
        tmp_path / "run", domain_id, [COLOUR, LIDAR], parameters={"transport_mode": "file"}, keep_frames=False
    ):
        images = listener.collect(Image, main_topic(COLOUR), 50)
        wait_count(images, 10, "images")
        with Background("bag", "record", "-s", storage, "-o", str(bag), *QOS, *topics) as recorder:
            wait(lambda: recorder.so_far().count("Subscribed to topic") >= len(topics), "the recorder", 40)
            time.sleep(4)
        live = {nanoseconds(m.header.stamp): m for m in images}
        listener.forget(images)
    info = ros2("bag", "info", str(bag))
    counts = {topic: int(re.search(rf"Topic: {topic} .*Count: (\d+)", info)[1]) for topic in topics}
    assert all(count >= (1 if topic == "/tf_static" else 20) for topic, count in counts.items()), info
    played = listener.collect(Image, main_topic(COLOUR), 50)
    clouds = listener.collect(PointCloud2, main_topic(LIDAR), 50)
    static = listener.collect(TFMessage, "/tf_static", LATCHED)
    # The delay lets the subscriptions find the player, so that nothing may be missing.
    with Background("bag", "play", "--delay", "4", str(bag), *QOS):
        wait_count(played, counts[main_topic(COLOUR)], "images from the bag")
        wait_count(clouds, counts[main_topic(LIDAR)], "clouds from the bag")
        wait_count(static, 1, "static transforms from the bag")
    assert all(np.array_equal(pixels(m), pixels(live[nanoseconds(m.header.stamp)])) for m in played)
