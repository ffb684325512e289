"""Controllers written for mavros fly a vehicle through the bridge; what they do is watched by another node."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mavros_msgs.msg import State, StatusText
from mavros_msgs.srv import ParamPull
from nav_msgs.msg import Odometry
from programs import Programs
from rclpy.qos import DurabilityPolicy, QoSProfile

from ros import Background, ros2, wait, wait_count
from sensors import COMPRESSED, with_defaults

CONTROLLERS = Path(__file__).parent / "controllers"
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# The truth of a vehicle is written down with each rendered frame.
WITNESS = with_defaults(0, 5, COMPRESSED, rate=30)


@pytest.fixture(scope="module")
def bridge(tmp_path_factory, domain_id, simulator_ports):
    """A vehicle whose autopilot speaks MAVLink."""
    directory = tmp_path_factory.mktemp("controllers")
    options = {"transport_mode": "file", "control.link": "mavlink_full", "diagnostics.period_s": 0.2}
    emulator = ["--grounded"]
    with Programs(directory, domain_id, [WITNESS], parameters=options, emulator=emulator, keep_frames=False) as programs:
        programs.bridge.wait_for_output("sensors: ")
        yield programs
        programs.assert_alive()


def run(program: str, *arguments: str, timeout: float = 180.0) -> str:
    """Runs a controller to its end and returns what it printed."""
    with Background(program=[sys.executable, str(CONTROLLERS / program), *arguments]) as controller:
        wait(lambda: not controller.alive(), f"the end of {program}", timeout)
    assert re.search(r"(?m)^done$", controller.output), controller.output
    return controller.output


class Flight:
    """The true motion during a flight, and what the vehicle said."""

    def __init__(self, listener):
        self._listener = listener
        self.states = listener.collect(State, "/mavros/state", LATCHED)
        self.texts = listener.collect(StatusText, "/mavros/statustext/recv", 50)
        self._odometry = listener.collect(Odometry, "/rflysim/ground_truth/odom", 500)
        wait_count(self._odometry, 1, "true poses")
        wait(lambda: self.states and not self.states[-1].armed, "a disarmed vehicle")

    def places(self) -> np.ndarray:
        """True positions, ENU, from where it started."""
        places = np.array([[getattr(m.pose.pose.position, axis) for axis in "xyz"] for m in list(self._odometry)])
        return places - places[0]

    def end(self) -> None:
        wait(lambda: not self.states[-1].armed, "a disarmed vehicle")
        for messages in (self.states, self.texts, self._odometry):
            self._listener.forget(messages)


@pytest.fixture
def flight(bridge, listener):
    flight = Flight(listener)
    yield flight
    flight.end()


def test_a_plain_offboard_script_flies_its_square(flight):
    output = run("offboard.py")
    assert len(re.findall(r"(?m)^corner", output)) == 5, output
    places = flight.places()
    for corner in ([4, 0], [4, 4], [0, 4]):
        assert np.linalg.norm(places[:, :2] - corner, axis=1).min() < 0.8, corner
    assert 2.5 < places[:, 2].max() < 4.5
    assert np.linalg.norm(places[-1]) < 1.0
    modes = [state.mode for state in flight.states]
    assert "OFFBOARD" in modes and "AUTO.LAND" in modes


def test_a_velocity_controller_closes_its_loop_over_the_bridge(flight):
    output = run("velocity.py")
    assert "turned" in output
    places = flight.places()
    assert places[:, 0].max() > 2.3 and places[:, 1].min() < -2.3
    assert np.linalg.norm(places[-1][:2]) < 1.5


def test_an_attitude_controller_keeps_its_height(flight):
    output = run("attitude.py")
    assert "landed" in output
    places = flight.places()
    assert places[:, 0].max() > 2.5
    assert abs(places[:, 1]).max() < 1.5
    assert 3.0 < places[:, 2].max() < 6.5


def test_the_vendors_client_flies_unchanged(flight):
    sdk = os.environ.get("RFLYSIM_SDK")
    if not sdk:
        pytest.skip("RFLYSIM_SDK is not set: the vendor's client is not on this machine")
    pytest.importorskip("pymavlink", reason="the vendor's client needs pymavlink")
    output = run("vendor.py", sdk)
    assert "ground" in output
    places = flight.places()
    assert places[:, 0].max() > 1.8 and places[:, 1].min() < -1.8 and places[:, 2].max() > 2.2


def test_ros2_param_reads_and_writes_parameters_of_the_vehicle(bridge):
    names = ros2("param", "list", "/mavros/param", timeout=60.0).split()
    assert "MPC_XY_VEL_MAX" in names and "COM_OF_LOSS_T" in names
    found = ros2("param", "get", "/mavros/param", "MPC_XY_VEL_MAX")
    value = float(re.fullmatch(r"Double value is: ([\d.]+)", found.strip())[1])
    try:
        assert "successful" in ros2("param", "set", "/mavros/param", "MPC_XY_VEL_MAX", "7.5")
        assert ros2("param", "get", "/mavros/param", "MPC_XY_VEL_MAX").strip() == "Double value is: 7.5"
    finally:
        ros2("param", "set", "/mavros/param", "MPC_XY_VEL_MAX", str(value))
    assert ros2("param", "get", "/mavros/param", "MIS_TAKEOFF_ALT").startswith("Double value is:")


def test_ros2_service_call_arms_and_is_told_why_not(bridge, listener):
    texts = listener.collect(StatusText, "/mavros/statustext/recv", 50)
    answer = ros2("service", "call", "/mavros/set_mode", "mavros_msgs/srv/SetMode", "{custom_mode: STABILIZED}")
    assert "mode_sent=True" in answer
    answer = ros2("service", "call", "/mavros/cmd/arming", "mavros_msgs/srv/CommandBool", "{value: true}")
    assert "success=False, result=1" in answer
    wait(lambda: any("denied" in message.text for message in list(texts)), "the reason")
    ros2("service", "call", "/mavros/set_mode", "mavros_msgs/srv/SetMode", "{custom_mode: AUTO.LOITER}")


@pytest.fixture
def mav(bridge, listener):
    """The command line of mavros, where its Python package is."""
    # Not imported here, where `mavros` is a file of the end-to-end tests.
    found = subprocess.run([sys.executable, "-c", "import mavros.cmd"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip("the Python package of mavros, or click, is not on PYTHONPATH")
    # Before all parameters are read, mav waits for ever, with mavros too: it answers each of them with a call.
    states = listener.collect(State, "/mavros/state", LATCHED)
    wait(lambda: states and states[-1].connected and states[-1].system_status == 3, "a vehicle that can be armed")
    client = listener.node.create_client(ParamPull, "/mavros/param/pull")
    assert client.wait_for_service(20.0)
    call = client.call_async(ParamPull.Request())
    wait(lambda: call.done() and call.result().success, "all parameters", 60.0)

    def run(*words: str, code: int = 0) -> str:
        start = "import sys; sys.argv[0] = 'mav'; from mavros.cmd import cli; cli()"
        done = subprocess.run(
            [sys.executable, "-c", start, *words], capture_output=True, text=True, timeout=60.0, check=False
        )
        assert done.returncode == code, f"mav {' '.join(words)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


def test_the_command_line_of_mavros_arms_changes_modes_and_reads_parameters(mav):
    assert "Mode changed." in mav("sys", "mode", "-c", "POSCTL")
    assert "Mode changed." in mav("sys", "mode", "-c", "AUTO.LOITER")
    mav("sys", "mode", "-c", "NONSENSE", code=1)
    mav("safety", "arm")
    mav("safety", "disarm")
    mav("sys", "message-interval", "--id", "30", "--rate", "20")
    mav("sys", "rate", "--all", "10")
    # `mav param set` sets, and then waits for ever: it answers the event with a call from within the callback.
    assert float(mav("param", "get", "MPC_XY_VEL_MAX")) > 0.0


def test_the_command_line_of_mavros_loads_reads_and_deletes_missions(mav, tmp_path):
    rows = [(16, 10.0), (16, 15.0), (21, 0.0)]
    lines = [
        f"{seq}\t{int(seq == 0)}\t3\t{command}\t0\t0\t0\t0\t{40.154 + 1e-4 * seq}\t116.2594\t{height}\t1"
        for seq, (command, height) in enumerate(rows)
    ]
    plan = tmp_path / "plan.txt"
    plan.write_text("\n".join(["QGC WPL 110", *lines, ""]))
    assert re.search(r"transfered: 3\b", mav("--verbose", "wp", "load", str(plan)))
    received = re.findall(r"received: (\d+)", mav("--verbose", "wp", "pull"))
    assert received == ["3", "0", "0"], "mission, fence, rally points"
    mav("wp", "clear")
    assert re.findall(r"received: (\d+)", mav("--verbose", "wp", "pull"))[0] == "0"
