"""MAVLink that does not come through CopterSim: a serial line (a pseudo terminal) and a socket of an autopilot's own."""

from __future__ import annotations

import os
import pty
import random
import re
import select
import signal
import socket
import threading
import time
import tty
from contextlib import contextmanager
from pathlib import Path

from backend import environment
from diagnostics import Report
from mavros import Vehicle
from peer import Peer
from processes import Process, binary
from programs import emulator_process
from pymavlink.dialects.v20 import common

# Not the CopterID: an autopilot of its own has a system id of its own.
SYSTEM = 7
# How long the bridge waits for a HEARTBEAT: a machine that stands still for less is no loss.
TIMEOUT_S = 6.0
# How often the bridge tries to open a line is its own affair; it is not more often than this.
AWAY_S = 3.0


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
        for thread in self._threads:
            thread.join()

    def senders(self) -> set[int]:
        """Systems whose HEARTBEAT was heard."""
        return {m.get_srcSystem() for m in list(self.heard) if m.get_type() == "HEARTBEAT"}

    def _speak(self):
        while not self._end.wait(0.1):
            beat = self.link.heartbeat_encode(2, 12, 157, 6 << 16, 4)
            self._write(beat.pack(self.link))

    def _listen(self):
        while not self._end.is_set():
            self.heard += self.link.parse_buffer(self._read()) or []


class Terminal:
    """A pseudo terminal behind a name that stays, as udev gives it to an adapter."""

    def __init__(self, name):
        self._ours, self._theirs = pty.openpty()
        tty.setraw(self._ours)
        self._name = name
        name.symlink_to(os.ttyname(self._theirs))

    def read(self) -> bytes:
        ready, _, _ = select.select([self._ours], [], [], 0.1)
        return os.read(self._ours, 4096) if ready else b""

    def write(self, data: bytes) -> None:
        os.write(self._ours, data)

    def unplug(self) -> None:
        """The line hangs up and its name is gone."""
        self._name.unlink()
        os.close(self._theirs)
        os.close(self._ours)


class Socket:
    """An autopilot's socket; it answers whoever spoke last."""

    def __init__(self, port: int = 0):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", port))
        self._socket.settimeout(0.1)
        self._bridge = None
        self.port = self._socket.getsockname()[1]

    def read(self) -> bytes:
        try:
            data, self._bridge = self._socket.recvfrom(4096)
        except TimeoutError:
            return b""
        return data

    def write(self, data: bytes) -> None:
        if self._bridge:
            self._socket.sendto(data, self._bridge)

    def close(self) -> None:
        self._socket.close()


@contextmanager
def bridge_on(tmp_path, domain_id, link: str):
    """The bridge with this link, and the user of its topics."""
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "--ros-args", "-p", f"control.link:={link}"]
    command += ["-p", "imu.enabled:=false", "-p", f"control.timeout_s:={TIMEOUT_S}", "-p", "diagnostics.period_s:=0.2"]
    peer = Peer(domain_id)
    bridge = Process("rfly_bridge", command, tmp_path / "bridge.log", environment(domain_id)).start()
    try:
        yield bridge, Vehicle(peer)
        assert bridge.alive(), bridge.tail()
    finally:
        peer.close()
        assert bridge.stop() == 0


def meet(bridge: Process, vehicle: Vehicle, far: Far) -> None:
    """The bridge sees the autopilot, and the autopilot sees the bridge."""
    state = vehicle.wait_state(60, connected=True)
    assert (state.mode, state.armed) == ("OFFBOARD", True), bridge.tail()
    # As mavros: the system of the vehicle, once it is known.
    vehicle.peer.wait_for(lambda: SYSTEM in far.senders(), f"a HEARTBEAT of {SYSTEM}, {bridge.tail()}", 60)


def part(vehicle: Vehicle) -> None:
    """The bridge says that the autopilot is gone."""
    state = vehicle.wait_state(60, connected=False)
    assert (state.mode, state.armed) == ("", False)


