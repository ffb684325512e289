"""The score itself, on motion whose error is known."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from geometry import FLU_FROM_FRD, NWU_FROM_NED, rotation_from_euler
from score import TrueMotion, drift
from truth import Truth

STEP = 10_000_000


def quaternion(yaw: float) -> tuple[float, float, float, float]:
    """w, x, y, z of a turn to the right."""
    return float(np.cos(yaw / 2)), 0.0, 0.0, float(np.sin(yaw / 2))


@pytest.fixture
def motion(tmp_path) -> TrueMotion:
    """Once around a circle of 10 m in 20 s, 3 m up."""
    lines = []
    for i in range(2001):
        a = 2 * np.pi * i / 2000
        vehicle = {"id": 1, "position": [10 * np.cos(a), 10 * np.sin(a), -3.0], "quaternion": quaternion(a + np.pi / 2)}
        frame = {"kind": "frame", "seq_id": 9, "sim_time": i / 100, "sim_ns": i * STEP, "host_ns": 0, "due_ns": 0}
        lines.append(json.dumps(frame | {"sent_length": 0, "sent_crc32": 0, "vehicle": vehicle}))
    (tmp_path / "truth.jsonl").write_text("\n".join(lines))
    return TrueMotion(Truth(tmp_path / "truth.jsonl", tmp_path))


def odometry(scale: float = 1.0) -> list:
    """The circle as an algorithm sees it that begins somewhere else, in FLU, between the stamps of the log."""
    elsewhere, away = rotation_from_euler(0.2, -0.1, 2.0), np.array([5.0, -7.0, 1.0])
    messages = []
    for k in range(1, 200):
        a = 2 * np.pi * (k + 0.05) / 200
        place = elsewhere @ NWU_FROM_NED @ [10 * np.cos(a), 10 * np.sin(a), -3.0] * scale + away
        turn = elsewhere @ NWU_FROM_NED @ rotation_from_euler(0, 0, a + np.pi / 2) @ FLU_FROM_FRD.T
        w = np.sqrt(max(0.0, 1 + np.trace(turn))) / 2
        x, y, z = (turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]) / (4 * w)
        pose = SimpleNamespace(position=xyz(*place), orientation=SimpleNamespace(x=x, y=y, z=z, w=w))
        nanosec = round((k + 0.05) * 10 * STEP)
        stamp = SimpleNamespace(sec=nanosec // 10**9, nanosec=nanosec % 10**9)
        messages.append(SimpleNamespace(header=SimpleNamespace(stamp=stamp), pose=SimpleNamespace(pose=pose)))
    return messages


def xyz(x: float, y: float, z: float) -> SimpleNamespace:
    return SimpleNamespace(x=x, y=y, z=z)


def test_the_same_motion_from_another_start_does_not_drift(motion):
    found = drift(odometry(), motion)
    assert found.path_m == pytest.approx(2 * np.pi * 10 * 198 / 200, rel=0.001)
    assert found.worst_percent < 0.001 and found.end_deg < 0.01 and found.poses == 199


def test_a_wrong_scale_is_found(motion):
    found = drift(odometry(scale=1.01), motion)
    # One percent of the diameter, half a turn later; at the end of the circle nearly nothing.
    assert found.worst_percent == pytest.approx(100 * 0.2 / found.path_m, rel=0.01)
    assert found.end_percent < 0.02


def test_a_wrong_clock_is_found(motion):
    late = odometry()
    for message in late:
        moved = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec + 5 * STEP
        message.header.stamp.sec, message.header.stamp.nanosec = moved // 10**9, moved % 10**9
    # Begun as late, a steady circle is the same circle.
    assert drift(late, motion).worst_percent < 0.001
    late[0].header.stamp.nanosec -= 5 * STEP
    assert drift(late, motion).worst_percent > 0.1
