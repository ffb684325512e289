"""The vendor's public Python client changes the emulator's world: objects, maps, labels, models, vehicles.

As in test_vendor_client.py, `RFLYSIM_SDK` names a directory with a copy of the client, and the bridge does not run here. What a
call does is seen by sensors that this file requests itself, in the reports that the client receives, in the true state, and
in the emulator's answer to `state`.
"""

from __future__ import annotations

import json
import math
import socket
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pymavlink")

from autopilot import Pilot
from processes import Process, binary
from programs import LISTENS, free_port
from truth import RANGE_RECORD
from vendor import PATIENCE, VendorClient, wait

pytestmark = pytest.mark.usefixtures("simulator_ports")

HEADER = 32
CUBE, PERSON = 150, 30


class World:
    """An emulator, and sensors on its vehicle 1."""

    def __init__(self, directory: Path, *options: str):
        self.control = free_port()
        command = [binary("rflysim_emulator", "RFLY_EMULATOR"), "--control", str(self.control), *options]
        self.emulator = Process("rflysim_emulator", command, directory / "emulator.log", {"RUST_BACKTRACE": "1"})
        self.sensor = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sensor.bind(("127.0.0.1", 0))
        self.sensor.settimeout(PATIENCE)

    def __enter__(self) -> World:
        self.emulator.start().wait_for_output(LISTENS)
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        self.sensor.close()
        code = self.emulator.stop()
        assert kind is not None or code == 0, self.emulator.tail()

    def ask(self, text: str) -> dict:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            control.settimeout(PATIENCE)
            control.sendto(text.encode(), ("127.0.0.1", self.control))
            answer = json.loads(control.recv(65536))
        assert answer["ok"], answer
        return answer

    def request(self) -> None:
        """Asks for a range finder that looks ahead from vehicle 1, 20 times per second."""
        port = self.sensor.getsockname()[1]
        numbers = [12345, 1, 5, 1, 0, 1, 1, 20, 1, 127, 0, 0, 1, port, 0, 0]
        packet = struct.pack("<16Hf3f3f8f", *numbers, 90, 0, 0, 0, 0, 0, 0, 100, *[0] * 7)
        assert len(packet) == 92
        self.sensor.sendto(packet, ("127.0.0.1", 20010))

    def measure(self) -> tuple[int, float]:
        """Who is ahead, and how far; -1 and the range of 100 m if nothing is."""
        self.sensor.setblocking(False)
        try:
            while self.sensor.recv(65536):
                pass  # measured before
        except BlockingIOError:
            pass
        self.sensor.settimeout(PATIENCE)
        record = np.frombuffer(self.sensor.recv(65536)[HEADER:], RANGE_RECORD, 1)[0]
        return int(record["id"]), float(record["distance"])

    def sees(self, who: int, distance: float) -> None:
        """Waits until that is what the range finder measures."""
        last = None

        def same() -> bool:
            nonlocal last
            last = self.measure()
            return last[0] == who and math.isclose(last[1], distance, abs_tol=1e-3)

        wait(same, lambda: f"{last} instead of {who, distance}")

    def knows(self, what: Callable[[dict], object]) -> None:
        """Waits until the emulator's state is so."""
        wait(lambda: bool(what(self.ask("state"))), lambda: self.ask("state"))


@pytest.fixture
def hovering(tmp_path):
    """Vehicle 1 hangs at -6, 0, -2 and looks north, at a box 5 m ahead."""
    with VendorClient() as client, World(tmp_path, "--hover", "--scene", "simple") as world:
        world.request()
        world.sees(1001, 5.0)
        yield client, world


