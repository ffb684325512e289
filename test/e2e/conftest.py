"""Fixtures shared by all end-to-end tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from processes import standard_ports
from programs import RUNNING


@pytest.fixture(scope="session")
def domain_id() -> int:
    """A DDS domain of this test session. Its ports, from 7400 + 250 times its number, are clear of those of sensors
    (9999), of a hundred vehicles (20100 and 30100), and of Linux' ephemeral range (32768)."""
    return 11 + os.getpid() % 39


@pytest.fixture(scope="session")
def simulator_ports():
    """The simulator's ports are fixed, so one test session at a time owns them."""
    with standard_ports():
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A failed test shows what emulator and bridge printed last."""
    report = yield
    if report.failed:
        for system in list(RUNNING):
            report.sections.append(("emulator and bridge", system.report()))
    return report
