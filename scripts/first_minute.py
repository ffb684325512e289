#!/usr/bin/env python3
"""A newcomer's first minute: clone, `make demo`, open the page; it shows camera, lidar and a flying vehicle.

scripts/first_minute.py [--here] [PICTURE]

Needs Chromium and the Python packages of the tests (`make venv`). With `--here` the demo is that of this source tree, and builds
nothing that is built already. PICTURE gets what the page showed (target/first_minute.png).
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/e2e"))

import cv2  # noqa: E402
import numpy as np  # noqa: E402
from browser import CHROMIUM, Browser, wait_for  # noqa: E402

SAYS = "demo: see it at "
BUILD_S = 3600.0
AT = "rfly.frames.pose('base_link')?.position"
SHOWN = f"""window.rfly && {AT} && rfly.scene.clouds.size > 0
    && [...document.images].filter((image) => image.naturalWidth >= 160).length >= 2"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def address(demo: subprocess.Popen, log: Path) -> str:
    """Where the demo says that its page is."""

    def said() -> str | None:
        assert demo.poll() is None, f"the demo has ended\n{log.read_text()}"
        lines = log.read_text().splitlines()
        return next((line.removeprefix(SAYS) for line in lines if line.startswith(SAYS)), None)

    return wait_for(said, "the address of the page", BUILD_S)


def answers(page: str) -> bool:
    host, port = page.removeprefix("http://").strip("/").split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def look(page: str, picture: Path) -> None:
    """Fails unless the page shows what it should."""
    with Browser() as browser:
        browser.open(page)
        browser.wait(SHOWN)
        start = np.array(browser.run(AT))
        assert start[2] > 1, f"the vehicle is in the air, not at {start}"
        wait_for(lambda: np.linalg.norm(np.array(browser.run(AT)) - start) > 2, "the vehicle to fly on")
        camera = browser.region(".picture:nth-child(1) img").astype(int)
        assert camera.std(axis=(0, 1)).min() > 20, "a picture of the camera"
        scene = browser.region("#scene").astype(int)
        colourful = (scene.max(axis=2) - scene.min(axis=2) > 100).sum()
        assert colourful > 1000, f"points of the lidar: {colourful} pixels in colour"
        cv2.imwrite(str(picture), browser.picture())
        assert browser.errors == [], browser.errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--here", action="store_true")
    parser.add_argument("picture", type=Path, nargs="?", default=ROOT / "target/first_minute.png")
    asked = parser.parse_args()
    if CHROMIUM is None:
        sys.exit("first_minute: there is no chromium here")
    with tempfile.TemporaryDirectory() as folder:
        tree, log = ROOT, Path(folder, "demo.log")
        if not asked.here:
            tree = Path(folder, "rfly_bridge")
            subprocess.run(["git", "clone", "-q", ROOT, tree], check=True)
        asked.picture.parent.mkdir(exist_ok=True)
        variables = {**os.environ, "DEMO_PORT": str(free_port()), "DEMO_SECONDS": ""}
        with log.open("w") as output:
            demo = subprocess.Popen(
                ["make", "demo"], cwd=tree, env=variables, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )
        try:
            page = address(demo, log)
            start = time.monotonic()
            wait_for(lambda: answers(page), page)
            look(page, asked.picture.resolve())
            print(f"camera, lidar and a flying vehicle at {page}, {time.monotonic() - start:.0f} s after the programs started")
        finally:
            # As Ctrl-C in a terminal: everybody in the foreground gets it.
            os.killpg(demo.pid, signal.SIGINT)
            demo.wait(60)
        print(f"seen: {asked.picture}")


if __name__ == "__main__":
    main()
