"""How much of a flood, a fleet or an attack there is: brief in `make test`, whole in `make soak`."""

import os

import pytest

SOAK = os.environ.get("RFLY_SOAK") == "1"

only_in_soak = pytest.mark.skipif(not SOAK, reason="a fleet: make soak runs it")


def count(brief: int, long: int) -> int:
    """How many of something there are in this run."""
    return long if SOAK else brief
