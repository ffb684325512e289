"""Datagrams as the simulator sends them, with lies in them (docs/wire has the layouts)."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable

from pymavlink.dialects.v20 import common

HEARTBEATS, CONTROL, TRUTH = 20005, 20101, 30101
OFFBOARD = 6 << 16
ARMED = 128
FAR = 9000.0
"""Where no vehicle of the emulator is, in m."""


def truth(sim_time: float, position: tuple[float, float, float] = (FAR, 0.0, -FAR), vehicle: int = 1) -> bytes:
    """The true state of 168 bytes."""
    state = struct.pack("<4i", 123456789, vehicle, 3, 0)
    state += struct.pack("<21f", 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, *[0.0] * 8, 0, 0, -9.8)
    state += struct.pack("<3f", 0, 0, 0)
    return state + struct.pack("<7d", sim_time, *position, 0.0, 0.0, 0.0)


def frame(sim_time: float, payload: bytes = b"\0") -> bytes:
    """The only datagram of a frame (33 bytes)."""
    return struct.pack("<6id", 1234567893, 32 + len(payload), 0, 1, 1, 0, sim_time) + payload


def clock(vehicle: int, ahead_s: float) -> bytes:
    """CopterSim's heartbeat."""
    now = int(time.time() * 1000)
    return struct.pack("<2i3q", 123456789, vehicle, now - int(ahead_s * 1000), now, 1)


def armed(vehicle: int = 1) -> bytes:
    """HEARTBEAT of PX4, armed in OFFBOARD."""
    link = common.MAVLink(None, srcSystem=vehicle, srcComponent=1)
    return link.heartbeat_encode(2, 12, ARMED | 29, OFFBOARD, 4, 3).pack(link)


class Storm:
    """Sends a datagram to each of some ports again and again, from entering to leaving."""

    def __init__(self, sender: socket.socket, address: str, content: dict[int, Callable[[], bytes]], period: float = 0.005):
        self._sender, self._address, self._content, self._period = sender, address, content, period
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.rounds = 0

    def __enter__(self) -> Storm:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._period):
            for port, make in self._content.items():
                try:
                    self._sender.sendto(make(), (self._address, port))
                except OSError:
                    pass  # nobody listens there
            self.rounds += 1
