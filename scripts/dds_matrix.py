#!/usr/bin/env python3
"""Measures how many images of the embedded DDS back end arrive at readers in their default configuration.

    cargo build --release --example image_source
    scripts/dds_matrix.py --reader pypi
    source /opt/ros/humble/setup.bash
    scripts/dds_matrix.py --reader rmw_cyclonedds_cpp --reader rmw_fastrtps_cpp

Each cell is one run: `image_source` publishes bgr8 images at 30 Hz over loopback, one reader in another process counts
them. With the back end of a workspace: build it with `--no-default-features --features rclrs` and name it with
`--source`. `--set` tries other settings of the writer, for example `--set '<General><FragmentSize>8000B</FragmentSize></General>'`.
The table that was kept is in docs/dds_measured.md.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import struct
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIZES = {"640x480": (640, 480), "1280x720": (1280, 720), "1920x1080": (1920, 1080)}
TOPIC = "image"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", action="append", help="pypi, rmw_cyclonedds_cpp or rmw_fastrtps_cpp; repeatable")
    parser.add_argument("--reliability", action="append", choices=["reliable", "best_effort"])
    parser.add_argument("--size", action="append", choices=list(SIZES))
    parser.add_argument("--frames", type=int, default=120)
    parser.add_argument("--rate", type=int, default=30)
    parser.add_argument("--runs", type=int, default=1, help="per cell; the worst one is shown")
    parser.add_argument("--domain", type=int, default=90)
    parser.add_argument("--set", action="append", default=[], help="Cyclone settings of the writer, XML")
    parser.add_argument("--profiles", action="store_true", help="readers use config/cyclonedds.xml, config/fastdds.xml")
    parser.add_argument("--launched", action="store_true", help="the writer uses config/*_bridge.xml, as launch files do")
    parser.add_argument("--source", type=Path, default=ROOT / "target/release/examples/image_source")
    parser.add_argument("--as-reader", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.as_reader:
        read(options.as_reader, options.reader[0], options.domain)
        return
    sizes = options.size or list(SIZES)
    print(f"| reader, of {options.frames} frames at {options.rate} Hz | {' | '.join(sizes)} |")
    print("|---|" + "---|" * len(sizes))
    for settings in options.set or [""]:
        if settings:
            print(f"| `{settings}` |")
        for reader in options.reader or ["pypi"]:
            for reliability in options.reliability or ["reliable", "best_effort"]:
                cells = []
                for size in sizes:
                    runs = [measure(options, reader, reliability, size, settings) for _ in range(options.runs)]
                    cells.append(min(runs, key=lambda cell: cell[0])[1])
                print(f"| {reader}, {reliability.replace('_', ' ')} | {' | '.join(cells)} |", flush=True)


def measure(options, reader: str, reliability: str, size: str, settings: str) -> tuple[int, str]:
    """One run; the number of frames that arrived, and the text of the cell."""
    environment = os.environ | {"ROS_LOCALHOST_ONLY": "1", "ROS_DOMAIN_ID": str(options.domain)}
    environment.pop("CYCLONEDDS_URI", None)
    if reader.startswith("rmw_"):
        environment["RMW_IMPLEMENTATION"] = reader
    profiles = {
        "CYCLONEDDS_URI": f"file://{ROOT}/config/cyclonedds.xml",
        "FASTRTPS_DEFAULT_PROFILES_FILE": f"{ROOT}/config/fastdds.xml",
    }
    launched = {
        "CYCLONEDDS_URI": f"file://{ROOT}/config/cyclonedds_bridge.xml",
        "FASTRTPS_DEFAULT_PROFILES_FILE": f"{ROOT}/config/fastdds_bridge.xml",
    }
    receiver = subprocess.Popen(
        [sys.executable, __file__, "--as-reader", reliability, "--reader", reader, "--domain", str(options.domain)],
        env=environment | (profiles if options.profiles else {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        width, height = SIZES[size]
        sender = subprocess.run(
            [options.source, *map(str, (width, height, options.rate, options.frames))],
            env=environment | (launched if options.launched else {}) | ({"CYCLONEDDS_URI": settings} if settings else {}),
            stdout=subprocess.PIPE,
            text=True,
            timeout=120,
            check=True,
        )
        receiver.stdin.close()
        seen = json.loads(receiver.stdout.read())
        sent = json.loads(sender.stdout)
        receiver.wait(timeout=30)
    finally:
        receiver.kill()
    again = (sent["retransmitted_bytes"] or 0) / (sent["published"] * width * height * 3)
    cell = (
        f"{seen['received']} ({seen['median_ms']:.1f} ms, max {seen['max_ms']:.0f}, again {again:.0%}, "
        f"publish {sent['publish_ms_mean']:.1f}/{sent['publish_ms_max']:.0f} ms, cpu {sent['cpu_ms_per_frame']:.1f} ms)"
    )
    return seen["received"], cell


class Count:
    """Counts images and their age, by the stamp in the header."""

    def __init__(self) -> None:
        self.ages: list[float] = []

    def add(self, cdr: bytes) -> None:
        seconds, nanoseconds = struct.unpack_from("<iI", cdr, 4)
        self.ages.append((time.time() - seconds - nanoseconds * 1e-9) * 1e3)

    def report(self) -> None:
        ages = sorted(self.ages) or [float("nan")]
        result = {"received": len(self.ages), "median_ms": ages[len(ages) // 2], "max_ms": ages[-1]}
        print(json.dumps(result), flush=True)


def ended() -> bool:
    """True once the parent has closed our standard input."""
    return bool(select.select([sys.stdin], [], [], 0)[0])


def read(reliability: str, reader: str, domain: int) -> None:
    count = Count()
    if reader == "pypi":
        read_pypi(reliability, domain, count)
    else:
        read_rclpy(reliability, count)
    count.report()


def read_pypi(reliability: str, domain: int, count: Count) -> None:
    """PyPI cyclonedds, confined to loopback as ROS_LOCALHOST_ONLY=1 does it for rmw_cyclonedds_cpp in Humble."""
    sys.path.insert(0, str(ROOT / "test" / "e2e"))
    from cyclonedds.core import Listener, Policy, Qos
    from cyclonedds.domain import Domain, DomainParticipant
    from cyclonedds.sub import DataReader
    from cyclonedds.topic import Topic
    from cyclonedds.util import duration
    from peer.raw import Raw, mangle_type, raw_class

    loopback = '<General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces></General>'
    _domain = Domain(domain, f'<CycloneDDS><Domain Id="any">{loopback}</Domain></CycloneDDS>')
    participant = DomainParticipant(domain)
    topic = Topic(participant, "rt/" + TOPIC, raw_class(mangle_type("sensor_msgs/msg/Image")))
    reliable = Policy.Reliability.Reliable(duration(seconds=1))
    qos = Qos(reliable if reliability == "reliable" else Policy.Reliability.BestEffort, Policy.History.KeepLast(5))

    class Take(Listener):
        def on_data_available(self, reader):
            for sample in reader.take(N=10):
                if isinstance(sample, Raw):
                    count.add(sample.cdr)

    _reader = DataReader(participant, topic, qos=qos, listener=Take())
    while not ended():
        time.sleep(0.05)


def read_rclpy(reliability: str, count: Count) -> None:
    """rclpy, serialised: only the transport is measured."""
    import rclpy
    from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
    from sensor_msgs.msg import Image

    rclpy.init()
    node = rclpy.create_node("dds_matrix")
    reliable = ReliabilityPolicy.RELIABLE if reliability == "reliable" else ReliabilityPolicy.BEST_EFFORT
    qos = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=5, reliability=reliable)
    node.create_subscription(Image, "/" + TOPIC, count.add, qos, raw=True)
    while not ended():
        rclpy.spin_once(node, timeout_sec=0.05)
    rclpy.shutdown()


main()
