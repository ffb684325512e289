"""The topics that a sensor must have, written down by hand from the acceptance list, not read from the bridge."""

from __future__ import annotations

from sensors import BOXES_TYPE, CLOUD_TYPES, COMPRESSED, COMPRESSED_OTHER, IMAGE_TYPES, RANGE_TYPE, TARGETS_TYPE, Sensor

IMAGE = "sensor_msgs/msg/Image"
COMPRESSED_IMAGE = "sensor_msgs/msg/CompressedImage"
CAMERA_INFO = "sensor_msgs/msg/CameraInfo"
CLOUD = "sensor_msgs/msg/PointCloud2"
TF = {"/tf": "tf2_msgs/msg/TFMessage", "/tf_static": "tf2_msgs/msg/TFMessage"}
CLOCK = {"/clock": "rosgraph_msgs/msg/Clock"}
DIAGNOSTICS = {"/diagnostics": "diagnostic_msgs/msg/DiagnosticArray"}
IMU = {"/rflysim/imu": "sensor_msgs/msg/Imu"}


def base(sensor: Sensor) -> str:
    """Namespace of one sensor."""
    return f"/rflysim/sensor{sensor.seq}"


def info_topic(sensor: Sensor) -> str:
    """Calibration beside the image."""
    return f"{base(sensor)}/camera_info"


def main_topic(sensor: Sensor) -> str:
    """The topic with the vendor's name; types the vendor has no topic for got one of their own."""
    extra = {RANGE_TYPE: "range", BOXES_TYPE: "detections", TARGETS_TYPE: "targets"}
    return f"{base(sensor)}/{extra[sensor.type]}" if sensor.type in extra else sensor.topic


def topics_of(sensor: Sensor) -> dict[str, str]:
    """Every topic of one sensor and its type."""
    main = main_topic(sensor)
    if sensor.type in CLOUD_TYPES:
        return {main: CLOUD}
    if sensor.type == RANGE_TYPE:
        return {main: "sensor_msgs/msg/Range", f"{main}/hit": "vision_msgs/msg/Detection3DArray"}
    if sensor.type == BOXES_TYPE:
        return {main: "vision_msgs/msg/Detection2DArray"}
    if sensor.type == TARGETS_TYPE:
        return {main: "vision_msgs/msg/Detection3DArray"}
    assert sensor.type in IMAGE_TYPES
    topics = {main: IMAGE, info_topic(sensor): CAMERA_INFO}
    if sensor.type == 2:
        topics[f"{main}_float"] = IMAGE
    if sensor.mode in (COMPRESSED, COMPRESSED_OTHER):
        topics[f"{main}/compressed"] = COMPRESSED_IMAGE
        if sensor.type == 2:
            topics[f"{main}/compressedDepth"] = COMPRESSED_IMAGE
    return topics
