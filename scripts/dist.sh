#!/usr/bin/env bash
# Packs both programs as .deb and as wheel, then installs and runs each in a clean Debian, and what cargo install makes. Usage: scripts/dist.sh [pack] [try]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/parts.sh
dist=$PWD/target/dist
tools=$dist/tools

tools() {
    cargo deb --version >/dev/null 2>&1 || {
        echo "dist: installing cargo-deb (cargo)"
        cargo install -q --locked cargo-deb
    }
    [ -x "$tools/bin/maturin" ] || {
        echo "dist: installing maturin and zig into target/dist/tools (pip)"
        python3 -m venv "$tools"
        "$tools/bin/pip" install -q --disable-pip-version-check 'maturin>=1.9,<2' ziglang
    }
}

# Completions and manual pages, from the programs themselves.
share() {
    local bridge=target/release/rfly_bridge emulator=target/release/rflysim_emulator
    rm -rf "$dist/share"
    mkdir -p "$dist"/share/{man,bash,zsh,fish}
    "$bridge" docs --man "$dist/share/man" || return
    "$emulator" --man-page >"$dist/share/man/rflysim_emulator.1" || return
    local shell name
    for shell in bash zsh fish; do
        for name in rfly_bridge rflysim_emulator; do
            case $shell in bash) file=$name ;; zsh) file=_$name ;; fish) file=$name.fish ;; esac
            if [ $name = rfly_bridge ]; then "$bridge" completions $shell; else "$emulator" --completions $shell; fi \
                >"$dist/share/$shell/$file" || return
        done
    done
}

