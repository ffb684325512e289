"""`ros2` as a user calls it, and an rclpy node that collects messages."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest
import rclpy
from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.qos import QoSProfile

NODE = "/rfly_bridge"
FIGURES: list[str] = []
"""Lines for the end of the report."""

# Verbs that ask the graph need time to see it; without a daemon nothing remains of the test.
GRAPH_VERBS = {
    ("topic", "list"), ("topic", "info"), ("topic", "type"), ("topic", "find"), ("topic", "echo"),
    ("node", "list"), ("node", "info"), ("service", "list"),
    ("param", "list"), ("param", "get"), ("param", "set"), ("param", "describe"), ("param", "dump"), ("param", "load"),
}  # fmt: skip


NEEDS_ROS2 = pytest.mark.skipif(shutil.which("ros2") is None, reason="ros2cli is not installed (PyPI has none)")
"""Of tests that call `ros2`."""

# Zenoh of rmw_zenoh_cpp writes warnings about its start to the standard output of `ros2`.
QUIET = {"RUST_LOG": "zenoh=error"}


def command(*words: str) -> list[str]:
    """The words of a `ros2` call; skips the test where there is no such command."""
    if shutil.which("ros2") is None:
        pytest.skip(NEEDS_ROS2.kwargs["reason"])
    # A parameter's node must be seen with its services, which takes longer on a busy machine.
    seconds = "6" if words[0] == "param" else "3"
    graph = ["--no-daemon", "--spin-time", seconds] if tuple(words[:2]) in GRAPH_VERBS else []
    return ["ros2", *words, *graph]


def ros2(*words: str, timeout: float = 40.0, code: int = 0) -> str:
    """Runs `ros2 WORDS` and returns what it prints; fails unless it ends with `code`."""
    environment = os.environ | QUIET
    done = subprocess.run(command(*words), capture_output=True, text=True, timeout=timeout, check=False, env=environment)
    assert done.returncode == code, f"ros2 {' '.join(words)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def ros2_for(seconds: float, *words: str) -> str:
    """Runs `ros2 WORDS`, which never ends by itself, for some time and returns what it printed."""
    with Background(*words) as background:
        time.sleep(seconds)
    return background.output


def package(name: str) -> str:
    """The prefix of an installed package; skips the test where it is not installed."""
    try:
        return get_package_prefix(name)
    except PackageNotFoundError:
        pytest.skip(f"package {name} is not installed in this workspace")


class Background:
    """A `ros2` call, or another program, that runs while the test goes on; ended with Ctrl-C to all its processes."""

    def __init__(self, *words: str, program: list[str] | None = None):
        self.command = program or command(*words)
        self.output, self.code = "", None

    def __enter__(self) -> Background:
        # What `ros2 run` and `ros2 launch` start logs as usual.
        log = {} if {"run", "launch"} & set(self.command[1:2]) else QUIET
        environment = os.environ | log | {"PYTHONUNBUFFERED": "1"}
        self._process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
            start_new_session=True,
        )  # fmt: skip
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def _read(self) -> None:
        for line in self._process.stdout:
            if "not multicast-capable" not in line:  # what Cyclone says of loopback, whoever starts it
                self._lines.append(line)

    def so_far(self) -> str:
        """What it has printed until now."""
        return "".join(self._lines)

    def alive(self) -> bool:
        """Is it still running?"""
        return self._process.poll() is None

    def wait_for(self, pattern: str, timeout: float = 40.0) -> re.Match:
        """Returns as soon as the output matches."""
        deadline = time.monotonic() + timeout
        while not (match := re.search(pattern, self.so_far())):
            assert self.alive(), f"{self.command} ended:\n{self.so_far()}"
            assert time.monotonic() < deadline, f"no {pattern!r}:\n{self.so_far()}"
            time.sleep(0.05)
        return match

    def children(self) -> list[psutil.Process]:
        """Every process it started."""
        return psutil.Process(self._process.pid).children(recursive=True)

    def end(self, how: signal.Signals = signal.SIGINT, *, group: bool = True, timeout: float = 30.0) -> int:
        """Ends it by a signal, to the whole group as a terminal does at Ctrl-C, and returns the exit code."""
        family = [psutil.Process(self._process.pid), *self.children()] if self.alive() else []
        if family:
            (os.killpg if group else os.kill)(self._process.pid, how)
        try:
            self.code = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.code = None
        for process in family:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                pass
        self._process.wait()
        self._reader.join(5)
        self.output = self.so_far()
        assert self.code is not None, f"{self.command} did not end at {how.name} within {timeout:.0f} s:\n{self.output}"
        return self.code

    def __exit__(self, kind, error, trace) -> None:
        if self.code is None:
            try:
                self.end()
            except AssertionError:
                if kind is None:
                    raise


class Listener:
    """A node with an executor of its own. Messages collect in lists while the test goes on."""

    def __init__(self, name: str, *, parameters: dict[str, Any] | None = None):
        self._context = Context()
        rclpy.init(context=self._context)
        overrides = [rclpy.parameter.Parameter(key, value=value) for key, value in (parameters or {}).items()]
        self.node = rclpy.create_node(name, context=self._context, parameter_overrides=overrides)
        self._executor = MultiThreadedExecutor(2, context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, daemon=True)

    def _spin(self) -> None:
        try:
            self._executor.spin()
        except ExternalShutdownException:
            pass

    def __enter__(self) -> Listener:
        self._thread.start()
        return self

    def __exit__(self, kind, error, trace) -> None:
        self._context.try_shutdown() if hasattr(self._context, "try_shutdown") else self._context.shutdown()
        self._thread.join(10)
        self.node.destroy_node()

    def collect(self, kind: type, topic: str, qos: QoSProfile | int, **options) -> list:
        """Subscribes; the returned list grows with every message."""
        messages: list = []
        subscription = self.node.create_subscription(kind, topic, messages.append, qos, **options)
        messages_of[id(messages)] = subscription
        return messages

    def forget(self, messages: list) -> None:
        """Ends the subscription that fills `messages`."""
        self.node.destroy_subscription(messages_of.pop(id(messages)))


messages_of: dict[int, Any] = {}


def wait(wanted: Callable[[], Any], what: str, timeout: float = 30.0) -> Any:
    """Polls `wanted` until it returns something true."""
    deadline = time.monotonic() + timeout
    while not (result := wanted()):
        assert time.monotonic() < deadline, f"waited {timeout:.0f} s for {what}"
        time.sleep(0.02)
    return result


def wait_count(messages: list, count: int, what: str, timeout: float = 30.0) -> list:
    """Waits until a list of `Listener.collect` has `count` messages."""
    try:
        wait(lambda: len(messages) >= count, f"{count} of {what}", timeout)
    except AssertionError:
        raise AssertionError(f"{len(messages)} of {count} {what} after {timeout:.0f} s") from None
    return messages
