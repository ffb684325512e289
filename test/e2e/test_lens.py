"""The field of view that pictures show against the configured one: what /diagnostics say of cameras that show another one."""

from __future__ import annotations

import socket
import struct
import threading
from dataclasses import replace

import pytest
from diagnostics import Report
from recording import Recording
from system import System
from topics import DIAGNOSTICS, main_topic, topics_of

from sensors import COMPRESSED, Sensor, with_defaults

COLOUR, DEPTH, GREY = (replace(with_defaults(i, type_id, COMPRESSED), width=320, height=240, rate=15) for i, type_id in enumerate((1, 2, 3)))
WINDOWS = ("127.0.0.1", 20010)


def show(sensor: Sensor, fov: float) -> bytes:
    """What the vendor's client sends to change the field of view of a live sensor, and nothing else."""
    head = struct.pack("<HHI6H", 12345, sensor.seq, 1 << 6, sensor.type, 1, 0, sensor.width, sensor.height, sensor.rate)
    return (head + struct.pack("<8Hf", *[0] * 8, fov)).ljust(148, bytes(1))


def said(message, camera: Sensor) -> str:
    """What a report says of a camera; nothing before its first picture."""
    report = Report(message)
    return str(report.find("fields of view").get(f"sensor{camera.seq}", "")) if report.values else ""


def wait_for_word(recording: Recording, camera: Sensor, word: str) -> str:
    """The first text that begins with `word`."""
    [topic] = DIAGNOSTICS
    return said(recording.wait_for(topic, lambda message: said(message, camera).startswith(word), timeout=240.0), camera)


@pytest.mark.parametrize("shown", [60.0, 90.0, 112.0])
def test_pictures_tell_their_field_of_view(tmp_path, domain_id, simulator_ports, shown):
    cameras = [COLOUR, DEPTH, GREY]
    options = {"transport_mode": "file", "control.link": "off", "diagnostics.period_s": 0.2}
    ended = threading.Event()

    def other_program() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as to:
            while not ended.wait(1):
                for camera in cameras:
                    to.sendto(show(camera, shown), WINDOWS)

    with System(tmp_path, domain_id, cameras, parameters=options, emulator=["--route", "excite", "--undescribed"]) as system:
        recording = Recording(system)
        images = {name: kind for camera in cameras for name, kind in topics_of(camera).items() if name == main_topic(camera)}
        recording.subscribe({**DIAGNOSTICS, **images})
        other = threading.Thread(target=other_program)
        other.start()
        try:
            # Brightness may tell nothing of the right one; depth does.
            for camera in cameras if shown != DEPTH.fov else [DEPTH]:
                text = wait_for_word(recording, camera, "differs" if shown != camera.fov else "agrees")
                if shown != camera.fov:
                    assert abs(float(text.split()[1].rstrip(",")) - shown) < 6 and text.endswith("configured 90"), text
            [topic] = DIAGNOSTICS
            seen = [said(message, camera) for message in recording.messages(topic) for camera in cameras]
            assert shown != DEPTH.fov or not any(text.startswith("differs") for text in seen)
        finally:
            ended.set()
            other.join()
