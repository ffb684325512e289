"""Ctrl-C on a machine that has no time: the bridge leaves the graph in order, and nothing of it runs after its last word."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from backend import BACKEND
from mavros import fly

# Enough that a middleware with global destructors crashes in one of them if they run beside its threads.
STOPS = 12 if BACKEND == "rclrs" else 3


@contextmanager
def busy() -> Iterator[None]:
    """Every processor has two other things to do."""
    command = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(command) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def test_the_bridge_stops_in_order_while_others_want_the_processors(tmp_path, domain_id, simulator_ports):
    with busy():
        for stop in range(STOPS):
            # Leaving it insists on exit code 0.
            with fly(tmp_path / str(stop), domain_id) as system:
                system.bridge.wait_for_output("sensors: ")
            lines = system.bridge.output().splitlines()
            assert lines[-1].endswith(" stopped"), "\n".join(lines[-20:])
