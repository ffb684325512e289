#!/usr/bin/env bash
# Algorithms of a ROS 2 workspace, as they are, on the topics of the bridge; scored against the emulator's truth.
#
#   source <workspace>/install/setup.bash && scripts/algorithms_ros.sh        # or RFLY_ROS_SETUP=<workspace>/install/setup.bash
#   scripts/algorithms_ros.sh test_fast_lio.py                                # some of test/algorithms/ros
#
# Each is skipped where its package is not in the workspace (test/algorithms/ros/README.md). The programs are those of
# RFLY_BRIDGE and RFLY_EMULATOR, otherwise of target/release; the figures go to RFLY_FIGURES, otherwise to
# target/algorithms_ros.json, which scripts/algorithms.py takes over into docs/algorithms.md.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
. scripts/parts.sh

if [ -n "${RFLY_ROS_SETUP:-}" ]; then
    set +u
    # shellcheck disable=SC1090
    . "$RFLY_ROS_SETUP"
    set -u
fi
if [ -z "${AMENT_PREFIX_PATH:-}" ]; then
    skip "algorithms in ROS 2" "no ROS 2 workspace is sourced, and RFLY_ROS_SETUP names no setup.bash"
    totals
    exit
fi
if ! command -v ros2 >/dev/null; then
    echo "algorithms: AMENT_PREFIX_PATH is set, but there is no ros2 command (install ros-$ROS_DISTRO-ros2cli)" >&2
    exit 1
fi
python=${RFLY_ROS_PYTHON:-$(sed -n '1s/^#! *//p' "$(command -v ros2)")}
if ! "$python" -c 'import pytest, psutil, numpy, rclpy' 2>/dev/null; then
    skip "algorithms in ROS 2" "$python lacks pytest, psutil, numpy or rclpy"
    totals
    exit
fi
export ROS_LOCALHOST_ONLY=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1
export RFLY_BRIDGE=${RFLY_BRIDGE:-$root/target/release/rfly_bridge} RFLY_EMULATOR=${RFLY_EMULATOR:-$root/target/release/rflysim_emulator}
unset CYCLONEDDS_URI FASTRTPS_DEFAULT_PROFILES_FILE FASTDDS_DEFAULT_PROFILES_FILE
# The stand-alone bridge meets either; Cyclone DDS takes images as they come.
export RMW_IMPLEMENTATION=${RMW_IMPLEMENTATION:-rmw_cyclonedds_cpp}
[ $# -gt 0 ] || set -- .
export RFLY_FIGURES=${RFLY_FIGURES:-$root/target/algorithms_ros.json}
# The fixtures beside it are for Python without ROS.
part "algorithms in ROS 2 (${ROS_DISTRO:-?}, $RMW_IMPLEMENTATION)" scripts/alone "$python" -m pytest -q -rs -p no:cacheprovider \
    --confcutdir=test/algorithms/ros "${@/#/test/algorithms/ros/}"
totals
