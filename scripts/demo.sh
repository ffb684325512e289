#!/usr/bin/env bash
# Starts the emulator and the bridge on loopback and shows a live table of topics. DEMO_SECONDS=n ends it by itself;
# DEMO_PORT=n is where the page is (docs/view.md), and DEMO_OPEN=1 opens it.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --release
export ROS_LOCALHOST_ONLY=1 ROS_DOMAIN_ID="${ROS_DOMAIN_ID:-0}"
port=${DEMO_PORT:-8765}
bin=${CARGO_TARGET_DIR:-target}/release
logs=$(mktemp -d)
pids=()

finish() {
    local code=$?
    for pid in "${pids[@]}"; do
        # Not once: a program that is about to start does not listen yet.
        while kill -INT "$pid" 2>/dev/null; do sleep 0.1; done
        wait "$pid" || code=$?
    done
    if [ "$code" != 0 ]; then
        echo "demo: failed with exit code $code; last lines of the logs:" >&2
        tail -n 20 "$logs"/*.log >&2
    fi
    rm -rf "$logs"
    exit "$code"
}
trap finish EXIT
trap 'exit 0' INT TERM

# The children ignore the terminal's Ctrl-C; `finish` stops them in order.
(trap '' INT; exec "$bin/rflysim_emulator") >"$logs/emulator.log" 2>&1 &
pids=($! "${pids[@]}")
(trap '' INT; exec "$bin/rfly_bridge" --ros-args -p config:=config/Config.json -p simulator_address:=127.0.0.1 \
    -p view.port:="$port") >"$logs/bridge.log" 2>&1 &
pids=($! "${pids[@]}")
page=http://127.0.0.1:$port/
echo "demo: see it at $page"
if [ -n "${DEMO_OPEN:-}" ]; then
    if command -v xdg-open >/dev/null; then (sleep 2 && xdg-open "$page") >/dev/null 2>&1 & else
        echo "demo: there is no xdg-open here; open it yourself"
    fi
fi
"$bin/rfly_bridge" top ${DEMO_SECONDS:+--seconds "$DEMO_SECONDS"}
