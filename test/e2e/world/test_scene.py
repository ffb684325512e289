"""The services of the scene as ROS 2 nodes call them: what goes out is read by a window of the renderer that this test plays."""

from __future__ import annotations

import contextlib
import math
import socket
import struct
import time

import pytest
from backend import HAS_SIMULATION, NO_SIMULATION
from peer.publisher import Publication, Stream
from peer.services import Client
from recording import Recording
from system import System

from sensors import COMPRESSED, with_defaults

pytestmark = pytest.mark.skipif(not HAS_SIMULATION, reason=NO_SIMULATION)

OK, NOT_FOUND, NAME_NOT_UNIQUE, INVALID_POSE = 1, 2, 101, 109
WINDOW = 7
SILENCE = 300
CAMERA = with_defaults(0, 1, COMPRESSED, rate=5)

# Layouts of the vendor's SDK, little-endian: SOut2SimulatorSimple1, Ue4CMD0 and Ue4CopterMsg.
SCALED = struct.Struct("<3i10f")
LABEL = struct.Struct("<6i2f120s")


class Window:
    """A window of the renderer."""

    def __init__(self):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 20010 + WINDOW))
        self._socket.settimeout(30)

    def receive(self) -> bytes:
        """The next datagram."""
        return self._socket.recv(65536)

    def command(self) -> str:
        """The next datagram, which is a console command."""
        datagram = self.receive()
        assert len(datagram) in (56, 256) and datagram[:4] == struct.pack("<i", 1234567890)
        return datagram[4:].rstrip(b"\0").decode()

    def drain(self) -> None:
        """Throws away what is still on its way."""
        self._socket.settimeout(1)
        with contextlib.suppress(TimeoutError):
            while True:
                self.receive()
        self._socket.settimeout(30)

    def close(self) -> None:
        """Gives the port back."""
        self._socket.close()


class Scene:
    """Clients of the services."""

    def __init__(self, system: System):
        self._peer, self._clients = system.peer, {}

    def __call__(self, service: str, **fields):
        """Calls a service of the standard."""
        name = "".join(f"_{c.lower()}" if c.isupper() else c for c in service).lstrip("_")
        return self._call(f"/rfly_bridge/{name}", f"simulation_interfaces/srv/{service}", fields)

    def own(self, name: str, service: str, **fields):
        """Calls a service of the bridge."""
        return self._call(f"/rflysim/scene/{name}", f"rfly_bridge_msgs/srv/{service}", fields)

    def _call(self, name: str, ros_type: str, fields: dict):
        if name not in self._clients:
            self._clients[name] = Client(self._peer, name, ros_type).wait()
        return self._clients[name].call(**fields)


def pose(x: float, y: float, z: float, yaw: float = 0.0) -> dict:
    """A pose in ENU."""
    turn = {"z": math.sin(yaw / 2), "w": math.cos(yaw / 2)}
    return {"position": {"x": x, "y": y, "z": z}, "orientation": turn}


@pytest.fixture(scope="module")
def running(tmp_path_factory, domain_id, simulator_ports):
    """Emulator and bridge; the scene's window is this test."""
    parameters = {"scene.windows": [WINDOW], "scene.first_id": 500, "request.timeout_s": SILENCE}
    window = Window()
    with System(tmp_path_factory.mktemp("scene"), domain_id, [CAMERA], parameters=parameters) as system:
        yield system, Scene(system), window
    window.close()


def test_an_object_is_spawned_found_moved_and_deleted(running):
    _, scene, window = running
    resource = {"uri": "rflysim://60?style=2&scale=1,2,3"}
    at = {"header": {"frame_id": "map"}, "pose": pose(1, 2, 3, yaw=math.pi / 2)}
    spawned = scene("SpawnEntity", name="lamp", entity_resource=resource, initial_pose=at)
    assert (spawned.result.result, spawned.entity_name) == (OK, "lamp"), spawned
    tag, number, kind, _, north, east, down, roll, pitch, yaw, *scale = SCALED.unpack(window.receive())
    # 90 degrees from east is north, which is heading 0 for the simulator.
    assert (tag, number, kind, scale) == (1234567890, 500, 2060, [1, 2, 3])
    assert (north, east, down) == (2, 1, -3)
    assert max(map(abs, (roll, pitch, yaw))) < 1e-6

    assert "lamp" in scene("GetEntities", filters={"filter": "^la"}).entities
    assert scene("GetEntityInfo", entity="lamp").info.category.category == 5
    state = scene("GetEntityState", entity="lamp").state
    assert (state.header.frame_id, state.pose.position.x, state.pose.position.z) == ("map", 1, 3)

    put = scene("SetEntityState", entity="lamp", set_pose=True, state={"pose": pose(-4, 5, 6)})
    assert put.result.result == OK, put
    _, number, kind, _, north, east, down, _, _, yaw, *_ = SCALED.unpack(window.receive())
    assert (number, kind, north, east, down) == (500, 2060, 5, -4, -6)
    assert abs(yaw - math.pi / 2) < 1e-6, "east is heading 90 degrees"

    again = scene("SpawnEntity", name="lamp", entity_resource=resource, initial_pose=at)
    assert again.result.result == NAME_NOT_UNIQUE and "allow_renaming" in again.result.error_message
    assert scene("DeleteEntity", entity="lamp").result.result == OK
    assert window.command() == "RflyDelVehicles 500"
    gone = scene("DeleteEntity", entity="lamp").result
    assert gone.result == NOT_FOUND and "lamp" in gone.error_message


