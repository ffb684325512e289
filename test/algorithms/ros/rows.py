"""Rows of figures: one JSON object per algorithm and input, in the file that docs/algorithms.md is made from."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from processes import ROOT

FILE = Path(os.environ.get("RFLY_ALGORITHMS_ROS_JSON", ROOT / "target" / "algorithms" / "ros.json"))
_measured: list[dict] = []


def version(package: str) -> str:
    """Version in an installed package.xml, and the commit if RFLY_ALGORITHM_SOURCES names a file of lines
    `package repository commit`."""
    xml = (Path(get_package_share_directory(package)) / "package.xml").read_text()
    found = xml.split("<version>")[1].split("<")[0].strip()
    sources = os.environ.get("RFLY_ALGORITHM_SOURCES")
    for line in Path(sources).read_text().splitlines() if sources else ():
        name, repository, commit = line.split()
        if name == package:
            return f"{found} ({repository} {commit[:12]})"
    return found


def keep(
    *, algorithm: str, package: str, source: str, path_m: float, drift_percent: float | None, figures: dict, aim: str, test: str
) -> None:
    """Writes a row into the file, in place of an earlier one of the same algorithm and input."""
    row = {
        "algorithm": algorithm,
        "version": version(package),
        "input": source,
        "path_m": round(path_m, 1),
        "drift_percent": drift_percent and round(drift_percent, 4),
        "figures": figures,
        "aim": aim,
        "command": f"scripts/algorithms_ros.sh {test}",
    }
    _measured.append(row)
    rows = json.loads(FILE.read_text()) if FILE.exists() else []
    rows = [old for old in rows if (old["algorithm"], old["input"]) != (algorithm, source)] + [row]
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(sorted(rows, key=lambda r: (r["algorithm"], r["input"])), indent=2) + "\n")


def lines() -> list[str]:
    """What this session measured, for the end of the report."""
    return [
        f"{row['algorithm']}, {row['input']}: path {row['path_m']} m, drift {row['drift_percent']} %, {row['figures']}"
        for row in _measured
    ]
