"""A disk that is full: the recording ends with the reason, the file and what is free, and everything else goes on."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace

import pytest
from backend import environment
from processes import Process, binary
from programs import emulator_process

from sensors import RAW, with_defaults, write_config

SMALL = "mount -t tmpfs -o size=4m tmpfs {}"
POSSIBLE = bool(shutil.which("unshare")) and not subprocess.run(
    ["unshare", "-m", "sh", "-c", SMALL.format("/mnt")], check=False, capture_output=True
).returncode


@pytest.mark.skipif(not POSSIBLE, reason="this kernel does not let us have a small disk of our own")
def test_a_full_disk_is_said_with_the_file_and_what_is_free(domain_id, simulator_ports, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    config = write_config(tmp_path / "Config.json", [replace(with_defaults(0, 1, RAW), width=640, height=480)])
    parameters = [f"config:={config}", f"record.directory:={disk}", "record.raw:=raw.mcap"]
    words = [word for parameter in parameters for word in ("-p", parameter)]
    bridge = Process(
        "bridge",
        ["unshare", "-m", "sh", "-c", f'{SMALL.format(disk)} && exec "$@"', "sh"]
        + [str(binary("rfly_bridge", "RFLY_BRIDGE")), "--ros-args", *words],
        tmp_path / "bridge.log",
        environment(domain_id),
    )
    emulator = emulator_process(tmp_path, [], tmp_path / "truth.jsonl", None).start()
    try:
        bridge.start()
        bridge.wait_for_output("the disk is full (ENOSPC, ")
        [line] = [line for line in bridge.tail().splitlines() if "ENOSPC" in line]
        assert "raw.mcap" in line and "bytes are free" in line, line
        assert bridge.alive()
    finally:
        assert bridge.stop() == 0, bridge.tail()
        assert emulator.stop() == 0, emulator.tail()
