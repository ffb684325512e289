"""A client of services that is rclpy of the sourced ROS 2, for a middleware whose services the peer cannot call itself."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

from backend import environment
from peer.messages import TYPES, make
from peer.participant import Peer


def interpreter() -> str:
    """The Python that has rclpy: that of `RFLY_ROS_PYTHON`, or which runs `ros2`."""
    if named := os.environ.get("RFLY_ROS_PYTHON"):
        return named
    ros2 = shutil.which("ros2")
    assert ros2, "a workspace is under test (RFLY_BACKEND), but there is no ros2 command"
    return re.match(r"#! *(\S+)", Path(ros2).read_text())[1]


def module_path() -> str:
    """PYTHONPATH as the workspace sets it: our own interpreter, another version, must not see it."""
    prefixes = [Path(prefix) for prefix in os.environ["AMENT_PREFIX_PATH"].split(os.pathsep)]
    forms = ("lib/python3*/site-packages", "local/lib/python3*/dist-packages")
    return os.pathsep.join(str(path) for prefix in prefixes for form in forms for path in prefix.glob(form))


class Caller:
    """The process that calls; one for a peer."""

    def __init__(self, domain_id: int):
        around = {**os.environ, **environment(domain_id), "PYTHONPATH": module_path()}
        self._process = subprocess.Popen(
            [interpreter(), Path(__file__).with_name("rclpy_caller.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=around,
        )
        self.found: set[str] = set()
        self.answers: dict[tuple[str, int], bytes] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._process.stdout:
            said = json.loads(line)
            if "found" in said:
                self.found.add(said["service"])
            else:
                self.answers[said["service"], said["number"]] = bytes.fromhex(said["cdr"])

    def say(self, **what: Any) -> None:
        """Gives a command."""
        assert self._process.poll() is None, "the caller has ended"
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()

    def close(self) -> None:
        """Ends the process."""
        self._process.stdin.close()
        self._process.wait(30)


class RclpyClient:
    """Calls one service, as `peer.services.CycloneClient` does."""

    _numbers = itertools.count(1)

    def __init__(self, peer: Peer, service: str, ros_type: str):
        self.type, self.service, self._peer = ros_type, service, peer
        if peer.caller is None:
            peer.caller = Caller(peer.domain_id)
        self._caller = peer.caller
        self._caller.say(service=service, type=ros_type)

    def available(self) -> bool:
        """Has discovery found the service?"""
        return self.service in self._caller.found

    def wait(self, timeout: float = 60.0) -> RclpyClient:
        """Returns once the service is there."""
        self._peer.wait_for(self.available, f"the service {self.service}", timeout)
        return self

    def send(self, request: dict[str, Any]) -> int:
        """Sends a request, fields by name, and returns its number."""
        number, name = next(self._numbers), f"{self.type}_Request"
        cdr = bytes(TYPES.serialize_cdr(make(name, request), name))
        self._caller.say(service=self.service, type=self.type, number=number, cdr=cdr.hex())
        return number

    def receive(self, number: int, timeout: float = 30.0) -> Any:
        """The response to request `number`."""
        key = (self.service, number)
        self._peer.wait_for(lambda: key in self._caller.answers, f"the response of {self.service}", timeout)
        cdr = self._caller.answers.pop(key)
        # rmw_fastrtps_cpp serializes into as many bytes as it may need; the rest is 0.
        assert cdr[:2] == b"\0\1", "little-endian"
        definition = TYPES.get_msgdef(f"{self.type}_Response")
        return definition.deserialize_cdr_le(cdr[4:], 0, definition.cls, TYPES)[0]

    def call(self, timeout: float = 30.0, **fields: Any) -> Any:
        """Sends a request and returns the response."""
        return self.receive(self.send(fields), timeout)
