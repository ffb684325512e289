"""Which back end of the bridge is under test (`RFLY_BACKEND`), and what a subscriber sees of the difference."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

BACKEND = os.environ.get("RFLY_BACKEND", "dds")
"""`dds`: the embedded Cyclone DDS. `rclrs`: a bridge that was built in the sourced ROS 2 workspace."""
assert BACKEND in ("dds", "rclrs"), f"RFLY_BACKEND is {BACKEND!r}, neither dds nor rclrs"

MIDDLEWARE = os.environ.get("RFLY_MIDDLEWARE", "dds")
"""`zenoh`: the embedded middleware is Zenoh, and so is that of the peer (docs/zenoh.md)."""
assert MIDDLEWARE == "dds" or (MIDDLEWARE, BACKEND) == ("zenoh", "dds"), f"RFLY_MIDDLEWARE is {MIDDLEWARE!r}"

ON_DDS = pytest.mark.skipif(MIDDLEWARE != "dds", reason="looks at what only DDS has")
"""For tests of discovery, QoS and graph information on the wire of DDS; all others run on both."""

RMW = os.environ.get("RMW_IMPLEMENTATION", "") if BACKEND == "rclrs" else ""
"""The middleware of the rclrs build."""

# The embedded back end has Jazzy's messages whatever is sourced; rclrs has those of the workspace it was built in.
DISTRO = "jazzy" if BACKEND == "dds" else os.environ.get("ROS_DISTRO", "")
"""Distribution of which the bridge has the messages."""

GRAPH = os.environ.get("RFLY_GRAPH", DISTRO)
"""Which graph information the embedded back end writes: that of the ROS 2 whose tools look, or what the peer decodes."""

# History is not part of the discovery data that DDS prescribes; Cyclone adds it, Fast DDS does not.
TELLS_DEPTH = RMW != "rmw_fastrtps_cpp"
"""Does discovery say how many samples a publisher keeps?"""

# Neither do tools on Fast DDS look for what Cyclone adds.
TOOLS_SEE_DEPTH = os.environ.get("RMW_IMPLEMENTATION") != "rmw_fastrtps_cpp"
"""Do ROS 2's own tools show it?"""

# The peer is a Cyclone client; Fast DDS tells requests apart in another way (docs/dds.md).
ANSWERS_PEER = RMW != "rmw_fastrtps_cpp"
"""Can the peer call services by itself? Otherwise rclpy of the workspace does (`peer.rclpy_services`)."""

# A Cyclone reader that goes while its participant stays is not taken notice of by Fast DDS 2.6. Fast DDS readers are:
# test/ros2/test_perception.py has the same test with rclpy.
SEES_READERS_LEAVE = RMW != "rmw_fastrtps_cpp"
"""Does the bridge learn that the peer has ended a subscription?"""

# The embedded back end defines the messages of these packages itself; a build in a workspace has them if the workspace has.
_PREFIXES = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)


def _has(package: str, oldest: tuple[int, int] = (0, 0)) -> bool:
    """Was the bridge built with the messages of this package? (build.rs asks the same.)"""
    manifests = [Path(prefix, f"share/{package}/rust/Cargo.toml") for prefix in _PREFIXES]
    manifest = next((manifest for manifest in manifests if manifest.exists()), None)
    if BACKEND == "dds" or manifest is None:
        return BACKEND == "dds"
    version = re.search(r'^version = "(\d+)\.(\d+)', manifest.read_text(), re.MULTILINE)
    return (int(version[1]), int(version[2])) >= oldest


HAS_LIVOX = _has("livox_ros_driver2")
"""Does the bridge publish livox_ros_driver2/msg/CustomMsg?"""

HAS_GRID_MAP = _has("grid_map_msgs")
"""Does the bridge publish grid_map_msgs/msg/GridMap?"""

HAS_SIMULATION = _has("simulation_interfaces", (2, 1))
"""Does the bridge serve simulation_interfaces?"""

NO_SIMULATION = "simulation_interfaces 2.1 is not in the workspace of the bridge"
"""Why what needs it is skipped."""


# rcl wants a home for its logs.
_NEEDED = ("AMENT_PREFIX_PATH", "HOME", "LD_LIBRARY_PATH", "RFLY_BACKEND", "RMW_IMPLEMENTATION", "ROS_DISTRO")
WORKSPACE = {name: os.environ[name] for name in _NEEDED if BACKEND == "rclrs" and name in os.environ}
"""What a bridge of a workspace needs of our environment where it gets one of its own."""


def environment(domain_id: int) -> dict[str, str]:
    """What bridge and ROS programs need in their environment to meet in `domain_id` on loopback."""
    for name in ("CYCLONEDDS_URI", "ROS_AUTOMATIC_DISCOVERY_RANGE"):
        os.environ.pop(name, None)
    found = {"ROS_DOMAIN_ID": str(domain_id), "RUST_BACKTRACE": "1"}
    found |= {"RMW_IMPLEMENTATION": "rmw_zenoh_cpp"} if MIDDLEWARE == "zenoh" else {"ROS_LOCALHOST_ONLY": "1"}
    if BACKEND == "dds":
        found["ROS_DISTRO"] = GRAPH
    else:
        # Of Kilted's rcl, which does not know the other variable any more.
        found["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    return found
