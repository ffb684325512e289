#!/usr/bin/env bash
# Every benchmark, one after the other: figures only mean something on an otherwise idle machine.
set -euo pipefail
cd "$(dirname "$0")/.."
export ROS_LOCALHOST_ONLY=1

echo "== the path against its floor"
cargo bench -q --bench path
echo "== clients of the view"
cargo bench -q --bench path -- view
if [ -n "${RFLY_ZENOH:-}" ]; then
    echo "== Cyclone DDS and Zenoh (docs/zenoh.md)"
    cargo bench -q --features zenoh --target-dir target/zenoh --bench path -- zenoh
fi
echo "== setpoints, and the telemetry of a fleet"
cargo bench -q --bench control
echo "== conversions (divan)"
cargo bench -q --bench sensors
echo "== frames of the emulator (divan)"
cargo bench -q --bench scene
echo "== PNG and JPEG against OpenCV on the same files"
.venv/bin/python benches/codecs.py
echo "== a recording of 8 cameras and 50 vehicles against the disk"
cargo build -q --release
RFLY_BRIDGE=target/release/rfly_bridge RFLY_EMULATOR=target/release/rflysim_emulator scripts/alone .venv/bin/python scripts/bench_record.py target
