"""ROS messages to numpy, by the definitions of sensor_msgs alone."""

from __future__ import annotations

import numpy as np

# Encoding -> dtype and channels (sensor_msgs/image_encodings.hpp).
ENCODINGS = {
    "bgr8": (np.uint8, 3),
    "rgb8": (np.uint8, 3),
    "mono8": (np.uint8, 1),
    "mono16": (np.dtype("<u2"), 1),
    "16UC1": (np.dtype("<u2"), 1),
    "32FC1": (np.dtype("<f4"), 1),
}
# sensor_msgs/PointField datatypes.
FIELD_TYPES = {1: "i1", 2: "u1", 3: "<i2", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 8: "<f8"}


def pixels(image) -> np.ndarray:
    """Returns height x width [x channels] of a `sensor_msgs/Image`; checks that size, step and encoding fit."""
    dtype, channels = ENCODINGS[image.encoding]
    assert image.is_bigendian == 0
    assert image.step == image.width * channels * np.dtype(dtype).itemsize
    assert len(image.data) == image.step * image.height
    array = np.frombuffer(bytes(image.data), dtype).reshape(image.height, image.width, channels)
    return array[:, :, 0] if channels == 1 else array


def cloud_array(cloud) -> np.ndarray:
    """Returns height x width structured points of a `sensor_msgs/PointCloud2`; checks sizes."""
    assert not cloud.is_bigendian
    assert cloud.row_step == cloud.point_step * cloud.width
    assert len(cloud.data) == cloud.row_step * cloud.height
    dtype = np.dtype(
        {
            "names": [field.name for field in cloud.fields],
            "formats": [FIELD_TYPES[field.datatype] for field in cloud.fields],
            "offsets": [field.offset for field in cloud.fields],
            "itemsize": cloud.point_step,
        }
    )
    assert all(field.count == 1 for field in cloud.fields)
    return np.frombuffer(bytes(cloud.data), dtype).reshape(cloud.height, cloud.width)


def xyz(cloud) -> np.ndarray:
    """Returns the N x 3 finite points of a cloud as float64."""
    points = cloud_array(cloud).ravel()
    result = np.stack([points["x"], points["y"], points["z"]], -1).astype(float)
    return result[np.isfinite(result).all(axis=1)]


def metres(depth_image) -> np.ndarray:
    """Returns float metres of a 16UC1 image in millimetres; NaN where the value is 0 (REP 118)."""
    assert depth_image.encoding == "16UC1"
    values = pixels(depth_image)
    return np.where(values == 0, np.nan, values * 0.001)


def psnr(a: np.ndarray, b: np.ndarray) -> float:
    """Peak signal-to-noise ratio of two 8-bit images in dB."""
    error = np.mean((a.astype(float) - b.astype(float)) ** 2)
    return float("inf") if error == 0 else float(10 * np.log10(255**2 / error))
