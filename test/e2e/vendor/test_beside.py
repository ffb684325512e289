"""A program of the vendor's SDK beside the bridge: copies of what both want, ports that are left free, sensors that both ask for."""

from __future__ import annotations

import json
import math
import mmap
import socket
import struct
import time
from dataclasses import replace
from pathlib import Path

import pytest
from mavros import WITNESS
from recording import Recording
from system import System

from sensors import COMPRESSED, SHARED_MEMORY, with_defaults

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


def test_a_camera_that_another_program_has_asked_for_is_asked_for_once_more(tmp_path, domain_id, simulator_ports):
    """It delivers to the bridge's own port before the bridge has asked: as after a script that zooms with the same Config.json."""
    parameters = {"transport_mode": "file", "control.link": "off"}
    topic = "/rflysim/sensor0/camera_info"
    with System(tmp_path, domain_id, CAMERAS, parameters=parameters) as system:
        system.bridge.stop()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as program:
            program.sendto(request(0, CAMERAS[0].port, fov=45), ("127.0.0.1", 20010))
        system.bridge.start()
        recording = Recording(system)
        recording.subscribe({topic: "sensor_msgs/msg/CameraInfo"})
        recording.collect(75, [topic])
        # It is described once a second.
        assert {round(float(info.k[0]), 2) for info in recording.messages(topic)} == {80.0}
        assert "another program" not in system.bridge.output()


def test_a_renderer_alone_shows_the_vehicle_that_a_program_moves(tmp_path, domain_id, simulator_ports):
    """As scripts fly a point mass: no CopterSim, every state is sendUE4Pos of the SDK."""
    golden = json.loads((Path(__file__).parents[2] / "fixtures/golden/ue4_send.json").read_text())
    [state] = [bytes.fromhex(vector["hex"]) for vector in golden if vector["name"] == "pos"]
    parameters = {"transport_mode": "file", "control.link": "off", "imu.enabled": False}
    topic = "/rflysim/sensor0/img_rgb"
    with System(tmp_path, domain_id, CAMERAS[:1], parameters=parameters, emulator=["--vehicles", "0"]) as system:
        recording = Recording(system)
        recording.subscribe({topic: "sensor_msgs/msg/Image"})
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as program:
            program.sendto(state, ("127.0.0.1", 20010))
        recording.collect(5, [topic])
        frames = [json.loads(line) for line in system.truth_file.read_text().splitlines() if '"kind":"frame"' in line]
        [x, y, z] = frames[-1]["sensor"]["position"]
        # The camera is 0.3 m ahead of the place in the packet.
        assert math.dist((x, y, z), (1.5, -2.25, -8.125)) == pytest.approx(0.3, abs=1e-3)


def test_a_second_reader_of_a_block_is_named(tmp_path, domain_id, simulator_ports):
    camera = replace(with_defaults(0, 1, SHARED_MEMORY), width=160, height=120, rate=15)
    parameters = {"transport_mode": "file", "control.link": "off"}
    with System(tmp_path, domain_id, [camera], parameters=parameters) as system:
        recording = Recording(system)
        recording.subscribe({"/rflysim/sensor0/img_rgb": "sensor_msgs/msg/Image"})
        recording.collect(5, ["/rflysim/sensor0/img_rgb"])
        end = time.monotonic() + 2 * PATIENCE_S
        with open("/dev/shm/RflySim3DImg_0", "r+b") as file, mmap.mmap(file.fileno(), 0) as block:
            # As the SDK reads: 2 is a frame, 4 a frame that was read.
            while "another program reads" not in system.bridge.output() and time.monotonic() < end:
                for _ in range(2000):
                    if block[0] == 2:
                        block[0] = 4
                    time.sleep(0.0001)
        [line] = [line for line in system.bridge.output().splitlines() if "another program reads" in line]
        assert "RflySim3DImg_0" in line and "docs/beside.md" in line


def request(seq_id: int, port: int, fov: float = 90) -> bytes:
    """A request (new layout) for a camera, compressed, to a port of this host."""
    head = struct.pack("<8H", 12345, seq_id, 1, 1, 0, 160, 120, 15)
    protocol = struct.pack("<8H", 1, 127, 0, 0, 1, port, 0, 0)
    return head + protocol + struct.pack("<f3ff3f4f16f", fov, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, *[0] * 16)
