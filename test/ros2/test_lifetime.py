"""`ros2 run` and `ros2 launch`: data flows, and everything ends with exit code 0 at Ctrl-C and at SIGTERM."""

from __future__ import annotations

import os
import re
import signal

import psutil
import pytest
from sensor_msgs.msg import Imu

from ros import NEEDS_ROS2, Background, ros2, wait, wait_count

pytestmark = NEEDS_ROS2

SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.fixture
def sim(simulator_ports, listener):
    """`ros2 launch` with the emulator; data flows."""
    with Background("launch", "rfly_bridge", "sim.launch.py", "emulator:=true") as launch:
        wait_count(listener.collect(Imu, "/rflysim/imu", 10), 20, "IMU samples", 60)
        yield launch


def ends(launch: Background, program: str) -> str:
    """How launch says that a program ended."""
    found = re.search(rf"\[{program}-\d+\]: process (has finished cleanly|has died[^\n]*)", launch.output)
    assert found, f"launch says nothing of the end of {program}:\n{launch.output}"
    return found[1]


def test_launch_ends_cleanly_at_ctrl_c(sim):
    assert sim.end(signal.SIGINT) == 0, sim.output
    assert ends(sim, "rfly_bridge") == ends(sim, "rflysim_emulator") == "has finished cleanly"
    assert "Traceback" not in sim.output and "panicked" not in sim.output


def test_launch_leaves_nothing_behind_at_sigterm_to_all(sim):
    """As a service manager ends a control group. (At SIGTERM to it alone, Humble's launch forgets its children.)"""
    programs = [p for p in sim.children() if p.name() in ("rfly_bridge", "rflysim_emulator")]
    assert len(programs) == 2
    os.killpg(os.getpgid(programs[0].pid), signal.SIGTERM)
    _, alive = psutil.wait_procs(programs, timeout=10)
    assert not alive
    wait(lambda: not sim.alive(), "the end of launch")
    sim.end()
    assert "process has died" not in sim.output and "panicked" not in sim.output, sim.output


@pytest.mark.parametrize("how", SIGNALS, ids=lambda s: s.name)
def test_a_program_under_launch_that_gets_the_signal_itself_ends_cleanly(sim, how):
    wait(lambda: {"rfly_bridge", "rflysim_emulator"} <= {p.name() for p in sim.children()}, "both programs")
    for process in sim.children():
        if process.name() in ("rfly_bridge", "rflysim_emulator"):
            os.kill(process.pid, how)
    sim.wait_for(r"\[rfly_bridge-\d+\]: process has")
    sim.wait_for(r"\[rflysim_emulator-\d+\]: process has")
    wait(lambda: not sim.alive(), "launch, which has nothing left to do")
    assert sim.end() == 0
    assert ends(sim, "rfly_bridge") == ends(sim, "rflysim_emulator") == "has finished cleanly"


def test_launch_tells_of_a_program_that_dies(sim):
    """What the tests above look for can be missing."""
    [bridge] = [p for p in sim.children() if p.name() == "rfly_bridge"]
    bridge.kill()
    sim.wait_for(r"\[rfly_bridge-\d+\]: process has died")
    sim.end()
    assert ends(sim, "rfly_bridge").startswith("has died")


@pytest.mark.parametrize("program", ["rfly_bridge", "rflysim_emulator"])
@pytest.mark.parametrize("how", SIGNALS, ids=lambda s: s.name)
def test_ros2_run_ends_with_0(program, how, simulator_ports):
    arguments = ["--ros-args", "--log-level", "info"] if program == "rfly_bridge" else ["-v"]
    with Background("run", "rfly_bridge", program, *arguments) as running:
        wait(lambda: program in {p.name() for p in running.children()}, program)
        running.wait_for(r"sensors: 0|Ctrl-C ends it")
        [process] = [p for p in running.children() if p.name() == program]
        # `ros2 run` itself would end with a traceback at SIGTERM; what counts is the program.
        os.kill(process.pid, how)
        wait(lambda: not running.alive(), f"the end of {program}")
        assert running.end() == 0, running.output


def test_launch_shows_its_arguments():
    shown = ros2("launch", "rfly_bridge", "sim.launch.py", "--show-args")
    for argument in ("config", "simulator_address", "emulator"):
        assert re.search(rf"^\s+'{argument}':\n\s+\S.*", shown, re.M), shown


def test_a_wrong_configuration_is_refused_with_a_reason(tmp_path):
    wrong = tmp_path / "Config.json"
    wrong.write_text('{"VisionSensors": [{"SeqID": 0, "TypeID": 6}]}')
    with Background("run", "rfly_bridge", "rfly_bridge", "--ros-args", "-p", f"config:={wrong}") as running:
        wait(lambda: not running.alive(), "the refusal")
        assert running.end() == 1
    assert "VisionSensors[0].TypeID" in running.output, running.output
