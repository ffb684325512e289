"""`~/stats`: the figures of `/diagnostics` as numbers."""

from __future__ import annotations

import math
import os
import re
import subprocess
from dataclasses import replace

import pytest
from backend import environment
from processes import binary
from recording import Recording
from system import System
from topics import DIAGNOSTICS, IMU

from sensors import COMPRESSED, RAW, with_defaults

STATS = "/rfly_bridge/stats"
UP, WAITING = 1, 0
WARN = 1


def test_the_figures_are_those_of_the_diagnostics(tmp_path, domain_id, simulator_ports):
    sensors = [replace(with_defaults(0, 1, RAW), width=320, height=240), with_defaults(1, 20, COMPRESSED)]
    parameters = {"transport_mode": "file", "diagnostics.period_s": 0.5}
    with System(tmp_path, domain_id, sensors, parameters=parameters, emulator=["--loss", "0.05"]) as system:
        recording = Recording(system)
        recording.subscribe({**DIAGNOSTICS, **IMU, STATS: "rfly_bridge_msgs/msg/BridgeStats"})
        recording.subscribe({sensors[0].topic: "sensor_msgs/msg/Image"})
        recording.collect(40, [sensors[0].topic])

        def complete(message) -> bool:
            """Everything is there, at work and long enough for what is looked at below."""
            up = {source.name for source in message.sources if source.state == UP}
            [clock] = message.clocks
            lossy = any(source.drops for source in message.sources if source.name == "sensor0 img_rgb")
            return {"sensor0 img_rgb", "sensor1 vehicle_lidar"} <= up and clock.observations > 100 and lossy

        def both() -> list[int]:
            """Stamps of both; they are published together."""
            recording.harvest()
            return sorted(set(recording.by_stamp(STATS)) & set(recording.by_stamp("/diagnostics")))

        system.peer.wait_for(lambda: len(both()) >= 3, "reports with the same stamp", 60.0)
        ready = lambda: [stamp for stamp in both()[2:] if complete(recording.by_stamp(STATS)[stamp])]  # noqa: E731
        stamp = system.peer.wait_for(ready, "a report on everything", 60.0)[0]
        last, diagnostic = recording.by_stamp(STATS)[stamp], recording.by_stamp("/diagnostics")[stamp]
    assert {s.name for s in last.sources} == {
        "sensor0 img_rgb",
        "sensor1 vehicle_lidar",
        "heartbeats",
        "true state of vehicle 1",
        "imu of vehicle 1",
        "autopilot of vehicle 1",
        "px4_output of vehicle 1",
        "reports of the renderer",
        "scene",
        "scene/set_states",
        "start signals",
    }
    told = {s.name.removeprefix("rfly_bridge: "): s for s in diagnostic.status}
    for source in last.sources:
        values = {v.key: v.value for v in told[source.name].values}
        assert values["received"] == str(source.received) and values["bytes"] == str(source.bytes)
        assert values["frames"] == str(source.frames) and values["converted"] == str(source.converted)
        assert float(values["rate_hz"]) == round(source.rate_hz, 2)
        drops = {key.removeprefix("drop_"): int(v) for key, v in values.items() if key.startswith("drop_")}
        assert {d.cause: d.count for d in source.drops} == drops
        if not math.isnan(source.latency_p50_s):
            assert abs(float(values["latency_p50_ms"]) - source.latency_p50_s * 1e3) < 1e-3
            assert 0 < source.latency_p50_s <= source.latency_p99_s <= source.latency_max_s + 1e-6
    by_name = {s.name: s for s in last.sources}
    camera, lidar = by_name["sensor0 img_rgb"], by_name["sensor1 vehicle_lidar"]
    assert camera.state == lidar.state == UP
    assert camera.drops, "the emulator loses one datagram in twenty"
    assert camera.converted > 0 and camera.bytes > camera.frames * 320 * 240 * 3
    assert lidar.converted == 0 and math.isnan(lidar.latency_max_s), "nobody subscribes to it"
    assert last.header.frame_id == ""
    [clock] = last.clocks
    values = {v.key: v.value for v in told["clock of vehicle 1"].values}
    assert clock.vehicle_id == 1 and values["observations"] == str(clock.observations)
    assert values["offset_s"] == f"{clock.offset_ns * 1e-9:.9f}"
    # Both are rounded, and not from the same unit.
    assert float(values["spread_p99_ms"]) == pytest.approx(clock.spread_p99_s * 1e3, abs=0.6e-3)
    assert clock.observations > 100 and clock.restarts == 0


def test_a_rate_below_what_was_asked_for_is_a_warning_with_both_numbers(tmp_path, domain_id, simulator_ports):
    sensors = [replace(with_defaults(0, 5, COMPRESSED), rate=30)]
    parameters = {"transport_mode": "file", "diagnostics.period_s": 0.5}
    with System(tmp_path, domain_id, sensors, parameters=parameters, emulator=["--loss", "0.8"]) as system:
        recording = Recording(system)
        recording.subscribe(DIAGNOSTICS)

        def slow(message) -> bool:
            """A warning with the received and the requested rate."""
            [status] = [status for status in message.status if status.name.endswith("sensor0 range")]
            values = {v.key: v.value for v in status.values}
            if "below_asked" not in values:
                return False
            rate, asked = map(float, re.fullmatch(r"([0-9.]+) Hz, ([0-9.]+) Hz requested", values["below_asked"]).groups())
            assert status.level == WARN and values["below_asked"] in status.message
            # A machine that is busy runs the simulation more slowly, and owes less.
            return float(values["asked_hz"]) == 30 and rate < 0.8 * asked

        recording.wait_for("/diagnostics", slow)
        top = [str(binary("rfly_bridge", "RFLY_BRIDGE")), "top", "--seconds", "20", "--prefix", "/diagnostics"]
        around = {**os.environ, **environment(domain_id)}
        shown = subprocess.run(top, env=around, capture_output=True, text=True, check=True, timeout=120).stdout
        assert re.search(r"below the requested rate: sensor0 range: [0-9.]+ Hz, [0-9.]+ Hz requested", shown), shown
