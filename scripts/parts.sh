# Sourced by the check scripts: named parts that pass, fail or are skipped, and one line of totals at the end.
passed=0 failed=0 skipped=0
summary=()

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
        return 1
    fi
}

beside() { # beside NAME COMMAND...: a part that runs beside those that follow, until `settle` shows what it printed
    beside_name=$1 beside_start=$SECONDS
    shift
    beside_command=("$@") beside_log=$(mktemp)
    echo "== $beside_name: runs beside what follows, and is shown after it"
    "$@" >"$beside_log" 2>&1 &
    beside_pid=$!
    trap 'kill "$beside_pid" 2>/dev/null' EXIT
}

settle() { # waits for the part of `beside`
    echo "== $beside_name"
    local how=passed
    wait "$beside_pid" || how=FAILED
    trap - EXIT
    cat "$beside_log"
    rm -f "$beside_log"
    local line="$beside_name ($((SECONDS - beside_start)) s)"
    if [ "$how" = passed ]; then
        passed=$((passed + 1))
        summary+=("passed   $line")
    else
        failed=$((failed + 1))
        summary+=("FAILED   $line: ${beside_command[*]}")
    fi
}

skip() { # skip NAME REASON
    skipped=$((skipped + 1))
    summary+=("skipped  $1: $2")
}

totals() { # prints what ran; false if anything failed
    echo
    printf '%s\n' "${summary[@]}"
    echo
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}
