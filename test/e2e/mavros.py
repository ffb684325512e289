"""A controller of one vehicle as users of mavros write it: topics and services by the names and types of mavros 2.12.

Nothing here is read from the bridge. Names and types of weight A and B are written down by hand; `test_mavros.py`
compares the whole interface with what a running mavros showed (test/fixtures/golden/mavros/graph.json).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from geometry import rotation_from_quaternion
from peer import Peer
from peer.participant import Subscription
from peer.publisher import Publication, Stream
from peer.services import Client
from system import System

from sensors import COMPRESSED, with_defaults

M, G, S = "mavros_msgs/msg/", "geometry_msgs/msg/", "sensor_msgs/msg/"

TELEMETRY = {
    "state": M + "State",
    "extended_state": M + "ExtendedState",
    "sys_status": M + "SysStatus",
    "estimator_status": M + "EstimatorStatus",
    "statustext/recv": M + "StatusText",
    "battery": S + "BatteryState",
    "altitude": M + "Altitude",
    "home_position/home": M + "HomePosition",
    "local_position/pose": G + "PoseStamped",
    "local_position/odom": "nav_msgs/msg/Odometry",
    "local_position/velocity_local": G + "TwistStamped",
    "local_position/velocity_body": G + "TwistStamped",
    "imu/data": S + "Imu",
    "imu/data_raw": S + "Imu",
    "imu/mag": S + "MagneticField",
    "global_position/global": S + "NavSatFix",
    "global_position/local": "nav_msgs/msg/Odometry",
    "global_position/rel_alt": "std_msgs/msg/Float64",
    "global_position/compass_hdg": "std_msgs/msg/Float64",
    "global_position/raw/fix": S + "NavSatFix",
    "global_position/raw/gps_vel": G + "TwistStamped",
    "global_position/raw/satellites": "std_msgs/msg/UInt32",
    "setpoint_raw/target_local": M + "PositionTarget",
    "setpoint_raw/target_attitude": M + "AttitudeTarget",
    "vfr_hud": M + "VfrHud",
}
SETPOINTS = {
    "setpoint_raw/local": M + "PositionTarget",
    "setpoint_raw/global": M + "GlobalPositionTarget",
    "setpoint_raw/attitude": M + "AttitudeTarget",
    "setpoint_position/local": G + "PoseStamped",
    "setpoint_position/global": "geographic_msgs/msg/GeoPoseStamped",
    "setpoint_velocity/cmd_vel": G + "TwistStamped",
    "setpoint_velocity/cmd_vel_unstamped": G + "Twist",
    "setpoint_accel/accel": G + "Vector3Stamped",
    "setpoint_attitude/attitude": G + "PoseStamped",
    "setpoint_attitude/cmd_vel": G + "TwistStamped",
    "setpoint_attitude/thrust": M + "Thrust",
    "manual_control/send": M + "ManualControl",
    "rc/override": M + "OverrideRCIn",
    "vision_pose/pose": G + "PoseStamped",
    "vision_pose/pose_cov": G + "PoseWithCovarianceStamped",
    "odometry/out": "nav_msgs/msg/Odometry",
    "statustext/send": M + "StatusText",
}
SERVICES = {
    "cmd/arming": "mavros_msgs/srv/CommandBool",
    "cmd/command": "mavros_msgs/srv/CommandLong",
    "cmd/command_int": "mavros_msgs/srv/CommandInt",
    "cmd/takeoff": "mavros_msgs/srv/CommandTOL",
    "cmd/land": "mavros_msgs/srv/CommandTOL",
    "cmd/takeoff_local": "mavros_msgs/srv/CommandTOLLocal",
    "cmd/land_local": "mavros_msgs/srv/CommandTOLLocal",
    "cmd/set_home": "mavros_msgs/srv/CommandHome",
    "set_mode": "mavros_msgs/srv/SetMode",
    "set_stream_rate": "mavros_msgs/srv/StreamRate",
    "set_message_interval": "mavros_msgs/srv/MessageInterval",
    "vehicle_info_get": "mavros_msgs/srv/VehicleInfoGet",
    "param/pull": "mavros_msgs/srv/ParamPull",
    "param/set": "mavros_msgs/srv/ParamSetV2",
    "mission/pull": "mavros_msgs/srv/WaypointPull",
    "mission/push": "mavros_msgs/srv/WaypointPush",
    "mission/clear": "mavros_msgs/srv/WaypointClear",
    "mission/set_current": "mavros_msgs/srv/WaypointSetCurrent",
    "geofence/pull": "mavros_msgs/srv/WaypointPull",
    "geofence/push": "mavros_msgs/srv/WaypointPush",
    "geofence/clear": "mavros_msgs/srv/WaypointClear",
    "rallypoint/pull": "mavros_msgs/srv/WaypointPull",
    "rallypoint/push": "mavros_msgs/srv/WaypointPush",
    "rallypoint/clear": "mavros_msgs/srv/WaypointClear",
    "home_position/req_update": "std_srvs/srv/Trigger",
}

# mavros_msgs/PositionTarget: what to ignore.
ONLY_POSITION, ONLY_VELOCITY = 0x9F8, 0x5C7
LOCAL_NED, BODY_NED = 1, 8
# mavros_msgs/ExtendedState
ON_GROUND, IN_AIR = 1, 2


PATIENCE = 60.0
"""How long to wait for what must come, in s: what takes longer hangs, also on a slow machine."""
QUICK = 2.0
"""The bridge gives up on a vehicle that says nothing later than that, in s; whoever fails sooner was refused."""

# The truth of a vehicle is written down with each rendered frame.
WITNESS = with_defaults(0, 5, COMPRESSED, rate=30)


def fly(
    directory: Path,
    domain_id: int,
    link: str = "mavlink_full",
    *,
    sensors=(WITNESS,),
    copters: int = 1,
    spawn: tuple[str, ...] = (),
    **parameters: Any,
) -> System:
    """Emulator and bridge with this `control.link`, and vehicles on the ground; `spawn` (north, east, yaw) says where."""
    options = {"transport_mode": "file", "control.link": link, "diagnostics.period_s": 0.2}
    places = [word for place in spawn for word in ("--spawn", place)]
    emulator = ["--autopilot", link, *(places or ["--grounded", "--vehicles", str(copters)])]
    return System(directory, domain_id, list(sensors), parameters=options | parameters, emulator=emulator)


class Vehicle:
    """What one controller knows of one vehicle."""

    def __init__(self, peer: Peer, prefix: str = "/mavros"):
        self.peer, self.prefix = peer, prefix
        self._subscriptions: dict[str, Subscription] = {}
        self._clients: dict[str, Client] = {}
        self._streams: list[Stream] = []

    def topic(self, name: str, **qos: Any) -> Subscription:
        """The subscription to a topic of `TELEMETRY`; made with the QoS of most clients at first use."""
        if name not in self._subscriptions:
            options = {"reliable": False, "depth": 200} | qos
            self._subscriptions[name] = self.peer.subscribe(f"{self.prefix}/{name}", TELEMETRY[name], **options)
        return self._subscriptions[name]

    def last(self, name: str, timeout: float = PATIENCE) -> Any:
        """The newest message of a topic; waits for the first."""
        subscription = self.topic(name)
        subscription.take()
        self.peer.wait_for(lambda: subscription.samples, f"a message on {self.prefix}/{name}", timeout)
        return subscription.messages[-1]

    def wait(self, name: str, wanted: Callable[[Any], Any], timeout: float = PATIENCE) -> Any:
        """Returns the newest message of a topic as soon as it is as wanted."""

        def found() -> Any:
            message = self.last(name, timeout)
            return message if wanted(message) else None

        try:
            return self.peer.wait_for(found, f"{self.prefix}/{name} as wanted", timeout)
        except AssertionError as error:
            raise AssertionError(f"{error}; the last one is {self.last(name)}; {self.texts()[-5:]}") from None

    def next(self, name: str, timeout: float = PATIENCE) -> Any:
        """A message that comes from now on."""
        subscription = self.topic(name)
        self.peer.take()
        count = len(subscription.samples)
        self.peer.wait_for(lambda: len(subscription.samples) > count, f"a new message on {name}", timeout)
        return subscription.messages[-1]

    def client(self, name: str) -> Client:
        """The client of a service, once the service is there."""
        if name not in self._clients:
            self._clients[name] = Client(self.peer, f"{self.prefix}/{name}", SERVICES[name]).wait()
        return self._clients[name]

    def call(self, name: str, timeout: float = PATIENCE, **fields: Any) -> Any:
        """Calls a service of `SERVICES`."""
        return self.client(name).call(timeout, **fields)

    def ask(self, name: str, **fields: Any) -> Any:
        """Calls a service until the answer is the vehicle's. The bridge gives up on a vehicle that says nothing, and has
        no other answer where it is not connected; that is right, and no fault of either where the machine stood still."""
        deadline = time.monotonic() + PATIENCE
        states = self.topic("state", reliable=True, transient_local=True)
        while True:
            states.take()
            begin, before = time.monotonic(), max(len(states.samples) - 1, 0)
            answer = self.call(name, **fields)
            now = time.monotonic()
            if succeeded(answer) or now > deadline:
                return answer
            self.wait_state(connected=True)
            self.next("state")
            if now - begin < QUICK and all(state.connected for state in states.messages[before:]):
                return answer

    def insist(self, name: str, **fields: Any) -> Any:
        """Calls a service, which must succeed; again where the vehicle did not answer."""
        answer = self.ask(name, **fields)
        assert succeeded(answer), (name, fields, answer, self.texts()[-5:])
        return answer

    def publication(self, name: str, **qos: Any) -> Publication:
        """A publisher on a topic of `SETPOINTS`."""
        return Publication(self.peer, f"{self.prefix}/{name}", SETPOINTS[name], **qos)

    def stream(self, name: str, rate_hz: float = 20.0, **fields: Any) -> Stream:
        """Publishes on a topic of `SETPOINTS` at a steady rate."""
        return Stream(self.publication(name), rate_hz, **fields)

    def wait_state(self, timeout: float = PATIENCE, **wanted: Any) -> Any:
        """Returns the first `state` from now on (the newest included) whose fields are as wanted. A vehicle that is not
        connected is not armed either, as far as anybody knows: connected is wanted unless the contrary is."""
        wanted = {"connected": True} | wanted
        topic = self.topic("state", reliable=True, transient_local=True)

        def found() -> Any:
            topic.take()
            message = topic.messages[-1] if topic.samples else None
            return message if message and all(getattr(message, k) == v for k, v in wanted.items()) else None

        try:
            return self.peer.wait_for(found, f"state with {wanted}", timeout)
        except AssertionError as error:
            last = topic.messages[-1] if topic.samples else None
            raise AssertionError(f"{error}; the last one is {last}; {self.texts()[-5:]}") from None

    def wait_ready(self, timeout: float = PATIENCE) -> None:
        """Returns once the vehicle is connected, has a position and could be armed (the service answers)."""
        self.topic("statustext/recv", reliable=True)
        self.wait_state(timeout, connected=True)
        self.last("local_position/pose", timeout)
        self.last("home_position/home", timeout)

    def texts(self) -> list[str]:
        """What the vehicle has said so far."""
        topic = self.topic("statustext/recv", reliable=True)
        topic.take()
        return [message.text for message in topic.messages]

    def position(self) -> np.ndarray:
        """Newest estimated position, ENU."""
        return vector(self.last("local_position/pose").pose.position)

    def yaw(self) -> float:
        """Newest estimated yaw from east, counter-clockwise."""
        q = self.last("local_position/pose").pose.orientation
        forward = rotation_from_quaternion(q.x, q.y, q.z, q.w)[:, 0]
        return math.atan2(forward[1], forward[0])

    def velocity(self) -> np.ndarray:
        """Newest estimated velocity, ENU."""
        return vector(self.last("local_position/velocity_local").twist.linear)

    def patient(self, seconds: float = 30.0) -> None:
        """Tells the vehicle to wait so long for the next set-point before it falls out of OFFBOARD. For flights that are
        not about that: a machine that stands still for a second is no failure of the bridge."""
        value = {"type": 3, "double_value": seconds}
        self.insist("param/set", param_id="COM_OF_LOSS_T", value=value)

    def arm(self, value: bool = True) -> Any:
        """Calls `cmd/arming`."""
        return self.call("cmd/arming", value=value)

    def wait_armed(self) -> None:
        """Arms, as users do: again, where the vehicle has not taken notice of the set-points yet."""
        deadline = time.monotonic() + 30.0
        while not (answer := self.arm()).success:
            assert time.monotonic() < deadline, (answer, self.texts())
            time.sleep(0.5)

    def mode(self, name: str) -> bool:
        """Calls `set_mode`."""
        return self.call("set_mode", custom_mode=name).mode_sent

    def modes(self, since: int = 0) -> list[str]:
        """Every mode that `state` has told, after the first `since` messages; `len(self.modes())` is a place to count from."""
        topic = self.topic("state", reliable=True, transient_local=True)
        topic.take()
        return [message.mode for message in topic.messages[since:]]

    def wait_near(self, target: Any, within: float = 0.4, timeout: float = 2 * PATIENCE) -> None:
        """Returns once the estimated position is near a point (ENU)."""
        target = np.asarray(target, float)
        try:
            self.peer.wait_for(
                lambda: np.linalg.norm(self.position() - target) < within, f"position {target}", timeout
            )
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {self.position()}, {self.texts()[-5:]}") from None

    def wait_velocity(self, target: Any, within: float = 0.3, timeout: float = PATIENCE) -> None:
        """Returns once the estimated velocity is near a vector (ENU)."""
        target = np.asarray(target, float)
        try:
            self.peer.wait_for(
                lambda: np.linalg.norm(self.velocity() - target) < within, f"velocity {target}", timeout
            )
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {self.velocity()}, {self.texts()[-5:]}") from None

    def wait_yaw(self, target: float, within: float = 0.1, timeout: float = PATIENCE) -> None:
        """Returns once the vehicle looks into a direction."""
        self.peer.wait_for(
            lambda: abs(math.remainder(self.yaw() - target, math.tau)) < within, f"yaw {target}", timeout
        )

    def take_off(self, height: float = 3.0) -> tuple[Stream, np.ndarray]:
        """Offboard, armed, and up on `setpoint_position/local`; returns the running stream (leave it with
        `__exit__`) and the position that it holds."""
        start = self.position()
        target = start + [0.0, 0.0, height]
        stream = self.stream("setpoint_position/local", **pose(target, self.yaw()))
        self._streams.append(stream.__enter__())
        self.engage()
        self.wait_near(target)
        return stream, target

    def engage(self) -> None:
        """Offboard and armed, while setpoints stream. PX4 refuses when none came for a moment, and this process may have
        stood still for so long: then again."""
        deadline = time.monotonic() + PATIENCE
        while True:
            for _ in range(20):
                self.next("local_position/pose")
            if self.mode("OFFBOARD") and self.arm().success:
                return
            assert time.monotonic() < deadline, self.texts()

    def land(self, timeout: float = 2 * PATIENCE) -> None:
        """AUTO.LAND, until it is disarmed on the ground."""
        self.insist("set_mode", custom_mode="AUTO.LAND")
        self.wait_state(timeout, armed=False)

    def end_streams(self) -> None:
        """Ends what a take-off began, as a test that failed may not have done."""
        for stream in self._streams:
            stream.__exit__()
        self._streams.clear()


def succeeded(answer: Any) -> bool:
    """What the answers of most services say."""
    return getattr(answer, "success", False) or getattr(answer, "mode_sent", False)


def vector(v: Any) -> np.ndarray:
    """x, y, z of a message as an array."""
    return np.array([v.x, v.y, v.z])


def xyz(values: Any) -> dict[str, float]:
    """x, y, z as fields."""
    return dict(zip("xyz", map(float, values), strict=True))


def heading(yaw: float) -> dict[str, float]:
    """A quaternion about the vertical as fields."""
    return {"x": 0.0, "y": 0.0, "z": math.sin(yaw / 2), "w": math.cos(yaw / 2)}


def pose(position: Any, yaw: float) -> dict[str, Any]:
    """Fields of a PoseStamped."""
    return {"pose": {"position": xyz(position), "orientation": heading(yaw)}}


def twist(linear: Any, yaw_rate: float = 0.0) -> dict[str, Any]:
    """Fields of a TwistStamped."""
    return {"twist": {"linear": xyz(linear), "angular": xyz((0, 0, yaw_rate))}}
