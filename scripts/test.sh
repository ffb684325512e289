#!/usr/bin/env bash
# The one check. Runs every part, prints what ran and what was skipped and why, ends with one line of totals.
set -uo pipefail
cd "$(dirname "$0")/.."
passed=0 failed=0 skipped=0
summary=()
export ROS_LOCALHOST_ONLY=1 CARGO_TERM_COLOR=never

part() { # part NAME COMMAND...: a named check that passes or fails
    local name=$1 start=$SECONDS
    shift
    echo "== $name"
    if "$@"; then
        passed=$((passed + 1))
        summary+=("passed   $name ($((SECONDS - start)) s)")
    else
        failed=$((failed + 1))
        summary+=("FAILED   $name ($((SECONDS - start)) s): $*")
    fi
}

skip() {
    skipped=$((skipped + 1))
    summary+=("skipped  $1: $2")
}

scripts/setup.sh build || exit 1
scripts/setup.sh python || exit 1
export RFLY_PYTHON=$PWD/.venv/bin/python RFLY_REQUIRE_PYTHON=1
release=$PWD/target/release
export CARGO_TARGET_DIR=$PWD/target

part "format" cargo fmt --check
part "lints" cargo clippy -q --all-targets -- -D warnings
part "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc -q --no-deps
part "unit, golden and property tests" cargo test -q --test '*' --lib
part "examples in the documentation" cargo test -q --doc
part "release build" cargo build -q --release
part "end to end (independent DDS subscriber)" env RFLY_BRIDGE="$release/rfly_bridge" RFLY_EMULATOR="$release/rflysim_emulator" \
    .venv/bin/python -m pytest -q -rs test/e2e
part "demo ends by itself" env DEMO_SECONDS=5 scripts/demo.sh
if [ -n "${AMENT_PREFIX_PATH:-}" ]; then
    skip "ROS 2 package" "a workspace is sourced, but the rclrs back end is not part of this version"
else
    skip "ROS 2 package" "no ROS 2 workspace is sourced"
fi

echo
printf '%s\n' "${summary[@]}"
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
