"""`rfly_bridge echo`, `pub`, `topics` and `param` as a user types them, against Cyclone peers that share no code with the bridge."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager

import numpy as np
import pytest
import yaml
from backend import BACKEND, ON_DDS, environment
from peer import Peer
from peer.messages import TYPES
from peer.publisher import Publication
from peer.services import Client
from processes import binary
from programs import Programs
from system import System
from test_services import interpreter

from sensors import COMPRESSED, with_defaults

RANGE = [with_defaults(0, 5, COMPRESSED, rate=5)]
SCAN, POSE, TEXT = "sensor_msgs/msg/LaserScan", "geometry_msgs/msg/PoseStamped", "std_msgs/msg/String"


@pytest.fixture(scope="module")
def peer(domain_id):
    peer = Peer(domain_id)
    yield peer
    peer.close()


@contextmanager
def started(peer: Peer, *arguments: str):
    """The command, while it runs."""
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), *arguments]
    around = {**os.environ, **environment(peer.domain_id)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=around)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def end(process: subprocess.Popen, code: int = 0) -> str:
    """What a command has printed: on standard output if it worked, else on stderr."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, f"{process.returncode}: {out}\n{err}"
    return out if code == 0 else err


def run(peer: Peer, *arguments: str, code: int = 0) -> str:
    with started(peer, *arguments) as process:
        return end(process, code)


def documents(text: str) -> list:
    return list(yaml.safe_load_all(text.removesuffix("---\n")))


@pytest.mark.parametrize(("reliable", "latched"), [(True, False), (False, False), (True, True)])
def test_echo_prints_what_a_publisher_of_any_qos_sends(peer, reliable, latched):
    topic = f"/peer/scan_{reliable}_{latched}".lower()
    scan = Publication(peer, topic, SCAN, reliable=reliable, transient_local=latched)
    fields = {
        "header": {"stamp": {"sec": 5, "nanosec": 7}, "frame_id": "no: 1"},
        "angle_max": 0.1,
        "ranges": np.arange(200, dtype=np.float32),
        "intensities": np.array([np.inf, -1.5], dtype=np.float32),
    }
    if latched:
        scan.publish(**fields)  # before anybody listens
        shown = documents(run(peer, "echo", "--once", topic))
    else:
        with started(peer, "echo", topic, SCAN) as process:
            scan.wait()
            scan.publish(**fields)
            lines = iter(process.stdout.readline, "---\n")
            shown = documents("".join(lines))
            process.send_signal(signal.SIGINT)
            end(process)
    [message] = shown
    assert list(message) == [name for name, _ in TYPES.fielddefs[SCAN][1]]
    assert message["header"] == fields["header"]
    assert message["angle_max"] == pytest.approx(0.1)
    assert message["ranges"] == [*map(float, range(128)), "..."]
    assert message["intensities"] == [float("inf"), -1.5]


def test_echo_prints_a_part_of_each_message_until_ctrl_c(peer):
    pose = Publication(peer, "/peer/pose", POSE)
    with started(peer, "echo", "/peer/pose", "--field", "pose.position") as process:
        pose.wait()
        for y in (1.0, 2.0, 3.0):
            pose.publish(pose={"position": {"y": y}})
        text = "".join(process.stdout.readline() for _ in range(12))
        process.send_signal(signal.SIGINT)
        end(process)
    assert text.count("---\n") == 3
    assert documents(text) == [{"x": 0.0, "y": y, "z": 0.0} for y in (1.0, 2.0, 3.0)]


def test_echo_prints_long_messages_whole_or_as_a_line(peer):
    scan = Publication(peer, "/peer/long", SCAN, transient_local=True)
    scan.publish(ranges=np.arange(1000, dtype=np.float32))
    [message] = documents(run(peer, "echo", "--once", "--full-length", "/peer/long"))
    assert message["ranges"] == [*map(float, range(1000))]
    [message] = documents(run(peer, "echo", "--once", "-l", "2", "--field", "ranges", "/peer/long"))
    assert message == [0.0, 1.0, "..."]
    assert run(peer, "echo", "--once", "--field", "ranges[999]", "/peer/long") == "999.0\n---\n"
    line = run(peer, "echo", "--once", "--csv", "--field", "ranges", "-l", "3", "/peer/long")
    assert line == "0.0,1.0,2.0,...\n"
    [message] = documents(run(peer, "echo", "--once", "--no-arr", "/peer/long"))
    assert message["ranges"] == "<array of 1000>"


