"""Attacks on a running bridge. Everything that starts, subscribes and decodes is the end-to-end suite's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))
sys.path.insert(0, str(Path(__file__).parent))

from foreign import ForeignHost, why_not
from suite import domain_id, pytest_runtest_makereport, simulator_ports  # noqa: F401


@pytest.fixture(scope="module")
def foreign(simulator_ports) -> Iterator[ForeignHost]:
    """A host beside this one; tests are skipped where the kernel lets us make none."""
    if reason := why_not():
        pytest.skip(reason)
    with ForeignHost() as host:
        yield host
