"""The vendor's public Python client in a process of its own; `RFLYSIM_SDK` names a directory with a copy of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

PATIENCE = 30.0


def wait(until: Callable[[], bool], what: object) -> None:
    """Waits until it is so; `what` is said, or called for what to say, if it never is."""
    end = time.monotonic() + PATIENCE
    while not until():
        assert time.monotonic() < end, what() if callable(what) else what
        time.sleep(0.02)


class VendorClient:
    """Calls the client; the test is skipped where there is none."""

    def __init__(self, directory: Path | None = None):
        sdk = os.environ.get("RFLYSIM_SDK")
        if not sdk:
            pytest.skip("RFLYSIM_SDK is not set: the vendor's client is not on this machine")
        program = Path(__file__).with_name("vendor_calls.py")
        command = [sys.executable, str(program), sdk, *([str(directory)] if directory else [])]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> VendorClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        assert self.process.wait(30) == 0

    def __call__(self, client: str, method: str, *arguments: object) -> object:
        self.process.stdin.write(json.dumps([client, method, *arguments]) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("done "):
                return json.loads(line.removeprefix("done "))
        raise AssertionError(f"the client has ended in {client}.{method}")
