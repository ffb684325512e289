"""Starts emulator and bridge, keeps what they print, stops them with Ctrl-C and insists on exit code 0."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import time
from functools import cache
from pathlib import Path
from typing import TextIO

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]


def binary(name: str, variable: str) -> Path:
    """Returns the program `name`: from the environment, else the newest of target/release and target/debug."""
    if os.environ.get(variable):
        return Path(os.environ[variable])
    built = [path for path in (ROOT / "target" / kind / name for kind in ("release", "debug")) if path.exists()]
    if not built:
        pytest.skip(f"{name} is not built (cargo build) and {variable} is not set")
    return max(built, key=lambda path: path.stat().st_mtime)


@cache
def own_standard_ports() -> TextIO:
    """Only one test session at a time may own the simulator's fixed ports of a network: waits for the others, and keeps
    the ports as long as this process lives."""
    network = os.stat("/proc/self/ns/net").st_ino
    lock = open(f"/tmp/rfly_bridge_e2e.{network}.lock", "w")  # noqa: SIM115
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


class Process:
    """One program under test. Its output goes to a file, shown when a test fails."""

    def __init__(self, name: str, command: list[str], log: Path, environment: dict[str, str] | None = None):
        self.name, self.command, self.log = name, [str(part) for part in command], log
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen | None = None

    def start(self) -> Process:
        """Starts the program."""
        with self.log.open("ab") as log:
            log.write(f"$ {' '.join(self.command)}\n".encode())
            log.flush()
            self._process = subprocess.Popen(
                self.command, stdout=log, stderr=subprocess.STDOUT, env=self._environment, cwd=ROOT
            )
        return self

    @property
    def pid(self) -> int:
        """Process id."""
        assert self._process is not None
        return self._process.pid

    def alive(self) -> bool:
        """Is it still running?"""
        return self._process is not None and self._process.poll() is None

    def resident_bytes(self) -> int:
        """Resident memory now."""
        return psutil.Process(self.pid).memory_info().rss

    def cpu_seconds(self) -> float:
        """User plus system time so far."""
        times = psutil.Process(self.pid).cpu_times()
        return times.user + times.system

    def udp_ports(self) -> set[int]:
        """Local UDP ports that it has open."""
        return {c.laddr.port for c in psutil.Process(self.pid).net_connections("udp") if c.laddr}

    def kill(self) -> None:
        """Ends it without warning, as a crash would."""
        if self.alive():
            self._process.kill()
            self._process.wait()

    def stop(self, timeout: float = 180.0) -> int:
        """Sends Ctrl-C and returns the exit code; a program that does not end is killed and gives -9."""
        if self.alive():
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(timeout)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        return self._process.returncode

    def output(self) -> str:
        """Everything printed so far."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def wait_for_output(self, text: str, timeout: float = 60.0) -> None:
        """Returns as soon as the program has printed `text`."""
        deadline = time.monotonic() + timeout
        while text not in self.output():
            assert self.alive(), f"{self.name} ended before it printed {text!r}:\n{self.tail()}"
            assert time.monotonic() < deadline, f"{self.name} did not print {text!r}:\n{self.tail()}"
            time.sleep(0.02)

    def tail(self, lines: int = 40) -> str:
        """The end of the output, for messages of failed tests."""
        return "\n".join(self.output().splitlines()[-lines:])


def write_terrain(picture: Path) -> Path:
    """Writes a terrain of the vendor's code: its picture, and its text beside it."""
    cases = json.loads((ROOT / "test/fixtures/golden/terrain.json").read_text())
    hills = next(case for case in cases if case["name"] == "gps_12")["args"]
    picture.write_bytes(bytes.fromhex(hills["png_hex"]))
    picture.with_suffix(".txt").write_text(hills["txt"])
    return picture
