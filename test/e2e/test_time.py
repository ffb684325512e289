"""How far stamps are off, measured against the emulator's truth."""

from __future__ import annotations

import numpy as np
import pytest
from geometry import nanoseconds
from recording import Recording
from system import System
from topics import IMU, main_topic, topics_of
from truth import Truth

from sensors import COMPRESSED, RAW, with_defaults

SENSORS = [
    with_defaults(0, 1, RAW, rate=30),
    with_defaults(1, 20, COMPRESSED, rate=30),
    with_defaults(2, 5, COMPRESSED, rate=30),
]

# Emulator options -> largest median and 99th percentile of |stamp - true host time| in ms.
CASES = {
    "quiet": ([], 1.0, 3.0),
    "jitter 20 ms": (["--delay-jitter-ms", "20", "--seed", "1"], 2.0, 6.0),
    "drift 200 ppm": (["--clock-drift-ppm", "200"], 1.0, 3.0),
    "drift -200 ppm, jitter 20 ms": (["--clock-drift-ppm=-200", "--delay-jitter-ms", "20", "--seed", "2"], 2.0, 6.0),
}
TABLE: list[str] = []


@pytest.mark.parametrize("case", CASES)
def test_stamps_are_close_to_the_true_time_of_the_tick(case, tmp_path, domain_id, simulator_ports):
    options, median_limit, p99_limit = CASES[case]
    with System(tmp_path, domain_id, SENSORS, parameters={"transport_mode": "file"}, emulator=options) as system:
        recording = Recording(system)
        topics = dict(IMU)
        for sensor in SENSORS:
            topics |= {main_topic(sensor): topics_of(sensor)[main_topic(sensor)]}
        recording.subscribe(topics)
        recording.collect(240, [main_topic(sensor) for sensor in SENSORS])
    truth = Truth(system.truth_file, system.truth_frames)

    # When each rendered tick was due by the host's clock; when the emulator got round to sending it is another matter.
    ticks = np.array([truth.frames[0][sim_ns].due_ns for sim_ns in sorted(truth.frames[0])])
    stamps = {s.seq: np.array(sorted(recording.by_stamp(main_topic(s)))) for s in SENSORS}
    # The first seconds belong to the estimator: until 30 frames were sent as promptly as this machine can.
    late = np.array([truth.frames[0][sim_ns].host_ns for sim_ns in sorted(truth.frames[0])]) - ticks
    prompt = ticks[late < late.min() + 1_000_000]
    settled = stamps[0][30:][stamps[0][30:] > prompt[30]]
    assert len(settled) > 100
    nearest = ticks[np.argmin(np.abs(settled[:, None] - ticks[None, :]), axis=1)]
    errors = np.abs(settled - nearest) * 1e-6
    median, p99, worst = np.median(errors), np.quantile(errors, 0.99), errors.max()
    TABLE.append(f"{case:30s} {median:8.3f} {p99:8.3f} {worst:8.3f}   ms median, p99, worst of {len(errors)}")
    print("\n" + "\n".join(TABLE))
    assert median < median_limit and p99 < p99_limit
    assert (np.diff(stamps[0]) > 0).all()
    common = set(stamps[0]) & set(stamps[1]) & set(stamps[2])
    assert len(common) > 200, "sensors of one tick do not share their stamp"
    assert not set(nanoseconds(m.header.stamp) for m in recording.messages("/rflysim/imu")) & {0}
