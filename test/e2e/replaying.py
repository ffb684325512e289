"""Plays raw recordings through the bridge, and the recording that is kept with its topics. As a program: makes that again."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from backend import BACKEND, environment
from processes import ROOT, binary
from recording import Recording
from system import System
from test_record import read

from sensors import COMPRESSED, RAW, with_defaults

FLIGHT = ROOT / "test/fixtures/flight.mcap"
"""A second of a vehicle with small sensors; beside it the checksums of the topics that its replay publishes."""
SENSORS = [
    replace(with_defaults(0, 1, RAW), width=48, height=32, rate=10),
    replace(with_defaults(1, 2, COMPRESSED), width=48, height=32, rate=10),
    replace(with_defaults(2, 20, COMPRESSED), width=36, height=8, rate=10),
]
HOST = {"/diagnostics", "/rfly_bridge/stats", "/rosout", "/parameter_events", "/tf_static", "/rflysim/fleet/ready"}
"""Topics that say what this run of the bridge does, and when."""


# Names the mesh where the build has it: in a workspace that is a package.
OF_BUILD = {"/rflysim/robot_description"} if BACKEND == "rclrs" else set()


def by_host(topic: str) -> bool:
    """May this topic differ from run to run? Lists of the scene are published by the host's clock, when something has changed."""
    return topic in HOST or topic.startswith("/rflysim/scene/")


def replay(file: Path, domain_id: int, place: Path, *options: object, more: tuple[str, ...] = ()) -> dict[str, list[bytes]]:
    """The samples that a replay publishes, by topic."""
    parameters = [f"record.directory:={place}", "record.ros:=again", "record.depth:=all", *more]
    arguments = [word for parameter in parameters for word in ("-p", parameter)]
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "replay", file, *options, "--ros-args", *arguments]
    subprocess.run([str(word) for word in command], check=True, env=os.environ | environment(domain_id))
    return read(place / "again")


def checksums(samples: dict[str, list[bytes]]) -> dict[str, list]:
    """Number and SHA-256 of the samples of each topic that a replay repeats."""
    repeated = {topic: found for topic, found in sorted(samples.items()) if not by_host(topic) and topic not in OF_BUILD}
    return {topic: [len(found), hashlib.sha256(b"".join(found)).hexdigest()] for topic, found in repeated.items()}


def expected() -> dict[str, list]:
    """What `checksums` gives for a replay of `FLIGHT`."""
    recorded = json.loads(FLIGHT.with_suffix(".json").read_text())
    return {topic: found for topic, found in recorded.items() if topic not in OF_BUILD}


def main() -> None:
    """Records the flight again."""
    domain_id = 71
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        parameters = {"time.mode": "sim", "record.directory": place, "record.raw": FLIGHT.name}
        with System(place / "run", domain_id, SENSORS, parameters=parameters) as system:
            recording = Recording(system)
            recording.subscribe({SENSORS[0].topic: "sensor_msgs/msg/Image"})
            recording.collect(8, [SENSORS[0].topic])
        FLIGHT.write_bytes((place / FLIGHT.name).read_bytes())
        found = checksums(replay(FLIGHT, domain_id, place, "--speed", 0))
    lines = [f"  {json.dumps(topic)}: {json.dumps(sums)}" for topic, sums in found.items()]
    FLIGHT.with_suffix(".json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
