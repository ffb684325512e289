"""A hostile process on the same host plays the renderer: blocks that are cut off while they are read, and things that are no
blocks."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from diagnostics import Report
from mavros import Vehicle, fly
from recording import Recording
from soak import count
from topics import DIAGNOSTICS, main_topic, topics_of

from sensors import SHARED_MEMORY, with_defaults

CAMERA = with_defaults(44, 1, SHARED_MEMORY, width=1280, height=720, rate=20)
CLOUD = with_defaults(45, 20, SHARED_MEMORY, rate=20)
ROUNDS = count(3, 500)
READY, READING = 2, 3
HEADER = 9


class Block:
    """A block that belongs to the attacker: another file in the place of the renderer's, which writes on into its own."""

    def __init__(self, sensor, size: int):
        self.path, self.size = Path(f"/dev/shm/RflySim3DImg_{sensor.seq}"), size

    def make(self, size: int | None = None) -> int:
        """A new file with a whole frame in it."""
        self.path.unlink(missing_ok=True)
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        size = self.size if size is None else size
        os.pwrite(file, struct.pack("<Bd", 0, 1.0) + bytes(max(size - HEADER, 0)), 0)
        return file

    def strike(self) -> None:
        """Announces frames until one is being read, or has been, and cuts the file off."""
        file = self.make()
        try:
            deadline = time.monotonic() + 20.0
            os.pwrite(file, bytes([READY]), 0)
            while os.pread(file, 1, 0) == bytes([READY]):
                assert time.monotonic() < deadline, "the bridge does not open the block"
            os.ftruncate(file, 0)
        finally:
            os.close(file)


@contextmanager
def attacked(tmp_path, domain_id) -> Iterator[tuple]:
    """A bridge whose shared-memory sensors have delivered, and a vehicle behind it."""
    with fly(tmp_path, domain_id, sensors=(CAMERA, CLOUD)) as system:
        recording = Recording(system)
        recording.subscribe({**DIAGNOSTICS, **topics_of(CAMERA), **topics_of(CLOUD)})
        recording.collect(3, [main_topic(CAMERA), main_topic(CLOUD)])
        yield system, recording, Vehicle(system.peer)


def test_a_block_that_is_cut_off_while_it_is_read_ends_nothing(tmp_path, domain_id, simulator_ports):
    with attacked(tmp_path, domain_id) as (system, recording, vehicle):
        vehicle.wait_state(connected=True, armed=False)
        blocks = [Block(sensor, Path(f"/dev/shm/RflySim3DImg_{sensor.seq}").stat().st_size) for sensor in (CAMERA, CLOUD)]
        for number in range(ROUNDS):
            for block in blocks:
                block.strike()
            mode = ("AUTO.LOITER", "POSCTL")[number % 2]
            vehicle.insist("set_mode", custom_mode=mode)
            vehicle.wait_state(mode=mode)
            system.assert_alive()
        for sensor in (CAMERA, CLOUD):
            since = len(recording.messages("/diagnostics"))
            cut = lambda message, seq=sensor.seq: Report(message).drops(seq).get("shm_truncated", 0) >= ROUNDS  # noqa: E731
            recording.wait_for("/diagnostics", cut, since=max(since - 1, 0))
        # A block that is whole is read again.
        shown = len(recording.messages(main_topic(CAMERA)))
        file = blocks[0].make()
        try:
            deadline = time.monotonic() + 20.0
            while len(recording.messages(main_topic(CAMERA))) == shown:
                assert time.monotonic() < deadline, system.report()
                if os.pread(file, 1, 0) != bytes([READING]):
                    os.pwrite(file, bytes([READY]), 0)
                time.sleep(0.02)
                recording.harvest()
        finally:
            os.close(file)


def test_what_keeps_a_block_from_being_opened_is_said(tmp_path, domain_id, simulator_ports):
    with attacked(tmp_path, domain_id) as (system, recording, _):
        block = Block(CAMERA, 0)

        def said(text: str) -> None:
            since = len(recording.messages("/diagnostics"))
            name = f"sensor{CAMERA.seq} "

            def found(message) -> bool:
                messages = Report(message).messages
                return any(f": {name}" in f"{status} " and text in what for status, what in messages.items())

            recording.wait_for("/diagnostics", found, since=since)

        os.close(block.make(100))
        said("100 bytes instead of 2764809")
        said("DataWidth")
        block.path.unlink()
        said("No such file or directory")
        os.mkfifo(block.path)
        said("not a regular file")
        block.path.unlink()
        block.path.symlink_to("/etc/hostname")
        said("RflySim3D creates it as a plain file")
        os.close(block.make(2764809))
        said("RflySim3D has not written to it yet")
        # Once each in the log, not at every look.
        assert 1 <= system.report().count("100 bytes instead of") <= 2
