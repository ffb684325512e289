"""Every service call that the documents show works as they say, without ROS."""

from __future__ import annotations

import re
import shlex

import pytest
import yaml
from backend import HAS_SIMULATION, NO_SIMULATION
from processes import ROOT, write_terrain
from system import System
from test_call import DOMAIN, TERRAIN, call

from sensors import COMPRESSED, with_defaults

pytestmark = pytest.mark.skipif(not HAS_SIMULATION, reason=NO_SIMULATION)

DOCUMENTS = ("scene.md", "model.md", "terrain.md")
DEPTH = [with_defaults(0, 5, COMPRESSED, rate=5)]
RIGHT = {"w": 1.0}
# Entities that the examples of later blocks use.
ENTITIES = {"lamp": "rflysim://60?style=2", "car": "rflysim://Standard_Car_Blue?ground=true"}
# What there is neither in the standard nor in the bridge: other topics, and services that mavros has.
TABLES = ("# Scene\n", "# Models of vehicles")


def blocks(document: str) -> list[tuple[int, list[list[str]]]]:
    """The shell blocks of a document: number of the first line, and arguments of its calls."""
    result = []
    text = (ROOT / "docs" / document).read_text()
    for block in re.finditer(r"```(?:sh|bash)\n(.*?)```", text, re.DOTALL):
        lines = [shlex.split(line, comments=True) for line in block[1].splitlines()]
        calls = [words[3:] for words in lines if words[:3] == ["ros2", "service", "call"]]
        calls += [words[2:] for words in lines if words[:2] == ["rfly_bridge", "call"] and words[2].startswith("/")]
        if calls:
            result.append((text[: block.start()].count("\n") + 1, calls))
    return result


BLOCKS = [pytest.param(calls, id=f"{name}-{line}") for name in DOCUMENTS for line, calls in blocks(name)]


def documented() -> dict[str, str]:
    """Services of the tables in docs/topics.md, and what they are said to do."""
    text = (ROOT / "docs/topics.md").read_text()
    parts = [re.split(r"\n# ", text[text.index(title) :], maxsplit=1)[0] for title in TABLES]
    rows = re.findall(r"^\| `(/\S+)` \| `\w+/srv/\w+` \| (.+) \|$", "\n".join(parts), re.MULTILINE)
    return dict(rows)


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    """A bridge with a terrain, and with the file of the scene that the document shows."""
    directory = tmp_path_factory.mktemp("examples")
    write_terrain(directory / "hills.png")
    shown = re.search(r"```json\n(.*?)```", (ROOT / "docs/scene.md").read_text(), re.DOTALL)
    (directory / "scene.json").write_text(shown[1])
    parameters = {
        "terrain.file": directory / "hills.png",
        "scene.file": directory / "scene.json",
        "scene.world": "Grasslands",
    }
    with System(directory, DOMAIN, DEPTH, parameters=parameters) as system:
        system.peer.wait_for(lambda: TERRAIN in system.peer.services(), TERRAIN)
        done = lambda: "copter1" in call("/rfly_bridge/get_entities")  # noqa: E731
        system.peer.wait_for(done, "the vehicle", 60.0)
        yield system


@pytest.mark.parametrize("calls", BLOCKS)
def test_the_examples_of_a_block_work_one_after_the_other(system, calls):
    present = yaml.safe_load(call("/rfly_bridge/get_entities"))["entities"]
    spawned = {name for words in calls for name in ENTITIES if "/spawn_" in words[0] and f"name: {name}" in words[-1]}
    for name in sorted(spawned & set(present)):
        call("/rfly_bridge/delete_entity", f"{{entity: {name}}}")
    for name in sorted(set(ENTITIES) - spawned - set(present)):
        request = {"name": name, "entity_resource": {"uri": ENTITIES[name]}, "initial_pose": {"pose": {"orientation": RIGHT}}}
        call("/rfly_bridge/spawn_entity", yaml.safe_dump(request))
    refused = {name for name, text in documented().items() if text.startswith("refused")}
    for words in calls:
        answer = yaml.safe_load(call(*words))
        succeeded = answer["success"] if "success" in answer else answer.get("result", {"result": 1})["result"] == 1
        assert succeeded == (words[0] not in refused), f"{' '.join(words)}\n{answer}"


def test_every_service_of_the_platform_has_an_example():
    shown = {words[0] for name in DOCUMENTS for _, calls in blocks(name) for words in calls}
    assert set(documented()) - shown == set()
    assert shown - set(documented()) <= {TERRAIN, "/rflysim/terrain/publish"}
