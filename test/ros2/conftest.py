"""Fixtures: a domain of its own, the simulator's ports, `ros2`, and a running bridge."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

# Before rclpy reads them; children inherit them.
os.environ["ROS_DOMAIN_ID"] = str(10 + os.getpid() % 90)
os.environ["ROS_LOCALHOST_ONLY"] = "1"
os.environ.setdefault("RFLY_BACKEND", "rclrs")
os.environ["RFLY_GRAPH"] = os.environ["ROS_DISTRO"]

from backend import MIDDLEWARE
from processes import Process, binary, own_standard_ports
from programs import RUNNING, Programs

from ros import FIGURES, Listener
from sensors import COMPRESSED, COMPRESSED_OTHER, RAW, with_defaults


@pytest.fixture(scope="session")
def domain_id() -> int:
    """The DDS domain of this test session."""
    return int(os.environ["ROS_DOMAIN_ID"])


@pytest.fixture(scope="session")
def simulator_ports() -> None:
    """The simulator's ports are fixed, so one test session at a time owns them."""
    own_standard_ports()


@pytest.fixture(scope="session", autouse=MIDDLEWARE == "zenoh")
def router(tmp_path_factory):
    """Through which nodes on Zenoh find each other."""
    log = tmp_path_factory.mktemp("zenoh") / "router.log"
    process = Process("router", [binary("rfly_bridge", "RFLY_BRIDGE"), "router"], log).start()
    process.wait_for_output("Zenoh router on ")
    yield process
    assert process.stop() == 0


COLOUR = with_defaults(0, 1, RAW, width=320, height=240, rate=20)
PNG = with_defaults(1, 1, COMPRESSED, rate=10)
JPEG = with_defaults(2, 1, COMPRESSED_OTHER, rate=10)
DEPTH = with_defaults(3, 2, RAW, rate=10)
RANGE = with_defaults(4, 5, COMPRESSED, rate=10)
LIDAR = with_defaults(5, 20, COMPRESSED, rate=10)
BOXES = with_defaults(6, 30, COMPRESSED, rate=10)
SENSORS = [COLOUR, PNG, JPEG, DEPTH, RANGE, LIDAR, BOXES]


@pytest.fixture(scope="module")
def running(tmp_path_factory, domain_id, simulator_ports):
    """A bridge with default parameters and one sensor of many kinds; data flows."""
    directory = tmp_path_factory.mktemp("running")
    parameters = {"transport_mode": "file", "diagnostics.period_s": 0.2}
    with Programs(directory, domain_id, SENSORS, parameters=parameters, keep_frames=False) as programs:
        programs.bridge.wait_for_output("sensors: ")
        yield programs
        programs.assert_alive()


@pytest.fixture
def listener():
    """A node of ours that subscribes."""
    with Listener("listener") as listener:
        yield listener


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failed test shows what emulator and bridge printed last. (Ubuntu's pytest knows the old form of wrappers only.)"""
    report = (yield).get_result()
    if report.failed:
        for programs in list(RUNNING):
            report.sections.append(("emulator and bridge", programs.report()))


def pytest_terminal_summary(terminalreporter):
    """Shows what was measured, also when all is well."""
    for line in FIGURES:
        terminalreporter.write_line(line)
