#!/usr/bin/env bash
# The program with Zenoh (feature `zenoh`, docs/zenoh.md): lints and builds it, runs the tests of the feature, and the end-to-end tests on
# Zenoh against PyPI's eclipse-zenoh.
#
#   scripts/zenoh.sh            # lints, build, Rust tests, end-to-end tests, four PCs (scripts/fleet.sh)
#   scripts/zenoh.sh e2e ...    # end-to-end tests only, with arguments of pytest; RFLY_BRIDGE names a program
#   scripts/zenoh.sh ros2 ...   # test/ros2 with rmw_zenoh_cpp of the ROS 2 that is sourced, against the program built before
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
peers=$target/zenoh-peers

install_peers() {
    local file=test/e2e/requirements-zenoh.txt wanted
    wanted=$(sha256sum "$file")
    [ -f "$peers/stamp" ] && [ "$(cat "$peers/stamp")" = "$wanted" ] && return
    rm -rf "$peers"
    echo "zenoh: installing $file into $peers"
    .venv/bin/python -m pip install -q --disable-pip-version-check --target "$peers" -r "$file"
    echo "$wanted" >"$peers/stamp"
}

end_to_end() {
    # All tests: those of what only DDS has say so (`ON_DDS` in test/e2e/backend.py).
    [ $# -gt 0 ] || set -- test/e2e
    # What both have comes from .venv.
    PYTHONPATH=$PWD/.venv/lib/$(basename "$(compgen -G '.venv/lib/python3*')")/site-packages:$peers RFLY_MIDDLEWARE=zenoh \
        scripts/e2e.sh "$@"
}

if [ "${1:-}" = ros2 ]; then
    shift
    [ $# -gt 0 ] || set -- test/ros2
    export RMW_IMPLEMENTATION=rmw_zenoh_cpp RFLY_BACKEND=dds RFLY_MIDDLEWARE=zenoh
    export RFLY_BRIDGE=${RFLY_BRIDGE:-$target/zenoh/release/rfly_bridge} RFLY_EMULATOR=${RFLY_EMULATOR:-$target/zenoh/release/rflysim_emulator}
    # Its programs are not started by ros2, as in `standalone` of scripts/ros.sh.
    exec scripts/alone "${RFLY_ROS_PYTHON:-python3}" -m pytest -q -rs --ignore test/ros2/test_lifetime.py "$@"
fi
scripts/setup.sh python
install_peers
if [ "${1:-}" = e2e ]; then
    shift
    end_to_end "$@"
    exit
fi
cargo clippy -q --all-targets --features zenoh --target-dir "$target/zenoh" -- -D warnings
cargo build -q --release --features zenoh --target-dir "$target/zenoh"
cargo test -q --features zenoh --target-dir "$target/zenoh" --lib -- zenoh::
export RFLY_BRIDGE=$target/zenoh/release/rfly_bridge RFLY_EMULATOR=$target/zenoh/release/rflysim_emulator
end_to_end
if scripts/alone -q; then scripts/fleet.sh 3; else echo "zenoh: no networks of their own here: scripts/fleet.sh was not run"; fi
