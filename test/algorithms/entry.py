"""One row of docs/algorithms.md, of whichever suite."""

from __future__ import annotations


def entry(
    algorithm: str, given: str, aim: str, value: float, limit: float, unit: str, settings: str, **more: object
) -> dict:
    """What an algorithm has reached, as scripts/algorithms.py reads it."""
    return {
        "algorithm": algorithm,
        "input": given,
        "aim": aim,
        "limit": limit,
        "value": round(float(value), 4),
        "unit": unit,
        "settings": settings,
        **more,
    }


def words(row: dict) -> str:
    """The row in a line."""
    return f"{row['algorithm']}, {row['input']}: {row['value']:.4g} {row['unit']}, aim: {row['aim']} {row['limit']:g}"
