# Sourced by the check scripts: named parts that pass, fail or are skipped, and one line of totals at the end.
passed=0 failed=0 skipped=0
summary=()

part() { # part NAME COMMAND...: a named check that passes or fails
    local name=$1 start=$SECONDS code=0
    shift
    echo "== $name"
    "$@" || code=1
    ended "$code" "$name" "$start" "$@"
}

ended() { # ended CODE NAME START COMMAND...: counts a part that has ended
    local code=$1 line="$2 ($((SECONDS - $3)) s)"
    shift 3
    if [ "$code" = 0 ]; then
        passed=$((passed + 1))
        summary+=("passed   $line")
    else
        failed=$((failed + 1))
        summary+=("FAILED   $line: $*")
        return 1
    fi
}

beside_pid=
beside() { # beside NAME COMMAND...: a part that runs beside those that follow, until `settle` shows what it printed
    beside_name=$1 beside_start=$SECONDS
    shift
    beside_command=("$@") beside_log=$(mktemp)
    echo "== $beside_name: runs beside what follows, and is shown after it"
    "$@" >"$beside_log" 2>&1 &
    beside_pid=$!
    trap 'kill "$beside_pid" 2>/dev/null; rm -f "$beside_log"' EXIT
}

settle() { # waits for the part of `beside`, if there is one
    [ -n "$beside_pid" ] || return 0
    local code=0
    echo "== $beside_name"
    wait "$beside_pid" || code=1
    trap - EXIT
    cat "$beside_log"
    rm -f "$beside_log"
    ended "$code" "$beside_name" "$beside_start" "${beside_command[@]}"
}

skip() { # skip NAME REASON; RFLY_SKIPPED names a file for a check that runs this one (`skipped_within`)
    skipped=$((skipped + 1))
    summary+=("skipped  $1: $2")
    [ -z "${RFLY_SKIPPED:-}" ] || printf '%s: %s\n' "$1" "$2" >>"$RFLY_SKIPPED"
}

skipped_within() { # skipped_within FILE: counts what a check that ran as one part has skipped
    local line
    while IFS= read -r line; do skip "${line%%: *}" "${line#*: }"; done <"$1"
    rm -f "$1"
}

totals() { # prints what ran; false if anything failed
    echo
    printf '%s\n' "${summary[@]}"
    echo
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}
