"""Message definitions of ROS 2 as `rosbags` ships them, and those that it does not ship: `vision_msgs` 4 (Humble to
Jazzy) and what `peer.mavros` lists.

The embedded back end writes Jazzy's messages, rclrs those of its workspace. Of those the bridge uses, only
`sensor_msgs/Range` differs from Humble's: it has one more field at its end (`variance`), which a Humble reader leaves
unread. A message that is decoded with the wrong definition fails, because bytes are left over or missing.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from backend import DISTRO
from peer import mavros, simulation
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

# Field lists of vision_msgs 4.x (https://github.com/ros-perception/vision_msgs, branch humble).
VISION_MSGS = {
    "vision_msgs/msg/Point2D": "float64 x\nfloat64 y\n",
    "vision_msgs/msg/Pose2D": "vision_msgs/Point2D position\nfloat64 theta\n",
    "vision_msgs/msg/BoundingBox2D": "vision_msgs/Pose2D center\nfloat64 size_x\nfloat64 size_y\n",
    "vision_msgs/msg/BoundingBox3D": "geometry_msgs/Pose center\ngeometry_msgs/Vector3 size\n",
    "vision_msgs/msg/ObjectHypothesis": "string class_id\nfloat64 score\n",
    "vision_msgs/msg/ObjectHypothesisWithPose": (
        "vision_msgs/ObjectHypothesis hypothesis\ngeometry_msgs/PoseWithCovariance pose\n"
    ),
    "vision_msgs/msg/Detection2D": (
        "std_msgs/Header header\nvision_msgs/ObjectHypothesisWithPose[] results\n"
        "vision_msgs/BoundingBox2D bbox\nstring id\n"
    ),
    "vision_msgs/msg/Detection2DArray": "std_msgs/Header header\nvision_msgs/Detection2D[] detections\n",
    "vision_msgs/msg/Detection3D": (
        "std_msgs/Header header\nvision_msgs/ObjectHypothesisWithPose[] results\n"
        "vision_msgs/BoundingBox3D bbox\nstring id\n"
    ),
    "vision_msgs/msg/Detection3DArray": "std_msgs/Header header\nvision_msgs/Detection3D[] detections\n",
}

# Field lists of livox_ros_driver2 1.2 (https://github.com/Livox-SDK/livox_ros_driver2).
LIVOX_MSGS = {
    "livox_ros_driver2/msg/CustomPoint": (
        "uint32 offset_time\nfloat32 x\nfloat32 y\nfloat32 z\nuint8 reflectivity\nuint8 tag\nuint8 line\n"
    ),
    "livox_ros_driver2/msg/CustomMsg": (
        "std_msgs/Header header\nuint64 timebase\nuint32 point_num\nuint8 lidar_id\nuint8[3] rsvd\n"
        "livox_ros_driver2/CustomPoint[] points\n"
    ),
}

# Ours, from the files that rosidl reads as well.
ROOT = Path(__file__).parents[3]
OWN_MSGS = {f"rfly_bridge_msgs/msg/{file.stem}": file.read_text() for file in sorted(ROOT.glob("msg/*.msg"))}
OWN_SERVICES = {
    f"rfly_bridge_msgs/srv/{file.stem}": tuple(re.sub(r" *#.*", "", file.read_text()).split("---\n"))
    for file in sorted(ROOT.glob("srv/*.srv"))
}

# Request and response of rcl_interfaces (https://github.com/ros2/rcl_interfaces), the same since Foxy.
PARAMETER_SERVICES = {
    "rcl_interfaces/srv/DescribeParameters": (
        "string[] names",
        "rcl_interfaces/ParameterDescriptor[] descriptors",
    ),
    "rcl_interfaces/srv/GetParameterTypes": ("string[] names", "uint8[] types"),
    "rcl_interfaces/srv/GetParameters": ("string[] names", "rcl_interfaces/ParameterValue[] values"),
    "rcl_interfaces/srv/ListParameters": (
        "string[] prefixes; uint64 depth",
        "rcl_interfaces/ListParametersResult result",
    ),
    "rcl_interfaces/srv/SetParameters": (
        "rcl_interfaces/Parameter[] parameters",
        "rcl_interfaces/SetParametersResult[] results",
    ),
    "rcl_interfaces/srv/SetParametersAtomically": (
        "rcl_interfaces/Parameter[] parameters",
        "rcl_interfaces/SetParametersResult result",
    ),
}
# Request and response of sensor_msgs (https://github.com/ros2/common_interfaces).
SENSOR_SERVICES = {
    "sensor_msgs/srv/SetCameraInfo": ("sensor_msgs/CameraInfo camera_info", "bool success; string status_message"),
}
SERVICES = PARAMETER_SERVICES | SENSOR_SERVICES | mavros.SERVICES | simulation.SERVICES | OWN_SERVICES


def register(store: Any) -> Any:
    """Adds to a store of `rosbags` what it does not ship, and returns it."""
    for name, text in (VISION_MSGS | LIVOX_MSGS | OWN_MSGS).items():
        store.register(get_types_from_msg(text, name))
    for name, text in (mavros.MESSAGES | simulation.MESSAGES).items():
        store.register(get_types_from_msg(text.replace("; ", "\n"), name))
    for name, halves in SERVICES.items():
        for half, text in zip(("Request", "Response"), halves, strict=True):
            # The parser inserts `msg` into the name. IDL knows no empty structure: rosidl puts a byte into it.
            text = text.strip().replace("; ", "\n") or "uint8 structure_needs_at_least_one_member"
            fields = next(iter(get_types_from_msg(text, f"{name}_{half}").values()))
            store.register({f"{name}_{half}": fields})
    for name, parts in simulation.ACTIONS.items():
        for part, text in action_parts(name, parts).items():
            fields = next(iter(get_types_from_msg(text.replace("; ", "\n"), f"{name}_{part}").values()))
            store.register({f"{name}_{part}": fields})
    return store


def action_parts(name: str, parts: tuple[str, str, str]) -> dict[str, str]:
    """Goal, result and feedback of an action, and what rosidl makes to carry them."""
    uuid = "unique_identifier_msgs/UUID goal_id"
    goal, result, feedback = parts
    return {
        "Goal": goal,
        "Result": result,
        "Feedback": feedback,
        "SendGoal_Request": f"{uuid}; {name}_Goal goal",
        "SendGoal_Response": "bool accepted; builtin_interfaces/Time stamp",
        "GetResult_Request": uuid,
        "GetResult_Response": f"int8 status; {name}_Result result",
        "FeedbackMessage": f"{uuid}; {name}_Feedback feedback",
    }


JAZZY, HUMBLE = (register(get_typestore(store)) for store in (Stores.ROS2_JAZZY, Stores.ROS2_HUMBLE))

TYPES = HUMBLE if DISTRO == "humble" else JAZZY
"""The definitions that the bridge under test has."""


def decode(cdr: bytes, type_name: str) -> Any:
    """Returns the message of ROS type `type_name` (`pkg/msg/Name`) that `cdr` (with its 4-byte header) encodes."""
    return TYPES.deserialize_cdr(cdr, type_name)


def make(type_name: str, fields: dict[str, Any] | None = None) -> Any:
    """A message of ROS type `type_name` with these fields, nested ones as dictionaries; others are zero or empty."""
    given = dict(fields or {})
    values = {name: _value(kind, given.pop(name, None)) for name, kind in TYPES.fielddefs[type_name][1]}
    assert not given, f"{type_name} has no {sorted(given)}"
    return TYPES.types[type_name](**values)


def _value(kind: Any, given: Any) -> Any:
    node, of = kind
    if node == Nodetype.NAME:
        return make(of, given) if given is None or isinstance(given, dict) else given
    if node == Nodetype.BASE:
        return given if given is not None else {"string": "", "bool": False}.get(of[0], 0)
    element, length = of
    if given is None:
        given = [None] * length if node == Nodetype.ARRAY else []
    items = [_value(element, item) for item in given]
    if element[0] == Nodetype.BASE and element[1][0] != "string":
        return np.array(items, dtype={"octet": "uint8", "byte": "uint8", "char": "uint8"}.get(element[1][0], element[1][0]))
    return items
