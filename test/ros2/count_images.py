"""A subscriber in a process of its own: counts images by stamp until its standard input closes, then prints them.

    python3 count_images.py TOPIC reliable|best_effort
"""

from __future__ import annotations

import json
import select
import sys

import rclpy
from rclpy.qos import QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from sensor_msgs.msg import Image

PROFILES = {"reliable": QoSProfile(depth=5, reliability=ReliabilityPolicy.RELIABLE), "best_effort": qos_profile_sensor_data}


def main() -> None:
    topic, reliability = sys.argv[1:]
    stamps: list[int] = []
    sizes: set[int] = set()

    def count(image: Image) -> None:
        stamps.append(image.header.stamp.sec * 1_000_000_000 + image.header.stamp.nanosec)
        sizes.add(len(image.data))

    rclpy.init()
    node = rclpy.create_node(f"count_{reliability}")
    node.create_subscription(Image, topic, count, PROFILES[reliability])
    while not select.select([sys.stdin], [], [], 0)[0]:
        rclpy.spin_once(node, timeout_sec=0.05)
    print(json.dumps({"stamps": stamps, "sizes": sorted(sizes)}), flush=True)
    rclpy.shutdown()


main()
