"""The tools of the geometry test are themselves right, and they notice an error of one pixel or of two degrees."""

from __future__ import annotations

from types import SimpleNamespace as Object

import numpy as np
import pytest
from geometry import (
    ENU_FROM_NED,
    LINK_FROM_OPTICAL,
    Extrapolation,
    TransformBuffer,
    angle_between,
    apply,
    compare_with_depth,
    inverse,
    rigid,
    rotation_from_euler,
    rotation_from_quaternion,
)


def transform(parent, child, seconds, translation, quaternion):
    """A `tf2_msgs/TFMessage` with one transform."""
    x, y, z, w = quaternion
    return Object(
        transforms=[
            Object(
                header=Object(frame_id=parent, stamp=Object(sec=seconds, nanosec=0)),
                child_frame_id=child,
                transform=Object(
                    translation=Object(x=translation[0], y=translation[1], z=translation[2]),
                    rotation=Object(x=x, y=y, z=z, w=w),
                ),
            )
        ]
    )


def test_rotations_are_right_handed_and_ordered_z_y_x():
    half = np.sqrt(0.5)
    assert np.allclose(rotation_from_quaternion(0, 0, half, half) @ [1, 0, 0], [0, 1, 0])
    assert np.allclose(rotation_from_euler(0, 0, np.pi / 2) @ [1, 0, 0], [0, 1, 0])
    assert np.allclose(rotation_from_euler(np.pi / 2, 0, np.pi / 2) @ [0, 0, 1], [1, 0, 0])
    assert np.allclose(LINK_FROM_OPTICAL @ [0, 0, 1], [1, 0, 0])
    assert np.allclose(ENU_FROM_NED @ [1, 2, 3], [2, 1, -3])
    assert angle_between(np.eye(3), rotation_from_euler(0, 1e-7, 0)) == pytest.approx(1e-7)


def test_the_buffer_interpolates_and_does_not_extrapolate():
    half = np.sqrt(0.5)
    buffer = TransformBuffer()
    buffer.add(transform("map", "base_link", 1, (0, 0, 0), (0, 0, 0, 1)), static=False)
    buffer.add(transform("map", "base_link", 3, (4, 0, 0), (0, 0, half, half)), static=False)
    buffer.add(transform("base_link", "camera", 0, (1, 0, 0), (0, 0, 0, 1)), static=True)
    middle = buffer.lookup("map", "camera", 2_000_000_000)
    assert np.allclose(middle[:3, 3], [2 + half, half, 0])
    assert angle_between(np.eye(3), middle) == pytest.approx(np.pi / 4)
    assert np.allclose(buffer.lookup("camera", "map", 2_000_000_000), inverse(middle))
    with pytest.raises(Extrapolation):
        buffer.lookup("map", "camera", 3_000_000_001)
    with pytest.raises(LookupError):
        buffer.lookup("elsewhere", "camera", 2_000_000_000)


def scene(width=160, height=120, focal=80.0, step=0.001):
    """A slanted ground plane seen by a camera: the depth image, its camera_info and points on the plane."""
    cx, cy = (width - 1) / 2, (height - 1) / 2
    normal, offset = np.array([0.1, -0.9, -0.3]), -2.0
    v, u = np.mgrid[0:height, 0:width]
    rays = np.stack([(u - cx) / focal, (v - cy) / focal, np.ones_like(u, float)], -1)
    with np.errstate(divide="ignore"):
        depth = offset / (rays @ normal)
    depth = np.where((depth > 0) & (depth < 60), np.round(depth / step) * step, np.inf)
    info = Object(p=[focal, 0, cx, 0, 0, focal, cy, 0, 0, 0, 1, 0])
    random = np.random.default_rng(1)
    spots = np.stack([random.uniform(0, width, 4000), random.uniform(0, height, 4000)], -1)
    directions = np.stack([(spots[:, 0] - cx) / focal, (spots[:, 1] - cy) / focal, np.ones(4000)], -1)
    points = directions * (offset / (directions @ normal))[:, None]
    return depth, info, points[points[:, 2] > 0]


def test_points_on_the_surface_agree_with_the_depth_image():
    depth, info, points = scene()
    points = np.round(points / 0.003) * 0.003
    result = compare_with_depth(points, depth, info, depth_step=0.001, point_step=0.003)
    assert result.compared > 1500
    assert result.share >= 0.995


@pytest.mark.parametrize("what", ["pixel", "yaw", "axes"])
def test_a_wrong_camera_centre_mount_or_axis_order_is_noticed(what):
    depth, info, points = scene()
    if what == "pixel":
        info.p[6] += 0.5
    elif what == "yaw":
        points = apply(rigid(rotation_from_euler(0, np.radians(2), 0), [0, 0, 0]), points)
    else:
        points = points[:, [1, 0, 2]]
    result = compare_with_depth(points, depth, info, depth_step=0.001, point_step=0.003)
    assert result.share < 0.5
