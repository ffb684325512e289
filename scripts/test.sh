#!/usr/bin/env bash
# The one check. Runs every part, prints what ran and what was skipped and why, ends with one line of totals.
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/parts.sh
export ROS_LOCALHOST_ONLY=1 CARGO_TERM_COLOR=never

# Of a sourced workspace only the last part may know: its Python packages do not belong into ours.
ros_pythonpath=${PYTHONPATH-}
[ -z "${AMENT_PREFIX_PATH:-}" ] || unset PYTHONPATH

scripts/setup.sh build || exit 1
scripts/setup.sh python || exit 1
scripts/setup.sh rclpy jazzy || exit 1
export RFLY_PYTHON=$PWD/.venv/bin/python RFLY_REQUIRE_PYTHON=1
release=$PWD/target/release
export CARGO_TARGET_DIR=$PWD/target

part "format" cargo fmt --check
part "lints" cargo clippy -q --all-targets -- -D warnings
if cargo deny --version >/dev/null 2>&1; then
    part "dependencies (deny.toml)" scripts/lint.sh dependencies
else
    skip "dependencies (deny.toml)" "cargo-deny is not installed (make lint installs it)"
fi
part "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc -q --no-deps
if command -v mdbook >/dev/null; then
    part "documentation site" mdbook build
else
    skip "documentation site" "mdbook is not installed (make site installs it)"
fi
part "release build" cargo build -q --release
part "build of the tests" cargo test -q --no-run --test '*' --lib
end_to_end=("end to end (independent DDS subscriber), attacks" env RFLY_BRIDGE="$release/rfly_bridge"
    RFLY_EMULATOR="$release/rflysim_emulator" scripts/e2e.sh)
# Its processes wait most of the time, and have networks of their own where the kernel lets them.
if scripts/alone -q; then beside "${end_to_end[@]}"; else part "${end_to_end[@]}"; fi
part "unit, golden and property tests" cargo test -q --test '*' --lib
part "examples in the documentation" cargo test -q --doc
if scripts/setup.sh algorithms short; then
    part "algorithms of PyPI on the topics (short form)" env RFLY_BRIDGE="$release/rfly_bridge" RFLY_EMULATOR="$release/rflysim_emulator" \
        scripts/algorithms.sh short
else
    skip "algorithms of PyPI on the topics (short form)" "test/algorithms/requirements.txt cannot be installed for this Python"
fi
part "demo ends by itself" env DEMO_SECONDS=5 scripts/demo.sh
if command -v chromium >/dev/null || command -v chromium-browser >/dev/null; then
    part "a newcomer's first minute: the page of the demo" "$RFLY_PYTHON" scripts/first_minute.py --here
else
    skip "a newcomer's first minute: the page of the demo" "chromium is not installed"
fi
settle
if [ -n "${RFLY_ZENOH:-}" ]; then
    part "the program with Zenoh (scripts/zenoh.sh)" scripts/zenoh.sh
else
    skip "the program with Zenoh (scripts/zenoh.sh)" "RFLY_ZENOH is not set: it builds for 17 CPU minutes; make zenoh and make dist run it"
fi
if [ -n "${AMENT_PREFIX_PATH:-}${RFLY_ROS_SETUP:-}" ]; then
    part "ROS 2 package (scripts/ros.sh)" env PYTHONPATH="$ros_pythonpath" scripts/ros.sh
    part "algorithms of the workspace on the topics (short form)" env PYTHONPATH="$ros_pythonpath" RFLY_BRIDGE="$release/rfly_bridge" \
        RFLY_EMULATOR="$release/rflysim_emulator" RFLY_ALGORITHM_SECONDS=23 scripts/algorithms_ros.sh
elif [ "${RFLY_ROS_WHEELS:-}" = none ]; then
    skip "ROS 2 package (scripts/ros.sh)" "no ROS 2 workspace is sourced, and RFLY_ROS_WHEELS=none leaves those of PyPI out"
else
    without=$(mktemp)
    part "ROS 2 package on PyPI's wheels (scripts/ros.sh)" env RFLY_SKIPPED="$without" RFLY_EMULATOR="$release/rflysim_emulator" scripts/ros.sh
    skipped_within "$without"
fi

totals
