#!/usr/bin/env python3
"""Writes meshes/quadrotor.stl: the frame of the vehicle that RViz and Foxglove draw (docs/frames.md).

scripts/mesh.py [FILE]

Ours, of a few convex parts. Metres, x forward, y left, z up. It covers the boxes of src/node/frames/urdf.rs, which are what is
seen where this file cannot be read; the nose and the rotors, which have other colours, stay outside.
"""

from __future__ import annotations

import math
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ARM = 0.25
Point = tuple[float, float, float]
Triangle = tuple[Point, Point, Point]


def turned(point: Point, angle: float) -> Point:
    x, y, z = point
    s, c = math.sin(angle), math.cos(angle)
    return c * x - s * y, s * x + c * y, z


def stacked(rings: list[list[Point]]) -> list[Triangle]:
    """A closed body of rings with the same number of points, counter-clockwise as seen from the last one."""
    around = range(len(rings[0]))
    body = []
    for low, high in zip(rings, rings[1:]):
        for i in around:
            j = (i + 1) % len(low)
            body += [(low[i], low[j], high[j]), (low[i], high[j], high[i])]
    first, last = rings[0], rings[-1]
    for i in around[1:-1]:
        body += [(first[0], first[i + 1], first[i]), (last[0], last[i], last[i + 1])]
    return body


def disc(radius: float, height: float, at: tuple[float, float], corners: int = 8) -> list[Point]:
    angles = [(i + 0.5) * math.tau / corners for i in range(corners)]
    return [(at[0] + radius * math.cos(a), at[1] + radius * math.sin(a), height) for a in angles]


def plate(x: float, y: float, z: float, cut: float) -> list[Point]:
    """A rectangle without its corners."""
    quarter = [(x, y - cut), (x - cut, y)]
    half = quarter + [(-a, b) for a, b in reversed(quarter)]
    return [(a, b, z) for a, b in half + [(-a, -b) for a, b in half]]


def frame() -> list[Triangle]:
    plates = [(0.118, 0.066, -0.05, 0.02), (0.13, 0.08, -0.031, 0.008), (0.13, 0.08, 0.031, 0.008), (0.09, 0.05, 0.055, 0.02)]
    body = stacked([plate(*sizes) for sizes in plates])
    for quarter in (1, 3, 5, 7):
        angle = quarter * math.pi / 4
        # Along x first; a ring that is seen from its end has y to the left and z up.
        ends = ((0.02, 0.021), (ARM + 0.001, 0.018))
        turns = [i * math.tau / 8 for i in range(8)]
        tube = [[(x, r * math.cos(a), r * math.sin(a)) for a in turns] for x, r in ends]
        arm = [(ARM, 0.0)]
        motor = stacked([disc(r, z, arm[0], 6) for r, z in ((0.024, -0.025), (0.028, 0.022), (0.012, 0.029))])
        leg = stacked([disc(0.006, -0.11, (0.16, 0.0), 4), disc(0.009, 0.0, (0.13, 0.0), 4)])
        for triangle in stacked(tube) + motor + leg:
            body.append(tuple(turned(point, angle) for point in triangle))
    return body


def normal(triangle: Triangle) -> Point:
    a, b, c = triangle
    u, v = ([q - p for p, q in zip(a, other)] for other in (b, c))
    n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    length = math.hypot(*n)
    return n[0] / length, n[1] / length, n[2] / length


def stl(triangles: list[Triangle]) -> bytes:
    head = b"rfly_bridge: quadrotor, m, x forward, z up".ljust(80, b"\0")
    # To the micrometre, so that every machine writes the same.
    rounded = [[[round(v, 6) + 0.0 for v in point] for point in triangle] for triangle in triangles]
    rows = [struct.pack("<12fH", *[round(v, 4) + 0.0 for v in normal(points)], *sum(points, []), 0) for points in rounded]
    return head + struct.pack("<I", len(rows)) + b"".join(rows)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "meshes/quadrotor.stl"
    target.write_bytes(stl(frame()))