def lines(bridge: Process, *words: str) -> list[str]:
    """What the log says with these words."""
    return [line for line in bridge.output().splitlines()[1:] if all(word in line for word in words)]


def assert_logged(bridge: Process, count: int, *words: str) -> None:
    """So many lines have these words; a thread of its own writes the log, so the last may come late."""
    end = time.monotonic() + 60.0
    while len(lines(bridge, *words)) < count and time.monotonic() < end:
        time.sleep(0.05)
    assert len(lines(bridge, *words)) == count, bridge.tail()


def assert_idle(bridge: Process) -> None:
    """A bridge without a link waits; it does not spin."""
    before, begin = bridge.cpu_seconds(), time.monotonic()
    time.sleep(AWAY_S)
    share = (bridge.cpu_seconds() - before) / (time.monotonic() - begin)
    assert share < 0.2, f"{share:.0%} of a core with nothing to do"


def test_a_serial_line_that_goes_away_is_opened_again_when_it_is_back(tmp_path, domain_id, simulator_ports):
    name = tmp_path / "ttyACM0"
    terminal = Terminal(name)
    with bridge_on(tmp_path, domain_id, f"serial:{name}:57600") as (bridge, vehicle):
        with Far(terminal.read, terminal.write) as far:
            meet(bridge, vehicle, far)
        terminal.unplug()
        part(vehicle)
        assert_idle(bridge)
        assert_logged(bridge, 1, "WARN", str(name))
        terminal = Terminal(name)
        with Far(terminal.read, terminal.write) as far:
            meet(bridge, vehicle, far)
        assert_logged(bridge, 1, "went away", str(name))
        assert_logged(bridge, 1, "is back", str(name))
        assert_logged(bridge, 3, str(name))
        assert_logged(bridge, 1, "nothing from it for")
        assert_logged(bridge, 2, "heartbeats come")
    terminal.unplug()


def test_a_serial_line_that_is_not_there_yet_is_named_once_and_waited_for(tmp_path, domain_id, simulator_ports):
    name = tmp_path / "ttyACM0"
    with bridge_on(tmp_path, domain_id, f"serial:{name}:57600") as (bridge, vehicle):
        bridge.wait_for_output(str(name))
        assert_idle(bridge)
        assert_logged(bridge, 1, "ERROR", str(name))
        terminal = Terminal(name)
        with Far(terminal.read, terminal.write) as far:
            meet(bridge, vehicle, far)
        assert_logged(bridge, 2, str(name))
    terminal.unplug()


def test_garbage_on_a_serial_line_is_counted_and_the_frames_behind_it_are_found(tmp_path, domain_id, simulator_ports):
    name = tmp_path / "ttyACM0"
    terminal = Terminal(name)
    with bridge_on(tmp_path, domain_id, f"serial:{name}:57600") as (bridge, vehicle):
        bridge.wait_for_output("is open")
        noise = random.Random(3)
        # What a wrong speed makes: bytes without a start, with starts that lead nowhere, and half a frame.
        without_start = bytes(noise.randrange(0xFD) for _ in range(500))
        terminal.write(without_start + noise.randbytes(1500) + bytes([0xFD, 255, 0, 0, 1, 2, 3]))
        with Far(terminal.read, terminal.write) as far:
            meet(bridge, vehicle, far)
            diagnostics = vehicle.peer.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray")

            def counted():
                diagnostics.take()
                for message in diagnostics.messages[-1:]:
                    values = Report(message).find("autopilot of vehicle 1")
                    return values if values.get("drop_mavlink_noise", 0) and values["frames"] >= 5 else None
                return None

            values = vehicle.peer.wait_for(counted, "the garbage in /diagnostics", 60)
        # Random bytes begin frames that are none: of a wrong checksum, with flags or ids that there are not.
        assert sum(values.get(key, 0) for key in ("drop_mavlink_checksum", "drop_mavlink_flags", "ignored_mavlink_unknown_message")) > 0
    terminal.unplug()


