"""Nothing arrives from the simulator: one line of the log says what is awaited, what is wrong and what to type."""

from __future__ import annotations

import re
from dataclasses import replace

from system import System

from sensors import COMPRESSED, with_defaults

SENSORS = [replace(with_defaults(seq, 5, COMPRESSED), rate=10) for seq in range(5)]
SILENT = "nothing has arrived for "
AGAIN = "data arrives from the simulator, after"


def lines(system: System, text: str) -> list[str]:
    """Lines of the bridge's log."""
    return [line for line in system.bridge.output().splitlines() if text in line]


def test_a_silent_simulator_is_one_warning_and_one_line_when_data_arrives(tmp_path, domain_id, simulator_ports):
    system = System(tmp_path, domain_id, SENSORS, parameters={"transport_mode": "file"})
    system.bridge.start()
    try:
        # Nobody subscribes to /diagnostics.
        system.bridge.wait_for_output(SILENT, 60.0)
        [warning] = lines(system, SILENT)
        assert "WARN" in warning and re.search(r"for 1\d s; awaited are sensor0 range, sensor1 range, sensor2 range and ", warning), warning
        assert " from 127.0.0.1 on UDP ports 9999 to 10003, 20005" in warning, warning
        assert "simulator-silent (127.0.0.1:20010): " in warning and "; do: start RflySim3D and CopterSim" in warning, warning
        system.start_emulator()
        system.bridge.wait_for_output(AGAIN)
        [healed] = lines(system, AGAIN)
        assert "INFO" in healed, healed
        # Paused: it is known how long ago data arrived.
        system.command("pause")
        system.peer.wait_for(lambda: len(lines(system, SILENT)) == 2, "the second silence", 60.0)
        paused = lines(system, SILENT)[1]
        assert re.search(r"simulator-stopped \(127.0.0.1:20010\): last datagram (9|1\d) s ago", paused), paused
        system.command("resume")
        system.peer.wait_for(lambda: len(lines(system, AGAIN)) == 2, "data after the pause", 60.0)
        assert len(lines(system, SILENT)) == 2, system.report()
    finally:
        codes = [system.bridge.stop(), system.emulator.stop() if system.emulator.alive() else 0]
        system.peer.close()
    assert codes == [0, 0], system.report()


def test_a_config_of_another_machine_is_named_at_the_start(tmp_path, domain_id, simulator_ports):
    sensors = [replace(sensor, receiver=(192, 168, 7, 66)) for sensor in SENSORS[:2]]
    with System(tmp_path, domain_id, sensors, parameters={"transport_mode": "file"}) as system:
        system.bridge.wait_for_output("192.168.7.66")
        [warning] = lines(system, "192.168.7.66")
        assert "WARN" in warning and "sensor0 range, sensor1 range: " in warning, warning
        assert "-p receive_address:=127.0.0.1" in warning, warning
