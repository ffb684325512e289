"""Flights, on the topics and services of mavros (docs/mavros.md): setpoints in OFFBOARD, and PX4's own landing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .client import BridgeError, Sim, Stream

OFFBOARD, LAND = "OFFBOARD", "AUTO.LAND"
RATE_HZ = 20.0
POSITION, VELOCITY = "setpoint_position/local", "setpoint_velocity/cmd_vel"
# MAV_RESULT
RESULTS = ("accepted", "temporarily rejected", "denied", "unsupported", "failed", "in progress", "cancelled")
# How long OFFBOARD is asked for while the vehicle takes notice of the first setpoints, in s.
NOTICE_S = 5.0


class Vehicle:
    """One vehicle. Positions are ENU in m from where its autopilot counts (`local_origin`), yaw is in rad, counter-clockwise from
    east.

    It flies by setpoints that this process repeats at 20 Hz. When they end (`close()`, the end of the process), PX4's failsafe
    takes over after `COM_OF_LOSS_T`. When somebody else changes the mode, the setpoints end, and nothing but `takeoff()` or
    `engage()` takes the vehicle back.
    """

    def __init__(self, sim: Sim, prefix: str, timeout: float = 10.0):
        self.prefix = prefix
        self._sim = sim
        self._stream: Stream | None = None
        self._texts = sim._subscribe(self._name("statustext/recv"), timeout)
        for topic in ("state", "local_position/pose", "local_position/velocity_local"):
            sim._subscribe(self._name(topic), timeout)

    @property
    def state(self) -> Any:
        """The newest `mavros_msgs/State`: `connected`, `armed`, `mode`, ..."""
        return self._sim.latest(self._name("state"))

    @property
    def position(self) -> np.ndarray:
        """Estimated position, ENU in m."""
        point = self._sim.latest(self._name("local_position/pose")).pose.position
        return np.array([point.x, point.y, point.z])

    @property
    def velocity(self) -> np.ndarray:
        """Estimated velocity, ENU in m/s."""
        linear = self._sim.latest(self._name("local_position/velocity_local")).twist.linear
        return np.array([linear.x, linear.y, linear.z])

    @property
    def yaw(self) -> float:
        """Estimated yaw in rad, counter-clockwise from east."""
        q = self._sim.latest(self._name("local_position/pose")).pose.orientation
        return math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))

    def wait_ready(self, timeout: float = 60.0) -> None:
        """Returns once the vehicle is connected and knows its position and its home."""
        self._until(lambda: self.state.connected, timeout, "is not connected")
        for topic in ("local_position/pose", "home_position/home"):
            self._sim.latest(self._name(topic), timeout=timeout)

    def arm(self) -> None:
        """Arms; returns when the vehicle is armed. Raises `BridgeError` with the vehicle's reason if it refuses."""
        self._command("arming", "cmd/arming", value=True)

    def disarm(self) -> None:
        """Disarms; returns when the vehicle is disarmed. In the air PX4 refuses."""
        self._command("disarming", "cmd/arming", value=False)
        self._end_stream()

    def set_mode(self, mode: str) -> None:
        """Changes the mode (`AUTO.LOITER`, `AUTO.RTL`, `POSCTL`, ...); returns when the vehicle is in it."""
        self._command(mode, "set_mode", custom_mode=mode)
        if mode != OFFBOARD:
            self._end_stream()

    def engage(self) -> None:
        """Takes the vehicle over where it is: setpoints of its present position, OFFBOARD, and arming."""
        self._engage(self.position, self.yaw)

    def takeoff(self, height: float = 3.0, *, timeout: float = 60.0) -> None:
        """Takes off to a height in m above where it is: OFFBOARD, arming, and straight up. Returns when it is there."""
        self.wait_ready(timeout)
        target = self.position + [0.0, 0.0, height]
        self._engage(target, self.yaw)
        self._arrive(target, 0.5, timeout)

    def goto(
        self, x: float, y: float, z: float, *, yaw: float | None = None, tolerance: float = 0.5, timeout: float = 60.0, wait: bool = True
    ) -> None:
        """Flies to a position; without `yaw` the vehicle keeps its own. Returns when it is within `tolerance` m, or at once
        without `wait`."""
        self._stay_engaged()
        target = np.array([x, y, z], float)
        self._setpoint(POSITION, _pose(target, self.yaw if yaw is None else yaw))
        if wait:
            self._arrive(target, tolerance, timeout)

    def set_velocity(self, vx: float, vy: float, vz: float, *, yaw_rate: float = 0.0) -> None:
        """Flies with a velocity (ENU, m/s) and a yaw rate (rad/s, counter-clockwise) until the next call of a method."""
        self._stay_engaged()
        self._setpoint(VELOCITY, {"twist": {"linear": _xyz((vx, vy, vz)), "angular": {"z": float(yaw_rate)}}})

    def land(self, *, timeout: float = 90.0, wait: bool = True) -> None:
        """Lands where it is (AUTO.LAND), and returns when it is on the ground and disarmed, or without `wait` when it lands."""
        self.set_mode(LAND)
        if wait:
            self._until(lambda: not self.state.armed, timeout, "is still armed")

    def _name(self, name: str) -> str:
        return f"{self.prefix}/{name}"

    def _command(self, what: str, service: str, **request: Any) -> None:
        before = self._texts.received
        response = self._sim.call(self._name(service), request)
        if response.get("success", response.get("mode_sent")):
            return
        end = time.monotonic() + 1.0
        while self._texts.received == before and time.monotonic() < end:
            time.sleep(0.02)  # The text with the reason comes by another queue than the response.
        result = response.get("result")
        results = [RESULTS[result]] if isinstance(result, int) and result < len(RESULTS) else []
        texts = [message.text.strip() for message in self._since(before)]
        reasons = "; ".join(results + texts) or "the vehicle is not connected, or gives no reason"
        raise BridgeError(f"{self.prefix}: {what} is refused: {reasons}")

    def _since(self, count: int) -> list[Any]:
        """Texts of the vehicle that arrived after the first `count`."""
        new = self._texts.received - count
        return self._sim.history(self._texts.topic)[-new:] if new > 0 else []

    def _engage(self, target: np.ndarray, yaw: float) -> None:
        stream = self._setpoint(POSITION, _pose(target, yaw))
        self._until(lambda: stream.sent >= RATE_HZ, 10.0, "gets no setpoints")  # PX4 wants some before OFFBOARD.
        end, mode = time.monotonic() + NOTICE_S, self.state.mode
        try:
            while True:
                try:
                    self.set_mode(OFFBOARD)
                    break
                except BridgeError:
                    # Where the mode has changed, somebody else flies.
                    if time.monotonic() > end or self.state.mode != mode:
                        raise
            if not self.state.armed:
                self.arm()
        except BridgeError:
            self._end_stream()
            raise
        self._until(lambda: self.state.mode == OFFBOARD and self.state.armed, 10.0, f"is not armed in {OFFBOARD}")

    def _stay_engaged(self) -> None:
        """Ends the setpoints where somebody else has taken the vehicle over."""
        state = self.state
        if self._stream is not None and state.mode == OFFBOARD and state.armed:
            return
        was_engaged = self._stream is not None
        self._end_stream()
        how = f"somebody has taken it out of {OFFBOARD}" if was_engaged else "it is not under control of this program"
        what = f"mode {state.mode or 'unknown'}, {'armed' if state.armed else 'disarmed'}"
        raise BridgeError(f"{self.prefix}: {how} ({what}): call takeoff() or engage()")

    def _arrive(self, target: np.ndarray, tolerance: float, timeout: float) -> None:
        def is_there() -> bool:
            self._stay_engaged()
            return bool(np.linalg.norm(self.position - target) < tolerance)

        self._until(is_there, timeout, f"is not at {target.round(2).tolist()}")

    def _until(self, condition: Callable[[], Any], timeout: float, what: str) -> None:
        """Waits for a condition, which is looked at 50 times a second."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() < end:
                time.sleep(0.02)
                continue
            texts = [message.text.strip() for message in self._since(0)[-3:]]
            state = f"mode {self.state.mode or 'unknown'}, position {self.position.round(2).tolist()}"
            raise TimeoutError(f"{self.prefix} {what} within {timeout:g} s ({state}); it says {texts}")

    def _setpoint(self, topic: str, fields: dict[str, Any]) -> Stream:
        if self._stream is not None and self._stream.topic == self._name(topic):
            self._stream.set(fields)
            return self._stream
        self._end_stream()
        self._stream = self._sim.publish(self._name(topic), fields, rate=RATE_HZ)
        return self._stream

    def _end_stream(self) -> None:
        if self._stream is not None:
            self._stream.stop()
            self._stream = None


def _xyz(values: Any) -> dict[str, float]:
    return dict(zip("xyz", map(float, values), strict=True))


def _pose(position: Any, yaw: float) -> dict[str, Any]:
    orientation = {"z": math.sin(yaw / 2), "w": math.cos(yaw / 2)}
    return {"pose": {"position": _xyz(position), "orientation": orientation}}