def test_a_spawned_box_is_seen_where_the_client_puts_it_and_gone_when_it_deletes_it(hovering):
    client, world = hovering
    client("ue", "sendUE4Pos", 2000, CUBE, 0, [-3, 0, -2], [0, 0, 0])
    world.sees(2000, 2.5)
    client("ue", "sendUE4PosScale", 2000, CUBE, 0, [-3, 0, -2], [0, 0, 0], [2, 1, 1])
    world.sees(2000, 2.0)
    client("ue", "sendUE4PosNew", 2000, CUBE, [-2, 0, -2], [0, 0, math.pi / 4], [0, 0, 0], [0] * 8, -1)
    world.sees(2000, 4 - math.sqrt(0.5))
    client("ue", "sendUE4Pos2Ground", 2000, PERSON, 0, [-2, 0, -50], [0, 0, 0])
    world.knows(lambda state: [round(o["centre"][2], 6) for o in state["objects"]] == [-0.9])
    world.sees(1001, 5.0)  # a person of 1.8 m is below the view
    client("ue", "sendUE4PosScale100", [2000, 2001], [CUBE, CUBE], [-3, 0, -2, 9, 9, -2], [0] * 6, [0] * 2, [100] * 6, False)
    world.sees(2000, 2.5)
    client("ue", "sendUE4Cmd", "RflyDelVehicles 2000")
    world.sees(1001, 5.0)
    world.knows(lambda state: [o["id"] for o in state["objects"]] == [2001])


def test_an_attached_box_follows_its_carrier(hovering):
    client, world = hovering
    client("ue", "sendUE4Pos", 2001, 3, 0, [-3, 20, -2], [0, 0, 0])
    client("ue", "sendUE4Pos", 2000, CUBE, 0, [-3, 0, -2], [0, 0, 0])
    world.sees(2000, 2.5)
    client("ue", "sendUE4Attatch", 2000, 2001, 3)
    world.knows(lambda state: state["attached"] == {"2000": {"carrier": 2001, "kind": 3}})
    world.sees(2000, 2.5)
    client("ue", "sendUE4Pos", 2001, 3, 0, [-2, 20, -2], [0, 0, 0])
    world.sees(2000, 3.5)
    client("ue", "sendUE4Attatch", 2000, 2001, 0)
    client("ue", "sendUE4Pos", 2001, 3, 0, [9, 20, -2], [0, 0, 0])
    world.knows(lambda state: state["objects"][1]["centre"] == [9, 20, -2])
    world.sees(2000, 3.5)


def test_another_map_ends_the_capture_and_has_other_objects(hovering):
    client, world = hovering
    client("ue", "sendUE4Cmd", "RflyChangeMapbyName Grasslands")
    world.knows(lambda state: state["map"] == "Grasslands")
    wait(lambda: world.ask("stats")["live"] == 0, "the range finder is still live")
    world.request()
    world.sees(-1, 100.0)
    client("ue", "sendUE4Cmd", "RflyChangeMapbyID 1")
    world.knows(lambda state: state["map"] == "simple")
    world.request()
    world.sees(1001, 5.0)


def test_labels_messages_views_and_stencils_are_kept(hovering):
    client, world = hovering
    client("ue", "sendUE4LabelID", 1, "first", 30, [255, 0, 0])
    client("ue", "sendUE4LabelMsg", 1, "a message", 20, [0, 255, 0], 0, -1)
    client("ue", "sendUE4Cmd", "RflyShowTextTime hello 100")
    client("ue", "sendUE4Cmd", "RflyCameraPosAng 1 2 -3 0 -30 0")
    client("ue", "sendUE4ExtAct", 1, [0.5] * 16)
    client("ue", "sendUE4SetStencilValueByActorName", "Box_0", 120, True)
    client("ue", "sendUE4Cmd", "RflyNobodyKnowsThis 1")
    wait(lambda: world.ask("stats")["unknown_commands"] == 1, "one unknown command")
    state = world.ask("state")
    assert state["labels"]["1"]["id"]["text"] == "first"
    assert [row["text"] for row in state["labels"]["1"]["rows"]] == ["a message"]
    assert state["messages"] == ["hello"]
    assert state["view"]["position"] == [1, 2, -3]
    assert state["blueprints"]["1"][8:] == [0.5] * 16
    assert state["stencils"] == {"Box_0": 120}


