"""What services change in the emulator's world is seen by its sensors and in its flight."""

from __future__ import annotations

import math

import numpy as np
import pytest
from backend import HAS_SIMULATION, NO_SIMULATION
from images import metres, xyz
from mavros import Vehicle, fly
from peer.services import Client
from recording import Recording
from system import System
from test_scene import NOT_FOUND, OK, Scene, pose
from topics import main_topic

from sensors import COMPRESSED, RAW, Sensor, with_defaults

pytestmark = pytest.mark.skipif(not HAS_SIMULATION, reason=NO_SIMULATION)

# The vehicle hangs at 0, -6, 2 in `map` and looks north; the sensors are 0.3 m before its centre.
NOSE = -5.7
BOX_OF_THE_MAP = -1.0
DEPTH = Sensor(0, 2, RAW, width=64, height=48, rate=10, params=(0.1, 60.0, 0.001))
LIDAR = with_defaults(1, 20, COMPRESSED, rate=10)
CUBE = {"uri": "rflysim://150"}
CARRIER = {"uri": "rflysim://3"}
COLLISIONS = "/rflysim/collisions"


class World:
    """Services and sensors of one simulation."""

    def __init__(self, system: System):
        self.call = Scene(system)
        self.recording = Recording(system)
        self._peer = system.peer
        self.recording.subscribe(
            {
                main_topic(DEPTH): "sensor_msgs/msg/Image",
                main_topic(LIDAR): "sensor_msgs/msg/PointCloud2",
                COLLISIONS: "rfly_bridge_msgs/msg/Collision",
            }
        )
        self.recording.collect(1, [main_topic(DEPTH), main_topic(LIDAR)])

    def sees(self, north: float) -> None:
        """Waits until camera and lidar have a surface there, straight ahead; infinity for none."""
        expected = north - NOSE

        def found() -> bool:
            self.recording.harvest()
            return all(abs(distance - expected) < 0.05 or distance == expected for distance in self._ahead())

        try:
            self._peer.wait_for(found, f"{expected} m ahead", 60.0)
        except AssertionError as error:
            raise AssertionError(f"{error}; depth and lidar have {self._ahead()}") from None

    def _ahead(self) -> tuple[float, float]:
        image = metres(self.recording.newest(main_topic(DEPTH)).message)
        depth = image[DEPTH.height // 2, DEPTH.width // 2]
        points = xyz(self.recording.newest(main_topic(LIDAR)).message)
        x, y, z = points.T
        # The first ring above the horizon.
        ahead = x[(np.abs(y) < 0.1 * x) & (z > 0) & (z < 0.05 * x)]
        return (math.inf if math.isnan(depth) else float(depth)), (float(ahead.min()) if len(ahead) else math.inf)

    def spawn(self, name: str, resource: dict, place: dict) -> None:
        """Spawns an entity in `map`."""
        at = {"header": {"frame_id": "map"}, "pose": place}
        spawned = self.call("SpawnEntity", name=name, entity_resource=resource, initial_pose=at)
        assert (spawned.result.result, spawned.entity_name) == (OK, name), spawned

    def move(self, name: str, place: dict) -> None:
        """Moves an entity."""
        moved = self.call("SetEntityState", entity=name, set_pose=True, state={"pose": place})
        assert moved.result.result == OK, moved


@pytest.fixture
def world(tmp_path, domain_id, simulator_ports):
    """Emulator and bridge with a depth camera and a lidar; 5 m before the vehicle is a box of the map."""
    still = ["--hover", "--scene", "simple"]
    with System(tmp_path, domain_id, [DEPTH, LIDAR], emulator=still) as system:
        world = World(system)
        world.sees(BOX_OF_THE_MAP)
        yield world


def test_a_spawned_cube_is_seen_moved_carried_hit_and_deleted(world):
    north = math.pi / 2
    world.spawn("cube", CUBE, pose(0, -3, 2, north))
    world.sees(-3.5)
    world.move("cube", pose(0, -2, 2, north))
    world.sees(-2.5)
    world.spawn("carrier", CARRIER, pose(20, -2, 2, north))
    attached = world.call.own("attach", "Attach", attachments=[{"entity": "cube", "carrier": "carrier", "kind": 3}])
    assert attached.success, attached.message
    world.move("carrier", pose(20, -3, 2, north))
    world.sees(-3.5)
    detached = world.call.own("attach", "Attach", attachments=[{"entity": "cube", "carrier": "carrier", "kind": 0}])
    assert detached.success, detached.message

    world.recording.wait_for(COLLISIONS, lambda m: m.kind == 0)
    world.move("cube", pose(0, -5.5, 2.3, north))
    hit = world.recording.wait_for(COLLISIONS, lambda m: m.kind != 0)
    assert hit.vehicle == 1 and hit.other >= 10001, hit
    world.move("cube", pose(0, -3, 2, north))
    world.recording.wait_for(COLLISIONS, lambda m: m.kind == 0 and m.count >= 1)

    assert world.call("DeleteEntity", entity="cube").result.result == OK
    world.sees(BOX_OF_THE_MAP)
    assert world.call("GetEntityState", entity="cube").result.result == NOT_FOUND


def test_another_map_has_other_objects_and_the_sensors_come_back(world):
    loaded = world.call("LoadWorld", world_resource={"uri": "rflysim://map/Grasslands"})
    assert loaded.result.result == OK, loaded
    world.sees(math.inf)
    loaded = world.call("LoadWorld", world_resource={"uri": "rflysim://map/1"})
    assert loaded.result.result == OK, loaded
    world.sees(BOX_OF_THE_MAP)


def test_a_fault_is_seen_in_the_flight_and_its_end_as_well(tmp_path, domain_id, simulator_ports):
    with fly(tmp_path, domain_id) as system:
        vehicle = Vehicle(system.peer)

        def call(name: str, service: str, **fields):
            client = Client(system.peer, f"/rflysim/model/{name}", f"rfly_bridge_msgs/srv/{service}").wait()
            answer = client.call(**fields)
            assert answer.success, answer.message

        def place(wanted, what: str) -> None:
            system.peer.wait_for(lambda: wanted(vehicle.position()), what, 90.0)

        vehicle.wait_ready()
        stream, target = vehicle.take_off(5.0)
        with stream:
            vehicle.wait_near(target)
            # Six metres per second from the west push the vehicle to the east, until it leans against them.
            call("inject_fault", "InjectFault", kind="wind", parameters=[0.0, 6.0, 0.0])
            place(lambda at: at[0] > target[0] + 0.3, "a push to the east")
            call("clear_faults", "ClearFaults")
            vehicle.wait_near(target)
            # Less thrust than hovering takes; then sound motors again.
            call("inject_fault", "InjectFault", kind="motor", mask=15, parameters=[0.45])
            place(lambda at: at[2] < target[2] - 2, "a sinking vehicle")
            call("clear_faults", "ClearFaults")
            vehicle.wait_near(target)
        system.assert_alive()
