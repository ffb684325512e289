#!/usr/bin/env bash
# CPU time per published image of the rclrs bridge against rclcpp, in one run, rounds in turns, under every RMW:
#   source /opt/ros/humble/setup.bash && scripts/bench_ros.sh [--rounds N] [--seconds N] [--size 1280x720]...
# Needs what `scripts/ros.sh build` made, on an otherwise idle machine.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -n "${RFLY_ROS_SETUP:-}" ]; then
    set +u
    # shellcheck disable=SC1090
    . "$RFLY_ROS_SETUP"
    set -u
fi
: "${AMENT_PREFIX_PATH:?source a ROS 2 workspace first, or name its setup.bash in RFLY_ROS_SETUP}"
built=$PWD/target/colcon/install/rfly_bridge/lib/rfly_bridge
[ -x "$built/rfly_bridge" ] || { echo "bench_ros: scripts/ros.sh build comes first" >&2 && exit 1; }
cmake -S benches/rclcpp_floor -B target/rclcpp_floor -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build target/rclcpp_floor >/dev/null
CARGO_TARGET_DIR=$PWD/target/rclrs cargo build -q --release --example image_source --no-default-features --features rclrs
set +u
# shellcheck disable=SC1091
. target/colcon/install/local_setup.bash
set -u
ros_python=${RFLY_ROS_PYTHON:-$(sed -n '1s/^#! *//p' "$(command -v ros2)")}
export ROS_LOCALHOST_ONLY=1 ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-92}
run=("$ros_python" scripts/bench_ros.py --bridge "$built/rfly_bridge" --emulator "$built/rflysim_emulator"
    --floor target/rclcpp_floor/rclcpp_floor --source target/rclrs/release/examples/image_source "$@")
# The simulator's ports are fixed: where the kernel lets us, in a network of our own.
if unshare -rnm true 2>/dev/null && command -v ip >/dev/null; then
    # shellcheck disable=SC2016
    exec unshare -rnm sh -c 'ip link set lo up && ip route add 224.0.0.0/4 dev lo && mount -t tmpfs tmpfs /dev/shm && exec "$@"' sh "${run[@]}"
fi
exec "${run[@]}"