def test_what_is_asked_for_wrongly_is_told_with_what_would_be_right(peer):
    pose = Publication(peer, "/peer/wrong", POSE)
    text = peer.subscribe("/peer/text", TEXT)
    for arguments, wanted in [
        (["echo", "/peer/wrng", "--timeout", "4"], 'nobody publishes /peer/wrng within 4 s; did you mean "/peer/wrong"?'),
        (["echo", "/peer/wrong", "std_msgs/msg/Strin"], 'did you mean "std_msgs/msg/String"?'),
        (["echo", "/peer/wrong", TEXT], f"/peer/wrong is {POSE}; expected {TEXT}"),
        (["echo", "/peer/wrong", "--field", "pose.positon"], 'no field "positon"; did you mean "position"?'),
        (["echo", "/peer/wrong", "--once", "--timeout", "3"], "no message on /peer/wrong within 3 s"),
        (["pub", "/peer/text", TEXT, "{dat: 1}"], 'has no field "dat"; did you mean "data"?'),
        (["pub", "-1", "/peer/text", POSE, "--timeout", "4"], f"0 subscriptions of type {POSE} after 4 s, expected 1; it is subscribed to as {TEXT}"),
        (["pub", "-1", "/peer/txt", TEXT, "--timeout", "4"], 'did you mean "/peer/text"?'),
    ]:  # fmt: skip
        said = run(peer, *arguments, code=1)
        assert wanted in said, said
    assert not text.take(), "nothing was sent"
    assert "invalid value 'best' for '--qos-reliability" in run(peer, "echo", "/a", "--qos-reliability", "best", code=2)
    assert "cannot be used with" in run(peer, "pub", "--once", "--times", "3", "/a", TEXT, code=2)
    del pose


def test_pub_waits_for_a_subscription_and_sends_what_it_is_told(peer):
    pose = peer.subscribe("/peer/setpoint", POSE)
    before = time.time()
    said = run(peer, "pub", "--once", "/peer/setpoint", POSE, "{header: auto, pose: {position: {x: 1, z: -2.5}}}")
    assert said == "publishing #1\n"
    peer.wait_for(lambda: pose.samples, "the message")
    [message] = pose.messages
    stamp = message.header.stamp
    assert before <= stamp.sec + stamp.nanosec * 1e-9 <= time.time()
    position, orientation = message.pose.position, message.pose.orientation
    assert (position.x, position.y, position.z) == (1.0, 0.0, -2.5)
    assert orientation.w == 1.0, "the default of its type"


def test_pub_keeps_its_rate_and_its_number(peer):
    text = peer.subscribe("/peer/many", TEXT)
    said = run(peer, "pub", "-t", "41", "-r", "50", "-p", "20", "/peer/many", TEXT, "data: 'on'")
    assert said == "publishing #20\npublishing #40\n"
    peer.wait_for(lambda: len(text.samples) == 41, "all messages")
    assert {message.data for message in text.messages} == {"on"}
    sent = [sample.source_ns for sample in text.samples]
    assert (sent[-1] - sent[0]) * 1e-9 == pytest.approx(0.8, abs=0.3)

    with started(peer, "pub", "-r", "100", "/peer/many", TEXT) as process:
        peer.wait_for(lambda: len(text.samples) > 60, "messages without end")
        process.send_signal(signal.SIGINT)
        end(process)


def test_late_subscribers_get_what_was_published_last(peer):
    with started(peer, "pub", "-r", "0.01", "/peer/latched", TEXT, "{data: kept}") as process:
        assert process.stdout.readline() == "publishing #1\n"
        late = peer.subscribe("/peer/latched", TEXT, transient_local=True)
        peer.wait_for(lambda: late.samples, "the kept message")
    assert late.messages[0].data == "kept"
    best = peer.subscribe("/peer/best", TEXT, reliable=False)
    run(peer, "pub", "--once", "--qos-reliability", "best_effort", "--qos-durability", "volatile", "/peer/best", TEXT)
    peer.wait_for(lambda: best.samples, "a message of a best-effort publisher")


