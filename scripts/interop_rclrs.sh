#!/usr/bin/env bash
# What a user sees of the colcon-built package: a transcript of ROS 2's own tools under each RMW that is installed, with versions.
#   source /opt/ros/humble/setup.bash && scripts/ros.sh build && scripts/interop_rclrs.sh > docs/interop/$(date +%F)-$ROS_DISTRO-rclrs.txt
# scripts/interop.sh does the same for a node of the embedded back end.
set -eu
cd "$(dirname "$0")/.."
if [ -n "${RFLY_ROS_SETUP:-}" ]; then
    set +u
    # shellcheck disable=SC1090
    . "$RFLY_ROS_SETUP"
    set -u
fi
: "${ROS_DISTRO:?source a ROS 2 workspace first, or name its setup.bash in RFLY_ROS_SETUP}"
if [ -z "${RFLY_ALONE:-}" ] && unshare -rnm true 2>/dev/null && command -v ip >/dev/null; then
    # shellcheck disable=SC2016
    RFLY_ALONE=1 exec unshare -rnm sh -c 'ip link set lo up && ip route add 224.0.0.0/4 dev lo && mount -t tmpfs tmpfs /dev/shm && exec "$@"' sh "$0"
fi
set +u
# shellcheck disable=SC1091
. target/colcon/install/local_setup.bash
set -u
export ROS_LOCALHOST_ONLY=1 ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-95} PYTHONUNBUFFERED=1
unset CYCLONEDDS_URI FASTRTPS_DEFAULT_PROFILES_FILE FASTDDS_DEFAULT_PROFILES_FILE
home=$HOME root=$PWD
IFS=: read -ra prefixes <<<"$AMENT_PREFIX_PATH"

plain() { # without paths of this machine, and without what is said of loopback each time
    local rules=(-e "s#$root#<workspace>#g" -e "s#$home#~#g")
    for prefix in "${prefixes[@]}"; do rules=(-e "s#$prefix#<prefix>#g" "${rules[@]}"); done
    sed -u "${rules[@]}" -e 's#/tmp/[^ ]*#<tmp>#g' -e "s#$(hostname)#<host>#g" | grep --line-buffered -vE "not multicast-capable|\[rcl\]: .*(ROS_LOCALHOST_ONLY|localhost_only)" || true
}
version() {
    for prefix in "${prefixes[@]}"; do
        file=$prefix/share/$1/package.xml
        [ -f "$file" ] && sed -n "s#.*<version[^>]*>\(.*\)</version>.*#$1 \1#p" "$file" | head -1 && return
    done
    for prefix in "${prefixes[@]}"; do # what is no ROS package has a version for CMake
        file=$(find "$prefix" \( -iname "$1-config-version.cmake" -o -iname "$1ConfigVersion.cmake" \) 2>/dev/null | head -1)
        [ -n "$file" ] && sed -n "s/^set(PACKAGE_VERSION \"\(.*\)\")/$1 \1/Ip" "$file" | head -1 && return
    done
    echo "$1 not installed"
}
run() {
    printf '\n$ %s\n' "$*"
    timeout -s INT 40 "$@" 2>&1 | plain
}
run_for() {
    local seconds=$1
    shift
    printf '\n$ %s     (Ctrl-C after %s s)\n' "$*" "$seconds"
    timeout -s INT "$seconds" "$@" 2>&1 | plain
}
graph=(--no-daemon --spin-time 3)

echo "ROS 2 $ROS_DISTRO, $(date +%F), rfly_bridge $(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1) built by colcon on rclrs"
for name in rclcpp rclpy rcl rmw_cyclonedds_cpp cyclonedds rmw_fastrtps_cpp fastrtps ros2cli launch_ros rosidl_generator_rs; do version "$name"; done
awk '/^name = "(rclrs|ros-env)"/ {gsub(/"/, "", $3); name = $3; getline; gsub(/"/, "", $3); print "crate " name " " $3}' Cargo.lock
rustc --version | cut -d' ' -f1-2
echo "$(nproc) cores, Linux $(uname -r | cut -d- -f1), net.core.rmem_max $(cat /proc/sys/net/core/rmem_max 2>/dev/null || echo unknown)"

run ros2 pkg executables rfly_bridge
for rmw in rmw_cyclonedds_cpp rmw_fastrtps_cpp; do
    version "$rmw" | grep -q "not installed" && printf '\n== %s is not installed\n' "$rmw" && continue
    export RMW_IMPLEMENTATION=$rmw
    printf '\n\n== %s\n' "$rmw"
    log=$(mktemp)
    setsid ros2 launch rfly_bridge sim.launch.py emulator:=true >"$log" 2>&1 &
    launch=$!
    sleep 8
    run ros2 node list "${graph[@]}"
    run ros2 topic list -v "${graph[@]}"
    run ros2 node info /rfly_bridge "${graph[@]}"
    run ros2 topic info --verbose /rflysim/sensor0/img_rgb "${graph[@]}"
    run ros2 topic info --verbose /rflysim/sensor0/camera_info "${graph[@]}"
    run ros2 topic echo --once --no-arr /rflysim/sensor0/img_rgb
    run ros2 topic echo --once /rflysim/sensor0/camera_info
    run ros2 topic echo --once /rflysim/imu
    run ros2 topic echo --once /rosout
    run_for 6 ros2 topic hz /rflysim/sensor0/img_rgb
    run_for 6 ros2 topic bw /rflysim/sensor0/img_rgb
    run ros2 service list -t
    run ros2 service call /rfly_bridge/get_parameters rcl_interfaces/srv/GetParameters '{names: [imu.rate_hz]}'
    run ros2 param get /rfly_bridge imu.rate_hz
    run ros2 param describe /rfly_bridge imu.rate_hz
    run ros2 param set /rfly_bridge imu.rate_hz 100
    run ros2 param get /rfly_bridge imu.rate_hz
    run_for 6 ros2 topic hz /rflysim/imu
    run ros2 param set /rfly_bridge imu.rate_hz 100000
    run ros2 param set /rfly_bridge simulator_address 10.0.0.1
    kill -INT -- "-$launch"
    code=0
    wait "$launch" || code=$?
    printf '\n$ ros2 launch rfly_bridge sim.launch.py emulator:=true     (started first, Ctrl-C at the end)\n'
    plain <"$log"
    echo "exit code $code"
    rm "$log"
done
