"""octomap_server builds a map from a lidar and TF; the map is compared with the scene."""

from __future__ import annotations

import json

import numpy as np
from figures import row
from run import SPEED, Flight, newest, node, settings
from scene import Scene, ned, rotation_ned
from sensor_msgs.msg import PointCloud2
from sensor_msgs_py.point_cloud2 import read_points
from truth import Truth

from ros import Listener, package, wait
from sensors import COMPRESSED, with_defaults

CELL, FARTHEST, ELEVATIONS = 0.2, 15.0, (-40.0, 20.0)
LIDAR = with_defaults(0, 20, COMPRESSED, rate=5, width=360, height=60, params=(60.0, 0.0, -180.0, 180.0, *ELEVATIONS))
SECONDS = 20.0
"""One lap takes 16 s."""
DIAGONAL = CELL * np.sqrt(3) / 2
"""Half of a cell's: no point of it is farther from its centre."""


def test_the_map_is_the_scene(tmp_path, domain_id):
    package("octomap_server")
    arguments = settings(frame_id="map", resolution=CELL, sensor_model__max_range=FARTHEST, use_sim_time=True, latch=False)
    remaps = ["-r", f"cloud_in:={LIDAR.topic}"]
    with (
        Flight(tmp_path, domain_id, [LIDAR]) as flight,
        node("octomap_server", "octomap_server_node", "--ros-args", *arguments, *remaps, said="Publishing non-latched"),
        Listener("judge") as listener,
    ):
        maps = listener.collect(PointCloud2, "/octomap_point_cloud_centers", 1)
        for needed in (LIDAR.topic, "/tf", "/tf_static"):
            wait(lambda name=needed: listener.node.count_subscribers(name), f"a reader of {needed}")
        lost = flight.fly(lambda: newest(maps), SECONDS, behind=0.5)
    fields = read_points(maps[-1], ("x", "y", "z"))
    centres = np.stack([fields[axis] for axis in "xyz"], axis=1).astype(float)
    truth = Truth(flight.truth_file, flight.truth_frames)
    scene = Scene(truth.starts[0])

    # The walker leaves a trace, and who is in a cell with the vehicle is nobody.
    still = centres[~near_the_walker(ned(centres))]
    away = np.abs(scene.distance(ned(still)))
    hits = rays_to_the_scene(scene, flight.truth_file)
    occupied = {tuple(cell) for cell in cells(centres)}
    enu = hits[:, [1, 0, 2]] * [1, 1, -1]
    found = np.any([[tuple(cell) in occupied for cell in cells(enu + step)] for step in EDGES], axis=0)
    figures = {
        "cells": len(centres),
        "farthest_cell_m": round(float(away.max()), 3),
        "seen_but_not_in_the_map_percent": round(100 * float(1 - found.mean()), 3),
        "rays": len(hits),
        "lost": lost,
        "speed": SPEED,
    }
    given = "lidar (type 20) and TF"
    changes = f"cells of {CELL} m, rays up to {FARTHEST:g} m, not latched"
    stray = 100 * float((away > DIAGONAL).mean())
    row("octomap_server", given, "cells farther than half their diagonal from any surface", stray, 1.0, "% of the cells", changes, **figures)
    assert away.max() < 2 * DIAGONAL, figures
    # The server itself clears cells again that more beams graze than hit.
    assert found.mean() > 0.985, figures


EDGES = 0.005 * np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])
"""A surface may be where two cells meet; coordinates on the wire are multiples of 2 mm."""


def cells(points: np.ndarray) -> np.ndarray:
    """The cell of each point."""
    return np.floor(points / CELL).astype(int)


def near_the_walker(points: np.ndarray) -> np.ndarray:
    """Points (NED) where the walker may have been: it goes around the centre on a circle of 9.5 m, 1.8 m tall."""
    return (np.abs(np.hypot(points[:, 0], points[:, 1]) - 9.5) < 0.9) & (points[:, 2] > -2.2)


def rays_to_the_scene(scene: Scene, truth_file, count: int = 20000) -> np.ndarray:
    """Where rays from where the lidar was, in any direction that it covers, hit something within its range (NED). Beams
    that graze a surface are left out: neighbours of theirs miss it by more than a cell."""
    entries = [json.loads(line) for line in truth_file.read_text().splitlines()]
    poses = [entry["sensor"] for entry in entries if entry["kind"] == "frame" and entry["seq_id"] == LIDAR.seq]
    random = np.random.default_rng(1)
    chosen = random.integers(2, len(poses) - 2, count)
    azimuth, elevation = random.uniform(-np.pi, np.pi, count), np.radians(random.uniform(*ELEVATIONS, count))
    ahead = np.stack([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), -np.sin(elevation)], axis=1)
    rotations = np.array([rotation_ned(pose["quaternion"]) for pose in poses])
    directions = np.einsum("nij,nj->ni", rotations[chosen], ahead)
    origins = np.array([pose["position"] for pose in poses], float)[chosen]
    ranges = scene.cast(origins, directions, FARTHEST - CELL)
    hit = np.isfinite(ranges)
    places = origins[hit] + ranges[hit, None] * directions[hit]
    # The beams around a ray, half a degree to either side: between them the surface goes on.
    beside = np.cross(directions[hit], [0.0, 0.0, 1.0])
    beside /= np.linalg.norm(beside, axis=1, keepdims=True)
    plain = np.ones(len(places), bool)
    for axis in (beside, np.cross(directions[hit], beside)):
        for turn in (-0.0087, 0.0087):
            turned = directions[hit] + turn * axis
            turned /= np.linalg.norm(turned, axis=1, keepdims=True)
            plain &= np.abs(scene.cast(origins[hit], turned, FARTHEST) - ranges[hit]) < CELL
    return places[plain & ~near_the_walker(places)]
