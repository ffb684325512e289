"""A foreign host: a second network namespace, joined to the one of this process by a cable (veth).

Possible where `scripts/alone` gives this process a network of its own, which then has no interface but loopback. In the
network of the machine nothing is made.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

HERE, THERE = "192.0.2.1", "192.0.2.2"
"""Addresses of this host and of the foreign one (RFC 5737)."""
_CLONE_NEWNET = 0x40000000
_CABLE, _PLUG = "rfly0", "rfly1"


def why_not() -> str | None:
    """Why no foreign host can be made here; `None` if it can."""
    if shutil.which("ip") is None:
        return "no foreign host: `ip` (iproute2) is not installed"
    if [name for _, name in socket.if_nameindex() if name != "lo"]:
        return "no foreign host: this is the network of the machine; run `scripts/alone pytest ...` where unshare works"
    try:
        with ForeignHost():
            return None
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no foreign host: {getattr(error, 'stderr', '') or error}"


class ForeignHost:
    """The other end of a cable, from entering to leaving."""

    def __enter__(self) -> ForeignHost:
        self._namespace = _in_thread(_new_namespace)
        try:
            _ip("link", "add", _CABLE, "type", "veth", "peer", "name", _PLUG)
            _ip("link", "set", _PLUG, "netns", f"/proc/{os.getpid()}/fd/{self._namespace}")
            _ip("addr", "add", f"{HERE}/24", "dev", _CABLE)
            _ip("link", "set", _CABLE, "up")
            self.do(self._plug_in)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["ip", "link", "del", _CABLE], capture_output=True, check=False)
        os.close(self._namespace)

    @staticmethod
    def _plug_in() -> None:
        _ip("link", "set", "lo", "up")
        _ip("addr", "add", f"{THERE}/24", "dev", _PLUG)
        _ip("link", "set", _PLUG, "up")
        _ip("route", "add", "224.0.0.0/4", "dev", _PLUG)

    def do(self, work: Callable[[], T]) -> T:
        """Does something on the foreign host: sockets made and processes started by `work` belong to it from then on."""

        def there() -> T:
            _check(_libc().setns(self._namespace, _CLONE_NEWNET))
            return work()

        return _in_thread(there)

    def udp(self, address: str = THERE, port: int = 0) -> socket.socket:
        """A bound UDP socket of the foreign host; any thread may use it."""

        def make() -> socket.socket:
            made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            made.bind((address, port))
            return made

        return self.do(make)

    def start(self, command: list[object], **options: object) -> subprocess.Popen:
        """Starts a program on the foreign host."""
        return self.do(lambda: subprocess.Popen([str(part) for part in command], **options))


def _new_namespace() -> int:
    _check(_libc().unshare(_CLONE_NEWNET))
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def _in_thread(work: Callable[[], T]) -> T:
    """A network namespace belongs to a thread; this one's ends with it."""
    result: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            result.append(work())
        except BaseException as error:  # noqa: BLE001  (raised again below)
            failure.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return result[0]


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], capture_output=True, check=True, text=True)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(status: int) -> None:
    if status != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