def test_the_client_is_told_of_collisions_and_of_spawned_objects(hovering):
    client, world = hovering
    client("ue", "initUE4MsgRec")
    client("ue", "sendUE4Pos", 2000, CUBE, 0, [-3, 0, -2], [0, 0, 0])
    client("ue", "sendUE4Cmd", "RflyReqVehicleData 1")

    def report(vehicle: int, kind: int) -> Callable[[], bool]:
        def told() -> bool:
            data = client("ue", "getUE4Data", vehicle)
            return bool(data) and data["CrashType"] == kind

        return told

    wait(report(2000, 0), "a report of the box")
    client("ue", "sendUE4Pos", 2000, CUBE, 0, [-1.4, 0, -2], [0, 0, 0])
    wait(report(2000, -1), "it hits the box of the scene")
    client("ue", "sendUE4Pos", 2000, CUBE, 0, [-5.5, 0, -2.3], [0, 0, 0])
    wait(report(2000, 1), "it hits vehicle 1")
    wait(report(1, 2000), "vehicle 1 is hit")
    client("ue", "reqCopt", [2000])
    boxes = lambda: [c for c in client("ue", "CoptDataVect") if c["CopterID"] == 2000]  # noqa: E731
    wait(lambda: bool(boxes()), "a description of the box")
    assert boxes()[0]["BoxExtent"] == pytest.approx([0.5] * 3)


def true_position(states: socket.socket) -> tuple[float, float, float]:
    """Position in the next true state of 168 bytes."""
    while len(packet := states.recv(65536)) != 168:
        pass
    return struct.unpack_from("<3d", packet, 120)


def test_coptersim_puts_the_vehicle_where_the_client_wants_it(tmp_path):
    with VendorClient() as client, World(tmp_path, "--grounded") as world:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as states:
            states.bind(("127.0.0.1", 30101))
            states.settimeout(PATIENCE)
            client("req", "isFalseMulti", True)  # to ports of this machine instead of the network
            client("req", "sendReSimXYyaw", 1, [5.0, 6.0, 90.0])
            there = lambda place: lambda: math.dist(true_position(states), place) < 1e-3  # noqa: E731
            wait(there((5, 6, -0.15)), "on the ground")
            client("req", "sendReSimXyzRPYaw", 1, [1.0, 2.0, -3.0], [10.0, 20.0, 30.0])
            wait(there((1, 2, -3)), "in the air")
        client("req", "sendReSimDllName", 1, "FixedWing")
        world.knows(lambda state: state["models"]["1"]["model"] == "FixedWing")
        client("req", "sendReSimMapName", 1, "simple")
        world.knows(lambda state: state["map"] == "simple")


def test_a_fault_that_the_client_injects_changes_the_flight_and_its_end_repairs_it(tmp_path):
    with VendorClient() as client, World(tmp_path, "--grounded") as world, Pilot() as pilot:
        pilot.ready()
        pilot.quiet()
        pilot.take_off(5)
        pilot.fly(3)
        # Six metres per second from the west: the vehicle is pushed, and leans against it.
        client("dll", "sendSILIntFloat", [123458, 123458], [0, 6, 0, 0])
        world.knows(lambda state: state["models"]["1"]["damage"]["wind"] == [0, 6, 0])
        pilot.wait(PATIENCE, lambda: pilot.position[1] > 0.3, "pushed to the east")
        client("dll", "sendSILIntFloat", [123458, 123458], [0, 0, 0, 0])
        pilot.wait(PATIENCE, lambda: pilot.near((0, 0, -5), 0.3), "back")
        # With less thrust than hovering takes it sinks, and climbs again when its motors are sound.
        motors = [123450] * 4
        client("dll", "sendSILIntDouble", motors, [0.45] * 4 + [1] * 4)
        pilot.wait(PATIENCE, lambda: pilot.position[2] > -3, "sinking")
        client("dll", "sendSILIntDouble", motors, [1] * 8)
        pilot.wait(PATIENCE, lambda: pilot.position[2] < -4.7, "climbing")
        client("dll", "sendSILIntFloat", motors, [0, 1, 1, 1, 1, 1, 1, 1])
        pilot.wait(PATIENCE, lambda: pilot.position[2] > -0.1, "a vehicle without its first motor falls")
