"""Two bridges of one fleet file, as on two PCs: each takes its part, nothing collides, and the loss of one is seen by the other."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from backend import environment
from diagnostics import Report
from mavros import TELEMETRY
from peer import Peer
from processes import Process, binary
from programs import LISTENS, emulator_process
from topics import IMAGE

from sensors import COMPRESSED, with_defaults, write_config

DIAGNOSTICS = "diagnostic_msgs/msg/DiagnosticArray"
# Both hosts are this one, with a window each.
FLEET = """
hosts:
  pc1: {bridge: 127.0.0.1, START_INDEX: 11, VehicleNum: 1, window: 0, config: pc1.json}
  pc2: {bridge: 127.0.0.1, START_INDEX: 12, VehicleNum: 1, window: 1, config: pc2.json}
"""
ERROR = 2


class Hosts:
    """An emulator with two vehicles and two windows, a bridge for each, and a peer."""

    def __init__(self, directory, domain_id: int):
        self.directory, self.domain_id = directory, domain_id
        (directory / "fleet.yaml").write_text(FLEET)
        for name, vehicle in (("pc1", 11), ("pc2", 12)):
            # The same SeqIDs on both, one on the ground; on two PCs the ports would be the same, too.
            ground = with_defaults(1, 1, COMPRESSED, mount=2, position=(-16.0, 0.0, -9.0))
            config = write_config(directory / f"{name}.json", [with_defaults(0, 1, COMPRESSED, vehicle=vehicle), ground])
            for seq in (0, 1):
                config.write_text(config.read_text().replace(f" {9999 + seq},", f" {9999 + seq + 2 * (vehicle - 11)},"))
        options = ["--vehicles", "2", "--start-index", "11", "--windows", "2", "--multicast"]
        self.emulator = emulator_process(directory, options, directory / "truth.jsonl", None)
        self.peer = Peer(domain_id)
        self.bridges = {name: self.bridge(name) for name in ("pc1", "pc2")}

    def bridge(self, name: str) -> Process:
        """The bridge of a host, with nothing but the fleet file."""
        values = [f"fleet.file:={self.directory}/fleet.yaml", f"fleet.host:={name}"]
        command = [binary("rfly_bridge", "RFLY_BRIDGE"), "--ros-args", *(word for v in values for word in ("-p", v))]
        return Process(f"bridge of {name}", command, self.directory / f"{name}.log", environment(self.domain_id))

    def subscribe(self, topic: str, ros_type: str):
        return self.peer.subscribe(topic, ros_type)

    def wait_report(self, reports, name: str, wanted, what: str) -> Report:
        """The first new report of a host's bridge that is as wanted."""
        seen = len(reports.samples)

        def found():
            new = [Report(message) for message in reports.messages[seen:]]
            of_host = [report for report in new if f"rfly_bridge_{name}: hosts" in report.levels]
            return next((report for report in of_host if wanted(report)), None)

        return self.peer.wait_for(found, f"a report of {name}: {what}", 60.0)

    def log(self) -> str:
        return "\n".join(bridge.tail() for bridge in self.bridges.values())


@pytest.fixture
def hosts(tmp_path, domain_id, simulator_ports):
    system = Hosts(tmp_path, domain_id)
    with ExitStack() as stack:
        stack.callback(system.peer.close)
        for process in (system.emulator, *system.bridges.values()):
            stack.callback(process.stop)
        system.emulator.start().wait_for_output(LISTENS)
        for bridge in system.bridges.values():
            bridge.start()
        yield system
        assert [bridge.stop() for bridge in system.bridges.values()] == [0, 0], system.log()


def test_each_bridge_takes_its_part_and_the_loss_of_one_is_seen_and_heals(hosts):
    peer = hosts.peer
    states = [hosts.subscribe(f"/mavros{number}/state", TELEMETRY["state"]) for number in (11, 12)]
    images = {
        name: [hosts.subscribe(f"/{name}/sensor{seq}/img_rgb", IMAGE) for seq in (0, 1)] for name in ("pc1", "pc2")
    }
    reports = hosts.subscribe("/diagnostics", DIAGNOSTICS)
    connected = lambda state: any(message.connected for message in state.messages)  # noqa: E731
    peer.wait_for(lambda: all(map(connected, states)), "both vehicles to be connected", 60.0)
    every = lambda: [topic for topics in images.values() for topic in topics]  # noqa: E731
    peer.wait_for(lambda: all(topic.samples for topic in every()), "an image of every camera", 60.0)

    frames = {name: [topic.messages[-1].header.frame_id for topic in topics] for name, topics in images.items()}
    assert frames == {
        "pc1": ["copter11/sensor0_optical_frame", "pc1/sensor1_optical_frame"],
        "pc2": ["copter12/sensor0_optical_frame", "pc2/sensor1_optical_frame"],
    }
    # What belongs to the graph and not to a host.
    shared = {"/tf", "/tf_static", "/diagnostics", "/rosout", "/parameter_events", "ros_discovery_info"}
    own = [offer.topic for offer in peer.offers() if offer.topic not in shared]
    assert sorted(own) == sorted(set(own)), "each topic has one publisher"
    assert {"/rfly_bridge_pc1/get_parameters", "/rfly_bridge_pc2/get_parameters"} <= set(peer.services())

    for name, other in (("pc1", "pc2"), ("pc2", "pc1")):
        report = hosts.wait_report(reports, name, lambda r, o=other: r.find(": hosts")[o] == "heard", "hears the other")
        assert report.levels[f"rfly_bridge_{name}: hosts"] == 0
        assert report.find(": heartbeats").get("ignored_other_vehicle", 0) == 0

    hosts.bridges["pc2"].kill()
    level = "rfly_bridge_pc1: hosts"
    report = hosts.wait_report(reports, "pc1", lambda r: r.levels[level] == ERROR, "pc2 is lost")
    assert report.messages[level].startswith("pc2 silent for "), report.messages
    assert any("host-silent pc2" in key for key in report.find(": doctor")), report.find(": doctor")
    hosts.bridges["pc2"].start()
    hosts.wait_report(reports, "pc1", lambda r: r.levels[level] == 0, "pc2 is heard again")
    output = hosts.bridges["pc1"].output()
    assert "nothing is heard of the bridge on pc2" in output and "the bridge on pc2 is heard" in output, output
