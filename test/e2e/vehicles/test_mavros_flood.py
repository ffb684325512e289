"""Bad input at the highest rate on the control port of a vehicle that is there: it is counted, and believed nowhere."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from backend import environment
from diagnostics import Report
from flood_mavlink import KINDS
from mavros import Vehicle, fly
from peer import Peer
from processes import Process, binary

CONTROL_PORT = 20101


class Flood:
    """Bad datagrams from a process of its own, from entering to leaving."""

    def __enter__(self) -> Flood:
        script = Path(__file__).parents[1].joinpath("flood_mavlink.py")
        command = [sys.executable, script, str(CONTROL_PORT), "7"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout.readline() == "ready\n"
        return self

    def __exit__(self, *_: object) -> None:
        out, _ = self._process.communicate("\n", timeout=120)
        answer = json.loads(out)
        self.sent, self.seconds = answer["sent"], answer["seconds"]
        self.total = sum(self.sent.values())


class Counts:
    """What /diagnostics says of the autopilot."""

    def __init__(self, vehicle: Vehicle):
        self._topic = vehicle.peer.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", depth=50)
        self._peer = vehicle.peer

    def settled(self) -> Counter:
        """Counts by cause, once no report changes them any more."""
        last, same = None, 0
        while same < 4:
            count = len(self._topic.samples)
            self._peer.wait_for(lambda n=count: len(self._topic.samples) > n, "/diagnostics", 60.0)
            values = Report(self._topic.messages[-1]).find("autopilot of vehicle 1")
            lost, ignored = ({k: int(v) for k, v in values.items() if k.startswith(p)} for p in ("drop_", "ignored_"))
            # What is not for the vehicle is no drop.
            assert not any("foreign" in key for key in lost), lost
            counts = Counter({key.split("_", 1)[1]: count for key, count in (lost | ignored).items()})
            same = same + 1 if counts == last else 0
            last = counts
        return last


def test_where_no_vehicle_is_connected_every_bad_frame_is_counted_by_its_cause(tmp_path, domain_id, simulator_ports):
    # Of a vehicle that is silent the figures are looked at once a second, so four equal reports have to take longer.
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "--ros-args", "-p", "imu.enabled:=false", "-p", "diagnostics.period_s:=0.5"]
    bridge = Process("rfly_bridge", command, tmp_path / "bridge.log", environment(domain_id))
    peer = Peer(domain_id)
    bridge.start()
    try:
        vehicle = Vehicle(peer)
        counts = Counts(vehicle)
        states = vehicle.topic("state")
        before, memory = counts.settled(), bridge.resident_bytes()
        with Flood() as flood:
            time.sleep(2.0)
        counted = counts.settled() - before
        grown = bridge.resident_bytes() - memory
        peer.take()
        assert not any(state.connected or state.armed for state in states.messages)
        assert grown < 16 << 20, f"{grown >> 20} MiB more"
        lost = counted.pop("socket_overflow", 0)
        expected = Counter()
        for kind, sent in flood.sent.items():
            for cause in KINDS[kind]:
                expected[cause] += sent
        for cause, sent in expected.items():
            # What the socket had no room for was of any kind.
            assert sent - lost <= counted[cause] <= sent, (cause, expected, counted, lost)
        # How much of it the machine finds time to look at is its own affair.
        assert flood.total - lost > 2_000 and all(counted[cause] > 100 for cause in expected), (counted, lost)
    finally:
        peer.close()
        bridge.stop()


def test_a_flood_of_bad_mavlink_is_counted_and_the_vehicle_flies_on(tmp_path, domain_id, simulator_ports):
    # A machine that stands still for a moment neither disconnects the vehicle nor takes it out of OFFBOARD.
    with fly(tmp_path, domain_id, **{"control.timeout_s": 20.0}) as system:
        vehicle = Vehicle(system.peer)
        vehicle.wait_ready()
        vehicle.patient()
        states = vehicle.topic("state")
        vehicle.client("cmd/arming"), vehicle.client("set_mode")
        counts = Counts(vehicle)
        before, mode, memory = counts.settled(), vehicle.next("state").mode, system.bridge.resident_bytes()
        first = len(states.samples)
        with Flood() as flood:
            # On the ground: nothing that was sent is believed.
            end = time.monotonic() + 3.0
            answered = 0
            while time.monotonic() < end or answered < 3 or len(states.samples) < first + 2:
                vehicle.insist("cmd/arming", value=False)
                answered += 1
                time.sleep(0.05)
                system.peer.take()
            quiet = states.messages[first:]
            # And what a user wants is done: commands are answered, and setpoints arrive at a rate that OFFBOARD needs.
            stream, _ = vehicle.take_off(1.5)
            armed = states.messages[first + len(quiet) :]
        assert {(s.connected, s.armed, s.mode) for s in quiet} == {(True, False, mode)}
        assert all(s.connected and s.mode in (mode, "OFFBOARD") for s in armed)
        with stream:
            vehicle.land()
        counted = counts.settled() - before
        grown = system.bridge.resident_bytes() - memory
        print(f"{flood.total / flood.seconds:.0f} datagrams/s for {flood.seconds:.1f} s, {counted}, {grown >> 10} KiB")
        assert grown < 16 << 20, f"{grown >> 20} MiB more"
        lost = counted.pop("socket_overflow", 0)
        # The vehicle stays with the socket that it was connected from: nothing of another one is even read.
        assert flood.total - lost <= counted["other_sender"] <= flood.total, (counted, lost, flood.total)
        # How much of it the machine finds time to look at is its own affair.
        assert flood.total - lost > 20_000, (counted, lost)
