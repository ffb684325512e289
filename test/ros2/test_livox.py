"""The points of a Livox as its driver's message, which rclpy decodes with the message package of the workspace."""

from __future__ import annotations

import numpy as np
import pytest
from backend import HAS_LIVOX
from geometry import nanoseconds
from programs import Programs
from truth import Truth, true_points

from ros import Listener, wait_count
from sensors import COMPRESSED, with_defaults

pytestmark = pytest.mark.skipif(not HAS_LIVOX, reason="livox_ros_driver2 is not in the workspace of the bridge")
livox = pytest.importorskip("livox_ros_driver2.msg", reason="livox_ros_driver2 is not in the workspace")

AVIA, MID360 = with_defaults(0, 22, COMPRESSED, rate=10), with_defaults(1, 23, COMPRESSED, rate=10)
SENSORS = [AVIA, MID360]
# 32767 counts are the range; the bridge computes with 32 bits.
PRECISION = 1e-6


@pytest.fixture(scope="module")
def run(tmp_path_factory, domain_id, simulator_ports):
    """What a LIO program with the driver's QoS gets, and what was rendered."""
    parameters = {"time.mode": "sim", "transport_mode": "file"}
    directory = tmp_path_factory.mktemp("livox")
    # Points with a label, which the bridge does not ask for.
    emulator = ["--cloud-format", "36:i16:label"]
    with Programs(directory, domain_id, SENSORS, parameters=parameters, emulator=emulator) as programs, Listener("lio") as node:
        messages = {s: node.collect(livox.CustomMsg, f"{s.topic}/custom", 20) for s in SENSORS}
        for sensor, got in messages.items():
            wait_count(got, 10, f"messages of {sensor.topic}/custom")
            programs.assert_alive()
    return messages, Truth(programs.truth_file, programs.truth_frames)


@pytest.mark.parametrize("sensor", SENSORS, ids=["type 22", "type 23"])
def test_the_drivers_message_has_every_field_of_the_rendered_points(run, sensor):
    messages, truth = run
    for message in messages[sensor][:10]:
        stamp = nanoseconds(message.header.stamp)
        points, label = true_points(sensor, truth.frames[sensor.seq][stamp].payload())
        returned = np.abs(points).sum(axis=1) > 0
        points, label = points[returned], label[returned]
        assert message.header.frame_id == f"sensor{sensor.seq}_link"
        assert message.timebase == stamp
        assert message.point_num == len(message.points) == len(points) > 100
        assert (message.lidar_id, list(message.rsvd)) == (0, [0, 0, 0])
        assert np.allclose([[p.x, p.y, p.z] for p in message.points], points, rtol=PRECISION, atol=PRECISION)
        assert [p.reflectivity for p in message.points] == np.minimum(label.astype(np.uint16), 255).tolist()
        # The simulator renders a scan at one instant.
        assert {p.offset_time for p in message.points} == {0}
        assert {p.tag for p in message.points} == {0x10}, "one return, of high confidence"
        assert {p.line for p in message.points} <= set(range(4))
        assert len({p.line for p in message.points}) > 1
