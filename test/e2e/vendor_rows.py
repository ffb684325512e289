"""What a call of the vendor's public Python client does, and the service or topic of the bridge that does it, too."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from peer.publisher import Publication
from peer.services import Client
from system import System
from vendor import VendorClient

CUBE, PERSON, COPTER = 150, 30, 3
# An id that the bridge gives to nothing.
FREE = 3000
MESSAGES, SERVICES = "rfly_bridge_msgs/msg", "rfly_bridge_msgs/srv"


def pose(north: float, east: float, down: float, yaw: float = 0.0, pitch: float = 0.0) -> dict:
    """A pose of the simulator (north, east, down; angles in rad) as ROS has it."""
    z, y = (math.pi / 2 - yaw) / 2, -pitch / 2
    turned = {
        "w": math.cos(z) * math.cos(y),
        "x": -math.sin(z) * math.sin(y),
        "y": math.cos(z) * math.sin(y),
        "z": math.sin(z) * math.cos(y),
    }
    return {"position": {"x": east, "y": north, "z": -down}, "orientation": turned}


def alike(one: Any, other: Any) -> bool:
    """Equal, as far as single precision goes."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) or isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-5)
    return one == other


class World:
    """Emulator, bridge and client, and clients of the bridge."""

    def __init__(self, system: System, client: VendorClient):
        self.system, self.client = system, client
        self._ends: dict[str, Any] = {}
        self.repeat: Callable[[], object] = lambda: None
        """Publishes once more what was published last: the bridge may know a publisher later than that knows it."""
        self._seen = 0
        self._truth = {
            name: system.peer.subscribe(f"/rflysim/ground_truth/{name}", kind, depth=2000)
            for name, kind in (("pose", "geometry_msgs/msg/PoseStamped"), ("gps", "sensor_msgs/msg/NavSatFix"))
        }

    def standard(self, service: str, /, **fields: Any) -> None:
        """Calls a service of simulation_interfaces."""
        name = "".join(f"_{c.lower()}" if c.isupper() else c for c in service).lstrip("_")
        answer = self._call(f"/rfly_bridge/{name}", f"simulation_interfaces/srv/{service}", fields)
        assert answer.result.result == 1, answer

    def spawn(self, uri: str, at: dict) -> None:
        """Spawns `box`."""
        self.standard("SpawnEntity", name="box", entity_resource={"uri": uri}, initial_pose={"pose": at})

    def forget(self) -> None:
        """Lets the bridge delete what it spawned, and end its faults."""
        self.standard("ResetSimulation", scope=4)
        self.own("model/clear_faults", "ClearFaults")

    def own(self, name: str, service: str, /, **fields: Any) -> None:
        """Calls a service of the bridge."""
        answer = self._call(f"/rflysim/{name}", f"{SERVICES}/{service}", fields)
        assert answer.success, answer.message

    def _call(self, name: str, kind: str, fields: dict) -> Any:
        if name not in self._ends:
            self._ends[name] = Client(self.system.peer, name, kind).wait()
        return self._ends[name].call(**fields)

    def publish(self, name: str, kind: str, /, **fields: Any) -> None:
        """Publishes on a topic of the bridge."""
        if name not in self._ends:
            self._ends[name] = Publication(self.system.peer, f"/rflysim/{name}", f"{MESSAGES}/{kind}").wait()
        self.repeat = lambda: self._ends[name].publish(**fields)
        self.repeat()

    def states(self, number: int, **fields: Any) -> None:
        """Draws `number` copters north of each other, the first with the id FREE."""
        each = range(number)
        self.publish(
            "scene/set_states", "EntityStates", ids=[FREE + i for i in each], vehicle_types=[COPTER] * number,
            poses=[pose(i, 1, -2, yaw=0.5) for i in each], **fields,
        )  # fmt: skip

    def look(self, *path: str) -> Any:
        """A part of what the emulator says of itself."""
        found: Any = self.system.command("state")
        for key in path:
            found = found.get(key) if found is not None else None
        return found

    def objects(self) -> list[dict]:
        """What was spawned, without the ids: the bridge gives out its own."""
        return [{key: value for key, value in one.items() if key != "id"} for one in self.look("objects")]

    def model(self, *path: str) -> Any:
        """A part of what the model of vehicle 1 was told."""
        return self.look("models", "1", *path)

    def truth(self, name: str) -> Any:
        """The newest message of a topic of the true state."""
        self.system.peer.take()
        return self._truth[name].messages[-1] if self._truth[name].messages else None

    def restart(self) -> None:
        """Begins the simulation anew; what was seen is forgotten."""
        self.system.command("restart")
        self.truth("pose")
        self._seen = len(self._truth["pose"].messages)

    def aloft(self) -> list[float]:
        """Where vehicle 1 was first seen 2.9 m above the ground or higher, but for the height: it falls."""
        self.truth("pose")
        for message in self._truth["pose"].messages[self._seen :]:
            here = message.pose
            if here.position.z > 2.9:
                return [here.position.x, here.position.y, *(getattr(here.orientation, axis) for axis in "xyzw")]
        return []

    def place(self) -> list[float]:
        """Where vehicle 1 truly is, to the millimetre: it settles on the ground."""
        if (newest := self.truth("pose")) is None:
            return []
        parts = (newest.pose.position, newest.pose.orientation)
        return [round(getattr(part, axis), 3) for part in parts for axis in "xyzw" if hasattr(part, axis)]

    def geodetic(self) -> list[float]:
        """The same as latitude, longitude and altitude, to about a centimetre."""
        if (newest := self.truth("gps")) is None:
            return []
        return [round(newest.latitude, 7), round(newest.longitude, 7), round(newest.altitude, 2)]


