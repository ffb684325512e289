"""Makes the modules of this directory known, and their fixtures."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from suite import domain_id, pytest_runtest_makereport, simulator_ports  # noqa: F401
