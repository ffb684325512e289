#!/usr/bin/env bash
# The end-to-end suite and the attacks, or what the arguments tell pytest instead. Most of their time they wait
# for what they watch (of 2400 s 580 s are CPU, on 2 cores), so six files run side by side where each can have a network
# of its own (scripts/alone), the longest first (test/e2e/conftest.py).
set -euo pipefail
cd "$(dirname "$0")/.."
python=$PWD/.venv/bin/python
if scripts/alone -q; then
    side_by_side=(--dist loadfile --no-loadscope-reorder --tx "6*popen//python=scripts/alone $python")
else
    echo "e2e: no network of its own for each test process (unshare, ip): one file after the other"
    side_by_side=()
fi
[ $# -gt 0 ] || set -- test/e2e test/attack
# A test that hangs fails and shows where, instead of holding up the whole check (pytest-timeout).
export PYTEST_TIMEOUT=${PYTEST_TIMEOUT:-900}
exec "$python" -m pytest -q -rs "${side_by_side[@]}" "$@"
