"""One time for all headers, whatever the speed of the simulation: with `time.mode: sim` everything is stamped with it."""

from __future__ import annotations

import numpy as np
from geometry import nanoseconds
from recording import Recording
from system import System
from topics import TF

from sensors import COMPRESSED, with_defaults

SECOND = 1_000_000_000
VEHICLE = {
    "/mavros/imu/data": "sensor_msgs/msg/Imu",
    "/mavros/local_position/odom": "nav_msgs/msg/Odometry",
}
CLOCK = {"/clock": "rosgraph_msgs/msg/Clock"}
DIAGNOSTICS = {"/diagnostics": "diagnostic_msgs/msg/DiagnosticArray"}


def test_at_half_speed_stamps_of_vehicle_and_bridge_are_simulation_time(tmp_path, domain_id, simulator_ports):
    sensors = [with_defaults(0, 5, COMPRESSED, rate=10)]
    options = {"time.mode": "sim", "diagnostics.period_s": 0.5}
    with System(tmp_path, domain_id, sensors, parameters=options, emulator=["--speed", "0.5"]) as system:
        recording = Recording(system)
        recording.subscribe({**CLOCK, **VEHICLE, **DIAGNOSTICS, **TF})
        recording.collect(1, [*CLOCK, *VEHICLE])
        begin = nanoseconds(recording.messages("/clock")[0].clock)
        recording.wait_for("/clock", lambda m: nanoseconds(m.clock) > begin + 8 * SECOND)
        recording.collect_more(2, [*VEHICLE, *DIAGNOSTICS])
    clock = recording.samples["/clock"]
    at = np.array([sample.arrival for sample in clock])
    told = np.array([nanoseconds(sample.message.clock) for sample in clock])

    for topic in [*VEHICLE, *DIAGNOSTICS]:
        # The first ones may be from before the first tick, when simulation time is 0.
        samples = [s for s in recording.samples[topic] if nanoseconds(s.message.header.stamp) > 0][5:]
        ahead = []
        for sample in samples:
            # The clock when it was received: an offset between the stamps that grows would show here.
            index = np.searchsorted(at, sample.arrival)
            if 0 < index < len(at):
                ahead.append((nanoseconds(sample.message.header.stamp) - told[index - 1]) * 1e-9)
        assert len(ahead) > 3, topic
        # The wall would be 4 s off after 8 s; telemetry of a busy machine may be late.
        assert abs(np.median(ahead[-20:])) < 0.5, f"{topic} is {np.median(ahead[-20:]):.3f} s ahead of /clock"
    for message in recording.messages("/tf_static"):
        for transform in message.transforms:
            assert nanoseconds(transform.header.stamp) <= told[-1], "/tf_static has stamps of the wall's clock"
