"""Real PX4 (`RFLY_PX4`, as in test_px4.py) recorded and replayed, and why it will not arm, in words."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from backend import environment
from diagnostics import Report
from mavros import Vehicle, vector
from peer import Peer, decode
from processes import Process, binary
from replaying import by_host, replay
from test_px4 import KINDS, PX4, Autopilot, running, wait_armable
from test_record import read

pytestmark = pytest.mark.usefixtures("simulator_ports")

POSE, STATE = "/mavros/local_position/pose", "/mavros/state"


def places(samples: list[bytes]) -> list[list[float]]:
    """The positions of poses."""
    return [list(vector(decode(cdr, "geometry_msgs/msg/PoseStamped").pose.position)) for cdr in samples]


@pytest.mark.parametrize("kind", KINDS)
def test_a_flight_is_recorded_inspected_and_replayed(kind, domain_id, tmp_path):
    parameters = (f"record.directory:={tmp_path}", "record.raw:=raw.mcap", "record.ros:=live")
    with running(kind, tmp_path, domain_id, *parameters) as (_, flight):
        flight.vehicle.wait_ready()
        wait_armable(flight)
        stream, _ = flight.vehicle.take_off(2.0)
        stream.__exit__(None, None, None)
        flight.vehicle.land()
    file, live = tmp_path / "raw.mcap", read(tmp_path / "live")

    inspect = [binary("rfly_bridge", "RFLY_BRIDGE"), "inspect", file, "--json"]
    told = json.loads(subprocess.run([str(word) for word in inspect], check=True, capture_output=True).stdout)
    autopilot = told["channels"]["udp/20101"]
    assert autopilot["messages"] > 1000 and set(autopilot["kinds"]) == {"mavlink"}, autopilot

    once = replay(file, domain_id, tmp_path / "once", "--speed", 0)
    again = replay(file, domain_id, tmp_path / "again", "--speed", 0)
    for topic in set(once) | set(again):
        assert by_host(topic) or once[topic] == again[topic], topic
    # Stamps differ: an autopilot of the past answers no TIMESYNC.
    assert places(once[POSE]) == places(live[POSE])
    assert max(place[2] for place in places(once[POSE])) > 1.0
    armed = [decode(cdr, "mavros_msgs/msg/State").armed for cdr in once[STATE]]
    assert [state for state, before in zip(armed, [None, *armed], strict=False) if state != before] == [False, True, False]


@contextmanager
def bridge_of(directory: Path, domain_id: int, name: str):
    """A bridge, and the peer that hears it."""
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "--ros-args", "-p", "imu.enabled:=false"]
    process = Process("rfly_bridge", command, directory / f"{name}.log", environment(domain_id)).start()
    peer = Peer(domain_id)
    try:
        yield peer
    finally:
        peer.close()
        process.stop()


@pytest.mark.skipif(not PX4, reason="RFLY_PX4 is not set")
def test_px4_that_will_not_arm_tells_a_bridge_that_comes_late_why(domain_id, tmp_path):
    autopilot = Autopilot("px4", tmp_path)
    autopilot.start()
    try:
        with bridge_of(tmp_path, domain_id, "early") as peer:
            vehicle = Vehicle(peer)
            vehicle.wait_ready()
            # Neither a sensor nor an estimate is missing: no flag of MAVLink says this one.
            vehicle.insist("param/set", param_id="COM_PARACHUTE", value={"type": 2, "integer_value": 1})
            peer.wait_for(lambda: any("Parachute" in text for text in vehicle.texts()), "PX4 to notice", 120.0)
        with bridge_of(tmp_path, domain_id, "late") as peer:
            vehicle = Vehicle(peer)
            reports = peer.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray")

            def why() -> str:
                if not reports.messages:
                    return ""
                found = Report(reports.messages[-1]).values
                return " ".join(str(values.get("not_ready", "")) for values in found.values())

            peer.wait_for(lambda: "Parachute system missing" in why(), "the reason", 120.0)
            vehicle.wait_ready()
            vehicle.insist("param/set", param_id="COM_PARACHUTE", value={"type": 2, "integer_value": 0})
            peer.wait_for(lambda: reports.messages and not why().strip(), "no reason", 120.0)
    finally:
        autopilot.stop()
