"""A CopterSim that broadcasts nothing, as since version 4.12: the bridge asks it by unicast for what does not come."""

from __future__ import annotations

import time

from diagnostics import Report
from mavros import WITNESS
from recording import Recording
from system import System

ODOMETRY, POSE, DIAGNOSTICS = "/rflysim/ground_truth/odom", "/mavros/local_position/pose", "/diagnostics"
TOPICS = {
    ODOMETRY: "nav_msgs/msg/Odometry",
    POSE: "geometry_msgs/msg/PoseStamped",
    DIAGNOSTICS: "diagnostic_msgs/msg/DiagnosticArray",
}


def test_what_is_not_broadcast_comes_once_it_is_asked_for(tmp_path, domain_id, simulator_ports):
    parameters = {"transport_mode": "file"}
    with System(tmp_path, domain_id, [WITNESS], parameters=parameters, emulator=["--restricted-broadcasts"]) as system:
        recording = Recording(system)
        recording.subscribe(TOPICS)
        recording.collect(20, [ODOMETRY, POSE])
        asked = [line for line in system.bridge.output().splitlines() if "by unicast" in line]
        assert len(asked) == 1, asked
        assert all(word in asked[0] for word in ("vehicle 1", "127.0.0.1:30100", "simulator_address")), asked

        def counted() -> str:
            said = recording.wait_for(DIAGNOSTICS, lambda m: True, since=len(recording.samples[DIAGNOSTICS]))
            return Report(said).find("requests to CopterSim")["vehicle 1"]

        # What comes is not asked for.
        counted()
        first = counted()
        assert first.startswith("on request: "), first
        time.sleep(3)
        assert counted() == first
