"""Config.json entries for the tests, and what the vendor's table says of each TypeID."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

SHARED_MEMORY, COMPRESSED, RAW, COMPRESSED_OTHER = 0, 1, 2, 3

# TypeID -> (vendor topic, ROS type)
VENDOR_TOPICS = {
    1: ("img_rgb", "sensor_msgs/msg/Image"),
    2: ("img_depth", "sensor_msgs/msg/Image"),
    3: ("img_gray", "sensor_msgs/msg/Image"),
    4: ("img_Segmentation", "sensor_msgs/msg/Image"),
    7: ("Depth_Cloud", "sensor_msgs/msg/PointCloud2"),
    8: ("fisheye", "sensor_msgs/msg/Image"),
    9: ("img_cine", "sensor_msgs/msg/Image"),
    20: ("vehicle_lidar", "sensor_msgs/msg/PointCloud2"),
    21: ("global_lidar", "sensor_msgs/msg/PointCloud2"),
    22: ("livox_lidar", "sensor_msgs/msg/PointCloud2"),
    23: ("mid360_lidar", "sensor_msgs/msg/PointCloud2"),
    40: ("img_Infrared_Gray", "sensor_msgs/msg/Image"),
    41: ("img_Infrared", "sensor_msgs/msg/Image"),
}
COLOUR_TYPES = (1, 4, 8, 9, 41)
GREY_TYPES = (3, 40)
IMAGE_TYPES = (1, 2, 3, 4, 8, 9, 40, 41)
CLOUD_TYPES = (7, 20, 21, 22, 23)
RANGE_TYPE, BOXES_TYPE, TARGETS_TYPE = 5, 30, 31


@dataclass(frozen=True)
class Sensor:
    """One entry of VisionSensors."""

    seq: int
    type: int
    mode: int
    width: int = 160
    height: int = 120
    rate: int = 10
    fov: float = 90.0
    vehicle: int = 1
    mount: int = 0
    position: tuple[float, float, float] = (0.3, 0.0, 0.0)
    angles: tuple[float, float, float] = (0.0, 0.0, 0.0)
    quaternion: tuple[float, float, float, float] | None = None
    params: tuple[float, ...] = field(default=())
    receiver: tuple[int, ...] = (127, 0, 0, 1)

    @property
    def port(self) -> int:
        """UDP port that the data goes to."""
        return 9999 + self.seq

    @property
    def topic(self) -> str:
        """Base topic with the vendor's name."""
        return f"/rflysim/sensor{self.seq}/{VENDOR_TOPICS[self.type][0]}"

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of an image."""
        return self.height, self.width

    def entry(self, *, new_layout: bool) -> dict:
        """Returns the JSON object; the layout with EularOrQuat demands 16 otherParams, the old one 8."""
        entry = {
            "SeqID": self.seq,
            "TypeID": self.type,
            "TargetCopter": self.vehicle,
            "TargetMountType": self.mount,
            "DataWidth": self.width,
            "DataHeight": self.height,
            "DataCheckFreq": self.rate,
            "SendProtocol": [self.mode, *self.receiver, self.port, 0, 0],
            "CameraFOV": self.fov,
            "SensorPosXYZ": list(self.position),
            "SensorAngEular": list(self.angles),
            "otherParams": (list(self.params) + [0] * 16)[: 16 if new_layout else 8],
        }
        if new_layout:
            entry["EularOrQuat"] = 1.0 if self.quaternion else 0.0
            entry["SensorAngQuat"] = list(self.quaternion or (1.0, 0.0, 0.0, 0.0))
        return entry


def write_config(path: Path, sensors: list[Sensor]) -> Path:
    """Writes Config.json with the vendor's kind of comment in it."""
    new_layout = any(sensor.quaternion for sensor in sensors)
    body = json.dumps({"VisionSensors": [sensor.entry(new_layout=new_layout) for sensor in sensors]}, indent=2)
    path.write_text("// written by the end-to-end tests\n" + body + "\n")
    return path


LIDAR = (50.0, 0.0, -180.0, 180.0, -30.0, 20.0)
"""otherParams of a mechanical lidar: range m, resolution m, horizontal and vertical limits deg."""


def every_udp_sensor() -> list[Sensor]:
    """Every TypeID in every UDP mode it has, 31 sensors in all (a PC has at most 32)."""
    wanted = [
        (1, RAW), (1, COMPRESSED), (1, COMPRESSED_OTHER),
        (2, RAW), (2, COMPRESSED), (2, COMPRESSED_OTHER),
        (3, RAW), (3, COMPRESSED), (3, COMPRESSED_OTHER),
        (4, RAW), (4, COMPRESSED),
        (8, RAW), (8, COMPRESSED),
        (9, RAW), (9, COMPRESSED),
        (40, RAW), (40, COMPRESSED),
        (41, RAW), (41, COMPRESSED), (41, COMPRESSED_OTHER),
        (5, COMPRESSED), (7, COMPRESSED),
        (20, COMPRESSED), (21, COMPRESSED), (22, COMPRESSED), (23, COMPRESSED),
        (30, COMPRESSED), (31, COMPRESSED),
    ]  # fmt: skip
    return [with_defaults(seq, type_id, mode) for seq, (type_id, mode) in enumerate(wanted)]


def every_shared_memory_sensor(first: int = 32) -> list[Sensor]:
    """Every TypeID over shared memory."""
    types = (*IMAGE_TYPES, 5, 7, 20, 21, 22, 23, 30, 31)
    return [with_defaults(first + i, type_id, SHARED_MEMORY) for i, type_id in enumerate(types)]


def with_defaults(seq: int, type_id: int, mode: int, **changes) -> Sensor:
    """A sensor of a type with sensible size and parameters."""
    defaults: dict = {}
    if type_id == 2:
        defaults = {"params": (0.3, 60.0, 0.001)}
    elif type_id == 5:
        defaults = {"params": (100.0,)}
    elif type_id == 7:
        defaults = {"params": (60.0, 1.0), "width": 80, "height": 60}
    elif type_id == 8:
        defaults = {"fov": 190.0, "params": (128.0,), "width": 160, "height": 160}
    elif type_id in (20, 21):
        defaults = {"params": LIDAR, "width": 180, "height": 16}
    elif type_id == 22:
        defaults = {"params": (50.0, 2.956, 1.4, 1.18, 10.0, 5.0, 0.0), "width": 100, "height": 50, "fov": 70.432}
    elif type_id == 23:
        defaults = {"params": (40.0,), "width": 64, "height": 272}
    elif type_id == 30:
        # On a mast, looking down on the laps, so that there is always something to detect.
        mast = {"mount": 2, "position": (-16.0, 0.0, -9.0), "angles": (0.0, -25.0, 0.0), "fov": 100.0}
        defaults = {"params": (80.0, 8), **mast}
    elif type_id == 31:
        defaults = {"params": (80.0, 8)}
    return Sensor(seq, type_id, mode, **{**defaults, **changes})
