"""Makes the modules of this directory and its folders known, and their fixtures."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
# Tests of one subject are a folder; some use what those of another declare.
# The Python package of the wheel.
PACKAGE = HERE.parents[1] / "python"
sys.path[:0] = [str(HERE), str(PACKAGE), *sorted({str(test.parent) for test in HERE.glob("*/test_*.py")})]

from suite import domain_id, pytest_runtest_makereport, simulator_ports  # noqa: F401

# The files that take longest, the longest first: begun last, one of them would run alone at the end.
# (`scripts/e2e.sh --durations=0` says how long the tests take.)
LONGEST = [
    "test_autopilot.py",
    "test_mavros.py",
    "test_view.py",
    "test_browser.py",
    "test_doctor.py",
    "test_document_commands.py",
    "test_robustness.py",
    "test_mavros_links.py",
    "test_px4.py",
    "test_geometry.py",
    "test_replay.py",
    "test_python_client.py",
    "test_start.py",
    "test_fleet.py",
    "test_services.py",
    "test_senders.py",
    "test_record.py",
    "test_lines.py",
    "test_streams.py",
    "test_log.py",
    "test_time.py",
]
RANKS = {name: rank for rank, name in enumerate(LONGEST)}


def pytest_collection_modifyitems(items):
    """Puts the longest files first; all other files and the tests of a file keep their order."""
    items.sort(key=lambda item: RANKS.get(item.path.name, len(RANKS)))
