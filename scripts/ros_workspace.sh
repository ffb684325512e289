#!/usr/bin/env bash
# An overlay with the Rust code of the message packages that rfly_bridge needs, where the sourced ROS 2 has them without.
#
#   source /opt/ros/humble/setup.bash
#   scripts/ros_workspace.sh ~/rfly_messages        # some seconds; does nothing where nothing is missing
#   source ~/rfly_messages/install/setup.bash
#
# The list of packages is that of package.xml. Only the generator is fetched and built (pinned below; RFLY_ROSIDL_RUST names a
# checkout to take instead), the messages are those that are installed: their Rust code is made from their .idl files.
# Humble and Jazzy have no Rust code in their binary packages; since Kilted the generator is one of the default ones.
set -euo pipefail
workspace=${1:?usage: scripts/ros_workspace.sh DIRECTORY}
: "${AMENT_PREFIX_PATH:?source a ROS 2 workspace first}" "${ROS_DISTRO:?source a ROS 2 workspace first}"
scripts=$(cd "$(dirname "$0")" && pwd)
# The Python that ROS 2 itself runs with.
ros_python=${RFLY_ROS_PYTHON:-$(sed -n '1s/^#! *//p' "$(command -v ros2 || echo /dev/null)")}
ros_python=${ros_python:-python3}
# The generator that was tested; releases lag behind.
generator=de743fcc9a5d4c4a4fa5327a01dbe53639e6a77e

mkdir -p "$workspace"
workspace=$(cd "$workspace" && pwd)
install=$workspace/install
if [ -e "$install/setup.bash" ]; then # what an earlier run made
    set +u
    # shellcheck disable=SC1091
    source "$install/setup.bash"
    set -u
fi

missing=$("$ros_python" "$scripts/ros_messages.py" check)
if [ -z "$missing" ]; then
    echo "ros_workspace: every message package of this ROS 2 that package.xml needs has Rust code"
    exit
fi
echo "ros_workspace: without Rust code: $missing"

has_generator() {
    local prefix
    for prefix in ${AMENT_PREFIX_PATH//:/ }; do
        [ -f "$prefix/lib/rosidl_generator_rs/rosidl_generator_rs" ] && return
    done
    return 1
}
if ! has_generator; then
    command -v colcon >/dev/null || { echo "ros_workspace: colcon is missing: scripts/setup.sh ros" >&2; exit 1; }
    source=${RFLY_ROSIDL_RUST:-$workspace/src/rosidl_rust}
    if [ ! -d "$source" ]; then
        echo "ros_workspace: fetching rosidl_generator_rs ($generator)"
        git clone -q https://github.com/ros2-rust/rosidl_rust.git "$source"
        git -C "$source" checkout -q "$generator"
    fi
    echo "ros_workspace: building rosidl_generator_rs"
    (cd "$workspace" && colcon --log-base log build --merge-install --base-paths "$source" --packages-select rosidl_generator_rs \
        --event-handlers console_cohesion- --cmake-args -DBUILD_TESTING=OFF "-DPython3_EXECUTABLE=$(command -v "$ros_python")" \
        "-DPYTHON_EXECUTABLE=$(command -v "$ros_python")")
    set +u
    # shellcheck disable=SC1091
    source "$install/local_setup.bash"
    set -u
fi
"$ros_python" "$scripts/ros_messages.py" generate "$install"
if [ ! -e "$install/setup.bash" ]; then
    # The generator came with the underlay: there is nothing but Rust code here.
    printf 'export AMENT_PREFIX_PATH="%s${AMENT_PREFIX_PATH:+:$AMENT_PREFIX_PATH}"\n' "$install" >"$install/setup.bash"
fi
echo "ros_workspace: now source $install/setup.bash"
