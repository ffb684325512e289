#!/usr/bin/env python3
"""Records 8 raw cameras (640x480, 30 Hz) and 50 vehicles, and compares that with what the disk takes; then onto disks that are made
slower (slow_disk.c): one that takes a ninth more than was recorded, and one that takes half of it. Figures only mean something on an
otherwise idle machine with 8 GB of room in DIRECTORY: scripts/alone .venv/bin/python scripts/bench_record.py [DIRECTORY]"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/e2e"))

from processes import Process, binary  # noqa: E402
from programs import Programs  # noqa: E402

from sensors import RAW, with_defaults  # noqa: E402

SECONDS = float(os.environ.get("RECORD_SECONDS", "12"))
CAMERAS = [replace(with_defaults(n, 1, RAW), width=640, height=480, rate=30) for n in range(8)]
VEHICLES = 50
RAW_FILE, BOTH = {"record.raw": "raw.mcap"}, {"record.raw": "raw.mcap", "record.ros": "bag"}
WANTED = {
    "`record.raw`": RAW_FILE | {"record.compression": "none"},
    "`record.raw` and `record.ros`": BOTH | {"record.compression": "none"},
    "both, `record.compression: zstd`": BOTH | {"record.compression": "zstd"},
}


def disk(place: Path) -> float:
    """What a program that only writes gets onto the disk, in MB/s, until it is there."""
    block, written, start = os.urandom(4 << 20), 0, time.monotonic()
    with (place / "plain").open("wb", buffering=0) as file:
        while time.monotonic() - start < SECONDS:
            written += file.write(block)
        os.fsync(file.fileno())
    took = time.monotonic() - start
    (place / "plain").unlink()
    return written / took / 1e6


def files(place: Path) -> list[Path]:
    """The recordings."""
    return sorted(place.glob("**/*.mcap"))


def inspect(file: Path) -> dict:
    """What `inspect` says."""
    ran = subprocess.run([binary("rfly_bridge", "RFLY_BRIDGE"), "inspect", file, "--json"], check=True, capture_output=True)
    return json.loads(ran.stdout)


def slow_disk(place: Path) -> Path:
    """The library that makes the disk slower."""
    library = place / "slow_disk.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, ROOT / "scripts/slow_disk.c"], check=True)
    return library


def run(place: Path, wanted: dict[str, str], speed: float | None = None) -> tuple[float, str]:
    """Records onto the disk, or onto one of so many MB/s; what was recorded in MB/s, and a row of the table."""
    variables = {"LD_PRELOAD": str(slow_disk(place)), "DISK_MBPS": str(speed)} if speed else None
    vehicles = list(range(1, VEHICLES + 1))
    parameters = {"record.directory": place, "vehicles": vehicles, **wanted}
    options = ["--pattern", "--vehicles", str(VEHICLES)]
    programs = Programs(place / "run", 61, CAMERAS, parameters=parameters, emulator=options, keep_frames=False, variables=variables)
    with programs:
        bridge: Process = programs.bridge
        while not files(place) or files(place)[0].stat().st_size < 100e6:
            time.sleep(0.05)
            programs.assert_alive()
        before, start = bridge.cpu_seconds(), time.monotonic()
        time.sleep(SECONDS)
        cpu = (bridge.cpu_seconds() - before) / (time.monotonic() - start)
    found = {file.name: inspect(file) for file in files(place)}
    recorded = [channel for file in found.values() for channel in file["channels"].values()]
    seconds = max(file["seconds"] for file in found.values())
    cameras = [channel for channel in found["raw.mcap"]["channels"].values() if channel["frames"]]
    frames = sum(channel["frames"] for channel in cameras) / seconds
    missing = sum(channel["missing_fragments"] for channel in cameras)
    megabytes = sum(channel["bytes"] for channel in recorded) / seconds / 1e6
    dropped = sum(channel["not_recorded"] for channel in recorded)
    count = sum(channel["messages"] for channel in recorded) / seconds
    return megabytes, f"{megabytes:.0f} | {count:.0f} | {frames:.0f} | {missing} | {dropped} | {100 * cpu:.0f} %"


def main() -> None:
    """Prints the table of docs/record.md."""
    above = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=above) as name:
        before = disk(Path(name))
    print(f"{os.cpu_count()} cores, load {load:.1f} at the start, the disk takes {before:.0f} MB/s from one that only writes")
    print("\n| recorded | MB/s | messages/s | frames/s of 240 | fragments missing | dropped | processor of the bridge |")
    print("|---|---|---|---|---|---|---|")
    recorded = {}
    for label, wanted in WANTED.items():
        with tempfile.TemporaryDirectory(dir=above) as name:
            recorded[label], row = run(Path(name), wanted)
            print(f"| {label} | {row} |", flush=True)
    label, wanted = next(iter(WANTED.items()))
    for part in (0.9, 2.0):
        with tempfile.TemporaryDirectory(dir=above) as name:
            speed = recorded[label] / part
            print(f"| {label}, on a disk of {speed:.0f} MB/s | {run(Path(name), wanted, speed)[1]} |", flush=True)


if __name__ == "__main__":
    main()