def test_topics_lists_publishers_and_subscriptions_of_the_graph(peer):
    pair = [Publication(peer, "/peer/listed", TEXT), Publication(peer, "/peer/listed", TEXT, reliable=False)]
    peer.subscribe("/peer/wanted", POSE)
    lines = run(peer, "topics").splitlines()
    assert {"/peer/listed", "/peer/wanted"} <= set(lines) and lines == sorted(lines)
    assert int(run(peer, "topics", "-c")) == len(lines)
    typed = run(peer, "topics", "-t").splitlines()
    assert {f"/peer/listed [{TEXT}]", f"/peer/wanted [{POSE}]"} <= set(typed)
    published, subscribed = run(peer, "topics", "--verbose").split("\nSubscribed topics:\n")
    assert f" * /peer/listed [{TEXT}] 2 publishers, best_effort, volatile\n" in published
    assert f" * /peer/wanted [{POSE}] 1 subscriber\n" in subscribed
    assert "/peer/wanted" not in published
    del pair


NODE = """
import sys
import rclpy
from rcl_interfaces.msg import Log

rclpy.init()
node = rclpy.create_node("talker")
seen = []
node.create_subscription(Log, "/to_ros", lambda message: seen.append(message), 10)
logger = node.get_logger()
print("ready", flush=True)
while not seen:
    logger.info("from ROS")
    rclpy.spin_once(node, timeout_sec=0.1)
print(seen[0].msg, seen[0].line, flush=True)
"""


@pytest.mark.skipif(BACKEND != "dds", reason="a workspace has its own middleware")
@ON_DDS
def test_a_node_of_ros_on_fast_dds_is_heard_and_hears(peer):
    around = {**os.environ, **environment(peer.domain_id), "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp"}
    node = subprocess.Popen([interpreter(), "-c", NODE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=around)
    try:
        assert node.stdout.readline() == "ready\n"
        said = run(peer, "echo", "--once", "--field", "msg", "/rosout", "--timeout", "30")
        assert documents(said) == ["from ROS"]
        assert "/rosout [rcl_interfaces/msg/Log]" in run(peer, "topics", "-t")
        run(peer, "pub", "--once", "--timeout", "30", "/to_ros", "rcl_interfaces/msg/Log", "{msg: to ROS, line: 7}")
        assert node.communicate(timeout=60)[0] == "to ROS 7\n"
    finally:
        node.kill()
        node.communicate()


def test_a_bridge_starts_without_ros_args_and_finds_a_host_by_its_name(tmp_path, domain_id, simulator_ports):
    programs = Programs(tmp_path, domain_id, RANGE)
    bridge = programs.bridge
    bridge.command = [bridge.command[0], str(programs.config), "-p", "simulator_address:=localhost", "-p", "topic_prefix:=short"]
    with programs:
        bridge.wait_for_output("sensors: 1, vehicles: 1, simulator at 127.0.0.1")
        peer = Peer(domain_id)
        peer.wait_for_topics(["/short/sensor0/range"])
        peer.close()


@pytest.fixture(scope="module")
def system(tmp_path_factory, domain_id, simulator_ports):
    with System(tmp_path_factory.mktemp("param"), domain_id, RANGE) as system:
        system.bridge.wait_for_output("sensors: ")
        yield system


def test_parameters_are_listed_read_and_described(system):
    peer = system.peer
    names = run(peer, "param", "list", "/rfly_bridge").splitlines()
    assert {"  topic_prefix", "  sensor0.orientation_deg"} <= set(names) and names == sorted(names)
    everywhere = run(peer, "param", "list")
    assert "".join(f"{line}\n" for line in ["/rfly_bridge:", *names]) in everywhere
    assert "/mavros/param:\n" in everywhere
    got = run(peer, "param", "get", "/rfly_bridge", "topic_prefix", "request.period_s", "window")
    assert got == "String value is: rflysim\nDouble value is: 1.0\nInteger value is: 0\n"
    assert run(peer, "param", "get", "rfly_bridge", "tf.publish", "--hide-type") == "true\n"
    described = run(peer, "param", "describe", "/rfly_bridge", "request.period_s")
    assert re.search(r"^Parameter name: request.period_s\n  Type: double\n  Description: .*\n  Constraints:\n    Min value: ", described)
    dumped = yaml.safe_load(run(peer, "param", "dump", "/rfly_bridge"))["/rfly_bridge"]["ros__parameters"]
    assert dumped["topic_prefix"] == "rflysim" and len(dumped) == len(names)


def test_a_parameter_that_is_set_has_the_value_for_others(system):
    peer = system.peer
    client = Client(peer, "/rfly_bridge/get_parameters", "rcl_interfaces/srv/GetParameters").wait()

    def value(name: str):
        return client.call(names=[name]).values[0]

    for text, wanted in [("2", 2.0), ("2.5", 2.5)]:
        assert run(peer, "param", "set", "/rfly_bridge", "request.period_s", text) == "Set parameter successful\n"
        assert (value("request.period_s").type, value("request.period_s").double_value) == (3, wanted)
    run(peer, "param", "set", "/rfly_bridge", "sensor0.orientation_deg", "[0, -30, 0.5]")
    assert value("sensor0.orientation_deg").double_array_value.tolist() == [0.0, -30.0, 0.5]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["get", "/rfly_bridge", "topic_prefx"], '/rfly_bridge has no parameter topic_prefx; did you mean "topic_prefix"?'),
        (["describe", "/rfly_bridge", "windo"], 'did you mean "window"?'),
        (["set", "/rfly_bridge", "request.period_s", "-1"], "/rfly_bridge refuses request.period_s: "),
        (["set", "/rfly_bridge", "request.period_s", "soon"], "/rfly_bridge refuses request.period_s: "),
        (["set", "/rfly_bridge", "request.perod_s", "1"], 'did you mean "request.period_s"?'),
        (["set", "/rfly_bridge", "window", "{a: 1}"], "the value of window: must be a value, or an array of values"),
        (["set", "/rfly_bridge", "sensor0.orientation_deg", "[1, a]"], "has elements of different types"),
        (["list", "/rfly_brige", "--timeout", "4"], 'did you mean "/rfly_bridge/list_parameters"?'),
    ],
)
def test_a_parameter_that_is_not_there_and_a_value_that_does_not_fit_are_errors(system, arguments, wanted):
    peer = system.peer
    client = Client(peer, "/rfly_bridge/get_parameters", "rcl_interfaces/srv/GetParameters").wait()
    before = client.call(names=["request.period_s"]).values[0].double_value
    assert wanted in run(peer, "param", *arguments, code=1)
    assert client.call(names=["request.period_s"]).values[0].double_value == before