def test_wrong_arguments_are_answered_with_what_would_be_right(running):
    _, scene, _ = running
    box = {"uri": "rflysim://3"}
    nowhere = scene("SpawnEntity", name="a", entity_resource=box, initial_pose={"header": {"frame_id": "moon"}})
    assert nowhere.result.result == INVALID_POSE and "map" in nowhere.result.error_message
    no_attitude = scene("SpawnEntity", name="a", entity_resource=box)
    assert no_attitude.result.result == INVALID_POSE and "norm" in no_attitude.result.error_message
    misspelt = scene("SpawnEntity", name="a", entity_resource={"uri": "rflysim://light_rad"})
    assert misspelt.result.result == NOT_FOUND and "Light_Red" in misspelt.result.error_message
    assert scene("StepSimulation", steps=1).result.result == 0
    command = scene.own("command", "SceneCommand", command="RflyChangeVehicleSize(1000, ten)")
    assert not command.success and "a number" in command.message


def test_a_flown_vehicle_is_moved_in_its_coptersim(running):
    system, scene, _ = running
    deadline = time.monotonic() + 60
    while scene("GetEntityState", entity="copter1").result.result != OK:
        assert time.monotonic() < deadline, "no true state"
    moved = scene("SetEntityState", entity="copter1", set_pose=True, state={"pose": pose(30, 20, 0)})
    assert moved.result.result == OK, moved
    while True:
        position = scene("GetEntityState", entity="copter1").state.pose.position
        if abs(position.x - 30) < 1 and abs(position.y - 20) < 1:
            break
        assert time.monotonic() < deadline, position
        time.sleep(0.1)
    assert system.bridge.alive()


def test_labels_and_commands_arrive_at_the_window(running):
    _, scene, window = running
    assert scene.own("set_label", "SetLabel", entity="copter1", text="leader", row=-1, duration=5.0).success
    tag, number, row, *colour, seconds, size, text = LABEL.unpack(window.receive())
    assert (tag, number, row, colour) == (1234567899, 1, -1, [255, 0, 0])
    assert (seconds, size, text.rstrip(b"\0")) == (5, 30, b"leader")
    assert scene.own("show_message", "ShowMessage", text="take off", duration=3.0).success
    assert window.command() == 'RflyShowTextTime "take off" 3'
    assert scene.own("command", "SceneCommand", command="t.MaxFPS 30", window=-1).success
    assert window.command() == "t.MaxFPS 30"
    assert scene.own("command", "SceneCommand", command="RflyChangeVehicleSize(1000, 10);", window=-1).success
    assert window.command() == "RflyChangeVehicleSize 1000 10"
    assert scene.own("describe_all", "DescribeAll", kind=3).success
    assert window.command() == "RflyReqObjData 23 all 0"


def test_many_states_become_one_datagram(running):
    system, _, window = running
    states = Publication(system.peer, "/rflysim/scene/set_states", "rfly_bridge_msgs/msg/EntityStates").wait()
    ids = list(range(1, 101))
    states.publish(ids=ids, vehicle_types=[3] * 100, poses=[pose(i, 0, 1) for i in ids], motor_rpm=[float(i) for i in ids])
    datagram = window.receive()
    # Multi3DData100New: tag, ids, types, positions, angles, sizes in percent, motors.
    assert len(datagram) == 3804
    assert struct.unpack_from("<i100H", datagram) == (1234567890, *ids)
    assert struct.unpack_from("<6f", datagram, 404) == (0, 1, -1, 0, 2, -1)
    assert struct.unpack_from("<3H", datagram, 2804) == (100, 100, 100)
    assert struct.unpack_from("<100f", datagram, 3404) == tuple(map(float, ids))


def test_a_hundred_vehicles_at_a_hundred_hertz_take_less_than_a_tenth_of_a_core(running):
    """Time of the processor for each message, so that it does not matter how fast they come."""
    system, _, window = running
    states = Publication(system.peer, "/rflysim/scene/set_states", "rfly_bridge_msgs/msg/EntityStates").wait()
    ids, count = list(range(1, 101)), 500
    fields = {"ids": ids, "vehicle_types": [3] * 100, "poses": [pose(i, 0, 1) for i in ids], "motor_rpm": [9.0] * 100}

    def used(work) -> tuple[float, float]:
        before, begin = system.bridge.cpu_seconds(), time.monotonic()
        work()
        return system.bridge.cpu_seconds() - before, time.monotonic() - begin

    def stream() -> None:
        with Stream(states, 100.0, **fields):
            for _ in range(count):
                assert len(window.receive()) == 3804

    idle, seconds = used(lambda: time.sleep(3.0))
    busy, took = used(stream)
    window.drain()
    per_message = (busy - idle / seconds * took) / count
    print(f"{per_message * 1e3:.3f} ms per message")
    assert per_message * 100 < 0.1


def test_a_map_change_is_told_and_the_sensors_are_asked_for_again(running):
    system, scene, window = running
    recording = Recording(system)
    recording.subscribe({CAMERA.topic: "sensor_msgs/msg/Image"})
    recording.collect(1, [CAMERA.topic])
    # Captures end, as with a change of the map; the bridge would notice long after this test.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as renderer:
        renderer.sendto(struct.pack("<i52s", 1234567890, b"RflyClearCapture"), ("127.0.0.1", 20010))
    count = -1
    while count != len(recording.messages(CAMERA.topic)):
        count = len(recording.messages(CAMERA.topic))
        time.sleep(2)
        recording.harvest()
    loaded = scene("LoadWorld", world_resource={"uri": "rflysim://map/oldfactory"})
    assert (loaded.result.result, loaded.world.name) == (OK, "OldFactory"), loaded
    assert window.command() == "RflyChangeMapbyName OldFactory"
    assert scene("GetCurrentWorld").world.world_resource.uri == "rflysim://map/OldFactory"
    recording.collect_more(3, [CAMERA.topic])
