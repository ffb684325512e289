#!/usr/bin/env bash
# What ROS 2's own tools say about a node of the embedded DDS back end, under each RMW that is installed.
#   source /opt/ros/humble/setup.bash && scripts/interop.sh > docs/interop/$(date +%F)-$ROS_DISTRO.txt
set -eu
cd "$(dirname "$0")/.."
: "${ROS_DISTRO:?source a ROS 2 workspace first}"
source_binary=${SOURCE:-target/debug/examples/image_source}
[ -x "$source_binary" ] || cargo build --example image_source
export ROS_LOCALHOST_ONLY=1 ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-96}
run() {
    echo "\$ ros2 $*"
    timeout 30 ros2 "$@" 2>&1 | grep -v "not multicast-capable" || true
}
echo "ROS 2 $ROS_DISTRO, $(date +%F): image_source publishes 320x240 bgr8 at 10 Hz on /image"
for rmw in rmw_cyclonedds_cpp rmw_fastrtps_cpp; do
    export RMW_IMPLEMENTATION=$rmw
    printf '\n== %s\n' "$rmw"
    timeout 90 "$source_binary" 320 240 10 100 > /dev/null &
    run node list --no-daemon --spin-time 3
    run node info /image_source --no-daemon --spin-time 3
    run topic info --verbose /image --no-daemon --spin-time 3
    run topic echo --once --no-arr /image sensor_msgs/msg/Image
    wait
done
