"""Rows of docs/algorithms.md."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from entry import entry, words
from recorder import Recorded


def row(
    rows: list[dict],
    recorded: Recorded,
    package: str,
    given: str,
    aim: str,
    value: float,
    limit: float,
    unit: str,
    settings: str,
    why_missed: str = "",
    **more: object,
) -> None:
    """Adds what an algorithm has reached, and insists on the aim. A miss that is known says why, and is reported as one."""
    missed = value > limit
    more |= {"lost": sum(recorded.lost.values()), "speed": recorded.speed}
    if missed and why_missed:
        more["why"] = why_missed
    found = entry(f"{package} {version(package)}", given, aim, value, limit, unit, settings, **more)
    rows.append(found)
    print({name: value for name, value in found.items() if name != "error"})
    if missed and why_missed:
        pytest.xfail(f"{words(found)}; {why_missed}")
    assert not missed, words(found)
