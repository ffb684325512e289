"""Emulator, bridge and peer together, as one context manager."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from types import TracebackType

from peer import Peer
from programs import Programs

from sensors import Sensor


class System(Programs):
    """Starts the emulator and the bridge on loopback and joins their DDS domain."""

    def __init__(self, directory: Path, domain_id: int, sensors: list[Sensor], **options):
        super().__init__(directory, domain_id, sensors, **options)
        self.peer = Peer(domain_id)

    def __enter__(self) -> System:
        # What an earlier test killed is still among the offers until its lease ends, 10 s later.
        with suppress(AssertionError):
            self.peer.wait_for(lambda: not self.peer.offers(), "earlier publishers to be forgotten", 15.0)
        return super().__enter__()

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.peer.close()
        super().__exit__(kind, error, trace)
