"""The score itself, on motion whose error is known."""

from __future__ import annotations

import json

import numpy as np
import pytest
from geometry import NWU_FROM_NED, rigid, rotation_from_euler
from true_motion import TrueMotion, drift

STEP = 100_000_000
ELSEWHERE = rigid(rotation_from_euler(0.2, -0.1, 2.0), [5.0, -7.0, 1.0])
"""Where the map of an odometry begins, in another one."""


def turn(i: int) -> float:
    """Angle of a circle of 200 steps."""
    return 2 * np.pi * i / 200


@pytest.fixture
def true(tmp_path) -> dict[int, np.ndarray]:
    """Once around a circle of 10 m to the right, 3 m up, with the nose ahead."""
    lines = [{"kind": "start", "start_ns": 0, "solids": []}]
    for i in range(200):
        yaw = turn(i) + np.pi / 2
        quaternion = [np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]
        pose = {"position": [10 * np.cos(turn(i)), 10 * np.sin(turn(i)), -3.0], "quaternion": quaternion}
        vehicle = {"id": 1, "velocity": [0.0, 0.0, 0.0], **pose}
        lines.append({"kind": "frame", "seq_id": 9, "sim_ns": i * STEP, "sensor": pose, "vehicle": vehicle})
    (tmp_path / "truth.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return TrueMotion(tmp_path / "truth.jsonl").vehicle


def odometry(scale: float = 1.0) -> dict[int, np.ndarray]:
    """The same as an algorithm tells it, whose map has other axes: written in NWU, to the right is a negative yaw."""
    found = {}
    for i in range(200):
        place = NWU_FROM_NED @ [10 * np.cos(turn(i)), 10 * np.sin(turn(i)), -3.0]
        found[i * STEP] = ELSEWHERE @ rigid(rotation_from_euler(0, 0, -turn(i) - np.pi / 2), place * scale)
    return found


def test_the_same_motion_in_another_map_does_not_drift(true):
    found = drift(odometry(), true)
    assert found["path_m"] == pytest.approx(2 * np.pi * 10 * 199 / 200, abs=0.1)
    assert found["drift_percent"] < 0.001 and found["worst_deg"] < 0.001 and found["frames"] == 200


def test_a_wrong_scale_is_found(true):
    found = drift(odometry(scale=1.01), true)
    # One percent of the diameter, half a turn later; at the end of the circle nearly nothing.
    assert found["worst_m"] == pytest.approx(0.2, abs=0.001)
    assert found["drift_percent"] == pytest.approx(100 * 0.2 / found["path_m"], abs=0.005)
    assert found["end_m"] < 0.01


def test_a_wrong_attitude_is_found(true):
    found = odometry()
    found[STEP * 100] = found[STEP * 100] @ rigid(rotation_from_euler(0, np.radians(2), 0), [0, 0, 0])
    assert drift(found, true)["worst_deg"] == pytest.approx(2, abs=0.01)


def test_a_wrong_start_turns_all_that_follows(true):
    found = odometry()
    found[0] = found[0] @ rigid(rotation_from_euler(0, 0, np.radians(1)), [0, 0, 0])
    # One degree of 20 m, half a turn later.
    assert drift(found, true)["worst_m"] == pytest.approx(20 * np.radians(1), abs=0.01)
