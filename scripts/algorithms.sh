#!/usr/bin/env bash
# Algorithms that nobody here wrote, on the bridge's topics, against the emulator's truth. Usage: scripts/algorithms.sh
# [short|long] [argument of pytest...]; the long form writes docs/algorithms.md, unless it is given arguments.
set -euo pipefail
cd "$(dirname "$0")/.."
form=${1:-long}
[ $# = 0 ] || shift

scripts/setup.sh algorithms "$form"
python=$PWD/.venv-algorithms/bin/python
run=("$python" -m pytest -q -rs -p no:cacheprovider)
! scripts/alone -q || run=(scripts/alone "${run[@]}")
mkdir -p target/algorithms
if [ "$form" = short ]; then
    # As in scripts/e2e.sh; slow recordings of a busy machine need 1000 s. `timeout` ends a pytest that does not exit.
    export PYTEST_TIMEOUT=${PYTEST_TIMEOUT:-1200}
    exec timeout --kill-after 30 1500 "${run[@]}" -m "not long" test/algorithms "$@"
fi
failed=0
RFLY_FIGURES=$PWD/target/algorithms/figures.json "${run[@]}" test/algorithms "$@" || failed=1
[ $# -gt 0 ] || scripts/algorithms.py target/algorithms/figures.json
exit "$failed"
