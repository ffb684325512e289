#!/usr/bin/env bash
# What can be said about the code without running it: format, lints, scripts, and what it depends on (deny.toml).
# Usage: scripts/lint.sh [dependencies]
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/parts.sh
version=0.20.2

if [ "${1:-}" != dependencies ]; then
    part "format" cargo fmt --check
    part "lints" cargo clippy -q --all-targets -- -D warnings
    if command -v shellcheck >/dev/null; then
        # Sourced files are elsewhere, and a `cd` to one's own folder does not fail.
        part "scripts" shellcheck -x -s bash -S warning -e SC1090,SC2164 scripts/*.sh scripts/alone docker/*.sh .ci/run
    else
        skip "scripts" "shellcheck is not installed"
    fi
fi

if ! cargo deny --version >/dev/null 2>&1; then
    echo "lint: installing cargo-deny $version (takes minutes)"
    cargo install -q cargo-deny --version "$version" --locked || exit 1
fi
part "licences, sources and versions of dependencies" cargo deny --locked check licenses sources bans

# The database of known holes is a git repository; where it cannot be reached nothing is known, and that is no failure.
log=$(mktemp)
if cargo deny --locked fetch db >"$log" 2>&1; then
    part "known holes of dependencies" cargo deny --locked check --disable-fetch advisories
else
    reason=$(grep -io 'unable to access.*\|could not.*\|failed to.*' "$log" | tail -1)
    skip "known holes of dependencies" "NOT CHECKED, the database cannot be reached: $reason"
fi
rm -f "$log"
totals
