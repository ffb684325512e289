#!/usr/bin/env bash
# From a sourced ROS 2 to a built bridge: scripts/ros_install.sh WORKSPACE (or make ros-install WS=WORKSPACE).
#
#   source /opt/ros/humble/setup.bash && make ros-install WS=~/ws
#   source ~/ws/install/setup.bash && ros2 launch rfly_bridge sim.launch.py emulator:=true
set -euo pipefail
workspace=${1:?usage: scripts/ros_install.sh WORKSPACE}
cd "$(dirname "$0")/.."
root=$PWD
if [ -z "${AMENT_PREFIX_PATH:-}" ]; then
    echo "ros_install: source a ROS 2 first, for example: source /opt/ros/humble/setup.bash" >&2
    exit 1
fi
scripts/setup.sh ros
mkdir -p "$workspace"
workspace=$(cd "$workspace" && pwd)
scripts/ros_workspace.sh "$workspace/messages"
set +u
# shellcheck disable=SC1091
[ ! -e "$workspace/messages/install/setup.bash" ] || source "$workspace/messages/install/setup.bash"
set -u
ros_python=${RFLY_ROS_PYTHON:-$(sed -n '1s/^#! *//p' "$(command -v ros2 || echo /dev/null)")}
ros_python=$(command -v "${ros_python:-python3}")
# colcon writes .cargo/config.toml into its working directory. In a folder above the sources it would have Cargo note down every
# message package in Cargo.lock, so the build starts beside them.
mkdir -p "$workspace/.colcon"
cd "$workspace/.colcon"
echo "ros_install: building rfly_bridge into $workspace/install (some minutes)"
colcon --log-base "$workspace/log" build --base-paths "$root" --packages-up-to rfly_bridge \
    --build-base "$workspace/build" --install-base "$workspace/install" --event-handlers console_direct+ \
    --cmake-args "-DPython3_EXECUTABLE=$ros_python" "-DPYTHON_EXECUTABLE=$ros_python"
echo "ros_install: done. Now:"
echo "  source $workspace/install/setup.bash"
echo "  ros2 launch rfly_bridge sim.launch.py emulator:=true"
