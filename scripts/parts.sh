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
