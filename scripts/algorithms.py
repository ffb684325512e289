#!/usr/bin/env python3
"""Writes docs/algorithms.md and its picture from docs/algorithms.json and scripts/pages/algorithms.md.in.

scripts/algorithms.py                takes the figures as they are
scripts/algorithms.py FILE...        takes over what tests wrote first: {"suite": NAME, "rows": [...]} replaces the rows of
                                     that suite; a row has algorithm, input, aim, value, limit, unit, settings, and `why`
                                     where the aim is missed or nothing was measured (value null)
scripts/algorithms.py --check        writes nothing, and fails where the page is not what the figures make
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from algorithms_plot import errors
from performance import DOCS, PAGES, table

FIGURES = DOCS / "algorithms.json"


def verdict(row: dict) -> str:
    """Is the aim met?"""
    if row["value"] is None:
        return "not measured"
    return "met" if row["value"] <= row["limit"] else "**missed**"


def value(row: dict) -> str:
    """As in the table, with the length of the path."""
    if row["value"] is None:
        return "-"
    size = f" of {row['path_m']:.0f} m" if "path_m" in row else ""
    return f"{row['value']:g} {row['unit'].removesuffix(' of the path')}{size}"


def result(rows: list[dict]) -> str:
    """The table."""
    cells = [
        [row["algorithm"], row["input"], f"{row['aim']} <= {row['limit']:g} {row['unit']}", value(row), verdict(row)]
        for row in rows
    ]
    return table(" algorithm| input| aim| measured| ", cells)


def odometry(rows: list[dict]) -> str:
    """More of those that have a path."""
    cells = [
        [
            row["algorithm"],
            row["input"],
            f"{row['path_m']:.0f} m",
            f"{row['segments_percent']:g} %",
            f"{row['worst_m'] * 100:.1f} cm",
            f"{row['end_m'] * 100:.1f} cm",
            f"{row['worst_deg']:.2f}",
        ]
        for row in rows
        if "segments_percent" in row
    ]
    return table(" algorithm| input|path|parts of 10 to 40 m|largest error|at the end|largest error, deg", cells)


def settings(rows: list[dict]) -> str:
    """Settings, once for each algorithm and its aim."""
    found = {(row["algorithm"], row["aim"]): row["settings"] for row in rows if row.get("settings")}
    return table(" algorithm| for| settings", [[*key, words] for key, words in found.items()])


def reasons(rows: list[dict]) -> str:
    """Why an aim was missed, or nothing measured."""
    found = [f"- {row['algorithm']}, {row['input']}: {row['why']}" for row in rows if row.get("why")]
    return "\n".join(found) or "None."


def conditions(figures: dict) -> str:
    """When and where it was measured."""
    return "\n".join(f"- {suite['measured']}" for suite in figures.values() if suite.get("measured"))


def render(figures: dict) -> dict[Path, str]:
    """Every file that the figures make."""
    rows = [row for suite in figures.values() for row in suite["rows"]]
    made = {"table": result, "odometry": odometry, "settings": settings, "reasons": reasons}
    sections = {name: make(rows) for name, make in made.items()} | {"conditions": conditions(figures)}
    text = (PAGES / "algorithms.md.in").read_text()
    text = re.sub(r"<!-- (\w+) -->", lambda found: sections[found[1]], text)
    note = "<!-- Written by scripts/algorithms.py; edit scripts/pages/algorithms.md.in. -->\n\n"
    plotted = [row for row in rows if "error" in row]
    return {DOCS / "algorithms.md": note + text, DOCS / "img" / "algorithms.svg": errors(plotted)}


def stored(figures: dict) -> str:
    """JSON with a pair of numbers in one line."""
    return re.sub(r"\[\s+([-\d.e]+),\s+([-\d.e]+)\s+\]", r"[\1, \2]", json.dumps(figures, indent=1)) + "\n"


def main() -> None:
    """Writes, or checks."""
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    files = [word for word in sys.argv[1:] if word != "--check"]
    for file in files:
        report = json.loads(Path(file).read_text())
        figures[report.pop("suite")] = report
    made = render(figures)
    if files:
        made[FIGURES] = stored(figures)
    for file, text in made.items():
        if "--check" not in sys.argv:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            sys.exit(f"docs/{file.relative_to(DOCS)} is not what the figures make; scripts/algorithms.py writes it")


if __name__ == "__main__":
    main()
