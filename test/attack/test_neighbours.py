"""A second bridge, or any other program, on the same host and ports: nobody loses data without being told."""

from __future__ import annotations

import socket

from backend import environment
from diagnostics import Report
from peer import Peer
from processes import Process, binary
from system import System

from sensors import RAW, with_defaults

# Without sensors, IMU and control, all that is left are ports that several may bind.
LISTENS_ONLY = {"imu.enabled": "false", "control.link": "off"}
SIMULATOR = {"diagnostics.period_s": 0.2, "transport_mode": "file"}
CAMERA = with_defaults(0, 1, RAW, width=64, height=48)


def bridge(directory, domain_id: int, name: str, parameters: dict[str, object]) -> Process:
    """A bridge beside the one of the system."""
    arguments = ["--ros-args", "-r", f"__node:={name}"]
    for key, value in parameters.items():
        arguments += ["-p", f"{key}:={value}"]
    program = binary("rfly_bridge", "RFLY_BRIDGE")
    return Process(name, [program, *arguments], directory / f"{name}.log", environment(domain_id))


def wait_for(peer: Peer, process: Process, text: str) -> None:
    """Returns once a program has said something."""
    peer.wait_for(lambda: text in process.output(), f"{text!r} in the log of {process.name}", 60.0)


def test_two_bridges_that_serve_the_same_vehicle_both_say_so(tmp_path, domain_id, simulator_ports):
    with System(tmp_path, domain_id, [CAMERA], parameters=SIMULATOR) as system:
        system.bridge.wait_for_output("sensors: 1")
        second = bridge(tmp_path, domain_id, "second", LISTENS_ONLY).start()
        try:
            says = "({}) listens on UDP port 30101 as well (true state of vehicle 1)".format
            wait_for(system.peer, second, f"process {system.bridge.pid} {says('rfly_bridge')}")
            wait_for(system.peer, system.bridge, f"process {second.pid} {says('rfly_bridge')}")
            # And of the port that several may well share, as a note.
            for process in (second, system.bridge):
                wait_for(system.peer, process, "UDP port 20005 as well")
                lines = [line for line in process.output().splitlines() if "UDP port 20005 as well" in line]
                assert len(lines) == 1 and "INFO" in lines[0], process.output()
            reports = system.peer.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray")

            def told() -> bool:
                reports.take()
                values = [Report(m).find(": shared ports") for m in reports.messages[-3:]]
                return any("30101" in shared for shared in values)

            system.peer.wait_for(told, "the shared port in /diagnostics", 60.0)
        finally:
            assert second.stop() == 0
        assert system.bridge.output().count("UDP port 30101 as well") == 1


def test_bridges_of_different_vehicles_share_the_heartbeats_without_a_warning(tmp_path, domain_id, simulator_ports):
    with System(tmp_path, domain_id, [CAMERA], parameters=SIMULATOR) as system:
        system.bridge.wait_for_output("sensors: 1")
        second = bridge(tmp_path, domain_id, "second", LISTENS_ONLY | {"vehicles": "[2]"}).start()
        try:
            wait_for(system.peer, second, "UDP port 20005 as well")
            wait_for(system.peer, system.bridge, "UDP port 20005 as well")
        finally:
            assert second.stop() == 0
        for process in (second, system.bridge):
            assert "WARN" not in "".join(x for x in process.output().splitlines() if " as well " in x)


def test_a_bridge_that_cannot_have_a_port_names_who_has_it(tmp_path, domain_id, simulator_ports):
    with System(tmp_path, domain_id, [CAMERA], parameters=SIMULATOR) as system:
        system.bridge.wait_for_output("sensors: 1")
        second = bridge(tmp_path, domain_id, "second", {"config": system.config}).start()
        system.peer.wait_for(lambda: not second.alive(), "the end of the second bridge", 60.0)
        assert second.stop() == 1
        holder = f"UDP port {CAMERA.port}: Address already in use (os error 98), by process {system.bridge.pid} (rfly_bridge)"
        assert holder in second.output(), second.output()


def test_a_program_of_the_vendor_on_the_port_of_the_true_state_is_named(tmp_path, domain_id, simulator_ports):
    with System(tmp_path, domain_id, [CAMERA], parameters=SIMULATOR) as system, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        system.bridge.wait_for_output("sensors: 1")
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("", 30101))
        wait_for(system.peer, system.bridge, "(python) listens on UDP port 30101 as well")
