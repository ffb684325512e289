"""Records topics of the bridge as any user would: PyPI `cyclonedds` receives, PyPI `rosbags` decodes.

Stamps are simulation time, so what is recorded does not depend on the machine: whatever was rendered late or lost on the
way is a reason to record anew at half the speed.
"""

from __future__ import annotations

import pickle
import shutil
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from geometry import TransformBuffer, nanoseconds
from images import pixels, xyz
from peer.participant import Subscription
from plans import Plan
from system import System
from topics import IMU, TF, info_topic, main_topic, topics_of
from true_motion import TrueMotion

from sensors import CLOUD_TYPES, IMAGE_TYPES, Sensor

SECOND = 1_000_000_000
SLOWEST = 0.1
"""A machine that needs more than this many times the simulation's time is not waited for."""
# A publisher keeps what a reader that gets nothing done for seconds has not taken.
PATIENT = {"qos.image.depth": 300, "qos.cloud.depth": 300, "qos.imu.depth": 1000, "qos.tf.depth": 1000}


@dataclass
class Recorded:
    """What came, by sensor (SeqID) and stamp in ns."""

    clouds: dict[int, dict[int, np.ndarray]]
    """Points in m, in the frame of the message."""
    images: dict[int, dict[int, np.ndarray]]
    projections: dict[int, np.ndarray]
    """P of `camera_info`, 3 x 4."""
    frame_ids: dict[int, str]
    imu: np.ndarray
    """Rows of time in s, angular velocity in rad/s, acceleration in m/s²; axes forward, left, up."""
    imu_frame: str
    transforms: TransformBuffer
    truth: TrueMotion
    lost: dict[int, int]
    """Frames of the time that was recorded that did not come."""
    speed: float
    """Simulation seconds per second."""

    def save(self, file: Path) -> None:
        """Keeps it in a file."""
        with file.open("wb") as out:
            pickle.dump(self, out, protocol=5)

    @staticmethod
    def load(file: Path) -> Recorded:
        """What `save` kept."""
        with file.open("rb") as source:
            return pickle.load(source)


