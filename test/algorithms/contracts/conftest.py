"""What consumers need, without the consumers. Everything that starts, subscribes and decodes is the end-to-end suite's."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "e2e"))

from suite import domain_id, pytest_runtest_makereport, simulator_ports  # noqa: F401
