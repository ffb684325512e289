"""Message definitions of ROS 2 as `rosbags` ships them, and `vision_msgs` 4 (Humble to Jazzy), which it does not ship.

The embedded back end writes Jazzy's messages, rclrs those of its workspace. Of those the bridge uses, only
`sensor_msgs/Range` differs from Humble's: it has one more field at its end (`variance`), which a Humble reader leaves
unread. A message that is decoded with the wrong definition fails, because bytes are left over or missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backend import DISTRO
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

# Ours, from the files that rosidl reads as well.
FOLDER = Path(__file__).parents[3] / "msg"
OWN_MSGS = {f"rfly_bridge_msgs/msg/{file.stem}": file.read_text() for file in sorted(FOLDER.glob("*.msg"))}

JAZZY, HUMBLE = get_typestore(Stores.ROS2_JAZZY), get_typestore(Stores.ROS2_HUMBLE)
for _name, _text in (VISION_MSGS | OWN_MSGS).items():
    for _store in (JAZZY, HUMBLE):
        _store.register(get_types_from_msg(_text, _name))

TYPES = HUMBLE if DISTRO == "humble" else JAZZY
"""The definitions that the bridge under test has."""


def decode(cdr: bytes, type_name: str) -> Any:
    """Returns the message of ROS type `type_name` (`pkg/msg/Name`) that `cdr` (with its 4-byte header) encodes."""
    return TYPES.deserialize_cdr(cdr, type_name)
