"""One emulated vehicle over MAVLink, through pymavlink: a client that shares no code with this repository."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from processes import Process, binary
from programs import LISTENS
from pymavlink import mavutil
from pymavlink.dialects.v20 import common as mavlink

OFFBOARD, LOITER, LAND, TAKEOFF, RETURN, MISSION = (6, 0), (4, 3), (4, 6), (4, 2), (4, 5), (4, 4)
GROUND_STATION = 6
ONBOARD = 18
NAN = math.nan
# How long to wait for what must come: long enough for a machine that stands still for seconds.
PATIENCE = 30.0
# Streams that no test looks at but that of the rates, and what is enough of others, in Hz.
UNUSED = (1, 24, 31, 33, 36, 74, 83, 105, 141, 331)
ENOUGH = {30: 20, 32: 10}


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
        # 400 messages/s and parameters at 1000/s: the usual buffer holds them for half a second only.
        self.link.port.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.last: dict[str, mavlink.MAVLink_message] = {}
        self.count: dict[str, int] = {}
        self.heard: list[mavlink.MAVLink_message] = []
        self.texts: list[str] = []
        self.clock = 0.0
        """Time in s that the vehicle has lived through, by the stamps of ATTITUDE; what it left out does not count."""
        self.setpoint: Callable[[], None] | None = None
        self._chunks: dict[int, str] = {}
        self._beat = self._stream = 0.0

    def __enter__(self) -> Pilot:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.link.close()
        self.out.close()

    def spin(self, seconds: float, until: Callable[[], bool] | None = None) -> bool:
        """Listens for a while, and then to what has arrived meanwhile; ends early, with True, when `until` says so."""
        end = time.monotonic() + seconds
        # What has arrived when the time is over is less than this; what still comes cannot keep us here.
        left = 10_000
        while left:
            now = time.monotonic()
            if now - self._beat > 0.5:
                self._beat = now
                self.mav.heartbeat_send(self.kind, 8, 0, 0, 0)
            if self.setpoint and now - self._stream > 0.05:
                self._stream = now
                self.setpoint()
            late = now >= end
            message = self.link.recv_match(blocking=not late, timeout=0.01)
            if message is not None:
                self._take(message)
            if until and until():
                return True
            if late:
                left = left - 1 if message is not None else 0
        return False

    def fly(self, seconds: float) -> None:
        """Listens until the vehicle has lived so long, whatever this machine did meanwhile."""
        end = self.clock + seconds
        self.wait(seconds + PATIENCE, lambda: self.clock >= end, f"{seconds} s of the vehicle's time")

    def _take(self, message: mavlink.MAVLink_message) -> None:
        name = message.get_type()
        self.count[name] = self.count.get(name, 0) + 1
        if name == "ATTITUDE" and name in self.last:
            self.clock += min(max(message.time_boot_ms - self.last[name].time_boot_ms, 0), 100) * 1e-3
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

    def next(self, name: str, seconds: float = PATIENCE) -> mavlink.MAVLink_message:
        """A message that was not heard yet."""
        before = self.count.get(name, 0)
        self.wait(seconds, lambda: self.count.get(name, 0) > before, f"one more {name}")
        return self.last[name]

    def hears(self, text: str, seconds: float = PATIENCE) -> None:
        """Fails unless the vehicle says this; PX4 ends texts with a tab."""
        self.wait(seconds, lambda: f"{text}\t" in self.texts, text)

    # What the vehicle is told.

    def command(self, number: int, *params: float) -> int:
        """Sends COMMAND_LONG, as often as the protocol allows, and returns the result; -1 if there is no answer."""
        self.heard.clear()
        padded = [*params, *[0.0] * (7 - len(params))]
        return self._until_answered(number, lambda n: self.mav.command_long_send(self.vehicle, 1, number, n, *padded))

    def _until_answered(self, number: int, send: Callable[[int], None]) -> int:
        for attempt in range(5):
            send(attempt)
            if (result := self.answer(number)) >= 0:
                return result
        return -1

    def answer(self, number: int) -> int:
        """Returns the result of the acknowledgement of a command; -1 if there is none."""
        acks = lambda: [m for m in self.heard if m.get_type() == "COMMAND_ACK" and m.command == number]  # noqa: E731
        self.spin(10.0, lambda: bool(acks()))
        return acks()[0].result if acks() else -1

    def set_mode(self, mode: tuple[int, int]) -> int:
        """Sends SET_MODE and returns the result of its acknowledgement."""
        self.heard.clear()
        custom = mode[0] << 16 | mode[1] << 24
        return self._until_answered(176, lambda _: self.mav.set_mode_send(self.vehicle, 1, custom))

    def arm(self, on: bool = True) -> int:
        return self.command(400, 1 if on else 0)

    def go(self, north: float, east: float, down: float, yaw: float = 0.0) -> None:
        """Streams a position from now on."""

        def send() -> None:
            target = (self.vehicle, 1, 1, 0b100111111000)
            self.mav.set_position_target_local_ned_send(0, *target, north, east, down, 0, 0, 0, 0, 0, 0, yaw, 0)

        self.setpoint = send

    def quiet(self) -> None:
        """Asks for less, so that what matters is not lost where this program gets nothing done for seconds."""
        intervals = dict.fromkeys(UNUSED, -1.0) | {message: 1e6 / rate for message, rate in ENOUGH.items()}
        for message, interval in intervals.items():
            assert self.command(511, message, interval) == 0

    def patient(self, seconds: float = 30.0) -> None:
        """Tells the vehicle to wait so long for the next set-point: how steady this program streams is not the matter."""
        self.heard.clear()
        self.loss_after(seconds)
        name = "COM_OF_LOSS_T"
        told = lambda: any(m.get_type() == "PARAM_VALUE" and m.param_id == name for m in self.heard)  # noqa: E731
        self.wait(PATIENCE, told, name)

    def loss_after(self, seconds: float) -> None:
        """Sends how long it shall take until set-points are lost."""
        self.mav.param_set_send(self.vehicle, 1, b"COM_OF_LOSS_T", seconds, mavlink.MAV_PARAM_TYPE_REAL32)

    def boot_time(self) -> float:
        """The time in s since the vehicle was switched on, at which it had taken everything that was sent so far."""
        token = time.time_ns()
        self.mav.timesync_send(0, token)
        mine = lambda: [m.tc1 * 1e-9 for m in self.heard if m.get_type() == "TIMESYNC" and m.ts1 == token]  # noqa: E731
        self.wait(PATIENCE, lambda: bool(mine()), "an answer to TIMESYNC")
        return mine()[0]

    def ready(self) -> None:
        """Waits until the vehicle can be armed."""
        known = lambda: {"HEARTBEAT", "LOCAL_POSITION_NED", "EXTENDED_SYS_STATE", "HOME_POSITION"} <= set(self.last)  # noqa: E731
        assert self.spin(60, lambda: known() and self.last["HEARTBEAT"].system_status == 3), self.last.keys()

    def take_off(self, height: float) -> None:
        """Streams, goes to OFFBOARD, arms and climbs."""
        self.patient()
        self.go(0, 0, -height)
        assert self.set_mode(OFFBOARD) == 0
        self.wait(PATIENCE, lambda: self.mode == OFFBOARD and self.last["HEARTBEAT"].system_status == 3, "a stream")
        assert self.arm() == 0
        self.wait(40, lambda: self.near((0, 0, -height)), "climb")


class Vehicle:
    """The emulator with vehicles on the ground, as a context manager."""

    def __init__(self, directory: Path, *options: str):
        program = binary("rflysim_emulator", "RFLY_EMULATOR")
        # `--grounded` unless the test says where vehicles stand.
        where = [] if "--spawn" in options else ["--grounded"]
        command = [program, *where, *options]
        self.process = Process("rflysim_emulator", command, directory / "emulator.log", {"RUST_BACKTRACE": "1"})

    def __enter__(self) -> Vehicle:
        self.process.start().wait_for_output(LISTENS)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        code = self.process.stop()
        assert kind is not None or code == 0, self.process.tail()
