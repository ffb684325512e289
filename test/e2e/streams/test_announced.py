"""Vehicles that announce themselves where nobody expects them: the user is told once, with what to do."""

from __future__ import annotations

from diagnostics import Report
from mavros import WITNESS, fly
from peer import Peer
from system import System


def wait_for_count(peer: Peer, count: str, least: int = 3) -> None:
    """Returns once so many heartbeats were counted under this key."""
    diagnostics = peer.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray")

    def counted() -> bool:
        peer.take()
        return any(Report(m).find(": heartbeats").get(count, 0) >= least for m in diagnostics.messages)

    peer.wait_for(counted, f"{least} heartbeats counted as {count}", 60.0)


def test_a_vehicle_that_is_not_served_is_named_once_with_the_remedy(tmp_path, domain_id, simulator_ports):
    with fly(tmp_path, domain_id, copters=2) as system:
        wait_for_count(system.peer, "ignored_other_vehicle")
        log = system.bridge.output()
        assert log.count("vehicle 2 announces itself from 127.0.0.1 and is not served") == 1, log
        assert "vehicles:=[1, 2]" in log and "control.discover_s" in log
        assert "vehicle 1 announces itself" not in log


def test_a_vehicle_at_another_address_than_the_bridge_sends_to_is_named_once(tmp_path, domain_id, simulator_ports):
    with fly(tmp_path, domain_id, **{"vehicle1.address": "10.99.0.9"}) as system:
        wait_for_count(system.peer, "other_address")
        log = system.bridge.output()
        assert log.count("heartbeats of vehicle 1 come from 127.0.0.1, but the bridge sends to 10.99.0.9") == 1, log
        assert "vehicle1.address:=127.0.0.1" in log


def test_when_nobody_is_heard_at_the_start_the_remedy_is_said(tmp_path, domain_id, simulator_ports):
    # The only heartbeat is sent before the bridge listens.
    parameters = {"control.discover_s": 0.3, "transport_mode": "file"}
    emulator = ["--heartbeat-period", "1000"]
    system = System(tmp_path, domain_id, [WITNESS], parameters=parameters, emulator=emulator)
    system.start_emulator()
    system.peer.wait_for(lambda: system.command("stats")["heartbeats"] == 1, "the only heartbeat")
    with system:
        system.peer.wait_for(lambda: "no heartbeat received" in system.bridge.output(), "a warning", 60.0)
        log = system.bridge.output()
        assert "vehicles:=[1, 2]" in log and "Serving vehicles [1]" in log
        assert "heartbeats of 0 vehicles" not in log