def test_what_cannot_be_started_says_what_to_type(tmp_path, domain_id):
    peer = Peer(domain_id)
    for arguments, wanted in [
        (["-p", "simulator_address:=no-such-host.invalid"], "simulator_address   no address of no-such-host.invalid is found: "),
        (["-p", "simulator_address:=192.168.1"], "must be an IPv4 address like 192.168.31.24"),
        (["simulator_address:=1.2.3.4"], "write -p simulator_address:=1.2.3.4"),
        (["--simulator-address", "1.2.3.4"], "is a parameter: write -p simulator_address:=VALUE"),
        (["Confg.json"], "Confg.json"),
    ]:
        said = run(peer, *arguments, code=1)
        assert wanted in said, said
    assert "some similar subcommands exist: 'docs', 'router', 'doctor'" in run(peer, "docter", code=2)
    peer.close()


def test_the_help_is_one_screen_and_the_parameters_are_another(monkeypatch, domain_id):
    monkeypatch.setenv("COLUMNS", "80")
    peer = Peer(domain_id)
    for words in (["--help"], ["-h"]):
        lines = run(peer, *words).splitlines()
        assert len(lines) <= 40 and max(map(len, lines)) <= 80, "\n".join(lines)
        assert any("--help parameters" in line for line in lines)
    parameters = run(peer, "--help", "parameters")
    assert parameters == run(peer, "help", "parameters")
    assert "simulator_address" in parameters and "qos.<group>.<policy>" in parameters
    peer.close()


def test_the_shell_completes_the_names_of_parameters(tmp_path, domain_id):
    peer = Peer(domain_id)
    script = tmp_path / "rfly_bridge.bash"
    script.write_text(run(peer, "completions", "bash"))
    asked = """
        source "$1"; compopt() { :; }
        COMP_WORDS=(rfly_bridge %s -p simulator_a); COMP_CWORD=%d
        _rfly_bridge rfly_bridge simulator_a -p; printf '%%s\\n' "${COMPREPLY[@]}"
    """
    for words, position in [("", 2), ("doctor", 3)]:
        command = ["bash", "-c", asked % (words, position), "bash", str(script)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout == "simulator_address:=\n", done.stderr
    for shell in ("zsh", "fish"):
        assert "simulator_address" in run(peer, "completions", shell)
    peer.close()
