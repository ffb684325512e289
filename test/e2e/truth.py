"""Reads what the emulator wrote down while it ran (`--truth`, `--truth-frames`)."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from geometry import rotation_from_quaternion

from sensors import COLOUR_TYPES, GREY_TYPES, Sensor

RANGE_RECORD = np.dtype(
    [
        ("distance", "<f4"),
        ("id", "<i4"),
        ("start", "<f4", 3),
        ("angles", "<f4", 3),
        ("hit", "<f4", 3),
        ("box", "<f4", 3),
    ]
)
BOX_ENTRY = np.dtype([("id", "<i4"), ("score", "<f4"), ("min", "<f4", 2), ("max", "<f4", 2)])
TARGET_ENTRY = np.dtype([("id", "<i4"), ("position", "<f4", 3)])


def sim_ns(seconds: float) -> int:
    """Simulation time as a ROS stamp in `sim` mode has it."""
    return round(seconds * 1e9)


@dataclass(frozen=True)
class TrueFrame:
    """One frame of one sensor as it was rendered, before any codec."""

    sim: float
    host_ns: int
    """Wall clock of this machine at the tick, ns since 1970."""
    due_ns: int
    """The same when the tick was due: simulation time stands still while the emulator gets no processor."""
    file: Path | None
    sent_length: int
    sent_crc32: int
    """Length and checksum of what was sent, after the codec and before it was cut into datagrams."""

    def payload(self) -> bytes:
        """The rendered bytes in the layout of transport mode 2 (images) or of the wire (everything else)."""
        assert self.file is not None
        return self.file.read_bytes()


class Truth:
    """The truth of one emulator run: until now while it runs, complete after it has ended."""

    def __init__(self, truth_file: Path, frames_directory: Path):
        self.frames: dict[int, dict[int, TrueFrame]] = defaultdict(dict)
        self.vehicles: dict[int, dict[int, dict]] = defaultdict(dict)
        self.starts: list[dict] = []
        text = truth_file.read_text()
        # The last line may be in the making.
        for line in text[: text.rfind("\n") + 1].splitlines():
            entry = json.loads(line)
            if entry["kind"] == "start":
                self.starts.append(entry)
            if entry["kind"] != "frame":
                continue
            file = frames_directory / entry["file"] if entry.get("file") else None
            frame = TrueFrame(entry["sim_time"], entry["host_ns"], entry["due_ns"], file, entry["sent_length"], entry["sent_crc32"])
            self.frames[entry["seq_id"]][entry["sim_ns"]] = frame
            if vehicle := entry["vehicle"]:
                self.vehicles[vehicle["id"]][entry["sim_ns"]] = vehicle

    def vehicle_pose(self, vehicle: int, stamp: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Position in NED and rotation FRD to NED at simulation time `stamp` in ns; None between ticks."""
        entry = self.vehicles[vehicle].get(stamp)
        if entry is None:
            return None
        w, x, y, z = entry["quaternion"]
        return np.array(entry["position"], float), rotation_from_quaternion(x, y, z, w)


def true_image(sensor: Sensor, payload: bytes) -> np.ndarray:
    """The rendered image of a camera: BGR, grey, or depth counts."""
    if sensor.type in COLOUR_TYPES:
        return np.frombuffer(payload, np.uint8).reshape(sensor.height, sensor.width, 3)
    if sensor.type in GREY_TYPES:
        return np.frombuffer(payload, np.uint8).reshape(sensor.height, sensor.width)
    return np.frombuffer(payload, "<u2").reshape(sensor.height, sensor.width)


# Bytes of a point: dtype and count of its numbers (docs/wire/payloads.md).
POINTS = {6: ("<i2", 3), 8: ("<i2", 4), 12: ("<f4", 3), 16: ("<f4", 4)}


def true_points(sensor: Sensor, payload: bytes) -> tuple[np.ndarray, np.ndarray | None]:
    """Points in m and raw fourth number of a cloud. i16 coordinates are raw / 32767 x range, f32 ones m."""
    for head in (28, 36):
        count = int(np.frombuffer(payload, "<i4", 1, head - 4)[0])
        body = len(payload) - head
        if count > 0 and body % count == 0 and body // count in POINTS:
            kind, channels = POINTS[body // count]
            raw = np.frombuffer(payload, kind, count * channels, head).reshape(count, channels)
            scale = sensor.params[0] / 32767.0 if kind == "<i2" else 1.0
            return raw[:, :3].astype(float) * scale, raw[:, 3] if channels == 4 else None
    raise AssertionError(f"{len(payload)} bytes are no cloud")


def true_list(payload: bytes, entry: np.dtype) -> np.ndarray:
    """Entries of a counted list."""
    return np.frombuffer(payload, entry, int(np.frombuffer(payload, "<i4", 1)[0]), 4)
