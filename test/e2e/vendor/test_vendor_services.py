"""What a call of the vendor's public Python client does to the emulator, a service or topic of the bridge does, too.

Each row is done by the client, and after a restart of the simulation by the bridge: the emulator must then say the same of itself.
`RFLYSIM_SDK` names a directory with a copy of the client, as in test_vendor_client.py.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from backend import HAS_SIMULATION, NO_SIMULATION
from system import System
from vendor import VendorClient, wait
from vendor_rows import COPTER, COPTERSIM, MODEL, SCENE, Row, World, alike, as_ros, pose

from sensors import COMPRESSED, with_defaults

pytestmark = pytest.mark.skipif(not HAS_SIMULATION, reason=NO_SIMULATION)


def flat_map(directory: Path) -> Path:
    """Terrain of 20 m x 20 m at height 0, as the point mass reads it."""
    cv2.imwrite(str(directory / "Grasslands.png"), np.full((21, 21), 1 << 15, np.uint16))
    (directory / "Grasslands.txt").write_text("1000,1000,0,-1000,-1000,0,0,0,0")
    return directory


@pytest.fixture(scope="module")
def world(tmp_path_factory, domain_id, simulator_ports):
    # Client and bridge listen on one port for heartbeats, which only multicast brings to both.
    options = {"parameters": {"scene.first_id": 500}, "emulator": ["--grounded", "--scene", "simple", "--multicast"]}
    sensors = [with_defaults(0, 5, COMPRESSED, rate=5)]
    maps = flat_map(tmp_path_factory.mktemp("maps"))
    with VendorClient(maps) as client, System(tmp_path_factory.mktemp("both"), domain_id, sensors, **options) as system:
        yield World(system, client)


@pytest.mark.parametrize("row", [*SCENE, *MODEL, *COPTERSIM], ids=lambda row: row.name)
def test_the_bridge_has_the_effect_that_the_client_has(world: World, row: Row):
    def look() -> Any:
        return row.look(world)

    def undo() -> None:
        world.restart()
        for call in row.undo:
            world.client(*call)

    world.forget()
    undo()
    wait(lambda: not row.so(look()), look)
    for call in row.calls:
        world.client(*call)
    wait(lambda: row.so(look()), look)
    by_client = look()
    undo()
    wait(lambda: not row.so(look()), look)
    world.repeat = lambda: None
    row.ask(world)

    def done() -> bool:
        world.repeat()
        return row.so(look())

    wait(done, look)
    by_bridge = look()
    assert alike(by_client, by_bridge), f"{by_client} by the client, {by_bridge} by the bridge"


@pytest.mark.parametrize(
    ("start", "end"),
    [
        # The one of the controllers starts where it is told, 2 m up; the one of swarms stands on its map, and takes off when armed.
        ([("mav", "new", 7), ("mav", "initPointMassModel", -2, [3, 4, 0]), ("mav", "SendPosNED", 2, 1, -1, 0.5)], ("mav", "EndPointMassModel")),
        (
            [
                ("point", "new", 7, COPTER, "Grasslands"), ("point", "initSimpleModel", [3, 4, 0]), ("point", "SendMavArm", 1),
                ("point", "SendPosNED", 2, 1, -3, 0.5),
            ],
            None,
        ),
    ],
    ids=["of the controllers", "of swarms"],
)  # fmt: skip
def test_a_point_mass_of_the_client_is_drawn_as_the_bridge_draws_it(world, start, end):
    world.forget()
    world.restart()
    for call in start:
        world.client(*call)

    def arrived() -> bool:
        # Their own heights end somewhere above 2 m.
        seen = world.look("objects")
        return [one["id"] for one in seen] == [7] and math.dist(seen[0]["centre"][:2], (5, 5)) < 0.05 and seen[0]["centre"][2] < -2

    wait(arrived, world.objects)
    if end:
        world.client(*end)
    else:
        world.client("point", "isInPointMode", False)
    [by_client] = settled(world)
    q, rpm = by_client["quaternion"], by_client["motor_rpm"]
    assert abs(q[3]) > 0.1, "it has turned"
    world.restart()
    wait(lambda: not world.objects(), world.objects)
    drawn = {"position": pose(*by_client["centre"])["position"], "orientation": as_ros(q)}
    world.publish("scene/set_states", "EntityStates", ids=[7], vehicle_types=[COPTER], poses=[drawn], motor_rpm=rpm)

    def done() -> bool:
        world.repeat()
        return bool(world.objects())

    wait(done, world.objects)
    assert alike(by_client, world.objects()[0])


def settled(world: World) -> list[dict]:
    """The objects, once nothing moves them."""
    seen: list[list[dict]] = []

    def still() -> bool:
        seen.append(world.objects())
        return len(seen) > 20 and all(one == seen[-1] for one in seen[-20:])

    wait(still, world.objects)
    return seen[-1]
