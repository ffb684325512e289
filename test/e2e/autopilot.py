"""One emulated vehicle over MAVLink, through pymavlink: a client that shares no code with this repository."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from processes import Process, binary
from pymavlink import mavutil
from pymavlink.dialects.v20 import common as mavlink

OFFBOARD, LOITER, LAND, TAKEOFF, RETURN, MISSION = (6, 0), (4, 3), (4, 6), (4, 2), (4, 5), (4, 4)
GROUND_STATION = 6
ONBOARD = 18
NAN = math.nan


class Pilot:
    """A ground station with one vehicle: sends HEARTBEAT and a stream of set-points, keeps what it hears."""

    def __init__(self, vehicle: int = 1, kind: int = GROUND_STATION):
        self.vehicle, self.kind = vehicle, kind
        port = 20101 + 2 * (vehicle - 1)
        self.link = mavutil.mavlink_connection(
            f"udpin:127.0.0.1:{port}", source_system=255, source_component=190, dialect="common"
        )
        self.out = mavutil.mavlink_connection(
            f"udpout:127.0.0.1:{port - 1}", source_system=255, source_component=190, dialect="common"
        )
        self.mav = self.out.mav
        self.last: dict[str, mavlink.MAVLink_message] = {}
        self.count: dict[str, int] = {}
        self.heard: list[mavlink.MAVLink_message] = []
        self.texts: list[str] = []
        self.setpoint: Callable[[], None] | None = None
        self._chunks: dict[int, str] = {}
        self._beat = self._stream = 0.0

    def __enter__(self) -> Pilot:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.link.close()
        self.out.close()

    def spin(self, seconds: float, until: Callable[[], bool] | None = None) -> bool:
        """Listens for a while; ends early, with True, when `until` says so."""
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            if now - self._beat > 0.5:
                self._beat = now
                self.mav.heartbeat_send(self.kind, 8, 0, 0, 0)
            if self.setpoint and now - self._stream > 0.05:
                self._stream = now
                self.setpoint()
            message = self.link.recv_match(blocking=True, timeout=0.01)
            if message is not None:
                self._take(message)
            if until and until():
                return True
        return False

    def _take(self, message: mavlink.MAVLink_message) -> None:
        name = message.get_type()
        self.count[name] = self.count.get(name, 0) + 1
        self.last[name] = message
        if name in {"COMMAND_ACK", "PARAM_VALUE", "TIMESYNC", "MISSION_ITEM_REACHED"} or name.startswith("MISSION"):
            self.heard.append(message)
        if name == "STATUSTEXT":
            whole = self._chunks.get(message.id, "") if message.chunk_seq else ""
            self._chunks[message.id] = whole + message.text
            if message.chunk_seq:
                self.texts.pop()
            self.texts.append(self._chunks[message.id])

    # What the vehicle says.

    @property
    def mode(self) -> tuple[int, int]:
        """Main mode and sub mode."""
        custom = self.last["HEARTBEAT"].custom_mode
        return custom >> 16 & 0xFF, custom >> 24

    @property
    def armed(self) -> bool:
        return bool(self.last["HEARTBEAT"].base_mode & 128)

    @property
    def landed(self) -> int:
        return self.last["EXTENDED_SYS_STATE"].landed_state

    @property
    def position(self) -> tuple[float, float, float]:
        """North, east, down in m."""
        local = self.last["LOCAL_POSITION_NED"]
        return local.x, local.y, local.z

    def near(self, goal: tuple[float, float, float], distance: float = 0.4) -> bool:
        return math.dist(self.position, goal) < distance

    def wait(self, seconds: float, until: Callable[[], bool], what: str) -> None:
        """Fails with the last words of the vehicle unless `until` comes true."""
        came = self.spin(seconds, until)
        assert came, f"{what}: {self.last.get('HEARTBEAT')} {self.texts[-5:]} {self.last.get('LOCAL_POSITION_NED')}"

    def hears(self, text: str, seconds: float = 1.5) -> None:
        """Fails unless the vehicle says this; PX4 ends texts with a tab."""
        self.wait(seconds, lambda: f"{text}\t" in self.texts, text)

    # What the vehicle is told.

    def command(self, number: int, *params: float) -> int:
        """Sends COMMAND_LONG and returns the result; -1 if there is no answer."""
        self.heard.clear()
        padded = [*params, *[0.0] * (7 - len(params))]
        self.mav.command_long_send(self.vehicle, 1, number, 0, *padded)
        return self.answer(number)

    def answer(self, number: int) -> int:
        """Returns the result of the acknowledgement of a command; -1 if there is none."""
        acks = lambda: [m for m in self.heard if m.get_type() == "COMMAND_ACK" and m.command == number]  # noqa: E731
        self.spin(1.0, lambda: bool(acks()))
        return acks()[0].result if acks() else -1

    def set_mode(self, mode: tuple[int, int]) -> int:
        """Sends SET_MODE and returns the result of its acknowledgement."""
        self.heard.clear()
        self.mav.set_mode_send(self.vehicle, 1, mode[0] << 16 | mode[1] << 24)
        return self.answer(176)

    def arm(self, on: bool = True) -> int:
        return self.command(400, 1 if on else 0)

    def go(self, north: float, east: float, down: float, yaw: float = 0.0) -> None:
        """Streams a position from now on."""

        def send() -> None:
            target = (self.vehicle, 1, 1, 0b100111111000)
            self.mav.set_position_target_local_ned_send(0, *target, north, east, down, 0, 0, 0, 0, 0, 0, yaw, 0)

        self.setpoint = send

    def ready(self) -> None:
        """Waits until the vehicle can be armed."""
        known = lambda: {"HEARTBEAT", "LOCAL_POSITION_NED", "EXTENDED_SYS_STATE", "HOME_POSITION"} <= set(self.last)  # noqa: E731
        assert self.spin(20, lambda: known() and self.last["HEARTBEAT"].system_status == 3), self.last.keys()

    def take_off(self, height: float) -> None:
        """Streams, goes to OFFBOARD, arms and climbs."""
        self.go(0, 0, -height)
        self.spin(1.2)
        assert self.set_mode(OFFBOARD) == 0
        assert self.arm() == 0
        self.wait(20, lambda: self.near((0, 0, -height)), "climb")


class Vehicle:
    """The emulator with vehicles on the ground, as a context manager."""

    def __init__(self, directory: Path, *options: str):
        program = binary("rflysim_emulator", "RFLY_EMULATOR")
        # `--grounded` unless the test says where vehicles stand.
        where = [] if "--spawn" in options else ["--grounded"]
        command = [program, *where, *options]
        self.process = Process("rflysim_emulator", command, directory / "emulator.log", {"RUST_BACKTRACE": "1"})

    def __enter__(self) -> Vehicle:
        self.process.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        code = self.process.stop()
        assert kind is not None or code == 0, self.process.tail()
