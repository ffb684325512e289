#!/usr/bin/env bash
# Four PCs of one fleet file as network namespaces, each with an emulator, a bridge and a Zenoh router, on links of 100 Mbit/s that
# lose 1 of 1000 packets: every PC sees every vehicle, images obey config/fleet_router.json5, and the loss of a bridge and of a router is
# seen within 5 s and heals. Needs the program with Zenoh (scripts/zenoh.sh) and the right to make namespaces.
#
#   scripts/fleet.sh [VEHICLES_PER_PC [few]]   # default 10; few: with 38 topics and services of each vehicle instead of 190 (docs/fleet.md)
#   ZENOH_BRIDGE_ROS2DDS=PROGRAM scripts/fleet.sh ...   # nodes on DDS, and PROGRAM with config/fleet_ros2dds.json5 instead of the router
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
export RFLY_MIDDLEWARE=zenoh
[ -z "${ZENOH_BRIDGE_ROS2DDS:-}" ] || RFLY_MIDDLEWARE=dds
programs=$target/zenoh/release
[ $RFLY_MIDDLEWARE = zenoh ] || programs=$target/release
export RFLY_BRIDGE=${RFLY_BRIDGE:-$programs/rfly_bridge} RFLY_EMULATOR=${RFLY_EMULATOR:-$programs/rflysim_emulator}
export PYTHONPATH=$PWD/test/e2e:$PWD/.venv/lib/$(basename "$(compgen -G '.venv/lib/python3*')")/site-packages:$target/zenoh-peers
exec unshare -rnm sh -ec '
    mount -t tmpfs tmpfs /run
    mkdir -p /run/netns
    ip link add pcs type bridge
    ip link set pcs up
    for pc in 1 2 3 4; do
        ip netns add pc$pc
        ip link add port$pc type veth peer name eth0 netns pc$pc
        ip link set port$pc master pcs up
        tc qdisc add dev port$pc root tbf rate 100mbit burst 256kb latency 100ms
        ip netns exec pc$pc sh -ec "
            ip link set lo up
            ip link set eth0 up
            ip address add 10.77.0.$pc/24 dev eth0
            ip route add 224.0.0.0/4 dev lo
            tc qdisc add dev eth0 root tbf rate 100mbit burst 256kb latency 100ms
            nft add table inet link
            nft add chain inet link in { type filter hook input priority 0\; }
            nft add rule inet link in iifname eth0 numgen random mod 1000 == 0 drop"
    done
    exec "$@"' sh .venv/bin/python scripts/fleet.py "$@"
