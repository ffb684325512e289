"""Commands of both programs in every document are run, block by block; those of docs/start.md, hosts.md and howto.md: test_start.py.
Lines with `ros2 service`, `topic` and `param` have the form of docs/command_line.md here; with ROS 2 they are typed as they are
(test/ros2/test_documents.py)."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from backend import ANSWERS_PEER, BACKEND, HAS_SIMULATION, NO_SIMULATION
from processes import ROOT, write_terrain
from test_start import ALONE, NETWORK, place  # noqa: F401

from sensors import COMPRESSED, Sensor

pytestmark = [
    pytest.mark.skipif(not ANSWERS_PEER, reason="the commands are those of the stand-alone build"),
    pytest.mark.skipif(subprocess.run([ALONE, "-q"], check=False).returncode != 0, reason="needs a network of its own"),
]

# How a program that does not end by itself says that it is ready.
READY = {
    "bridge": "vehicles: [0-9]*, simulator at",
    "view": "view: http",
    "emulator": "Ctrl-C ends it",
    "top": "",
    "record": "",
    "echo": "",
    "pub": "publishing #2",
}
# What runs beside the commands of a block: programs of another block of the page, or of the reader.
BRIDGE = "rfly_bridge Config.json"
BESIDE = {
    "top.md": [BRIDGE],
    "command_line.md": [BRIDGE],
    "reports.md": [f"{BRIDGE} -p sensor0.gimbal:=true"],
    "terrain.md": ["rfly_bridge -p terrain.file:=$HOME/maps/Grasslands.png"],
}
# Nor here: the bridge takes the simulator's ports.
IN_PLACE = r"redis\.address|vehicle\d\.model"
# Somebody sends the start signal that a command waits for, once it listens.
SIGNAL = """
(until rfly_bridge topics -v | sed '1,/^Subscribed/d' | grep -q /fleet/start; do sleep 0.1; done
rfly_bridge call /rflysim/fleet/start_signal) &"""
# The forms of `ros2` without ROS (docs/command_line.md).
FORMS = {"service call": "call", "topic echo": "echo", "topic pub": "pub", "param": "param"}
ROS = re.compile(rf"^ros2 ({'|'.join(FORMS)}) ")
# No emulator: the commands start one.
OWN_EMULATOR = {"emulator.md", "emulator_autopilot.md", "mavros.md", "ports.md"}


def commands(block: str) -> list[str]:
    """The lines of a block; one with an open quotation goes on in the next."""
    found, open_line = [], ""
    for line in block.replace("\\\n", " ").splitlines():
        open_line += f"{line}\n"
        try:
            shlex.split(open_line, comments=True)
        except ValueError:
            continue
        found.append(ROS.sub(lambda ros: f"rfly_bridge {FORMS[ros[1]]} ", open_line.strip()))
        open_line = ""
    return [line for line in found if is_command(line)]


def blocks() -> list:
    """Blocks with commands of the programs, by document and number."""
    result = []
    for path in sorted((ROOT / "docs").glob("*.md")):
        if path.name in ("start.md", "hosts.md", "howto.md"):
            continue
        fenced = re.findall(r"^```(\w*)\n(.*?)^```", path.read_text(), re.DOTALL | re.MULTILINE)
        for i, block in enumerate(block for language, block in fenced if language in ("", "sh", "bash")):
            lines = commands(block)
            if lines:
                asks = bool(re.search(ROS.pattern, block, re.MULTILINE))
                result.append(pytest.param(path.name, asks, lines, id=f"{path.stem}-{i}"))
    return result


def is_command(line: str) -> bool:
    """Not a synopsis."""
    return bool(re.match(r"(rfly_bridge|rflysim_emulator) ", line)) and "SERVICE" not in line


def kind(line: str) -> str:
    program, word = line.split()[:2]
    if program == "rflysim_emulator":
        return "help" if word == "--help" else "emulator"
    if word == "top" and "--seconds" not in line:
        return "top"
    if word in ("echo", "pub") and re.search(" (--once|-1|--times|-t) ", line):
        return "once"
    return "bridge" if word in ("--ros-args", "-p") or word.endswith(".json") else word


def script(page: str, asks: bool, lines: list[str]) -> str:
    """Bash that runs the lines. A program that does not end by itself is told to by Ctrl-C, at the end or when its like starts.
    `asks`: a bridge must run beside the lines."""
    text = ["set -eu", NETWORK, "declare -A running; number=0", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]
    text.append("""
