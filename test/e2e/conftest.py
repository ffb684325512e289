"""Fixtures shared by all end-to-end tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def domain_id() -> int:
    """A DDS domain of this test session; below 100 its ports stay clear of Linux' ephemeral range."""
    return 10 + os.getpid() % 90