deb() {
    cargo build -q --release --bins && share || return
    rm -f "$dist"/*.deb
    cargo deb -q --no-build --strip --output "$dist/"
}

# Zig links against an old glibc, so that the wheel runs on older systems than this one. Bindgen reads this system's headers: what
# is in their types is the same.
wheel() {
    rm -f "$dist"/*.whl
    local target headers="-I$(clang -print-resource-dir)/include -I/usr/include -I/usr/include/$(cc -dumpmachine)"
    target=$(rustc -vV | sed -n 's/^host: //p')
    env "BINDGEN_EXTRA_CLANG_ARGS_$target=$headers" PATH="$tools/bin:$PATH" CARGO_TARGET_DIR=$PWD/target/zig "$tools/bin/maturin" build -q --release --zig --compatibility "$WHEEL" --out "$dist"
}
# What Debian 11 and Ubuntu 22.04 have at least.
WHEEL=${RFLY_WHEEL:-manylinux_2_28}

# A Debian with nothing but its minimum, made once.
clean_root() {
    local base=$dist/debian
    if [ ! -e "$base/done" ]; then
        command -v debootstrap >/dev/null || { apt-get update -qq && apt-get install -y -qq debootstrap >/dev/null; }
        echo "dist: making a clean Debian (debootstrap)"
        rm -rf "$base"
        debootstrap --variant=minbase --include=python3-venv bookworm "$base" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$dist/debootstrap.log" || return
        touch "$base/done"
    fi
    rm -rf "$dist/root"
    cp -a "$base" "$dist/root"
}

# A shell in the clean root, with loopback as its only network.
inside() {
    ROOT=$dist/root unshare -nm sh -euc 'ip link set lo up; ip route add 224.0.0.0/4 dev lo
        mount --rbind /proc "$ROOT/proc"; mount -t tmpfs tmpfs "$ROOT/dev/shm"; exec chroot "$ROOT" /bin/sh -euc "$1"' sh "$1"
}

# Emulator, bridge and `top` of the package: every topic of the shipped configuration has messages.
run='
cd /tmp
rflysim_emulator --hover >emulator.log 2>&1 & emulator=$!
rfly_bridge --ros-args -p config:=/tmp/Config.json >bridge.log 2>&1 & bridge=$!
rfly_bridge top --seconds 8
rfly_bridge top --seconds 4 --json >top.json
grep -q "\"name\":\"/rflysim/sensor0/img_rgb\".*\"received\":[1-9]" top.json
rfly_bridge call --timeout 20 /rfly_bridge/get_parameters "{names: [window]}"
kill -INT $bridge && wait $bridge
kill -INT $emulator && wait $emulator
tail -n 1 emulator.log'

# The command of README.md that installs a package, and what it needs in the clean root: the source tree's target/dist.
installs() { # installs PATTERN FILE
    mkdir -p "$dist/root/src/target/dist"
    cp "$2" "$dist/root/src/target/dist/"
    cp config/Config.json "$dist/root/tmp/"
    sed -n '/^## Install/,/^## /p' README.md | grep -o "$1" || { echo "README.md has no such command: $1" >&2 && return 1; }
}

try_deb() {
    clean_root || return
    local install
    install=$(installs 'apt install [^ ]*' "$dist"/*.deb) || return
    inside "cd /src; $install >install.log 2>&1 || { cat install.log; exit 1; }
        test -s /usr/share/man/man1/rfly_bridge.1.gz -a -s /usr/share/man/man1/rflysim_emulator.1.gz
        test -s /usr/share/bash-completion/completions/rfly_bridge -a -s /lib/systemd/system/rfly_bridge.service
        cd /etc/rfly_bridge && { timeout -s INT 3 rfly_bridge --ros-args --params-file bridge.yaml || [ \$? = 124 ]; }
        $run
        dpkg --purge rfly-bridge >/dev/null; test ! -e /usr/bin/rfly_bridge -a ! -e /etc/rfly_bridge/bridge.yaml"
}

# The Python package starts the programs of its own wheel.
client='
import sys, time
import rfly_bridge
with rfly_bridge.start(emulator=True) as sim:
    image = sim.image("sensor0/img_rgb")
    print(f"{time.time() - float(sys.argv[1]):.0f} s from the virtual environment to the first image,", image.data.shape)
    print(len(sim.cloud("sensor2/vehicle_lidar").points), "points")
    drone = sim.vehicle(1)
    drone.takeoff(2.0)
    drone.land()'

# The clean Debian has no network: what the wheel depends on is brought along, for its Python.
try_wheel() {
    clean_root || return
    local install
    install=$(installs 'pip install [^ ]*' "$dist"/*.whl) || return
    "$tools/bin/pip" download -q --disable-pip-version-check --only-binary=:all: --python-version 3.11 -d "$dist/root/tmp/wheels" "$dist"/*.whl
    inside "start=\$(date +%s); export PIP_NO_INDEX=1 PIP_FIND_LINKS=/tmp/wheels
        cd /src; python3 -m venv ~/rfly && . ~/rfly/bin/activate; $install
        python -c '$client' \$start
        $run"
}

# What `cargo install` puts into its root runs with nothing else on the path.
try_cargo_install() {
    local root=$dist/cargo
    rm -rf "$root"
    CARGO_TARGET_DIR=$PWD/target cargo install -q --locked --path . --root "$root" || return
    mkdir -p "$root/tmp"
    cp config/Config.json "$root/tmp/"
    scripts/alone env -i PATH="$root/bin:/usr/bin:/bin" sh -euc "${run//\/tmp/$root/tmp}"
}

pack() {
    tools
    part "the program with Zenoh (scripts/zenoh.sh)" scripts/zenoh.sh
    part "deb" deb
    part "wheel" wheel
}

try() {
    if scripts/alone -q; then
        part "cargo install" try_cargo_install
    else
        skip "cargo install" "its programs need a network of their own (unshare)"
    fi
    [ "$(id -u)" = 0 ] || { skip "packages in a clean Debian" "needs root (chroot)"; return; }
    part "the .deb in a clean Debian" try_deb
    part "the wheel in a clean Debian" try_wheel
}

for what in "${@:-pack}"; do "$what"; done
[ $# != 0 ] || try
ls -l "$dist"/*.deb "$dist"/*.whl
totals
