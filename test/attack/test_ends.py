"""Starts that cannot go on and ends that must: whatever the bridge waits for, a signal ends it."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from contextlib import contextmanager

import pytest
from backend import environment
from processes import ROOT, binary

from sensors import RAW, with_defaults, write_config

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
LONG = 120
"""How long to wait for what must come, in s."""


@contextmanager
def bridge(domain_id, *arguments, **options):
    """A bridge with its output in a pipe; killed at the end if it still runs."""
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), *arguments]
    around = os.environ | environment(domain_id)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored, by children as well
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen([str(c) for c in command], env=around, cwd=ROOT, **pipe | options) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(condition, what):
    """Returns once something is so."""
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def catches(process, number) -> bool:
    """Does a process have a handler for a signal?"""
    with open(f"/proc/{process.pid}/status") as status:
        mask = next(int(line.split()[1], 16) for line in status if line.startswith("SigCgt"))
    return bool(mask >> (number - 1) & 1)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("what", ["config", "parameters"])
def test_a_file_that_never_comes_can_be_interrupted(what, number, tmp_path, domain_id):
    fifo = tmp_path / "fifo.yaml"
    os.mkfifo(fifo)
    arguments = {"config": ["-p", f"config:={fifo}"], "parameters": ["--params-file", fifo]}[what]
    with bridge(domain_id, "--ros-args", *arguments) as process:
        wait_for(lambda: all(catches(process, one) for one in SIGNALS), "the bridge listens to signals")
        process.send_signal(number)
        out, _ = process.communicate(timeout=LONG)
        assert process.returncode == 0, out


@pytest.mark.parametrize("number", SIGNALS)
def test_a_running_bridge_ends_in_order(number, tmp_path, domain_id, simulator_ports):
    config = write_config(tmp_path / "Config.json", [with_defaults(0, 1, RAW)])
    with bridge(domain_id, "--ros-args", "-p", f"config:={config}", "-p", "simulator_address:=127.0.0.1") as process:
        for line in process.stdout:
            if "simulator at" in line:
                break
        process.send_signal(number)
        out, _ = process.communicate(timeout=LONG)
        assert process.returncode == 0, out
        assert out.endswith("INFO stopped\n"), out


def test_what_nohup_started_stays_when_the_terminal_goes(tmp_path, domain_id, simulator_ports):
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with bridge(domain_id, "--ros-args", "-p", "simulator_address:=127.0.0.1", preexec_fn=ignore) as process:
        for line in process.stdout:
            if "simulator at" in line:
                break
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=LONG)[0].endswith("INFO stopped\n")


@pytest.mark.parametrize(
    "arguments",
    [["urdf"], ["urdf", "--xacro"], ["docs", "--write"], ["--help"], ["--version"], ["top", "--seconds", "0"]],
    ids=" ".join,
)
def test_output_that_cannot_be_written_is_an_error(arguments, tmp_path, domain_id):
    if arguments[0] == "docs":
        for folder in ("config", "docs"):
            (tmp_path / folder).mkdir()
        arguments = [*arguments, tmp_path]
    with open("/dev/full", "w") as full, bridge(domain_id, *arguments, stdout=full, stderr=subprocess.PIPE) as process:
        _, said = process.communicate(timeout=LONG)
        assert process.returncode == 1, said
        assert "No space left on device" in said and "panicked" not in said, said


def test_a_reader_that_has_enough_is_no_error(domain_id):
    with bridge(domain_id, "urdf", stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(LONG) == 0


def limited(kind: int, value: int):
    """Limits a resource of a new process."""
    return lambda: resource.setrlimit(kind, (value, value))


@pytest.mark.parametrize(
    ("kind", "value", "named"),
    [
        (resource.RLIMIT_NOFILE, 12, "open files is 12 (ulimit -n)"),
        (resource.RLIMIT_NOFILE, 40, "open files is 40 (ulimit -n)"),
        (resource.RLIMIT_AS, 300 << 20, f"address space is {300 << 20} bytes (ulimit -v)"),
    ],
    ids=["12 files", "40 files", "300 MiB"],
)
def test_what_is_used_up_is_named_with_its_limit(kind, value, named, tmp_path, domain_id, simulator_ports):
    sensors = [with_defaults(n, 1, RAW, width=1920, height=1080) for n in range(32)]
    config = write_config(tmp_path / "Config.json", sensors)
    arguments = ["--ros-args", "-p", f"config:={config}", "-p", "simulator_address:=127.0.0.1"]
    with bridge(domain_id, *arguments, preexec_fn=limited(kind, value)) as process:
        out, _ = process.communicate(timeout=LONG)
        assert process.returncode != 0 and named in out, out
