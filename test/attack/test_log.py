"""The log and who reads it: a reader that does not read stops nothing, and a stranger's text fills no disk and forges no line."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time

import pytest
from backend import BACKEND
from diagnostics import Report
from mavros import Vehicle, fly
from processes import ROOT, Process
from recording import Recording
from soak import count
from topics import DIAGNOSTICS, main_topic, topics_of

from sensors import RAW, with_defaults

CAMERA = with_defaults(0, 1, RAW, width=160, height=120, rate=20)
STOP_OUTPUT = b"\x13"  # Ctrl-S


class Unread(Process):
    """A program whose output goes where nobody reads it: into a pipe, or to a terminal that was stopped."""

    def __init__(self, program: Process, kind: str):
        super().__init__(program.name, program.command, program.log, program._environment)
        self._kind = kind

    def start(self) -> Process:
        """Starts the program."""
        if self._kind == "pipe":
            self._ours, theirs = os.pipe()
        else:
            self._ours, theirs = os.openpty()
            os.write(self._ours, STOP_OUTPUT)
        self._process = subprocess.Popen(
            self.command, stdout=theirs, stderr=theirs, env=self._environment, cwd=ROOT
        )
        os.close(theirs)
        return self

    def resume(self, until: bytes) -> None:
        """Reads at last, until something stands there."""
        if self._kind == "terminal":
            os.write(self._ours, b"\x11")  # Ctrl-Q
        read = b""
        while until not in read:
            read = read[-len(until) :] + os.read(self._ours, 65536)


@pytest.mark.parametrize("kind", ["pipe", "terminal"])
def test_a_log_that_nobody_reads_stops_nothing(kind, tmp_path, domain_id, simulator_ports):
    if kind == "terminal" and BACKEND != "dds":
        pytest.skip("rmw_cyclonedds_cpp writes to the terminal by itself, and waits for it")
    system = fly(tmp_path, domain_id, sensors=(CAMERA,))
    system.bridge = Unread(system.bridge, kind)
    with system:
        vehicle = Vehicle(system.peer)
        vehicle.wait_state(connected=True)
        recording = Recording(system)
        recording.subscribe({**DIAGNOSTICS, main_topic(CAMERA): topics_of(CAMERA)[main_topic(CAMERA)]})
        recording.collect(5, [main_topic(CAMERA), "/diagnostics"])
        memory = system.bridge.resident_bytes()

        def lost() -> float:
            recording.collect_more(1, ["/diagnostics"])
            return Report(recording.messages("/diagnostics")[-1]).find("rfly_bridge: program")["log_lines_lost"]

        # Every refusal is a line: far more of them than the pipe and the queue hold.
        refused, end = 0, time.monotonic() + 300
        while lost() < count(100, 20_000):
            for _ in range(100):
                assert not vehicle.mode(f"NONSENSE{refused}")
                refused += 1
            assert time.monotonic() < end, f"no line of the log was lost after {refused} refusals"
        recording.collect_more(30, [main_topic(CAMERA)])
        vehicle.next("state")
        report = Report(recording.messages("/diagnostics")[-1])
        assert report.levels["rfly_bridge: program"] in (0, 1)
        grown = system.bridge.resident_bytes() - memory
        assert grown < 48 << 20, f"{grown >> 20} MiB more"
        print(f"{kind}: {refused} refusals, {lost():.0f} lines lost, {grown >> 10} KiB more")

        if kind == "pipe":
            system.bridge.resume(b"log lines lost: output too slow or full\n")
        # And it ends in order, with or without a reader.
        os.kill(system.bridge.pid, signal.SIGTERM)
        system.bridge._process.wait(60)


def test_long_and_forged_texts_of_a_client_stay_short_and_on_their_line(tmp_path, domain_id, simulator_ports):
    with fly(tmp_path, domain_id, sensors=(CAMERA,)) as system:
        vehicle = Vehicle(system.peer)
        vehicle.wait_state(connected=True)
        assert not vehicle.mode("warm")
        memory = system.bridge.resident_bytes()
        for n in range(12):
            assert not vehicle.mode(f"{n}" + "x" * 10_000_000)
        assert not vehicle.mode("A\n2026-01-01T00:00:00.000000Z  INFO forged\x1b[2J")
        system.bridge.wait_for_output("forged")
        grown = system.bridge.resident_bytes() - memory
        log = system.bridge.output()
        print(f"{len(log)} bytes of log, {grown >> 20} MiB more")
        assert len(log) < 200_000
        # One request and its copies, not all of them.
        assert grown < 96 << 20, f"{grown >> 20} MiB more"
        begins = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z +(ERROR|WARN|INFO) ")
        # In a workspace the middleware writes lines of its own, and so do rcl and the rmw.
        theirs = re.compile(r"\d+\.\d+ \[\d+\]|\[WARN\] \[[\d.]+\] \[(rcl|rmw_\w+)\]: " if BACKEND != "dds" else "(?!)")
        lines = [line for line in log.splitlines()[1:] if not theirs.match(line)]
        odd = [line[:200] for line in lines if not begins.match(line) or "\x1b" in line]
        assert not odd, odd
        assert all(len(text) < 2000 for text in vehicle.texts())
