"""A figure of eight through the bridge's mavros topics."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from geometry import nanoseconds
from mavros import Vehicle, pose
from peer import Peer

HEIGHT = 3.5  # m
REACH = 6.0, 4.0  # m along and across
PERIOD = 14.0  # s
SHAKE = 0.4, 0.5  # rad, Hz
EASE = 4.0  # s until it is as fast as that


def figure_of_eight(peer: Peer, pump: Callable[[], None], until: float) -> None:
    """Takes off and flies eights until stamps are `until` in s, looking along the path and around. `pump` takes what
    has arrived."""
    vehicle = Vehicle(peer)
    vehicle.wait_ready()
    vehicle.patient()
    stream, home = vehicle.take_off(HEIGHT)
    home_yaw = vehicle.yaw()
    begin = None
    try:
        while True:
            pump()
            now = nanoseconds(vehicle.next("local_position/pose").header.stamp) * 1e-9
            begin = begin or now
            if now > until:
                return
            offset, yaw = _eight(now - begin)
            stream.set(**pose(home + offset, home_yaw + yaw))
    finally:
        vehicle.end_streams()


def _eight(time: float) -> tuple[np.ndarray, float]:
    """Offset in ENU and yaw after `time` in s; at rest at 0."""
    eased = time * time / (2 * EASE) if time < EASE else time - EASE / 2
    angle = math.tau * eased / PERIOD
    along, across = REACH[0] * (1 - math.cos(angle)), REACH[1] * math.sin(2 * angle)
    offset = np.array([across, along, 0.6 * math.sin(3 * angle)])
    # Quick turns to and fro, so that the time of a rotation is well defined.
    return offset, 0.6 * math.sin(2.5 * angle) + SHAKE[0] * math.sin(math.tau * SHAKE[1] * eased)
