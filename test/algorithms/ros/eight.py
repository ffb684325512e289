"""Gives mav_controllers_ros a figure of eight to fly, and arms the vehicle; the controller's own nodes do the rest.

eight.py FILE: writes where the vehicle shall be, as lines of wall clock in ns and x, y, z in m, ENU, from the start."""

import math
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "ros2" / "controllers")]

from common import Controller, main
from mav_controllers_ros.msg import TargetCommand

RATE, HEIGHT = 100.0, 3.0
LAP, LAPS, EASE = 14.0, 2, 3.0
"""Seconds of a lap, how many, and seconds of getting up to speed."""
HALF_LENGTH, HALF_WIDTH = 4.0, 2.0


def smooth(share: float) -> list[float]:
    """From 0 to 1 with its first three derivatives; the first two begin and end with 0."""
    u = min(max(share, 0.0), 1.0)
    inside = 0.0 < share < 1.0
    return [
        u**3 * (10 - 15 * u + 6 * u * u),
        30 * u * u * (1 - u) ** 2,
        60 * u * (1 - u) * (1 - 2 * u),
        60 - 360 * u * (1 - u) if inside else 0.0,
    ]


def angle(seconds: float) -> list[float]:
    """Angle along the eight with its derivatives: from rest to a steady rate and back to rest."""
    rate, end = 2 * math.pi / LAP, EASE + LAP * LAPS
    if seconds < EASE or seconds > end - EASE:
        # The integral of `smooth`: 2.5 u^4 - 3 u^5 + u^6.
        u = min(max(min(seconds, end - seconds) / EASE, 0.0), 1.0)
        s, sign = smooth(u), 1 if seconds < EASE else -1
        way = EASE * rate * (2.5 * u**4 - 3 * u**5 + u**6)
        return [way if sign > 0 else rate * (end - EASE) - way, rate * s[0], sign * rate * s[1] / EASE, rate * s[2] / EASE**2]
    return [rate * (seconds - EASE / 2), rate, 0.0, 0.0]


def sine(amplitude: float, times: int, a: list[float]) -> list[float]:
    """amplitude * sin(times * angle) with three derivatives."""
    s, c = math.sin(times * a[0]), math.cos(times * a[0])
    v, w, j = (times * x for x in a[1:])
    return [
        amplitude * s,
        amplitude * c * v,
        amplitude * (c * w - s * v * v),
        amplitude * (c * j - 3 * s * v * w - c * v**3),
    ]


class Eight(Controller):
    def __init__(self):
        super().__init__("eight")
        self._targets = self.create_publisher(TargetCommand, "geometric_controller/setpoint", 10)
        self._wanted = open(sys.argv[1], "w")
        self.start = None
        self.begin = {"climb": math.inf, "eight": math.inf}

    def setpoint(self):
        if self.start is None:
            return
        now = time.monotonic()
        a = angle(max(now - self.begin["eight"], 0.0)) if now > self.begin["eight"] else [0.0] * 4
        up = smooth((now - self.begin["climb"]) / 4.0)
        x, y = sine(HALF_LENGTH, 1, a), sine(HALF_WIDTH, 2, a)
        z = [HEIGHT * d / 4.0**order for order, d in enumerate(up)]
        self._wanted.write(f"{time.time_ns()} {x[0]} {y[0]} {z[0]}\n")
        target = TargetCommand()
        target.header.stamp = self.get_clock().now().to_msg()
        fields = (target.position, target.velocity, target.acceleration, target.jerk)
        for field, values in zip(fields, zip(x, y, z)):
            field.x, field.y, field.z = values
        for axis, offset in zip("xyz", self.start):
            setattr(target.position, axis, getattr(target.position, axis) + offset)
        target.yaw = self.heading
        self._targets.publish(target)

    def fly(self):
        self.wait_connected()
        self.heading, self.start = self.yaw(), self.position()
        self.wait(2.0, RATE)
        self.set_mode("OFFBOARD", RATE)
        self.arm(RATE)
        self.begin["climb"] = time.monotonic()
        self.wait(7.0, RATE)
        self.begin["eight"] = time.monotonic()
        print("eight", time.time_ns(), flush=True)
        self.wait(EASE + LAP * LAPS, RATE)
        print("hold", time.time_ns(), flush=True)
        self.wait(2.0, RATE)
        self.land(RATE)
        self._wanted.close()


if __name__ == "__main__":
    main(Eight)
