"""`rfly_bridge call` as a user types it, on services of the bridge and of a peer; heights of the terrain as the vendor's SDK
reads them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from backend import HAS_GRID_MAP, environment
from peer.services import Client
from processes import ROOT, binary, write_terrain
from system import System

from sensors import COMPRESSED, with_defaults

DOMAIN = 62
RANGE = [with_defaults(0, 5, COMPRESSED, rate=5)]
TERRAIN = "/rflysim/terrain/get_height"
GOLDEN = json.loads((ROOT / "test/fixtures/golden/terrain.json").read_text())


def vector(name: str) -> dict:
    """A recorded height map."""
    return next(vector for vector in GOLDEN if vector["name"] == name)


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    """A bridge with a terrain."""
    directory: Path = tmp_path_factory.mktemp("call")
    write_terrain(directory / "hills.png")
    with System(directory, DOMAIN, RANGE, parameters={"terrain.file": directory / "hills.png"}) as system:
        system.peer.wait_for(lambda: TERRAIN in system.peer.services(), TERRAIN)
        yield system


def call(*arguments: str, code: int = 0) -> str:
    """Runs the command; returns what it prints, as YAML if it worked."""
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "call", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment(DOMAIN)}, timeout=60
    )
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    return done.stdout if code == 0 else done.stderr


def test_the_type_comes_from_the_graph_or_from_the_command_line(system):
    request = "{names: [topic_prefix, terrain.rounding]}"
    for arguments in ([request], ["rcl_interfaces/srv/GetParameters", request]):
        response = yaml.safe_load(call("/rfly_bridge/get_parameters", *arguments))
        assert [value["string_value"] for value in response["values"]] == ["rflysim", "cut"]
        assert [value["type"] for value in response["values"]] == [4, 4], "`type` is a keyword in Rust"
    nothing = yaml.safe_load(call("/rfly_bridge/get_parameters"))
    assert nothing == {"values": []}


def test_what_it_sets_is_what_others_see(system):
    request = "{parameters: [{name: request.period_s, value: {type: 3, double_value: 2.5}}]}"
    response = yaml.safe_load(call("/rfly_bridge/set_parameters", request))
    assert response["results"] == [{"successful": True, "reason": ""}]
    client = Client(system.peer, "/rfly_bridge/get_parameters", "rcl_interfaces/srv/GetParameters").wait()
    assert client.call(names=["request.period_s"]).values[0].double_value == 2.5


def test_heights_are_those_of_the_vendor(system):
    queries = [q for q in vector("gps_12")["decoded"]["queries"] if max(abs(q[0]), abs(q[1])) <= 10]
    assert len(queries) > 3
    points = ", ".join(f"{{x: {east}, y: {north}}}" for north, east, _ in queries)
    response = yaml.safe_load(call(TERRAIN, f"{{points: [{points}]}}"))
    assert response["success"], response["message"]
    assert response["height"] == pytest.approx([-down for _, _, down in queries], abs=1e-9)

    # The same by a client that shares no code with the bridge.
    client = Client(system.peer, TERRAIN, "rfly_bridge_msgs/srv/GetHeight").wait()
    again = client.call(points=[{"x": east, "y": north} for north, east, _ in queries])
    assert again.height.tolist() == response["height"]


@pytest.mark.skipif(not HAS_GRID_MAP, reason="grid_map_msgs is not in the workspace of the bridge")
def test_the_maps_of_the_terrain_are_latched(system):
    occupancy = system.peer.subscribe(
        "/rflysim/terrain/occupancy", "nav_msgs/msg/OccupancyGrid", transient_local=True, depth=1
    )
    grid_map = system.peer.subscribe(
        "/rflysim/terrain/grid_map", "grid_map_msgs/msg/GridMap", transient_local=True, depth=1
    )
    system.peer.wait_for(lambda: occupancy.samples and grid_map.samples, "maps")
    assert occupancy.messages[-1].info.width == grid_map.messages[-1].data[0].layout.dim[1].size
    response = yaml.safe_load(
        call("/rflysim/terrain/publish", "{center: {x: 2}, length_x: 4, length_y: 2, resolution: 0.5}")
    )
    assert response == {"success": True, "message": "", "width": 8, "height": 4, "resolution": 0.5}
    system.peer.wait_for(lambda: occupancy.messages[-1].info.width == 8, "the region")
    system.peer.wait_for(lambda: grid_map.messages[-1].info.length_x == 4.0, "the region")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([TERRAIN, "{point: []}"], 'has no field "point"; did you mean "points"?'),
        ([TERRAIN, "{points: [{x: a}]}"], 'points[0].x: is "a", expected a number'),
        ([TERRAIN, "std_srvs/srv/Triger", ""], 'did you mean "std_srvs/srv/Trigger"?'),
        ([TERRAIN, "std_srvs/srv/Trigger", ""], "is a rfly_bridge_msgs/srv/GetHeight, not a std_srvs/srv/Trigger"),
        (
            ["/rflysim/terrain/get_heigth", "--timeout", "6"],
            'no service /rflysim/terrain/get_heigth within 6 s; did you mean "/rflysim/terrain/get_height"?',
        ),
        ([TERRAIN, "--timeout", "soon"], "must be a number from 0 to 86400"),
    ],
)
def test_what_is_wrong_is_told_with_what_would_be_right(system, arguments, wanted):
    code = 2 if "soon" in arguments else 1
    assert wanted in call(*arguments, code=code)
