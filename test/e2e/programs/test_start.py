"""The commands of README.md, docs/start.md, docs/hosts.md and docs/howto.md do what they say, in a network with the addresses that they name."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from backend import ANSWERS_PEER
from processes import ROOT, binary

ALONE = ROOT / "scripts/alone"
pytestmark = [
    pytest.mark.skipif(not ANSWERS_PEER, reason="the commands are those of the stand-alone build"),
    pytest.mark.skipif(subprocess.run([ALONE, "-q"], check=False).returncode != 0, reason="needs a network of its own"),
]

# Addresses of this host and of the simulators' hosts, and WSL's network, whose gateway is Windows.
NETWORK = """
ip link add wsl type veth peer name windows
ip link set windows up
ip addr add 172.20.0.5/20 dev wsl
ip link set wsl up
ip route add default via 172.20.0.1
for address in 172.20.0.1 192.168.1.10 192.168.1.11 192.168.1.20 192.168.1.21; do ip addr add $address/32 dev lo; done
"""
# What the simulator's side needs beside the address: the heading of the section, or a part of it.
MORE = {"Several vehicles": "--vehicles 2", "Several PCs": "--vehicles 2"}


def sections(document: str) -> list[tuple[str, str]]:
    """Title and text of each section."""
    text = (ROOT / "docs" / document).read_text()
    return [tuple(part.split("\n", 1)) for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]]


def commands() -> list:
    """Shell blocks, by section and number."""
    result = []
    for title, section in [part for page in ("../README.md", "start.md", "hosts.md", "howto.md") for part in sections(page)]:
        blocks = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
        result += [pytest.param(title, block, id=f"{title.split(':')[0]}-{i}") for i, block in enumerate(blocks)]
    return result


def parameter(block: str, name: str) -> str | None:
    found = re.search(rf"-p {name}:=(\$\(.*?\)|\S+)", block)
    return found and found[1]


def of_fleet(host: str | None) -> dict[str, str]:
    """Addresses of a host of config/fleet.yaml."""
    text = (ROOT / "config/fleet.yaml").read_text()
    return dict(re.findall(r"(bridge|simulator): (\S+)", text.split(f" {host}:")[1].split("config:")[0])) if host else {}


@pytest.fixture
def place(tmp_path):
    """A folder with the programs on its path, the shipped configuration, and the one that docs/howto.md shows."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, variable in [("rfly_bridge", "RFLY_BRIDGE"), ("rflysim_emulator", "RFLY_EMULATOR")]:
        (programs / name).symlink_to(Path(binary(name, variable)).resolve())
    (tmp_path / "config").symlink_to(ROOT / "config")
    shown = re.search(r"```json\n(.*?)```", (ROOT / "docs/howto.md").read_text(), re.DOTALL)
    (tmp_path / "Config.json").write_text(shown[1])
    return tmp_path


@pytest.mark.parametrize(("title", "block"), commands())
def test_commands_do_what_they_say(title, block, place, domain_id):
    lines = block.strip().splitlines()
    assert any(line.startswith("rfly_bridge ") for line in lines), "a block of other programs is not marked `sh`"
    host = of_fleet(parameter(block, "fleet.host"))
    simulator = parameter(block, "simulator_address") or host.get("simulator", "127.0.0.1")
    here = parameter(block, "receive_address") or host.get("bridge", "127.0.0.1")
    if serial := parameter(block, "control.link"):
        # No such line in a test: the bridge says so and goes on with everything else.
        assert not Path(serial.split(":")[1]).exists()
    runs = lines[-1].startswith("rfly_bridge --ros-args")
    expected = (["img_depth"] if "config:=Config.json" in block else ["img_rgb", "camera_info", "/tf"]) if runs else []
    script = ["set -eu", NETWORK, "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]
    if runs and "rflysim_emulator" not in block:
        script.append(f"rflysim_emulator --bind {simulator} --client {here} {MORE.get(title, '')} &")
    script += lines
    if runs:
        script[-1] += " >bridge.log 2>&1 &"
        # A busy machine discovers late: `top` is asked again until it has received what is expected of each name.
        received = " && ".join(f"grep -Eq '\"name\":\"[^\"]*{name}\"[^}}]*\"received\":[1-9]' top.json" for name in expected)
        script += [f"for try in $(seq 10); do rfly_bridge top --seconds 6 --json >top.json; {received} && break; done"]
        script += ["cat top.json", "kill -INT $(jobs -p)", "wait"]
    environment = {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", "ROS_DOMAIN_ID": str(domain_id)}
    ran = subprocess.run(
        [ALONE, "bash", "-c", "\n".join(script)], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    log = (place / "bridge.log").read_text() if runs and (place / "bridge.log").exists() else ""
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}\n{log}"
    shown = next((line for line in ran.stdout.splitlines() if line.startswith("{")), '{"groups": []}')
    groups = json.loads(shown)["groups"]
    received = {topic["name"]: topic["received"] for group in groups for topic in group["topics"]}
    for name in expected:
        assert any(n > 0 for topic, n in received.items() if topic.endswith(name)), f"no {name}: {received}\n{log}"


def test_each_case_is_there():
    titles = " ".join(title for title, _ in sections("start.md"))
    for case in ("Stand-alone", "ROS 2 workspace", "WSL", "second PC", "Several vehicles", "Several PCs", "HITL"):
        assert case in titles
    titles = " ".join(title for title, _ in sections("howto.md"))
    for case in ("Add a sensor", "LIO", "VIO", "px4ctrl"):
        assert case in titles


def test_the_first_pages_are_short_and_name_targets_that_exist():
    readme, start, makefile = ((ROOT / name).read_text() for name in ("README.md", "docs/start.md", "Makefile"))
    assert len(readme.split()) <= 900
    typed = "\n".join(re.findall(r"^```(?:ba)?sh\n(.*?)^```", readme + start, re.DOTALL | re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", typed))
    assert {"demo", "test", "package", "setup"} <= named <= set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))


DEMO = """
set -eu
{emulator} >emulator.log 2>&1 &
{bridge} --ros-args -p config:=config/Config.json -p simulator_address:=127.0.0.1 -p view.port:=8765 >bridge.log 2>&1 &
trap 'kill $(jobs -p)' EXIT
timeout 60 bash -c 'until grep -q "vehicles: " bridge.log; do sleep 0.1; done'
{bridge} top --seconds 10
"""


def test_the_table_of_the_readme_is_that_of_the_demo(place, domain_id):
    """As scripts/demo.sh starts them: the same columns, groups and numbers of rows and topics."""
    programs = {"emulator": place / "bin/rflysim_emulator", "bridge": place / "bin/rfly_bridge"}
    environment = os.environ | {"ROS_DOMAIN_ID": str(domain_id)}
    command = [ALONE, "bash", "-c", DEMO.format(**programs)]
    ran = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    readme = (ROOT / "README.md").read_text()
    table = re.compile(r"^group .*? topics in ", re.DOTALL | re.MULTILINE)
    shown, printed = (table.search(text)[0].splitlines() for text in (readme, ran.stdout))
    assert printed[0].split() == shown[0].split()
    groups = [re.split(r" {2,}", line)[0] for line in printed[1:-1]]
    assert {re.split(r" {2,}", line)[0] for line in shown[1:-1]} <= set(groups)
    assert f"(6 of its {len(groups)} lines" in readme, ran.stdout
    assert printed[-1] == shown[-1], "number of topics"
