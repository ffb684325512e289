"""Rows of docs/algorithms.md that need a ROS 2 workspace (suite `ros`)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
from ament_index_python.packages import get_package_share_directory
from entry import entry, words
from geometry import nanoseconds, rigid, rotation_from_quaternion

rows: list[dict] = []
"""Of this session."""


def version(package: str) -> str:
    """Version in an installed package.xml, and the commit if RFLY_ALGORITHM_SOURCES names a file of lines
    `package repository commit`."""
    xml = (Path(get_package_share_directory(package)) / "package.xml").read_text()
    found = xml.split("<version>")[1].split("<")[0].strip()
    sources = os.environ.get("RFLY_ALGORITHM_SOURCES")
    for line in Path(sources).read_text().splitlines() if sources else ():
        name, repository, commit = line.split()
        if name == package:
            return f"{found} ({repository} {commit[:7]})"
    return found


def row(package: str, given: str, aim: str, value: float, limit: float, unit: str, settings: str, **more: object) -> None:
    """Adds what an algorithm has reached, and insists on the aim."""
    command = os.environ["PYTEST_CURRENT_TEST"].split("::")[0].split("/")[-1]
    more["command"] = f"scripts/algorithms_ros.sh {command}"
    rows.append(entry(f"{package} {version(package)}", given, aim, value, limit, unit, settings, **more))
    assert value <= limit, f"{words(rows[-1])}; {lines()[-1]}"


def lines() -> list[str]:
    """What this session measured, for the end of the report."""
    return [str({name: value for name, value in row.items() if name != "error"}) for row in rows]


def write() -> None:
    """Writes the rows to the file that RFLY_FIGURES names, in place of earlier ones of the same algorithm and input."""
    if not (file := os.environ.get("RFLY_FIGURES")):
        return
    path = Path(file)
    earlier = json.loads(path.read_text())["rows"] if path.exists() else []
    new = {(row["algorithm"], row["input"]) for row in rows}
    kept = [row for row in earlier if (row["algorithm"], row["input"]) not in new]
    path.write_text(json.dumps({"suite": "ros", "rows": kept + rows}, indent=1) + "\n")


def poses(odometry: list, known: dict) -> dict[int, np.ndarray]:
    """Poses of messages with `header.stamp` and `pose.pose`, by the stamp of the truth log that is meant: algorithms carry
    time as a double."""
    stamps = np.array(sorted(known))
    found = {}
    for message in odometry:
        stamp = nanoseconds(message.header.stamp)
        nearest = int(stamps[np.abs(stamps - stamp).argmin()])
        if stamp > stamps[-1] + 1000:
            break  # the log ends with the emulator's last frame
        assert abs(nearest - stamp) < 1000, f"{stamp} is no stamp of the truth"
        p, q = message.pose.pose.position, message.pose.pose.orientation
        found[nearest] = rigid(rotation_from_quaternion(q.x, q.y, q.z, q.w), [p.x, p.y, p.z])
    return found
