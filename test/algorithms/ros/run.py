"""Emulator and bridge in simulation time, which waits for the algorithm: a slow machine loses nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import contextmanager

from ament_index_python.packages import get_package_prefix
from geometry import nanoseconds
from programs import Programs

from ros import Background, package
from sensors import COMPRESSED, with_defaults

SECONDS = float(os.environ.get("RFLY_ALGORITHM_SECONDS", "63"))
"""Simulation time of a run; the route begins with 3 s of rest."""
SPEED = float(os.environ.get("RFLY_ALGORITHM_SPEED", "0.5"))
"""Simulation seconds per second."""

PATIENCE = 10.0
"""Seconds that a result may take."""

# The true motion is written down with every frame of this one.
WITNESS = with_defaults(9, 5, COMPRESSED, rate=100)


class Flight(Programs):
    """One vehicle on a route through the yard. Time stands still until everybody listens."""

    def __init__(self, directory, domain_id: int, sensors: list, *, parameters: dict | None = None, emulator: tuple = ()):
        parameters = {"transport_mode": "file", "time.mode": "sim", "control.link": "off"} | (parameters or {})
        options = ["--speed", str(SPEED), "--autopilot", "none", *emulator]
        super().__init__(
            directory, domain_id, [*sensors, WITNESS], parameters=parameters, emulator=options, keep_frames=False
        )

    def start_emulator(self) -> None:
        """Stops the clock as soon as it has begun."""
        super().start_emulator()
        self.command("pause")

    def __enter__(self) -> Flight:
        super().__enter__()
        self.bridge.wait_for_output("sensors: ")
        return self

    def fly(self, done: Callable[[], float], seconds: float = SECONDS, behind: float = 0.4) -> int:
        """Lets time run until `done`, the stamp of the newest result in s, reaches `seconds`. From the first result on,
        time stands still while results are further `behind`. Returns how often none came for `PATIENCE` nevertheless: what
        the result would have been of was lost, and time went on."""
        first, last, lost = 0.0, time.monotonic(), 0
        newest = 0.0
        self.command("resume")
        while newest < seconds:
            self.assert_alive()
            if (reached := done()) > newest:
                newest, last = reached, time.monotonic()
            now = self.command("stats")["sim_time"]
            first = first or newest
            assert first or now < seconds + 10, f"no result until {now:.1f} s"
            assert now < newest + 10 or not first, f"no result after {newest:.1f} s until {now:.1f} s"
            waits = first and now - newest > behind
            if waits and time.monotonic() - last > PATIENCE:
                lost, last = lost + 1, time.monotonic()
                self.command("resume")
                time.sleep(0.3 / SPEED)
            else:
                self.command("pause" if waits else "resume")
            time.sleep(0.02)
        self.command("pause")
        return lost


def newest(messages: list) -> float:
    """Stamp of the last message in s; 0 before the first one."""
    return nanoseconds(messages[-1].header.stamp) * 1e-9 if messages else 0.0


@contextmanager
def node(name: str, program: str, *arguments: str, said: str | None = None):
    """A program of an installed package, as `ros2 run` starts it; skips the test where the package is not installed."""
    package(name)
    with Background(program=[f"{get_package_prefix(name)}/lib/{name}/{program}", *arguments]) as running:
        if said:
            running.wait_for(said)
        yield running


def settings(**parameters) -> list[str]:
    """Arguments that set parameters: `a__b=1` is `-p a.b:=1`."""
    arguments = []
    for name, value in parameters.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        arguments += ["-p", f"{name.replace('__', '.')}:={text}"]
    return arguments
