"""`time.mode:=sim` publishes /clock, and a node with `use_sim_time` lives in simulation time."""

from __future__ import annotations

import itertools
import statistics
import time

import pytest
from geometry import nanoseconds
from programs import Programs
from rclpy.qos import qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu

from ros import Listener, ros2, wait, wait_count
from sensors import RAW, with_defaults

CAMERA = with_defaults(0, 1, RAW)


@pytest.mark.parametrize("speed", [1.0, 0.5])
def test_a_node_on_simulation_time_follows_the_simulator(speed, tmp_path, domain_id, simulator_ports):
    parameters = {"time.mode": "sim", "transport_mode": "file"}
    options = ["--speed", str(speed)]
    with (
        Programs(tmp_path, domain_id, [CAMERA], parameters=parameters, emulator=options, keep_frames=False),
        Listener("on_sim_time", parameters={"use_sim_time": True}) as node,
    ):
        clock = node.collect(Clock, "/clock", qos_profile_sensor_data)
        imu = node.collect(Imu, "/rflysim/imu", qos_profile_sensor_data)
        wait_count(clock, 20, "messages on /clock")
        wait_count(imu, 20, "IMU samples")
        ros_clock = node.node.get_clock()
        wait(lambda: ros_clock.now().nanoseconds > 0, "time on the node's clock")

        def offset() -> float:
            return (nanoseconds(imu[-1].header.stamp) - ros_clock.now().nanoseconds) * 1e-9

        assert abs(offset()) < 0.5, "stamps and /clock are two different times"
        assert ros_clock.now().nanoseconds * 1e-9 < 1e6, "that is wall time"
        before, started = ros_clock.now().nanoseconds, time.monotonic()
        time.sleep(3)

        def rate() -> float:
            return (ros_clock.now().nanoseconds - before) * 1e-9 / (time.monotonic() - started)

        # Where this process does not run for a moment the clock is behind until the next message.
        wait(lambda: rate() == pytest.approx(speed, rel=0.1), f"time at {speed} of the host's")
        times = [nanoseconds(m.clock) for m in clock]
        assert times == sorted(times)
        delays: list[float] = []
        timer = node.node.create_timer(0.2, lambda: delays.append(ros_clock.now().nanoseconds * 1e-9))
        wait_count(delays, 10, "ticks of a timer on simulation time")
        node.node.destroy_timer(timer)
        # One may be late, and its successors are in time again.
        periods = [after - before for before, after in itertools.pairwise(delays)]
        assert statistics.median(periods) == pytest.approx(0.2, abs=0.05)


def test_without_it_there_is_no_clock(tmp_path, domain_id, simulator_ports):
    with Programs(tmp_path, domain_id, [CAMERA], parameters={"transport_mode": "file"}, keep_frames=False) as programs:
        programs.bridge.wait_for_output("sensors: ")
        topics = ros2("topic", "list").split()
        assert "/rflysim/imu" in topics and "/clock" not in topics
