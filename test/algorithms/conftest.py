"""Fixtures: recordings of topics, and a place for figures."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

from plans import PLANS
from recorder import Recorded, record
from suite import domain_id, pytest_runtest_makereport, simulator_ports  # noqa: F401

ROOT = HERE.parents[1]
# Runs with the Python of a ROS 2 workspace: scripts/algorithms_ros.sh.
collect_ignore = ["ros"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: not part of the short form")


@pytest.fixture(scope="session")
def recorded(domain_id: int, simulator_ports: None):  # noqa: F811
    """What was recorded by a plan; recorded at first use."""
    # Where recordings of an earlier session are kept, so that an algorithm can be tried on them again.
    kept = os.environ.get("RFLY_RECORDINGS")
    found: dict[str, Recorded] = {}
    failed: dict[str, BaseException] = {}

    def get(name: str) -> Recorded:
        if error := failed.get(name):
            pytest.fail(f"the recording {name} has failed in an earlier test: {error!r}")
        if name not in found:
            directory = Path(kept) if kept else ROOT / "target" / "algorithms"
            file = directory / name / "recorded.pickle"
            try:
                if not (kept and file.exists()):
                    record(PLANS[name], directory / name, domain_id).save(file)
            except BaseException as error:
                failed[name] = error
                raise
            found[name] = Recorded.load(file)
        return found[name]

    return get


@pytest.fixture(scope="session")
def rows():
    """Rows of docs/algorithms.md; written to the file that `RFLY_FIGURES` names."""
    collected: list[dict] = []
    yield collected
    if file := os.environ.get("RFLY_FIGURES"):
        measured = f"PyPI: release build, {os.cpu_count()} cores; {sum(row['lost'] for row in collected)} messages lost."
        figures = {"suite": "pypi", "measured": measured, "rows": collected}
        Path(file).write_text(json.dumps(figures, indent=1) + "\n")
