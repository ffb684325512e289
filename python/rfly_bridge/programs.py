"""Starts the bridge, and the emulator of the simulator, for a test or a notebook."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .client import BridgeError, Sim, connect

SENSORS: list[dict[str, Any]] = [
    {"SeqID": number, "TypeID": type_id, "TargetCopter": 1, "TargetMountType": 0, "DataWidth": width, "DataHeight": height,
     "DataCheckFreq": rate, "CameraFOV": 90, "SendProtocol": [1, 0, 0, 0, 0, 0, 0, 0], "SensorPosXYZ": position,
     "SensorAngEular": [0, 0, 0], "otherParams": parameters}
    for number, type_id, width, height, rate, position, parameters in (
        (0, 1, 320, 240, 20, [0.3, 0, 0], [0] * 8),
        (1, 2, 320, 240, 20, [0.3, 0, 0], [0.3, 60, 0.001, 0, 0, 0, 0, 0]),
        (2, 20, 180, 16, 10, [0, 0, -0.2], [50, 0, -180, 180, -30, 20, 0, 0]),
    )
]  # fmt: skip
"""The sensors of `start()` without `config`: `sensor0/img_rgb`, `sensor1/img_depth` (same pose), `sensor2/vehicle_lidar`."""
TAIL_LINES = 30


class StartError(BridgeError):
    """A program ended or did not get ready; the message has the end of its log."""


def start(
    config: str | Path | Sequence[Mapping[str, Any]] | None = None,
    *,
    emulator: bool | Sequence[str] = True,
    parameters: Mapping[str, Any] | None = None,
    domain_id: int | None = None,
    timeout: float = 60.0,
) -> Sim:
    """Starts a bridge, and unless `emulator` is false the emulator of the simulator, and connects to it. `Sim.close()`, the end
    of its `with` block or of Python ends them.

    `config` is a Config.json, or the list of its `VisionSensors`; without it there are a camera, a depth camera and a lidar
    (`SENSORS`). `emulator` may be its options instead of the default `["--grounded"]`: a vehicle on the ground. `parameters` are those
    of docs/parameters.md. The bridge gets a free port, and a DDS domain of its own on this host unless `ROS_DOMAIN_ID` or
    `domain_id` name one. The simulator's UDP ports are fixed: only one simulator fits on a host.

    Raises `StartError` with the end of the log if a program does not start.
    """
    directory = Path(tempfile.mkdtemp(prefix="rfly_bridge-"))
    programs: list[_Program] = []
    names = dict(os.environ)
    names.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
    if domain_id is not None:
        names["ROS_DOMAIN_ID"] = str(domain_id)
    names.setdefault("ROS_LOCALHOST_ONLY", "1")

    def end() -> None:
        atexit.unregister(end)
        for program in reversed(programs):
            program.stop()
        shutil.rmtree(directory, ignore_errors=True)

    atexit.register(end)
    try:
        if not isinstance(config, (str, Path)):
            sensors = json.dumps({"VisionSensors": list(SENSORS if config is None else config)})
            config = directory / "Config.json"
            config.write_text(sensors)
        if emulator is not False:
            options = ["--grounded"] if emulator is True else list(emulator)
            programs.append(_Program("rflysim_emulator", options, directory, names))
            programs[0].wait("Ctrl-C ends it.", timeout)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        chosen = {"config": Path(config).resolve(), "view.control": True, **(parameters or {}), "view.port": port}
        if emulator is not False:
            chosen.setdefault("simulator_address", "127.0.0.1")
        arguments = [word for name, value in chosen.items() for word in ("-p", f"{name}:={_yaml(value)}")]
        bridge = _Program("rfly_bridge", ["--ros-args", *arguments], directory, names)
        programs.append(bridge)
        bridge.wait(f"http://127.0.0.1:{port}/", timeout)
        sim = connect(port, timeout=timeout)
    except BaseException:
        end()
        raise
    sim._ends.append(end)
    return sim


class _Program:
    """One program, and its log."""

    def __init__(self, name: str, arguments: Sequence[str], directory: Path, environment: Mapping[str, str]):
        self.name, self.log = name, directory / f"{name}.log"
        command = [_find(name), *map(str, arguments)]
        with self.log.open("wb") as log:
            # A session of its own: Ctrl-C in a notebook is for the notebook.
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True
            )

    def wait(self, ready: str, timeout: float) -> None:
        """Returns when the log has `ready` in it."""
        end = time.monotonic() + timeout
        while ready not in self.log.read_text(errors="replace"):
            code = self.process.poll()
            if code is not None:
                raise StartError(f"{self.name} has ended with exit code {code}:\n{self.tail()}")
            if time.monotonic() > end:
                raise StartError(f"{self.name} is not ready within {timeout:g} s:\n{self.tail()}")
            time.sleep(0.05)

    def tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-TAIL_LINES:])

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _find(name: str) -> str:
    """The program: named by `RFLY_BRIDGE` or `RFLY_EMULATOR`, of this wheel, or on the path."""
    named = os.environ.get({"rfly_bridge": "RFLY_BRIDGE", "rflysim_emulator": "RFLY_EMULATOR"}[name])
    beside = os.pathsep.join([sysconfig.get_path("scripts"), str(Path(sys.executable).parent)])
    found = named or shutil.which(name, path=beside) or shutil.which(name)
    if found is None:
        raise StartError(f"there is no program {name} on the path: install the wheel, or set RFLY_BRIDGE and RFLY_EMULATOR")
    return found


def _yaml(value: Any) -> str:
    """A value of a parameter on the command line."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_yaml, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
