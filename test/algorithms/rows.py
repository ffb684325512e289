"""Rows of docs/algorithms.md."""

from __future__ import annotations

from importlib.metadata import version

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
    **more: object,
) -> None:
    """Adds what an algorithm has reached, and insists on the aim."""
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
        }
    )
    print({name: value for name, value in rows[-1].items() if name != "error"})
    assert value <= limit, f"{package}, {given}: {value:.4g} {unit}, aim: {aim} {limit:g}"
