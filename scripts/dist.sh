#!/usr/bin/env bash
# Packs both programs as .deb and as wheel, for this machine and for arm64, and tries them: each package in a clean Debian, those for
# arm64 in qemu-user, and what cargo install makes. Usage: scripts/dist.sh [pack] [with_zenoh] [arm64] [try]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/parts.sh
dist=$PWD/target/dist
tools=$dist/tools
host=$(rustc -vV | sed -n 's/^host: //p')
arm64=aarch64-unknown-linux-gnu

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

# Of a target, both programs and the wheel: into `target/dist`, those for arm64 into a folder there. Zig links against an old glibc
# (Debian 11, Ubuntu 20.04, JetPack 5); bindgen reads its headers. Without line tables, which are stripped anyway.
wheel() { # wheel TARGET FOLDER
    local libc=${1%%-*} folder headers
    mkdir -p "$2"
    rm -f "$2"/*.whl
    libc=${libc/x86_64/x86}
    headers="-nostdinc -isystem $(clang -print-resource-dir)/include -D__GLIBC_MINOR__=28"
    for folder in "$libc-linux-gnu" generic-glibc "$libc-linux-any" any-linux-any; do
        headers+=" -isystem $("$tools/bin/python" -c 'import ziglang; print(ziglang.__path__[0])')/lib/libc/include/$folder"
    done
    env "BINDGEN_EXTRA_CLANG_ARGS_$1=$headers" PATH="$tools/bin:$PATH" \
        CARGO_TARGET_DIR="$PWD/target/zig" CARGO_PROFILE_RELEASE_DEBUG=0 \
        "$tools/bin/maturin" build -q --release --zig --target "$1" --compatibility manylinux_2_28 --out "$2"
}

# Completions and manual pages, from the programs themselves.
share() { # share TARGET
    local programs=target/zig/$1/release qemu=() shell name file option
    [ "$1" = "$host" ] || qemu=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
    rm -rf "$dist/share"
    mkdir -p "$dist"/share/{man,bash,zsh,fish}
    "${qemu[@]}" "$programs/rfly_bridge" docs --man "$dist/share/man" || return
    "${qemu[@]}" "$programs/rflysim_emulator" --man-page >"$dist/share/man/rflysim_emulator.1" || return
    for shell in bash zsh fish; do
        for name in rfly_bridge rflysim_emulator; do
            case $shell in bash) file=$name ;; zsh) file=_$name ;; fish) file=$name.fish ;; esac
            [ $name = rfly_bridge ] && option=completions || option=--completions
            "${qemu[@]}" "$programs/$name" $option $shell >"$dist/share/$shell/$file" || return
        done
    done
}

# The programs of the wheel: maturin has stripped them.
deb() { # deb TARGET FOLDER
    share "$1" || return
    rm -f "$2"/*.deb
    CARGO_TARGET_DIR=$PWD/target/zig cargo deb -q --no-build --no-strip --target "$1" --output "$2/"
}

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
grep -o "\"name\":\"/rflysim/sensor0/img_rgb\"[^}]*\"received\":[1-9][0-9]*" top.json
rfly_bridge call --timeout 20 /rfly_bridge/get_parameters "{names: [window]}"
rfly_bridge doctor --ros-args -p config:=/tmp/Config.json | grep "^0 errors"
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

# The programs of the .deb, which are those of the wheel, on qemu-user's processor and this machine's kernel.
try_arm64() {
    local root=$dist/arm64/root bin=$dist/arm64/bin name
    rm -rf "$root" "$bin"
    mkdir -p "$root/tmp" "$bin"
    dpkg-deb -x "$dist"/arm64/*.deb "$root" || return
    python3 -m zipfile -e "$dist"/arm64/*.whl "$root/wheel" || return
    for name in rfly_bridge rflysim_emulator; do
        cmp "$root/usr/bin/$name" "$root"/wheel/*.data/scripts/$name || return
        printf '#!/bin/sh\nexec qemu-aarch64 -L /usr/aarch64-linux-gnu %q "$@"\n' "$root/usr/bin/$name" >"$bin/$name"
    done
    chmod +x "$bin"/*
    cp config/Config.json "$root/tmp/"
    # Without multicast, whose interface qemu-user cannot set. Doctor takes a process named qemu-aarch64 for another program.
    local run=${run/\"^0 errors\"/\" errors, \"}
    scripts/alone env -i PATH="$bin:/usr/bin:/bin" ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_STATIC_PEERS=127.0.0.1 sh -euc "rfly_bridge --help >/dev/null
        rfly_bridge urdf --config $root/tmp/Config.json | grep -q '</robot>'
        ${run//\/tmp/$root/tmp}"
}

pack() {
    tools
    part "wheel" wheel "$host" "$dist"
    part "deb" deb "$host" "$dist"
}

with_zenoh() { part "the program with Zenoh (scripts/zenoh.sh)" scripts/zenoh.sh; }

arm64() {
    [ "$host" != "$arm64" ] || { skip "packages for arm64" "this machine is one, and the others are for it"; return; }
    tools
    [ -e "$(rustc --print target-libdir --target "$arm64")" ] || timeout 600 rustup target add "$arm64" ||
        { skip "packages for arm64" "no standard library of Rust for it: rustup target add $arm64"; return; }
    command -v qemu-aarch64 >/dev/null && [ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ] ||
        scripts/setup.sh apt_install qemu-user libc6-arm64-cross
    part "wheel for arm64" wheel "$arm64" "$dist/arm64"
    part "deb for arm64" deb "$arm64" "$dist/arm64"
    part "the packages for arm64 in qemu-user" try_arm64
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

[ $# != 0 ] || set -- pack with_zenoh arm64 try
for what; do "$what"; done
find "$dist" -maxdepth 2 \( -name '*.deb' -o -name '*.whl' \) -exec ls -l {} +
totals
