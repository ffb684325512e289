"""How much of an attack there is: brief in `make test`, long in `make soak`."""

import os

SOAK = os.environ.get("RFLY_SOAK") == "1"


def count(brief: int, long: int) -> int:
    """How many of something there are in this run."""
    return long if SOAK else brief
