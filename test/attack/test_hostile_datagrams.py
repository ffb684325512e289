"""Garbage for every open port from a host that has no business here: nothing of it is published, nothing grows."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import flood
import pytest
from diagnostics import Report
from foreign import HERE
from mavros import fly
from recording import Recording
from soak import count
from topics import DIAGNOSTICS, IMU, main_topic, topics_of

from sensors import COMPRESSED, RAW, with_defaults

CAMERA, DEPTH = with_defaults(0, 1, RAW, width=160, height=120, rate=20), with_defaults(1, 2, COMPRESSED, rate=20)
PER_PORT = count(10_000, 2_000_000)


@pytest.mark.parametrize("who", ["a foreign host", "another address of this host"])
def test_hostile_datagrams_on_every_port_change_nothing(tmp_path, domain_id, foreign, who):
    with fly(tmp_path, domain_id, sensors=(CAMERA, DEPTH)) as system:
        recording = Recording(system)
        recording.subscribe({**DIAGNOSTICS, **IMU, **topics_of(CAMERA), **topics_of(DEPTH)})
        data = [main_topic(CAMERA), main_topic(DEPTH), "/rflysim/imu"]
        recording.collect(30, data)
        before = system.bridge.resident_bytes()
        ports = sorted(system.bridge.udp_ports())
        assert {CAMERA.port, DEPTH.port, 20005, 20101, 30101, 31000} <= set(ports)
        total = PER_PORT * len(ports)
        to = ["--to", HERE] if who == "a foreign host" else ["--source", "127.0.0.2"]
        command = [str(x) for x in (sys.executable, Path(flood.__file__), *to, total, 200_000, 42, *ports)]
        start = foreign.start if who == "a foreign host" else subprocess.Popen
        attack = start(command, stdout=subprocess.PIPE, text=True)
        while attack.poll() is None:
            recording.harvest()
            time.sleep(0.02)
        assert int(attack.stdout.read()) == total
        recording.collect_more(30, data)
        after = system.bridge.resident_bytes()
        assert after - before < 64 << 20, f"{before >> 20} MiB before, {after >> 20} MiB after"
        refused = Report(recording.messages("/diagnostics")[-1]).find(": senders")["refused"]
        assert refused > PER_PORT / 10, "what was sent was not refused"
        print(f"{refused:.0f} refused; {total} datagrams to {len(ports)} ports; RSS {before >> 20} -> {after >> 20} MiB")
