"""A domain of its own, the simulator's ports, the helpers of the other suites, and the rows of docs/algorithms.md."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1]
sys.path[:0] = [str(HERE), str(TESTS / "ros2"), str(TESTS / "e2e")]
sys.path.append(str(HERE.parent))

# Before rclpy reads them; children inherit them.
os.environ.setdefault("ROS_DOMAIN_ID", str(10 + os.getpid() % 90))
os.environ["ROS_LOCALHOST_ONLY"] = "1"
os.environ.setdefault("RFLY_BACKEND", "dds")
os.environ["RFLY_GRAPH"] = os.environ["ROS_DISTRO"]

from processes import own_standard_ports
from programs import RUNNING

from figures import lines, write


@pytest.fixture(scope="session")
def domain_id() -> int:
    """The DDS domain of this test session."""
    return int(os.environ["ROS_DOMAIN_ID"])


@pytest.fixture(scope="session", autouse=True)
def simulator_ports() -> None:
    """The simulator's ports are fixed, so one test session at a time owns them."""
    own_standard_ports()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failed test shows what emulator and bridge printed last. (Ubuntu's pytest knows the old form of wrappers only.)"""
    report = (yield).get_result()
    if report.failed:
        for programs in list(RUNNING):
            report.sections.append(("emulator and bridge", programs.report()))


def pytest_sessionfinish(session, exitstatus):
    write()


def pytest_terminal_summary(terminalreporter):
    """Shows what was measured, also when all is well."""
    for line in lines():
        terminalreporter.write_line(line)
