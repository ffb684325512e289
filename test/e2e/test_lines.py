"""MAVLink that does not come through CopterSim: a serial line (a pseudo terminal) and a socket of an autopilot's own."""

from __future__ import annotations

import os
import pty
import socket
import threading
import time
import tty

import pytest
from backend import ANSWERS_PEER, environment
from mavros import Vehicle
from peer import Peer
from processes import Process, binary
from pymavlink.dialects.v20 import common

pytestmark = pytest.mark.skipif(not ANSWERS_PEER, reason="the peer's client speaks to Cyclone only")

# Not the CopterID: an autopilot of its own has a system id of its own.
SYSTEM = 7


class Far:
    """The autopilot's end: says HEARTBEAT ten times a second, and keeps what it hears."""

    def __init__(self, read, write):
        self._read, self._write, self._end = read, write, threading.Event()
        self.link = common.MAVLink(None, srcSystem=SYSTEM, srcComponent=1)
        self.link.robust_parsing = True
        self.heard = []
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._speak, self._listen)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._threads[0].join()

    def _speak(self):
        while not self._end.wait(0.1):
            beat = self.link.heartbeat_encode(2, 12, 157, 6 << 16, 4)
            self._write(beat.pack(self.link))

    def _listen(self):
        while not self._end.is_set():
            try:
                data = self._read()
            except OSError:  # closed at the end of the test
                return
            self.heard += self.link.parse_buffer(data) or []


def connected(tmp_path, domain_id, link: str, far: Far):
    """The bridge on this link sees the autopilot, and the autopilot sees the bridge."""
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "--ros-args", "-p", f"control.link:={link}", "-p", "imu.enabled:=false"]
    bridge = Process("rfly_bridge", command, tmp_path / "bridge.log", environment(domain_id)).start()
    peer = Peer(domain_id)
    try:
        state = Vehicle(peer).wait_state(30, connected=True)
        assert (state.mode, state.armed) == ("OFFBOARD", True), bridge.tail()
        end = time.monotonic() + 10

        def senders() -> set[int]:
            return {m.get_srcSystem() for m in list(far.heard) if m.get_type() == "HEARTBEAT"}

        # As mavros: the system of the vehicle, once it is known.
        while SYSTEM not in senders() and time.monotonic() < end:
            time.sleep(0.05)
        assert SYSTEM in senders(), (senders(), bridge.tail())
    finally:
        peer.close()
        assert bridge.stop() == 0


def test_an_autopilot_on_a_serial_line(tmp_path, domain_id, simulator_ports):
    ours, theirs = pty.openpty()
    tty.setraw(ours)
    device = os.ttyname(theirs)
    with Far(lambda: os.read(ours, 4096), lambda data: os.write(ours, data)) as far:
        connected(tmp_path, domain_id, f"serial:{device}:57600", far)


def test_an_autopilot_with_a_socket_of_its_own(tmp_path, domain_id, simulator_ports):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind(("127.0.0.1", 0))
        own.settimeout(0.2)
        bridge = []

        def read() -> bytes:
            try:
                data, sender = own.recvfrom(4096)
            except TimeoutError:
                return b""
            bridge[:] = [sender]
            return data

        def write(data: bytes) -> None:
            # An autopilot answers whoever spoke first.
            if bridge:
                own.sendto(data, bridge[0])

        with Far(read, write) as far:
            connected(tmp_path, domain_id, f"direct:127.0.0.1:{own.getsockname()[1]}", far)
