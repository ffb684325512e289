"""`rfly_bridge` commands on Zenoh as a user types them, and what they say where Zenoh, a router or a configuration is missing."""

from __future__ import annotations

import os
import subprocess
from functools import cache

import pytest
import yaml
from backend import MIDDLEWARE, environment
from processes import binary

from sensors import COMPRESSED, with_defaults

ON_ZENOH = pytest.mark.skipif(MIDDLEWARE != "zenoh", reason="the program is without Zenoh (scripts/zenoh.sh builds and tests it)")
RANGE = [with_defaults(0, 5, COMPRESSED, rate=5)]
SCAN, TEXT = "sensor_msgs/msg/LaserScan", "std_msgs/msg/String"


def run(domain_id: int, *arguments: str, code: int = 0, **variables: str) -> str:
    """What a command prints: on standard output if it ends with 0, else on stderr."""
    around = {**os.environ, **environment(domain_id), **variables}
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=around, check=False)
    assert done.returncode == code, f"{done.returncode}: {done.stdout}\n{done.stderr}"
    return done.stdout if code == 0 else done.stderr


@cache
def has_zenoh() -> bool:
    """Was the program built with the feature?"""
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "router"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "ZENOH_CONFIG_OVERRIDE": "no/such/key=1"},
    )  # fmt: skip
    return "without Zenoh" not in done.stderr


def test_a_program_without_zenoh_says_so_in_one_line(domain_id):
    if has_zenoh():
        pytest.skip("this program has Zenoh")
    line = "rfly_bridge: this program is built without Zenoh: build it with `cargo build --release --features zenoh` (docs/zenoh.md)\n"
    for arguments in (["router"], ["topics", "--middleware", "zenoh"], ["--middleware=zenoh"]):
        said = run(domain_id, *arguments, code=1)
        assert said.endswith(line) and said.count("Zenoh") == 1, said
    # Asked for by the environment it is a warning: the topics are on DDS.
    around = {**os.environ, **environment(domain_id), "RMW_IMPLEMENTATION": "rmw_zenoh_cpp"}
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "topics"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=around, check=False)
    said = [line for line in done.stderr.splitlines() if "no topics" not in line]
    assert len(said) == 1 and "RMW_IMPLEMENTATION=rmw_zenoh_cpp" in done.stderr
    assert "--features zenoh" in done.stderr


def test_another_middleware_is_refused(domain_id):
    assert "must be dds or zenoh" in run(domain_id, "topics", "--middleware", "zeno", code=1)


@pytest.fixture
def system(tmp_path, domain_id, simulator_ports):
    from system import System

    parameters = {"transport_mode": "file", "diagnostics.period_s": 0.2}
    with System(tmp_path, domain_id, RANGE, parameters=parameters) as system:
        system.peer.wait_for_topics([RANGE[0].topic if RANGE[0].type in (1,) else "/diagnostics"], check=system.assert_alive)
        yield system


@ON_ZENOH
def test_topics_echo_pub_param_call_and_top_work(system, domain_id):
    listed = run(domain_id, "topics", "--show-types")
    assert "/diagnostics [diagnostic_msgs/msg/DiagnosticArray]" in listed
    [shown] = list(yaml.safe_load_all(run(domain_id, "echo", "--once", "/diagnostics").removesuffix("---\n")))
    assert {status["hardware_id"] for status in shown["status"]}

    texts = system.peer.subscribe("/said", TEXT)
    run(domain_id, "pub", "--once", "/said", TEXT, "{data: from the command}")
    system.peer.wait_for(lambda: texts.samples, "what the command published")
    assert texts.messages[0].data == "from the command"

    assert "diagnostics.period_s" in run(domain_id, "param", "list", "/rfly_bridge")
    assert "0.2" in run(domain_id, "param", "get", "/rfly_bridge", "diagnostics.period_s")
    run(domain_id, "param", "set", "/rfly_bridge", "diagnostics.period_s", "0.5")
    assert "0.5" in run(domain_id, "param", "get", "/rfly_bridge", "diagnostics.period_s")
    types = run(domain_id, "call", "/rfly_bridge/get_parameter_types", "{names: [diagnostics.period_s]}")
    assert "3" in types
    top = run(domain_id, "top", "--seconds", "3", "--json")
    assert "/diagnostics" in top


