"""A program of the vendor's SDK beside the bridge: copies of what both want, ports that are left free, sensors that both ask for."""

from __future__ import annotations

import socket
import struct
import time
from dataclasses import replace

import pytest
from mavros import WITNESS
from recording import Recording
from system import System

from sensors import COMPRESSED, with_defaults

ODOMETRY = "/rflysim/ground_truth/odom"
CAMERAS = [replace(with_defaults(i, 1, COMPRESSED), width=160, height=120, rate=15) for i in (0, 1)]
PATIENCE_S = 30.0


def sdk(port: int, address: str = "0.0.0.0") -> socket.socket:
    """A socket as the SDK binds it."""
    taken = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken.bind((address, port))
    taken.settimeout(PATIENCE_S)
    return taken


@pytest.mark.parametrize("forward", [True, False])
def test_the_sdk_gets_a_copy_of_the_true_state(tmp_path, domain_id, simulator_ports, forward):
    parameters = {"transport_mode": "file", "control.link": "off"} | ({"forward_to": "127.0.0.2"} if forward else {})
    # First the SDK, as in the worst case: the bridge's address is the nearer one.
    with sdk(30101) as program, System(tmp_path, domain_id, [WITNESS], parameters=parameters) as system:
        recording = Recording(system)
        recording.subscribe({ODOMETRY: "nav_msgs/msg/Odometry"})
        recording.collect(20, [ODOMETRY])
        program.settimeout(PATIENCE_S if forward else 0.5)
        states = []
        try:
            while len(states) < 40:
                states.append(program.recvfrom(2048))
        except TimeoutError:
            pass
        if not forward:
            # What came before the bridge had bound its port.
            assert len(states) < 40
            return
        last = states[-20:]
        assert all(sender[1] == 30101 for _, sender in last), last[0][1]
        lengths = {len(data) for data, _ in last}
        assert lengths == {168}, lengths
        before = len(recording.samples[ODOMETRY])
        recording.wait_for(ODOMETRY, lambda _: True, since=before)


def test_ports_that_are_switched_off_are_left_to_others(tmp_path, domain_id, simulator_ports):
    off = {"true_state.enabled": False, "model.outputs": False, "imu.enabled": False, "control.link": "off", "transport_mode": "file"}
    with System(tmp_path, domain_id, [WITNESS], parameters=off) as system:
        system.bridge.wait_for_output("receiving sensor")
        # Without SO_REUSEADDR: nobody else may have them.
        for port in (30101, 40101, 31000):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
                own.bind(("127.0.0.1", port))
                if port == 30101:
                    own.settimeout(PATIENCE_S)
                    assert len(own.recv(2048)) == 168


@pytest.mark.parametrize("foreign", ["follow", "yield"])
def test_a_stream_that_another_program_takes_is_named(tmp_path, domain_id, simulator_ports, foreign):
    """The renderer sends a SeqID to whom asked last."""
    parameters = {"transport_mode": "file", "control.link": "off", "request.timeout_s": 2.0, "request.foreign": foreign}
    with System(tmp_path, domain_id, CAMERAS, parameters=parameters) as system:
        recording = Recording(system)
        topics = {f"/rflysim/sensor{camera.seq}/img_rgb": "sensor_msgs/msg/Image" for camera in CAMERAS}
        recording.subscribe(topics)
        recording.collect(10, list(topics))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as program:
            program.bind(("127.0.0.1", 0))
            program.settimeout(PATIENCE_S)
            program.sendto(request(CAMERAS[0].seq, program.getsockname()[1]), ("127.0.0.1", 20010))
            assert len(program.recv(65536)) > 24
            system.bridge.wait_for_output("while others deliver")
            line = next(line for line in system.bridge.output().splitlines() if "while others deliver" in line)
            assert "SeqIDs [0]" in line and "request.foreign" in line, line
            if foreign == "yield":
                end = time.monotonic() + 6
                while time.monotonic() < end:
                    assert program.recv(65536)
            else:
                before = len(recording.samples["/rflysim/sensor0/img_rgb"])
                recording.wait_for("/rflysim/sensor0/img_rgb", lambda _: True, since=before)


def request(seq_id: int, port: int) -> bytes:
    """A request (new layout) for a camera, compressed, to a port of this host."""
    head = struct.pack("<8H", 12345, seq_id, 1, 1, 0, 160, 120, 15)
    protocol = struct.pack("<8H", 1, 127, 0, 0, 1, port, 0, 0)
    return head + protocol + struct.pack("<f3ff3f4f16f", 90, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, *[0] * 16)
