#!/usr/bin/env python3
"""Measures how much later than a message the transform arrives that covers its stamp (docs/time.md): emulator and bridge of
target/release or target/debug, and PyPI `cyclonedds` as the reader. `scripts/alone .venv/bin/python scripts/tf_delay.py`
"""

from __future__ import annotations

import argparse
import os
import struct
import sys
import tempfile
import time
from bisect import bisect_left
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test" / "e2e"))
from peer.raw import Raw
from processes import binary
from system import System
from topics import CLOUD, IMAGE, TF

from sensors import COMPRESSED, RAW, with_defaults

SENSORS = [
    with_defaults(0, 1, RAW, width=640, height=480, rate=30),
    with_defaults(1, 2, RAW, width=640, height=480, rate=30),
    with_defaults(2, 20, COMPRESSED, rate=10),
]
STREAMS = {
    "/rflysim/imu": "sensor_msgs/msg/Imu",
    "/rflysim/ground_truth/odom": "nav_msgs/msg/Odometry",
    SENSORS[0].topic: IMAGE,
    SENSORS[1].topic: IMAGE,
    SENSORS[2].topic: CLOUD,
}


def stamp(cdr: bytes, offset: int = 4) -> int:
    """Stamp in ns of a little-endian message that begins with a header."""
    seconds, nanoseconds = struct.unpack_from("<iI", cdr, offset)
    return seconds * 1_000_000_000 + nanoseconds


def record(system: System, seconds: float) -> dict[str, list[tuple[int, int, int]]]:
    """Stamp, time of arrival and time of publication in ns of each message of `seconds`."""
    peer = system.peer
    topics = {**STREAMS, "/tf": TF["/tf"]}
    peer.wait_for_topics(topics, check=system.assert_alive)
    subscriptions = [peer.subscribe(topic, ros_type, depth=1000) for topic, ros_type in topics.items()]
    found: dict[str, list[tuple[int, int, int]]] = {topic: [] for topic in topics}
    begin = time.monotonic()
    while (elapsed := time.monotonic() - begin) < seconds + 3:
        # What one round finds arrived together: a reader with an executor does not know the order either.
        now = time.time_ns()
        for subscription in subscriptions:
            for sample in subscription._reader.take(N=64):
                if isinstance(sample, Raw) and elapsed > 3:
                    # The first transform of a TFMessage follows the number of transforms.
                    at = stamp(sample.cdr, 8 if subscription.topic == "/tf" else 4)
                    found[subscription.topic].append((at, now, sample.sample_info.source_timestamp))
        time.sleep(0.0002)
    return found


def delays(messages: list[tuple[int, int, int]], transforms: list[tuple[int, int, int]], clock: int) -> list[float]:
    """For each message the ms until a transform that covers its stamp; below 0 if it came first. `clock`: 1 for arrival, 2 for
    publication."""
    transforms = sorted(transforms)
    stamps = [transform[0] for transform in transforms]
    # The first time at which the stamp of a transform, or a later one, was there.
    known = list(accumulate((transform[clock] for transform in reversed(transforms)), min))[::-1]
    found = []
    for message in messages:
        at = bisect_left(stamps, message[0])
        if at < len(stamps):
            found.append((known[at] - message[clock]) / 1e6)
    return sorted(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--state-rate", type=int, default=100, help="true states of CopterSim in Hz")
    options = parser.parse_args()
    emulator = ["--state-rate", options.state_rate]
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        with System(place, 11, SENSORS, emulator=emulator, keep_frames=False) as system:
            found = record(system, options.seconds)
    kind = binary("rfly_bridge", "RFLY_BRIDGE").resolve().parent.name
    print(
        f"{kind} build, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {options.seconds:g} s, "
        f"true states at {options.state_rate} Hz\n"
    )
    print("| stream | messages | transform published later | arrives later | median | 95 % | 99 % | worst |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for topic in STREAMS:
        published, arrived = (delays(found[topic], found["/tf"], clock) for clock in (2, 1))
        assert arrived, f"no message of {topic}"
        late = [f"{100 * sum(delay > 0 for delay in ms) / len(ms):.1f} %" for ms in (published, arrived)]
        parts = [f"{max(arrived[min(int(len(arrived) * q), len(arrived) - 1)], 0):.1f} ms" for q in (0.5, 0.95, 0.99, 1)]
        print(f"| `{topic}` | {len(arrived)} | {' | '.join([*late, *parts])} |")


main()
