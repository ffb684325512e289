"""Lines with `ros2 service`, `action`, `topic` and `param` in the documents, typed as they stand there; launch files have their own tests."""

from __future__ import annotations

import re
import shlex
import socket
import struct
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import SENSORS
from processes import ROOT, write_terrain
from programs import Programs

from ros import NEEDS_ROS2, Background, package, ros2

# What a page says must run for its lines.
PARAMETERS = {
    "scene": {},
    "mavros": {"control.link": "mavlink_full"},
    "model": {"netsim.enabled": True},
    "reports": {"reports.objects": ["House_3", "Landscape_1"], "sensor0.boxes": True, "sensor0.gimbal": True},
    "terrain": {},
    "parameters": {},
    "record": {},
    "ros2": {},
}
# The simulator cannot step and always has a map; the page says so.
REFUSED = {"/rfly_bridge/step_simulation", "/rfly_bridge/simulate_steps", "/rfly_bridge/unload_world"}


def lines(page: str) -> list[list[str]]:
    """The words of each line; one with an open quotation goes on in the next. Not of those that need a file of the reader's."""
    found, open_line = [], ""
    for block in re.findall(r"^```\w*\n(.*?)^```", (ROOT / "docs" / f"{page}.md").read_text(), re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            if not open_line and (not line.startswith("ros2 ") or "$(cat " in line):
                continue
            open_line += f"{line}\n"
            try:
                found.append(shlex.split(open_line, comments=True))
            except ValueError:
                continue
            open_line = ""
    return [words for words in found if words[1] in ("service", "action", "topic", "param")]


def answered(words: list[str], said: str) -> None:
    """The response says that it was done, or why it cannot be."""
    done = not re.search(r"success=False|successful=False|\bResult\(result=(?!1,)", said) and "response:" in said
    assert done == (words[3] not in REFUSED), said


@contextmanager
def start_signals():
    """Meanwhile somebody sends the start signal that a line waits for."""
    ended = threading.Event()

    def send() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as program:
            program.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
            while not ended.wait(0.2):
                program.sendto(struct.pack("<3i", 1234567890, 1, -1), ("224.0.0.10", 20007))

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def run(words: list[str]) -> None:
    match words[1:]:
        case ["service", "call", *_]:
            answered(words, ros2(*words[1:]))
        case ["action", "send_goal", *_]:
            said = ros2(*words[1:])
            assert "Goal finished with status: " in said and ("SUCCEEDED" in said) == (words[3] not in REFUSED), said
        case ["param", "set", *_]:
            assert "Set parameter successful" in ros2(*words[1:])
        case ["param", *_]:
            assert ros2(*words[1:]).strip()
        case ["topic", "pub", *rest]:
            # Somebody subscribes with this type: `pub --once` waits for that, the others say nothing of it.
            if "--once" in rest:
                assert "publishing #1" in ros2(*words[1:])
                return
            name = next(word for word in rest if word.startswith("/"))
            with Background(program=words) as publisher:
                publisher.wait_for("publishing #2")
                assert re.search("Subscription count: [1-9]", ros2("topic", "info", name))
        case ["topic", "echo", *rest]:
            if "--once" in rest:
                with start_signals():
                    assert "---" in ros2(*words[1:])
                return
            name = next(word for word in rest if word.startswith("/"))
            assert re.search("Publisher count: [1-9]", ros2("topic", "info", name))
        case other:
            raise AssertionError(f"a verb that this test does not know: {other}")


def serves_standard() -> bool:
    """The bridge serves simulation_interfaces of this version and later; test_document_commands.py calls the same lines without ROS."""
    version = (Path(package("simulation_interfaces")) / "share/simulation_interfaces/package.xml").read_text()
    [version] = re.findall("<version>([0-9.]+)</version>", version)
    return tuple(map(int, version.split("."))) >= (2, 1)


@NEEDS_ROS2
@pytest.mark.parametrize("page", PARAMETERS)
def test_lines_of_the_documents_do_what_they_say(page, tmp_path, domain_id, simulator_ports):
    typed = [words for words in lines(page) if "simulation_interfaces/" not in " ".join(words) or serves_standard()]
    if not typed:
        pytest.skip("the bridge serves simulation_interfaces 2.1, this workspace has an older one")
    parameters = {"record.directory": tmp_path, **PARAMETERS[page]}
    if page == "terrain":
        parameters["terrain.file"] = write_terrain(tmp_path / "terrain.png")
    with Programs(tmp_path / "run", domain_id, SENSORS, parameters=parameters, emulator=["--grounded"], keep_frames=False) as programs:
        programs.bridge.wait_for_output("sensors: ")
        for words in typed:
            print(shlex.join(words), flush=True)
            run(words)
            programs.assert_alive()


def test_every_page_with_such_lines_is_run():
    pages = {path.stem for path in (ROOT / "docs").glob("*.md") if lines(path.stem)}
    assert pages == set(PARAMETERS)