def test_a_bridge_that_stood_still_has_not_lost_whom_it_did_not_listen_to(tmp_path, domain_id, simulator_ports):
    own = Socket()
    with bridge_on(tmp_path, domain_id, f"direct:127.0.0.1:{own.port}") as (bridge, vehicle):
        with Far(own.read, own.write) as far:
            meet(bridge, vehicle, far)
            os.kill(bridge.pid, signal.SIGSTOP)
            time.sleep(TIMEOUT_S + 1.0)
            os.kill(bridge.pid, signal.SIGCONT)
            vehicle.next("state", 60.0)
            assert not lines(bridge, "nothing from it for"), bridge.tail()
    own.close()


def test_an_autopilot_with_a_socket_of_its_own_that_restarts_is_found_again(tmp_path, domain_id, simulator_ports):
    own = Socket()
    with bridge_on(tmp_path, domain_id, f"direct:127.0.0.1:{own.port}") as (bridge, vehicle):
        with Far(own.read, own.write) as far:
            meet(bridge, vehicle, far)
        # Whatever is sent to it now comes back as "port unreachable".
        own.close()
        part(vehicle)
        assert_idle(bridge)
        own = Socket(own.port)
        with Far(own.read, own.write) as far:
            meet(bridge, vehicle, far)
        assert_logged(bridge, 1, "nothing from it for")
        assert_logged(bridge, 2, "heartbeats come")
    own.close()


class FixedSocket(Socket):
    """The end of an arrangement with two fixed ports: it sends to one port, whoever spoke."""

    def __init__(self, port: int, bridge_port: int):
        super().__init__(port)
        self._to = ("127.0.0.1", bridge_port)

    def write(self, data: bytes) -> None:
        self._socket.sendto(data, self._to)


def test_an_autopilot_that_sends_to_a_fixed_port_is_met_on_the_bridges_own(tmp_path, domain_id, simulator_ports):
    own = FixedSocket(14601, 14600)
    with bridge_on(tmp_path, domain_id, f"direct:14600@127.0.0.1:{own.port}") as (bridge, vehicle):
        with Far(own.read, own.write) as far:
            meet(bridge, vehicle, far)
    own.close()


def test_the_emulators_own_autopilot_is_flown_without_coptersim(tmp_path, domain_id, simulator_ports):
    emulator = emulator_process(tmp_path, ["--grounded", "--autopilot", "direct"], tmp_path / "truth.jsonl", None).start()
    emulator.wait_for_output("Ctrl-C ends it")
    try:
        with bridge_on(tmp_path, domain_id, "direct:127.0.0.1:14580") as (_, vehicle):
            vehicle.wait_ready()
            stream, target = vehicle.take_off(3.0)
            with stream:
                vehicle.wait_near(target)
            assert emulator.alive(), emulator.tail()
    finally:
        assert emulator.stop() == 0


def test_the_parameter_file_of_the_ports_page_reaches_two_vehicles(tmp_path, domain_id, simulator_ports):
    page = (Path(__file__).parents[3] / "docs/ports.md").read_text()
    [text] = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "vehicles.yaml").write_text(text)
    sockets = [FixedSocket(14601, 14600), FixedSocket(14611, 14610)]
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "--ros-args", "--params-file", str(tmp_path / "vehicles.yaml")]
    peer = Peer(domain_id)
    bridge = Process("rfly_bridge", command, tmp_path / "bridge.log", environment(domain_id)).start()
    try:
        with Far(sockets[0].read, sockets[0].write) as one, Far(sockets[1].read, sockets[1].write) as two:
            meet(bridge, Vehicle(peer), one)
            meet(bridge, Vehicle(peer, "/mavros2"), two)
    finally:
        peer.close()
        assert bridge.stop() == 0
        for own in sockets:
            own.close()
