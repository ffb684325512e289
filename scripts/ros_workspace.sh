#!/usr/bin/env bash
# Builds the message packages that rfly_bridge needs with Rust code, where the sourced ROS 2 ships them without.
#
#   source /opt/ros/humble/setup.bash
#   scripts/ros_workspace.sh ~/rfly_messages        # does nothing where nothing is missing
#   source ~/rfly_messages/install/setup.bash
#
# Humble and Jazzy have no Rust code in their binary packages; since Kilted the generator is one of the default ones.
set -euo pipefail
workspace=${1:?usage: scripts/ros_workspace.sh DIRECTORY}
: "${AMENT_PREFIX_PATH:?source a ROS 2 workspace first}" "${ROS_DISTRO:?source a ROS 2 workspace first}"

# What rclrs and the bridge use.
needed=(action_msgs builtin_interfaces diagnostic_msgs geometry_msgs rcl_interfaces rosgraph_msgs sensor_msgs std_msgs
    tf2_msgs unique_identifier_msgs vision_msgs)
[ "$ROS_DISTRO" = humble ] || needed+=(service_msgs type_description_interfaces)
# The generator that was tested; releases lag behind.
generator=de743fcc9a5d4c4a4fa5327a01dbe53639e6a77e

has_rust() {
    local prefix
    for prefix in ${AMENT_PREFIX_PATH//:/ }; do
        [ -f "$prefix/share/$1/rust/Cargo.toml" ] && return
    done
    return 1
}

missing=()
for package in "${needed[@]}"; do has_rust "$package" || missing+=("$package"); done
if [ ${#missing[@]} = 0 ]; then
    echo "ros_workspace: every message package of this ROS 2 has Rust code"
    exit
fi
echo "ros_workspace: without Rust code: ${missing[*]}"
command -v colcon >/dev/null || { echo "ros_workspace: colcon is missing: scripts/setup.sh ros" >&2; exit 1; }

mkdir -p "$workspace/src"
clone() { # clone OWNER/NAME BRANCH_OR_TAG
    [ -d "$workspace/src/${1#*/}" ] || git clone -q --depth 1 -b "$2" "https://github.com/$1.git" "$workspace/src/${1#*/}"
}
for name in common_interfaces rcl_interfaces unique_identifier_msgs geometry2 rosidl_defaults; do
    clone "ros2/$name" "$ROS_DISTRO"
done
[ "$ROS_DISTRO" = humble ] || clone ros2/rosidl_core "$ROS_DISTRO"
clone ros-perception/vision_msgs 4.1.1
if [ ! -d "$workspace/src/rosidl_rust" ]; then
    git clone -q https://github.com/ros2-rust/rosidl_rust.git "$workspace/src/rosidl_rust"
    git -C "$workspace/src/rosidl_rust" checkout -q "$generator"
fi
cd "$workspace"
# The generator first: message packages take every generator that is installed when they are configured.
colcon build --packages-up-to rosidl_generator_rs rosidl_default_generators --cmake-args -DBUILD_TESTING=OFF
set +u
# shellcheck disable=SC1091
source install/setup.bash
set -u
colcon build --packages-up-to "${needed[@]}" --cmake-args -DBUILD_TESTING=OFF
echo "ros_workspace: source $workspace/install/setup.bash"
