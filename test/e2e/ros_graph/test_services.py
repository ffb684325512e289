"""Services of the stand-alone build, called by real ROS 2 nodes on Fast DDS (rclpy) and by Cyclone clients, in any mixture.

rclpy comes from PyPI (`scripts/setup.sh rclpy`) or from a sourced ROS 2; `RFLY_RCLPY` names its interpreter."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from backend import BACKEND, ON_DDS, environment
from diagnostics import Report
from peer.services import Client
from processes import ROOT
from recording import Recording
from system import System
from topics import DIAGNOSTICS

from sensors import COMPRESSED, with_defaults

pytestmark = [ON_DDS, pytest.mark.skipif(BACKEND != "dds", reason="in a workspace the middleware answers; test/ros2 calls it")]

RANGE = [with_defaults(0, 5, COMPRESSED, rate=5)]
GET = ("/rfly_bridge/get_parameters", "rcl_interfaces/srv/GetParameters")


def interpreter() -> Path:
    """A Python that has rclpy and rmw_fastrtps_cpp."""
    found = Path(os.environ.get("RFLY_RCLPY") or ROOT / "target/ros-jazzy/bin/python")
    if not found.exists():
        pytest.skip("no rclpy: RFLY_RCLPY names no interpreter, and scripts/setup.sh rclpy has not run")
    return found


class Rclpy:
    """A running `rclpy_client.py`."""

    def __init__(self, domain_id: int, rmw: str = "rmw_fastrtps_cpp"):
        around = {**os.environ, **environment(domain_id), "RMW_IMPLEMENTATION": rmw}
        self._process = subprocess.Popen(
            [interpreter(), Path(__file__).parents[1].joinpath("rclpy_client.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=around,
        )  # fmt: skip

    def send(self, **command) -> Rclpy:
        """Gives a command."""
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return self

    def receive(self):
        """The next thing that it says."""
        line = self._process.stdout.readline()
        assert line, "the node has ended"
        return json.loads(line)

    def do(self, **command):
        """Gives a command and returns the answer."""
        return self.send(**command).receive()

    def __enter__(self) -> Rclpy:
        return self

    def __exit__(self, *_) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture
def system(tmp_path, domain_id, simulator_ports):
    """A bridge with many services and nothing else to do."""
    interpreter()
    options = {"diagnostics.period_s": 0.2, "vehicles": [1, 2]}
    with System(tmp_path, domain_id, RANGE, parameters=options) as system:
        yield system


@pytest.fixture
def node(system, domain_id):
    """A node on Fast DDS."""
    with Rclpy(domain_id) as node:
        yield node


COUNTED = ("requests", "undecodable", "unanswered", "undelivered", "foreign")


def counters(system) -> dict:
    """What /diagnostics counts of services, once more."""
    recording = Recording(system)
    recording.subscribe(DIAGNOSTICS)
    recording.collect(2, ["/diagnostics"])
    report = Report(recording.messages("/diagnostics")[-1])
    return report.find("services")


def test_a_node_on_fast_dds_lists_gets_sets_and_describes_parameters(node):
    names = node.do(do="list")
    assert {"imu.rate_hz", "services.fast_dds", "topic_prefix"} <= set(names)
    assert node.do(do="describe", names=names) == names, "an answer in several fragments"
    assert node.do(do="get", names=["imu.rate_hz", "topic_prefix"])["values"] == [200, "rflysim"]
    assert node.do(do="set", name="imu.rate_hz", value=100)["successful"]
    assert node.do(do="get", names=["imu.rate_hz"])["values"] == [100]
    refused = node.do(do="set", name="imu.rate_hz", value=-1)
    assert not refused["successful"] and "1..=1000" in refused["reason"]
    assert node.do(do="set", name="imu.rate_hz", value=200)["successful"]
    assert len(node.do(do="get", names=names * 30)["values"]) == 30 * len(names), "a request in several fragments"


def test_clients_of_both_kinds_at_once_get_their_own_answers_and_none_twice(system, domain_id):
    before = counters(system)
    questions = [["imu.rate_hz"], ["topic_prefix", "imu.rate_hz"], ["window", "topic_prefix", "map_frame"]]
    answers = [[200], ["rflysim", 200], [0, "rflysim", "map"]]
    rounds = 150
    nodes = [Rclpy(domain_id) for _ in questions]
    try:
        for node, names in zip(nodes, questions, strict=True):
            node.send(do="get", names=names, times=rounds)
        cyclone = [Client(system.peer, *GET).wait() for _ in range(2)]
        for _ in range(rounds):
            numbers = [client.send({"names": ["window"] * (k + 1)}) for k, client in enumerate(cyclone)]
            for k, (client, number) in enumerate(zip(cyclone, numbers, strict=True)):
                found = client.receive(number).values
                assert [value.type for value in found] == [2] * (k + 1), "integers, as many as were asked for"
        received = [node.receive() for node in nodes]
        after = counters(system)
        counted = {name: after[name] - before[name] for name in COUNTED}
        for answer, expected in zip(received, answers, strict=True):
            assert (answer["values"], answer["others"]) == (expected, {}), f"by number of the call; {counted}"
            times = sorted(answer["s"])
            print(f"{rounds} calls: {times[len(times) // 2] * 1e3:.2f} ms in the middle, {times[-1] * 1e3:.1f} ms at most")
    finally:
        for node in nodes:
            node.__exit__()
    calls = rounds * (len(nodes) + len(cyclone))
    assert counted == {**dict.fromkeys(COUNTED, 0), "requests": calls}, "each was handled once"


def test_a_request_that_overtakes_the_announcement_of_its_sender_is_answered(system, node):
    for _ in range(5):
        node.send(do="new", names=["topic_prefix"], timeout=60.0)
        assert node.receive() == "ready"
        # What arrives meanwhile is taken up at once afterwards: the request, while discovery is still at work.
        os.kill(system.bridge.pid, signal.SIGSTOP)
        try:
            node.send(do="go")
            assert node.receive() == "sent"
        finally:
            os.kill(system.bridge.pid, signal.SIGCONT)
        assert node.receive()["values"] == ["rflysim"]


def test_the_graph_shows_each_service_once_at_the_bridge(system, node):
    shown = node.do(do="graph")
    names = [name for name, _ in shown]
    assert len(names) == len(set(names))
    assert {"/rfly_bridge/get_parameters", "/mavros/cmd/arming", "/mavros2/set_mode"} <= set(names)
    assert all(len(types) == 1 for _, types in shown)
    ends = [offer.topic for offer in system.peer.offers() if offer.topic.startswith("rr/")]
    assert len(ends) == len(set(ends)), "one writer for all clients"


def test_a_parameter_turns_answers_to_fast_dds_off(tmp_path, domain_id, simulator_ports):
    options = {"diagnostics.period_s": 0.2, "services.fast_dds": False}
    with System(tmp_path, domain_id, RANGE, parameters=options) as system, Rclpy(domain_id) as node:
        node.send(do="get", names=["topic_prefix"], timeout=3.0)
        system.bridge.wait_for_output("set services.fast_dds:=true")
        assert node.receive()["values"] is None
        client = Client(system.peer, *GET).wait()
        assert client.call(names=["topic_prefix"]).values[0].string_value == "rflysim"
        found = counters(system)
        assert (found["requests"], found["foreign"]) == (1, 1)


def test_fifty_vehicles_have_their_services_for_fast_dds_and_no_thread_more(tmp_path, domain_id, simulator_ports):
    options = {"vehicles": list(range(1, 51)), "diagnostics.period_s": 1.0}
    with System(tmp_path, domain_id, RANGE, parameters=options) as system, Rclpy(domain_id) as node:
        assert node.do(do="get", names=["topic_prefix"])["values"] == ["rflysim"]
        services = {name for name, _ in node.do(do="graph")}
        assert {f"/mavros{n}/cmd/arming" for n in range(2, 51)} < services
        status = Path(f"/proc/{system.bridge.pid}/status").read_text()
        found = dict(line.split(":", 1) for line in status.splitlines())
        print(f"{len(services)} services: {found['VmRSS'].strip()}, {found['Threads'].strip()} threads")
        assert int(found["Threads"]) < 40
