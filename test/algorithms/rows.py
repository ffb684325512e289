"""Rows of docs/algorithms.md."""

from __future__ import annotations

from importlib.metadata import version

import pytest
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
    rows.append(
        {
            "algorithm": f"{package} {version(package)}",
            "input": given,
            "aim": aim,
            "limit": limit,
            "value": round(float(value), 4),
            "unit": unit,
            "settings": settings,
            "lost": sum(recorded.lost.values()),
            "speed": recorded.speed,
            **more,
            **({"why": why_missed} if missed and why_missed else {}),
        }
    )
    print({name: value for name, value in rows[-1].items() if name != "error"})
    words = f"{package}, {given}: {value:.4g} {unit}, aim: {aim} {limit:g}"
    if missed and why_missed:
        pytest.xfail(f"{words}; {why_missed}")
    assert not missed, words