class Recorder:
    """Takes messages off subscriptions as they come and keeps what algorithms need of them."""

    def __init__(self, system: System, plan: Plan):
        self.plan = plan
        self.clouds: dict = defaultdict(dict)
        self.images: dict = defaultdict(dict)
        self.projections: dict[int, np.ndarray] = {}
        self.frame_ids: dict[int, str] = {}
        self.imu: list[tuple] = []
        self.imu_frame = ""
        self.transforms = TransformBuffer()
        self.newest = 0
        self.offset = 0
        """Stamp in ns of the simulation's beginning."""
        self._subscriptions: list[tuple[Subscription, Callable[[Any], None]]] = []
        handlers = dict(self._handlers())
        system.peer.wait_for_topics(handlers, check=system.assert_alive)
        offers = {offer.topic: offer for offer in system.peer.offers()}
        for topic, handler in handlers.items():
            offer = offers[topic]
            options = {"reliable": offer.reliable, "transient_local": offer.transient_local, "depth": 5000}
            subscription = system.peer.subscribe(topic, offer.type, **options)
            self._subscriptions.append((subscription, handler))
        system.peer.wait_for(lambda: all(s.matched() for s, _ in self._subscriptions), "publishers")

    def _handlers(self):
        for topic in TF:
            yield topic, lambda message, static=topic == "/tf_static": self.transforms.add(message, static=static)
        if self.plan.imu:
            yield from ((topic, self._take_imu) for topic in IMU)
        for sensor in self.plan.sensors:
            if sensor.type not in (*CLOUD_TYPES, *IMAGE_TYPES):
                continue
            yield main_topic(sensor), lambda message, sensor=sensor: self._take(sensor, message)
            if info_topic(sensor) in topics_of(sensor):
                yield info_topic(sensor), lambda message, seq=sensor.seq: self._take_info(seq, message)

    def _take(self, sensor: Sensor, message: Any) -> None:
        stamp = nanoseconds(message.header.stamp)
        self.newest = max(self.newest, stamp)
        self.frame_ids[sensor.seq] = message.header.frame_id
        if sensor.type in CLOUD_TYPES:
            self.clouds[sensor.seq][stamp] = xyz(message).astype(np.float32)
        else:
            # A copy: what it was decoded from is much larger.
            self.images[sensor.seq][stamp] = pixels(message).copy()

    def _take_info(self, seq: int, message: Any) -> None:
        self.projections[seq] = np.array(message.p).reshape(3, 4)

    def _take_imu(self, message: Any) -> None:
        self.imu_frame = message.header.frame_id
        w, a = message.angular_velocity, message.linear_acceleration
        self.imu.append((nanoseconds(message.header.stamp), w.x, w.y, w.z, a.x, a.y, a.z))

    def pump(self) -> None:
        """Takes what has arrived."""
        for subscription, handler in self._subscriptions:
            subscription.take()
            for sample in subscription.samples:
                handler(sample.message)
            subscription.samples.clear()

    def result(self, truth: TrueMotion, speed: float) -> Recorded:
        """What came of the time of the plan."""
        begin, end = (round(s * SECOND) + self.offset for s in (self.plan.begin, self.plan.end))
        inside = lambda stamps: {s: v for s, v in sorted(stamps.items()) if begin < s <= end}  # noqa: E731
        imu = np.array(sorted(row for row in self.imu if begin < row[0] <= end), float).reshape(-1, 7)
        imu[:, 0] /= SECOND
        lost = {}
        for sensor in self.plan.sensors:
            if sensor.type in (*CLOUD_TYPES, *IMAGE_TYPES):
                came = inside((self.clouds | self.images).get(sensor.seq, {}))
                lost[sensor.seq] = int((end - begin) * sensor.rate // SECOND) - len(came)
        return Recorded(
            {seq: inside(clouds) for seq, clouds in self.clouds.items()},
            {seq: inside(images) for seq, images in self.images.items()},
            self.projections,
            self.frame_ids,
            imu,
            self.imu_frame,
            self.transforms,
            truth,
            lost,
            speed,
        )


def record(plan: Plan, directory: Path, domain_id: int) -> Recorded:
    """Records by a plan; again at half the speed where this machine could not keep up."""
    speed = 1.0
    while True:
        recorded = _record(plan, directory / f"speed_{speed:g}", domain_id, speed)
        missing = sum(recorded.lost.values())
        if plan.wall or not missing or speed <= SLOWEST:
            return recorded
        print(f"{directory.name}: {missing} frames were late or lost at speed {speed:g}; again at half of it")
        speed /= 2


def _record(plan: Plan, directory: Path, domain_id: int, speed: float) -> Recorded:
    shutil.rmtree(directory, ignore_errors=True)
    emulator = [*plan.emulator, "--speed", f"{speed:g}"]
    parameters = {"time.mode": "aligned" if plan.wall else "sim", "transport_mode": "file", **PATIENT, **plan.parameters}
    system = System(directory, domain_id, list(plan.sensors), parameters=parameters, emulator=emulator, keep_frames=False)
    system.start_emulator()
    # The simulation begins when everybody listens.
    system.command("pause")
    with system:
        recorder = Recorder(system, plan)
        system.command("resume")

        def pump() -> None:
            system.assert_alive()
            recorder.pump()

        offset = recorder.offset = time.time_ns() if plan.wall else 0
        if plan.fly:
            plan.fly(system.peer, pump, plan.end + offset / SECOND)
        done = lambda: pump() or recorder.newest > offset + plan.end * SECOND  # noqa: E731
        system.peer.wait_for(done, "the end of the recording", 60 + 3 * plan.end / speed)
    return recorder.result(TrueMotion(system.truth_file), speed)