@dataclass
class Row:
    """One effect."""

    name: str
    calls: list[tuple]
    """Of the client."""
    ask: Callable[[World], object]
    """The same of the bridge."""
    look: Callable[[World], object]
    """Where it is seen."""
    so: Callable[[Any], object]
    """What is seen then, and not before."""
    undo: Sequence[tuple] = ()
    """Calls of the client that undo what a restart leaves."""


def numbers(count: int, step: float = 0.5) -> list[float]:
    """As many different numbers."""
    return [step * (i + 1) for i in range(count)]


BOX_AT, BOX_MOVED = (3, 4, -2), (5, -1, -3)
SCENE = [
    Row(
        "a box is spawned",
        [("ue", "sendUE4PosScale", FREE, CUBE, 0, BOX_AT, [0, 0, 0.3], [2, 1, 1])],
        lambda w: w.spawn("rflysim://150?scale=2,1,1", pose(*BOX_AT, yaw=0.3)),
        World.objects,
        lambda seen: len(seen) == 1 and seen[0]["half"] == [1, 0.5, 0.5],
    ),
    Row(
        "a person stands on the ground",
        [("ue", "sendUE4Pos2Ground", FREE, PERSON, 0, [3, 4, -50], [0, 0, 0])],
        lambda w: w.spawn("rflysim://30?ground=true", pose(3, 4, -50)),
        World.objects,
        lambda seen: len(seen) == 1 and math.isclose(seen[0]["centre"][2], -0.9, abs_tol=1e-6),
    ),
    Row(
        "a box is moved",
        [("ue", "sendUE4Pos", FREE, CUBE, 0, BOX_AT), ("ue", "sendUE4Pos", FREE, CUBE, 0, BOX_MOVED, [0, 0, -1.0])],
        lambda w: (
            w.spawn("rflysim://150", pose(*BOX_AT)),
            w.standard("SetEntityState", entity="box", set_pose=True, state={"pose": pose(*BOX_MOVED, yaw=-1.0)}),
        ),
        World.objects,
        lambda seen: len(seen) == 1 and seen[0]["centre"] == list(BOX_MOVED),
    ),
    Row(
        "a box is deleted",
        [
            ("ue", "sendUE4Pos", FREE, PERSON, 0, BOX_AT),
            ("ue", "sendUE4Pos", FREE + 1, CUBE, 0, BOX_MOVED),
            ("ue", "sendUE4Cmd", f"RflyDelVehicles {FREE}"),
        ],
        lambda w: (
            w.spawn("rflysim://30", pose(*BOX_AT)),
            w.standard("SpawnEntity", name="other", entity_resource={"uri": "rflysim://150"}, initial_pose={"pose": pose(*BOX_MOVED)}),
            w.standard("DeleteEntity", entity="box"),
        ),
        World.objects,
        lambda seen: [one["centre"] for one in seen] == [list(BOX_MOVED)],
    ),
    Row(
        "a box is attached",
        [("ue", "sendUE4Attatch", FREE, 1, 2)],
        lambda w: w.own("scene/attach", "Attach", attachments=[{"entity": str(FREE), "carrier": "copter1", "kind": 2}]),
        lambda w: w.look("attached"),
        lambda seen: seen == {str(FREE): {"carrier": 1, "kind": 2}},
    ),
    Row(
        "another map",
        [("ue", "sendUE4Cmd", "RflyChangeMapbyName Grasslands")],
        lambda w: w.standard("LoadWorld", world_resource={"uri": "rflysim://map/Grasslands"}),
        lambda w: w.look("map"),
        lambda seen: seen == "Grasslands",
    ),
    Row(
        "a label",
        [("ue", "sendUE4LabelID", 1, "leader", 30, [255, 0, 0])],
        lambda w: w.own("scene/set_label", "SetLabel", entity="copter1", text="leader"),
        lambda w: w.look("labels", "1", "id"),
        lambda seen: seen and seen["text"] == "leader",
    ),
    Row(
        "a message at a vehicle",
        [("ue", "sendUE4LabelMsg", 1, "low battery", 20, [0, 255, 0], 0, -1)],
        lambda w: w.own(
            "scene/set_label", "SetLabel", entity="copter1", text="low battery", row=-1, size=20.0, color={"g": 1.0, "a": 1.0}
        ),
        lambda w: w.look("labels", "1", "rows"),
        lambda seen: seen and [row["text"] for row in seen] == ["low battery"],
    ),
    Row(
        "a message on the screen",
        [("ue", "sendUE4Cmd", "RflyShowTextTime hello 100")],
        lambda w: w.own("scene/show_message", "ShowMessage", text="hello", duration=100.0),
        lambda w: w.look("messages"),
        lambda seen: seen == ["hello"],
    ),
    Row(
        "the size of an object",
        [("ue", "sendUE4Pos", FREE, CUBE, 0, BOX_AT), ("ue", "sendUE4Cmd", f"RflyChangeVehicleSize {FREE} 3")],
        lambda w: (
            w.spawn("rflysim://150", pose(*BOX_AT)),
            w.own("scene/set_size", "SetSize", entity="box", scale={"x": 3.0, "y": 3.0, "z": 3.0}),
        ),
        World.objects,
        lambda seen: len(seen) == 1 and seen[0]["half"] == [1.5] * 3,
    ),
    Row(
        "actuators of a blueprint",
        [("ue", "sendUE4Cmd", "RflySetActuatorPWMs 1 1 2 3 4 5 6 7 8"), ("ue", "sendUE4ExtAct", 1, numbers(16))],
        lambda w: w.own("scene/set_actuators", "SetActuators", entity="copter1", inputs=numbers(8, 1.0), extended=numbers(16)),
        lambda w: w.look("blueprints"),
        lambda seen: seen.get("1") == numbers(8, 1.0) + numbers(16),
    ),
    Row(
        "stencil values",
        [
            ("ue", "sendUE4SetStencilValueByActorName", "Box_0", 120),
            ("ue", "sendUE4SetStencilValueByMeshComponentName", "Wall.*", 121, True),
        ],
        lambda w: (
            w.own("scene/set_stencil", "SetStencil", by=1, name="Box_0", value=120),
            w.own("scene/set_stencil", "SetStencil", by=2, name="Wall.*", regex=True, value=121),
        ),
        lambda w: w.look("stencils"),
        lambda seen: len(seen) == 2,
    ),
    Row(
        "the stencil value of a vehicle",
        [("ue", "sendUE4SetStencilValueByCopterID", 1, 99)],
        lambda w: w.own("scene/set_stencil", "SetStencil", name="copter1", value=99),
        lambda w: w.look("looks", "1", "stencil"),
        lambda seen: seen == 99,
    ),
    Row(
        "temperatures",
        [("ue", "SetUE4RadianceValue__All")],
        lambda w: w.own("scene/set_temperatures", "SetTemperatures"),
        lambda w: w.look("stencils"),
        lambda seen: len(seen) == 22,
    ),
    Row(
        "the view",
        [("ue", "sendUE4Cmd", "RflyCameraPosAng 1 2 -3 0 -30 40"), ("ue", "sendUE4Cmd", "RflyCameraFovDegrees 70")],
        lambda w: w.own(
            "scene/set_view", "SetView", set_pose=True, fov_deg=70.0,
            pose={"pose": pose(1, 2, -3, yaw=math.radians(40), pitch=math.radians(-30))},
        ),
        lambda w: w.look("view"),
        lambda seen: seen["fov_deg"] == 70 and math.isclose(seen["position"][2], -3, abs_tol=1e-4),
    ),
    Row(
        "a command to a window",
        [("ue", "sendUE4Cmd", "RflySetPosScale 2")],
        lambda w: w.own("scene/command", "SceneCommand", command="RflySetPosScale 2", window=-1),
        lambda w: w.look("position_scale"),
        lambda seen: seen == 2,
    ),
    Row(
        "a command to the network",
        [("ue", "sendUE4CmdNet", "RflySetPosScale 3")],
        lambda w: w.own("scene/command", "SceneCommand", command="RflySetPosScale 3", window=-2),
        lambda w: w.look("position_scale"),
        lambda seen: seen == 3,
    ),
    Row(
        "states of few",
        [
            (
                "ue", "sendUE4PosScalePwm20", [FREE, FREE + 1], [COPTER] * 2, [0, 1, -2, 1, 1, -2], [0, 0, 0.5] * 2,
                [100] * 3 + [200] * 3, numbers(16, 100.0),
            )
        ],
        lambda w: w.states(2, motor_rpm=numbers(16, 100.0), scale=[1.0, 2.0]),
        World.objects,
        lambda seen: len(seen) == 2,
    ),
    Row(
        "states of many",
        [
            (
                "ue", "sendUE4PosScale100", [FREE + i for i in range(30)], [COPTER] * 30,
                [x for i in range(30) for x in (i, 1, -2)], [0, 0, 0.5] * 30, numbers(30, 10.0), [100] * 90,
            )
        ],
        lambda w: w.states(30, motor_rpm=numbers(30, 10.0)),
        World.objects,
        lambda seen: len(seen) == 30,
    ),
]  # fmt: skip
MODEL = [
    Row(
        "a motor fails",
        [("dll", "sendSILIntFloat", [123450] * 4, [1, 0.25, *[1] * 6])],
        lambda w: w.own("model/inject_fault", "InjectFault", kind="motor", mask=2, parameters=[0.25]),
        lambda w: w.model("damage"),
        lambda seen: seen and seen["motors"][1] == 0.25,
    ),
    Row(
        "wind",
        [("dll", "sendSILIntFloat", [123458] * 2, [3, 4, 0, 0])],
        lambda w: w.own("model/inject_fault", "InjectFault", kind="wind", parameters=[3.0, 4.0, 0.0]),
        lambda w: w.model("damage"),
        lambda seen: seen and seen["wind"] != [0, 0, 0],
    ),
    Row(
        "parameters of faults",
        [("dll", "sendModelInParams", 0b1001, [0.5, 0, 0, 0.75])],
        lambda w: w.own("model/inject_fault", "InjectFault", kind="parameters", mask=0b1001, parameters=[0.5, 0.75], restore=[1.0]),
        lambda w: w.model("fault_parameters"),
        lambda seen: seen and seen[:4] == [0.5, 1, 1, 0.75],
    ),
    Row(
        "integers and floats",
        [("dll", "sendSILIntFloat", list(range(8)), numbers(20))],
        lambda w: w.publish("model/inputs", "ModelInputs", set=0, ints=list(range(8)), floats=numbers(20)),
        lambda w: w.model("inputs"),
        lambda seen: seen and seen[-1] == 10,
    ),
    Row(
        "doubles",
        [("dll", "sendInDoubCtrls", numbers(28, 0.1))],
        lambda w: w.publish("model/doubles", "ModelDoubles", set=0, values=numbers(28, 0.1)),
        lambda w: w.model("inputs"),
        lambda seen: seen and seen[-1] > 2.7,
    ),
    Row(
        "extended integers and floats",
        [("dll", "sendInCtrlExt", list(range(8)), numbers(20), 2)],
        lambda w: w.publish("model/inputs", "ModelInputs", set=2, ints=list(range(8)), floats=numbers(20)),
        lambda w: w.model("extended"),
        lambda seen: seen and seen[1][-1] == 10,
    ),
    Row(
        "extended doubles",
        [("dll", "sendInCtrlExtDoub", numbers(28), 4)],
        lambda w: w.publish("model/doubles", "ModelDoubles", set=4, values=numbers(28)),
        lambda w: w.model("extended"),
        lambda seen: seen and seen[3] == numbers(28),
    ),
    Row(
        "all extended doubles",
        [("dll", "sendInCtrlExtAll", numbers(140))],
        lambda w: w.publish("model/doubles", "ModelDoubles", set=255, values=numbers(140)),
        lambda w: w.model("extended"),
        lambda seen: seen and sum(seen, []) == numbers(140),
    ),
    Row(
        "initial parameters",
        [("dll", "sendInitInParams", 0b101, [1.5, 0, 2.5])],
        lambda w: w.publish("model/initial_parameters", "ModelParameters", mask=0b101, values=[1.5, 2.5]),
        lambda w: w.model("initial"),
        lambda seen: seen and seen[:3] == [1.5, 0, 2.5],
    ),
    Row(
        "parameters that change in flight",
        [("dll", "sendDynModiParams", 1 << 63 | 2, [0, 7, *[0] * 61, 9], 1)],
        lambda w: w.publish("model/dynamic_parameters", "ModelParameters", mask=1 << 63 | 2, values=[7.0, 9.0]),
        lambda w: w.model("dynamic"),
        lambda seen: seen and (seen[1], seen[63]) == (7, 9),
    ),
    Row(
        "data of the renderer",
        [("dll", "sendUE2Coptersim", numbers(32), 1)],
        lambda w: w.publish("model/renderer", "ModelValues", values=numbers(32)),
        lambda w: w.model("renderer"),
        lambda seen: seen == numbers(32),
    ),
    Row(
        "a collision",
        [("dll", "sendColl20d", numbers(20), 1)],
        lambda w: w.publish("model/collision", "ModelValues", values=numbers(20)),
        lambda w: w.model("collision"),
        lambda seen: seen == numbers(20),
    ),
    Row(
        "terrain",
        [("dll", "sendTerrIn15d", numbers(15), 1)],
        lambda w: w.publish("model/terrain", "ModelValues", values=numbers(15)),
        lambda w: w.model("terrain"),
        lambda seen: seen and seen[:15] == numbers(15),
    ),
    Row(
        "distances",
        [("dll", "sendFloatsColl", 1, [2, 3, 4], [5, 6, 7, 8, 9, 10], [11, 12, 13], 1)],
        lambda w: w.publish(
            "model/rays", "ModelRays", size=1.0, velocity={"x": 3.0, "y": 2.0, "z": -4.0}, position={"x": 12.0, "y": 11.0, "z": -13.0},
            front=5.0, back=6.0, left=7.0, right=8.0, up=9.0, down=10.0,
        ),
        lambda w: w.model("rays"),
        lambda seen: seen == [5, 6, 7, 8, 9, 10],
    ),
]  # fmt: skip
GEODETIC_ORIGIN = ("req", "sendReGPSOrin", 1, [40.1540302, 116.2593683, 50.0])
COPTERSIM = [
    Row(
        "a place on the ground",
        [("req", "sendReSimXYyaw", 1, [5.0, 6.0, 90.0])],
        lambda w: w.own("coptersim/set_pose", "SetVehiclePose", on_ground=True, pose={"pose": pose(5, 6, 0, yaw=math.pi / 2)}),
        World.place,
        lambda seen: seen[:3] == [6, 5, 0.15],
    ),
    Row(
        "a place in the air",
        [("req", "sendReSimXyzRPYaw", 1, [1.0, 2.0, -3.0], [0.0, 20.0, 30.0])],
        lambda w: w.own(
            "coptersim/set_pose", "SetVehiclePose", pose={"pose": pose(1, 2, -3, yaw=math.radians(30), pitch=math.radians(20))}
        ),
        World.aloft,
        lambda seen: bool(seen),
    ),
    Row(
        "the geodetic origin",
        [("req", "sendReGPSOrin", 1, [47.0, 8.0, 400.0])],
        lambda w: w.own("coptersim/set_geo_origin", "SetGeoOrigin", latitude=47.0, longitude=8.0, altitude=400.0),
        World.geodetic,
        lambda seen: seen and abs(seen[0] - 47) < 0.01,
        undo=[GEODETIC_ORIGIN],
    ),
    Row(
        "a geodetic place",
        [("req", "sendReGPSPos", 1, 40.1541, 116.2594, 0.0)],
        lambda w: w.own("coptersim/set_geo_place", "SetGeoPlace", latitude=40.1541, longitude=116.2594, yaw=math.pi / 2),
        World.place,
        lambda seen: seen and seen[1] > 7 and seen[0] > 2,
        undo=[GEODETIC_ORIGIN],
    ),
    Row(
        "another model",
        [("req", "sendReSimDllName", 1, "FixedWing")],
        lambda w: w.own("coptersim/load_model", "LoadByName", name="FixedWing"),
        lambda w: w.model("model"),
        lambda seen: seen == "FixedWing",
    ),
    Row(
        "another model by its number",
        [("req", "sendReSimDllIdx", 1, 2)],
        lambda w: w.own("coptersim/load_model", "LoadByName", by_index=True, index=2),
        lambda w: w.model("model"),
        lambda seen: seen == "2",
    ),
    Row(
        "another map of CopterSim",
        [("req", "sendReSimMapName", 1, "Grasslands")],
        lambda w: w.own("coptersim/load_map", "LoadByName", name="Grasslands"),
        lambda w: w.look("map"),
        lambda seen: seen == "Grasslands",
    ),
]

def as_ros(wxyz: list[float]) -> dict:
    """An attitude of the simulator (w, x, y, z; from FRD to NED) from FLU to ENU."""
    w, x, y, z = wxyz
    half = math.sqrt(0.5)
    # NED to ENU is a turn by 180 degrees about (1, 1, 0), FRD to FLU one about (1, 0, 0): q = n * q * f.
    a = (-half * (x + y), half * (w + z), half * (w - z), half * (y - x))
    return {"w": -a[1], "x": a[0], "y": a[3], "z": -a[2]}
