"""The emulator where `/dev/shm` is full: it says so, sends over UDP, and takes the memory once there is some."""

from __future__ import annotations

import shutil
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest
from processes import Process, binary

SMALL = "mount -t tmpfs -o size=128k tmpfs /dev/shm"
POSSIBLE = bool(shutil.which("nsenter")) and not subprocess.run(
    ["unshare", "-m", "sh", "-c", SMALL], check=False, capture_output=True
).returncode
HANG = 60.0


@pytest.mark.skipif(not POSSIBLE, reason="this kernel does not let us have a /dev/shm of our own")
def test_a_full_shared_memory_neither_ends_the_emulator_nor_its_data(tmp_path, simulator_ports):
    own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    own.bind(("127.0.0.1", 0))
    own.settimeout(HANG)
    command = ["unshare", "-m", "sh", "-c", f'{SMALL} && exec "$@"', "sh", binary("rflysim_emulator", "RFLY_EMULATOR"), "--hover"]
    emulator = Process("emulator", command, tmp_path / "emulator.log").start()
    try:
        emulator.wait_for_output("Ctrl-C ends it")
        own.sendto(camera(own.getsockname()[1]), ("127.0.0.1", 20010))
        # 921,600 bytes do not fit: they come here instead.
        assert sum(len(own.recv(65536)) for _ in range(40)) > 921_600
        emulator.wait_for_output("cannot create shared memory; sending over UDP until it is available")
        assert not blocks(emulator), "half a block would look like data"
        subprocess.run(["nsenter", "-t", str(emulator.pid), "-m", "mount", "-o", "remount,size=64m", "/dev/shm"], check=True)
        end = time.monotonic() + HANG
        while not blocks(emulator):
            assert time.monotonic() < end, emulator.tail()
            time.sleep(0.1)
        emulator.wait_for_output("shared memory is available again")
        [block] = blocks(emulator)
        assert block.stat().st_size >= 921_600
        while block.read_bytes()[9:].count(0) == block.stat().st_size - 9:
            assert time.monotonic() < end, "no frame in it"
        assert emulator.alive()
    finally:
        assert emulator.stop() == 0, emulator.tail()
        own.close()


def camera(port: int) -> bytes:
    """A request (new layout) for an image of 640 x 480 at 10 Hz in shared memory, and a port."""
    head = struct.pack("<8H", 12345, 0, 1, 1, 0, 640, 480, 10)
    protocol = struct.pack("<8H", 0, 127, 0, 0, 1, port, 0, 0)
    return head + protocol + struct.pack("<f3ff3f4f16f", 90, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, *[0] * 16)


def blocks(emulator: Process) -> list[Path]:
    """The images in the emulator's own /dev/shm."""
    return list(Path(f"/proc/{emulator.pid}/root/dev/shm").glob("RflySim3DImg_*"))
