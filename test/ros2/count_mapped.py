"""An rclpy node that reads images and tells what it maps of another process: topic, number of images, directory, process id.

Writes the data of each image as `<number>.raw`, and a line of JSON: their stamps in ns, and the sizes of the segments of Zenoh's shared
memory that both processes map.
"""

import json
import re
import sys
from pathlib import Path

import rclpy
from sensor_msgs.msg import Image


def segments(process):
    """Sizes of the mapped segments of Zenoh, by name. Others, such as those of LTTng, may be of several processes as well."""
    lines = [line.split() for line in Path(f"/proc/{process}/maps").read_text().splitlines()]
    lines = [words for words in lines if re.fullmatch(r"/dev/shm/\d+\.zenoh", words[-1])]
    bounds = [(words[5], *(int(bound, 16) for bound in words[0].split("-"))) for words in lines]
    return {name: end - begin for name, begin, end in bounds}


def main():
    topic, count, directory, process = sys.argv[1:]
    rclpy.init()
    node = rclpy.create_node("counts_mapped")
    images = []
    node.create_subscription(Image, topic, images.append, 10)
    while len(images) < int(count):
        rclpy.spin_once(node, timeout_sec=60)
    images = images[: int(count)]
    for number, image in enumerate(images):
        Path(directory, f"{number}.raw").write_bytes(image.data)
    ours, theirs = segments("self"), segments(process)
    stamps = [image.header.stamp.sec * 10**9 + image.header.stamp.nanosec for image in images]
    print(json.dumps({"stamps": stamps, "mapped": [theirs[name] for name in ours if name in theirs]}), flush=True)


main()
