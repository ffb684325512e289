"""Emulator and bridge as one context manager, for whatever subscribes."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from types import TracebackType

from backend import environment
from processes import Process, binary

from sensors import Sensor, write_config

LISTENS = "Ctrl-C ends it."
"""What the emulator prints once its ports are open."""

# Programs that run now: their output is shown when a test fails.
RUNNING: list[Programs] = []


def ros_value(value: object) -> str:
    """Writes a parameter value as the command line of ROS 2 wants it (YAML)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(ros_value(v) for v in value) + "]"
    return str(value)


class Programs:
    """Starts the emulator and the bridge on loopback; both must end with exit code 0 at Ctrl-C."""

    def __init__(
        self,
        directory: Path,
        domain_id: int,
        sensors: list[Sensor],
        *,
        parameters: dict[str, object] | None = None,
        emulator: list[str] | None = None,
        remaps: dict[str, str] | None = None,
        keep_frames: bool = True,
        variables: dict[str, str] | None = None,
    ):
        directory.mkdir(parents=True, exist_ok=True)
        self.directory, self.sensors = directory, sensors
        self.truth_file, self.truth_frames = directory / "truth.jsonl", directory / "frames"
        self.config = write_config(directory / "Config.json", sensors)
        arguments = ["--ros-args", "-p", f"config:={self.config}", "-p", "simulator_address:=127.0.0.1"]
        for name, value in (parameters or {}).items():
            arguments += ["-p", f"{name}:={ros_value(value)}"]
        for source, target in (remaps or {}).items():
            arguments += ["-r", f"{source}:={target}"]
        bridge = binary("rfly_bridge", "RFLY_BRIDGE")
        around = environment(domain_id) | (variables or {})
        self.bridge = Process("rfly_bridge", [bridge, *arguments], directory / "bridge.log", around)
        self._control = free_port()
        options = ["--control", str(self._control), *(emulator or [])]
        frames = self.truth_frames if keep_frames else None
        self.emulator = emulator_process(directory, options, self.truth_file, frames)

    def __enter__(self):
        RUNNING.append(self)
        self.start_emulator()
        self.bridge.start()
        return self

    def start_emulator(self) -> None:
        """Starts the emulator, unless it runs already, and waits until it listens."""
        if not self.emulator.alive():
            self.emulator.start().wait_for_output(LISTENS)

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        codes = {process.name: process.stop() for process in (self.bridge, self.emulator)}
        if kind is None:
            RUNNING.remove(self)
            assert codes == {"rfly_bridge": 0, "rflysim_emulator": 0}, f"exit codes {codes}\n{self.report()}"

    def command(self, text: str) -> dict:
        """Gives the emulator a command (`pause`, `restart`, `faults loss=0.1`, `stats`, ...) and returns its answer."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            control.settimeout(30)
            control.sendto(text.encode(), ("127.0.0.1", self._control))
            answer = json.loads(control.recv(65536))
        assert answer["ok"], answer
        return answer

    def assert_alive(self) -> None:
        """Fails at once when the bridge has ended, instead of waiting for messages that cannot come."""
        assert self.bridge.alive(), f"the bridge has ended\n{self.report()}"

    def report(self) -> str:
        """The end of what both programs printed."""
        return "\n".join(f"--- {p.name}: {p.log}\n{p.tail()}" for p in (self.emulator, self.bridge))


def free_port() -> int:
    """A UDP port that nobody uses now."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def emulator_process(directory: Path, options: list[str], truth: Path, frames: Path | None) -> Process:
    """The emulator with its truth written down, the rendered frames too where a directory is given."""
    program = binary("rflysim_emulator", "RFLY_EMULATOR")
    command = [program, "--truth", truth, *(["--truth-frames", frames] if frames else []), *options]
    return Process("rflysim_emulator", command, directory / "emulator.log", {"RUST_BACKTRACE": "1"})
