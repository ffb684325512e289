"""What is recorded: the sensors, what the emulator is told, and how long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from flight import figure_of_eight

from sensors import COMPRESSED, RAW, Sensor


@dataclass(frozen=True)
class Plan:
    """One recording."""

    sensors: tuple[Sensor, ...]
    begin: float
    """What is not stamped later is not kept, s of simulation time. The sensors are there by then."""
    end: float
    """What is stamped later is not kept. Of a flight: after it came home."""
    emulator: tuple[str, ...] = ()
    parameters: dict[str, object] = field(default_factory=dict)
    imu: bool = False
    fly: Callable | None = None
    """Flies a vehicle; it follows its lap otherwise."""
    wall: bool = False
    """Stamps are those of `time.mode: aligned`, as by default, and simulation runs at the speed of the wall's clock.
    Otherwise they are simulation time, which can be as slow as the machine needs."""


SEED = ("--seed", "7")
NOISE = ("--lidar-noise", "0.02", "--livox-pattern", "rosette")

# A mechanical lidar with 32 rings: range m, resolution m, limits of azimuth and elevation deg.
OUSTER = {"width": 512, "height": 32, "params": (50.0, 0.0, -180.0, 180.0, -22.0, 22.0)}
ROTARY = Sensor(0, 20, COMPRESSED, **OUSTER)
WORLD = Sensor(1, 21, COMPRESSED, **OUSTER)
MID40 = Sensor(2, 22, COMPRESSED, width=100, height=100, fov=70.432, params=(50.0, 2.956, 1.4, 1.18, 10.0, 5.0, 0.0))
MID360 = Sensor(3, 23, COMPRESSED, width=64, height=272, params=(40.0,))
DEPTH_CLOUD = Sensor(4, 7, COMPRESSED, width=160, height=120, params=(50.0, 1.0))
LIDARS = (ROTARY, WORLD, MID40, MID360, DEPTH_CLOUD)

# Colour and depth of the same place, looking down by 40 degrees, 1 mm per count.
CAMERA = {"width": 640, "height": 480, "rate": 10, "angles": (0.0, -40.0, 0.0)}
COLOUR = Sensor(0, 1, RAW, **CAMERA)
DEPTH_STEP = 0.001
DEPTH = Sensor(1, 2, RAW, params=(0.3, 60.0, DEPTH_STEP), **CAMERA)

# Of a flight: a camera, a lidar, and a range finder because the truth of the vehicle is written down with each of its frames.
EYE = Sensor(0, 1, RAW, width=320, height=240, rate=30)
WITNESS = Sensor(5, 5, COMPRESSED, rate=200, params=(100.0,))
FLYING = {
    "emulator": (*SEED, *NOISE, "--spawn", "-7,0,0"),
    "imu": True,
    # Heartbeats come in simulation time.
    "parameters": {"control.timeout_s": 60.0},
    "fly": figure_of_eight,
}

PLANS = {
    "lidars": Plan(LIDARS, begin=1.0, end=61.0, emulator=(*SEED, *NOISE)),
    "rgbd": Plan((COLOUR, DEPTH), begin=1.0, end=18.0, emulator=SEED),
    "flight": Plan((EYE, MID360, WITNESS), begin=1.0, end=30.0, **FLYING),
    "wall": Plan((EYE,), begin=1.0, end=30.0, wall=True, **FLYING),
}
