"""`rfly_bridge.start()` of the Python package (docs/python.md): what it starts, ends, and says."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from processes import ROOT
from python_client import start, variables

import rfly_bridge


def test_start_says_why_a_program_does_not_start(domain_id, simulator_ports, tmp_path):
    with pytest.raises(rfly_bridge.StartError, match="rfly_bridge has ended with exit code [^0].*\n(.*\n)*.*no_such_parameter"):
        start(domain_id, emulator=False, parameters={"no_such_parameter": 1})
    with pytest.raises(rfly_bridge.StartError, match="rflysim_emulator has ended.*\n(.*\n)*.*--no-such-option"):
        start(domain_id, emulator=["--no-such-option"])
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RFLY_BRIDGE", raising=False)
        patch.setenv("PATH", str(tmp_path))
        with pytest.raises(rfly_bridge.StartError, match="no program rfly_bridge"):
            rfly_bridge.start(domain_id=domain_id, emulator=False)


def test_a_bridge_without_control_and_one_that_ends_say_so(domain_id, simulator_ports):
    with start(domain_id, emulator=False, parameters={"view.control": False}) as sim:
        for call in (lambda: sim.call("/mavros/cmd/arming"), lambda: sim.publish("/mavros/setpoint_position/local", {})):
            with pytest.raises(rfly_bridge.BridgeError, match="view.control:=true"):
                call()
        sim._ends.pop()()
        with pytest.raises(ConnectionError):
            sim.latest("/tf", timeout=30.0)
        with pytest.raises(ConnectionError):
            sim._send("{}")


def run(script: str, domain_id: int) -> str:
    """Runs a script as a user does."""
    around = {**os.environ, **variables(domain_id), "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([sys.executable, "-c", script], env=around, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def blocks() -> list[str]:
    """The samples of docs/python.md."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.DOTALL)


def test_the_first_sample_of_the_document_flies(domain_id, simulator_ports):
    first = blocks()[0]
    assert "takeoff" in first
    east, north, up = map(float, re.search(r"\[\s*(\S+)\s+(\S+)\s+(\S+?)\s*\]", run(first, domain_id)).groups())
    assert abs(east - 5) < 1 and abs(north) < 1 and abs(up - 3) < 1


def test_the_samples_of_topics_and_services_run(domain_id, simulator_ports):
    sample = next(block for block in blocks() if "inject_fault" in block)
    script = "import rfly_bridge\nwith rfly_bridge.start() as sim:\n" + "".join(f"    {line}\n" for line in sample.splitlines())
    answer, depth = run(script, domain_id).strip().splitlines()
    assert "'success': True" in answer and depth.endswith("mm")


def test_programs_end_with_python(domain_id, simulator_ports):
    script = "import rfly_bridge; sim = rfly_bridge.start(); print(sim.image('sensor0/img_rgb').data.shape)"
    assert run(script, domain_id) == "(240, 320, 3)\n"
    # The simulator's ports are free again: another one starts at once.
    start(domain_id).close()
