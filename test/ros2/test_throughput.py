"""Images of 1280x720 at 30 Hz arrive complete at a default reliable and at a best-effort subscriber."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from backend import RMW
from processes import ROOT
from programs import Programs
from topics import main_topic
from truth import Truth

from ros import FIGURES
from sensors import RAW, with_defaults

CAMERA = with_defaults(0, 1, RAW, width=1280, height=720, rate=30)
SECONDS, SETTLE = 5.0, 2.0
CONFIG = ROOT / "config"
# As the launch files start the bridge; its readers have no profile.
PROFILES = {
    "CYCLONEDDS_URI": f"file://{CONFIG}/cyclonedds_bridge.xml",
    "FASTRTPS_DEFAULT_PROFILES_FILE": f"{CONFIG}/fastdds_bridge.xml",
    "FASTDDS_DEFAULT_PROFILES_FILE": f"{CONFIG}/fastdds_bridge.xml",
}
# Both cores are shared with whatever else runs: the figures of every attempt are printed, one must be complete.
ATTEMPTS = 3


def measure(directory: Path, domain_id: int, readers: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    """Reader -> (images sent in the window of its life, images it got of them)."""
    script = Path(__file__).with_name("count_images.py")
    parameters = {"time.mode": "sim", "transport_mode": "file"}
    with Programs(
        directory, domain_id, [CAMERA], parameters=parameters, emulator=["--pattern"], keep_frames=False,
        variables=PROFILES,
    ) as programs:
        programs.bridge.wait_for_output("sensors: ")
        counting = {
            reader: subprocess.Popen(
                [sys.executable, script, main_topic(CAMERA), reader],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
            for reader in readers
        }  # fmt: skip
        time.sleep(SETTLE + SECONDS + 1)
        seen = {reader: json.loads(process.communicate(timeout=30)[0]) for reader, process in counting.items()}
    sent = sorted(Truth(programs.truth_file, programs.truth_frames).frames[CAMERA.seq])
    figures = {}
    for reader, got in seen.items():
        assert got["sizes"] == [CAMERA.width * CAMERA.height * 3], "no image, or not whole"
        stamps = got["stamps"]
        assert len(stamps) == len(set(stamps)), "an image came twice"
        # From what came after the reader had settled, for SECONDS: every tick of the simulator in between.
        start = min(stamps) + int(SETTLE * 0.5e9)
        window = [stamp for stamp in sent if start <= stamp <= start + int(SECONDS * 1e9) and stamp <= max(stamps)]
        figures[reader] = (len(window), len(set(window) & set(stamps)))
    return figures


@pytest.mark.parametrize("readers", [("reliable",), ("best_effort",), ("reliable", "best_effort")], ids="+".join)
def test_every_image_of_1280x720_at_30_hz_arrives(readers, tmp_path, domain_id, simulator_ports):
    attempts = []
    for attempt in range(ATTEMPTS):
        figures = measure(tmp_path / str(attempt), domain_id, readers)
        attempts.append(figures)
        shown = ", ".join(f"{reader} {got} of {sent}" for reader, (sent, got) in figures.items())
        FIGURES.append(f"1280x720 at 30 Hz, {RMW}: {shown}; load {os.getloadavg()[0]:.1f}")
        if all(sent >= 0.9 * SECONDS * CAMERA.rate and got == sent for sent, got in figures.values()):
            return
    pytest.fail(f"{RMW}: never complete: {attempts}")
