"""Fixtures of every suite that runs bridge and emulator; its conftest.py imports them."""

from __future__ import annotations

import os

import pytest
from backend import MIDDLEWARE
from processes import own_standard_ports
from programs import RUNNING


@pytest.fixture(scope="session")
def domain_id() -> int:
    """A DDS domain of this test session. Its ports, from 7400 + 250 times its number, are clear of those of sensors
    (9999), of a hundred vehicles (20100 and 30100), and of Linux' ephemeral range (32768)."""
    return 11 + os.getpid() % 39


@pytest.fixture(scope="session")
def simulator_ports() -> None:
    """The simulator's ports are fixed, so one test session at a time owns them."""
    own_standard_ports()
    if MIDDLEWARE == "zenoh":
        from peer.on_zenoh import router

        router()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A failed test shows what emulator and bridge printed last."""
    report = yield
    if report.failed:
        for system in list(RUNNING):
            report.sections.append(("emulator and bridge", system.report()))
    return report
