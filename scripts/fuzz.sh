#!/usr/bin/env bash
# Runs every fuzz target for FUZZ_SECONDS (30) and prints one line per target; fails if one finds something.
# Works with the stable toolchain: coverage instrumentation is stable, only sanitizers are not.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-30}
version=0.13.2

if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "fuzz: installing cargo-fuzz $version"
    cargo install -q cargo-fuzz --version "$version" --locked
fi
# cmake and make are there already (setup.sh); libFuzzer itself is C++.
command -v c++ >/dev/null || { echo "fuzz: a C++ compiler is needed (package build-essential)" >&2; exit 1; }

python3 scripts/fuzz_seeds.py fuzz/corpus
mapfile -t targets < <(cargo fuzz list)
[ $# = 0 ] || targets=("$@")
echo "fuzz: building"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cargo fuzz build --sanitizer none >"$log" 2>&1 || { tail -30 "$log" >&2; exit 1; }

failed=0
printf '%-10s %12s %8s %10s %9s  %s\n' target executions exec/s coverage corpus result
for target in "${targets[@]}"; do
    result=ok
    # Scripts of steps, and texts that are parsed again and again: long ones find nothing that short ones do not, only later.
    case $target in
        vehicle | requests | clock | params | parameters | recording) longest=256 ;;
        *) longest=4096 ;;
    esac
    if ! cargo fuzz run --sanitizer none "$target" -- -max_total_time="$seconds" -max_len="$longest" -timeout=20 \
        -rss_limit_mb=2048 -print_final_stats=1 >"$log" 2>&1; then
        result=FAILED
        failed=1
    fi
    stat() { awk -v key="stat::$1:" '$1 == key { value = $2 } END { print value + 0 }' "$log"; }
    coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -1 | cut -d' ' -f2 || true)
    corpus=$(find "fuzz/corpus/$target" -type f 2>/dev/null | wc -l)
    printf '%-10s %12s %8s %10s %9s  %s\n' "$target" "$(stat number_of_executed_units)" \
        "$(stat average_exec_per_sec)" "${coverage:-0}" "$corpus" "$result"
    [ "$result" = ok ] || { tail -40 "$log" >&2; ls "fuzz/artifacts/$target" >&2 || true; }
done
exit "$failed"