interruptible() { # PID: it has a handler of SIGINT
    local caught; caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/$1/status) && ((0x$caught & 2))
}
begin() { # KIND READY COMMAND
    finish "$1"; number=$((number + 1)); local log=$number.log
    bash -c "exec $3" >$log 2>&1 & running[$1]=$!
    [ -z "$2" ] || until grep -q "$2" $log; do kill -0 ${running[$1]} || { cat $log; exit 1; }; sleep 0.1; done
    [ -n "$2" ] || sleep 3
    # Ignored until the program listens for it: it was started in the background.
    until interruptible ${running[$1]}; do kill -0 ${running[$1]} || { cat $log; exit 1; }; sleep 0.1; done
}
finish() { # KIND
    [ -n "${running[$1]-}" ] || return 0
    kill -INT ${running[$1]}; wait ${running[$1]} || { echo "$1 ended with $?"; cat *.log; exit 1; }
    unset "running[$1]"
}
""")
    bridge = BESIDE.get(page, [BRIDGE] if asks and "bridge" not in map(kind, lines) else [])
    is_alone = page in OWN_EMULATOR and not asks or any(re.search(IN_PLACE, line) for line in lines)
    beside = [*([] if is_alone else ["rflysim_emulator --bind 0.0.0.0"]), *bridge]
    if any("--params-file calib/" in line for line in lines):
        # Of the block before.
        beside.append("rfly_bridge calib --for fast_lio --output calib --ros-args -p config:=Config.json")
    for line in [*beside, *lines]:
        line = re.sub(r"\s*&?\s*(#.*)?$", "", line)
        match kind(line):
            case "doctor":
                text.append(f"{line} || [ $? -le 2 ]")
            case "once":
                if "/fleet/start" in line:
                    text.append(SIGNAL)
                text.append(f"timeout 60 {line}")
            case name if name in READY:
                if name == "record":
                    text.append("rm -f flight.mcap")
                if name == "pub":
                    line = line.replace(" pub ", " pub -w 1 ")
                if name == "echo":
                    topic = next(word for word in line.split() if word.startswith("/"))
                    text.append(f"rfly_bridge topics | grep -x {topic}")
                text.append(f"begin {name} '{READY[name]}' {shlex.quote(line)}")
            case _:
                text.append(line)
    return "\n".join([*text, 'for one in "${!running[@]}"; do finish $one; done'])


@pytest.mark.parametrize(("page", "asks", "lines"), blocks())
def test_commands_of_the_documents_run(page, asks, lines, place, domain_id):  # noqa: F811
    if page == "scene.md" and not HAS_SIMULATION:
        pytest.skip(NO_SIMULATION)
    if BACKEND == "rclrs" and any(kind(line) == "view" for line in lines):
        pytest.skip("in a workspace the page is that of the bridge: rclrs gives no raw messages")
    shutil.copy(ROOT / "test/fixtures/flight.mcap", place / "flight.mcap")
    (place / "maps").mkdir()
    write_terrain(place / "maps/Grasslands.png")
    if page == "config_json.md":
        (place / "row.json").write_text(json.dumps(Sensor(0, 1, COMPRESSED).entry(new_layout=False)))
    if page == "calib.md":
        shutil.copy(ROOT / "config/Config.json", place / "Config.json")
    if page == "scene.md":
        (place / "RflySim3D/Models").mkdir(parents=True)
        (place / "RflySim3D/Models/own.xml").write_text("<vehicle><ClassID>900</ClassID><Name>Own</Name></vehicle>")
        (place / "RflySim3D/CreateLog.txt").write_text("CreateVehicle,1000,30,1,2,-3,0,0,0\n")
    environment = os.environ | {"PATH": f"{place / 'bin'}:{os.environ['PATH']}", "ROS_DOMAIN_ID": str(domain_id), "HOME": str(place)}
    ran = subprocess.run(
        [ALONE, "bash", "-c", script(page, asks, lines)], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"


def test_documents_with_commands_are_found():
    pages = {block.values[0] for block in blocks()}
    assert {"doctor.md", "view.md", "top.md", "record.md", "calib.md", "terrain.md", "emulator.md", "scene.md", "model.md", "reports.md", "parameters.md", "command_line.md"} <= pages