@ON_ZENOH
def test_the_option_and_the_variable_choose_the_same(system, domain_id):
    with_option = run(domain_id, "topics", "--middleware", "zenoh", RMW_IMPLEMENTATION="")
    assert "/diagnostics" in with_option and "/diagnostics" in run(domain_id, "topics")
    # No other program of this domain is on DDS.
    assert "no topics" in run(domain_id, "topics", "--middleware", "dds", code=1, ROS_LOCALHOST_ONLY="1")


@ON_ZENOH
def test_doctor_reads_a_running_bridge(system, domain_id):
    around = {**os.environ, **environment(domain_id)}
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "doctor", "--json", "--seconds", "3", "--config", str(system.config)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=around, check=False)
    assert "ros-middleware" not in done.stdout and "do not arrive" not in done.stdout, done.stdout
    assert done.returncode in (0, 1), done.stdout + done.stderr


@ON_ZENOH
def test_without_a_router_one_line_says_how_to_start_one(domain_id):
    nobody = 'connect/endpoints=["tcp/127.0.0.1:7999"];listen/endpoints=["tcp/127.0.0.1:0"]'
    around = {**os.environ, **environment(domain_id), "ZENOH_CONFIG_OVERRIDE": nobody}
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "topics"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=around, check=False)
    [line, _] = done.stderr.splitlines()
    assert "no Zenoh router" in line and "tcp/127.0.0.1:7999" in line and "`rfly_bridge router`" in line
    around["ZENOH_ROUTER_CHECK_ATTEMPTS"] = "-1"
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=around, check=False)
    [line] = done.stderr.splitlines()
    assert "no topics" in line


@ON_ZENOH
def test_a_wrong_configuration_is_one_clear_line(domain_id, tmp_path):
    broken = tmp_path / "broken.json5"
    broken.write_text('{ mode: "nonsense" }')
    for variable, value, said in (
        ("ZENOH_CONFIG_OVERRIDE", "mode=7;nonsense", "`nonsense` has not the form key=value"),
        ("ZENOH_SESSION_CONFIG_URI", str(tmp_path / "none.json5"), "none.json5"),
        ("ZENOH_SESSION_CONFIG_URI", str(broken), "broken.json5"),
        ("ZENOH_ROUTER_CHECK_ATTEMPTS", "many", "`many`"),
    ):
        [line] = run(domain_id, "topics", code=1, **{variable: value}).splitlines()
        assert variable in line and said in line, line
    taken = 'listen/endpoints=["tcp/127.0.0.1:7447"]'
    assert "7447" in run(domain_id, "router", code=1, ZENOH_CONFIG_OVERRIDE=taken)


@ON_ZENOH
def test_a_configuration_file_replaces_the_defaults(system, domain_id, tmp_path):
    file = tmp_path / "session.json5"
    file.write_text('{ mode: "client", connect: { endpoints: ["tcp/127.0.0.1:7447"] }, timestamping: { enabled: true } }')
    assert "/diagnostics" in run(domain_id, "topics", ZENOH_SESSION_CONFIG_URI=str(file))


@ON_ZENOH
def test_call_reaches_a_server_of_another_maker(domain_id, simulator_ports):
    from peer.on_zenoh import ZenohPeer, rihs
    from zenoh_ros2_sdk import ROS2ServiceServer

    peer = ZenohPeer(domain_id)
    server = ROS2ServiceServer(
        "/add",
        "std_srvs/srv/SetBool",
        lambda request: server.response_msg_class(success=not request.data, message="of the SDK"),
        request_definition="bool data\n",
        response_definition="bool success\nstring message\n",
        domain_id=domain_id,
        type_hash=rihs("std_srvs/srv/SetBool"),
    )
    try:
        answer = run(domain_id, "call", "/add", "std_srvs/srv/SetBool", "{data: false}")
    finally:
        server.close()
        peer.close()
    assert yaml.safe_load(answer.split("---")[0]) == {"success": True, "message": "of the SDK"}, answer
