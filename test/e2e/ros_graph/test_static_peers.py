"""Two networks that are joined by a cable and have no multicast: nodes find each other by ROS_STATIC_PEERS alone. In one of them:
nodes on loopback and on the network card find each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from backend import BACKEND, ON_DDS
from processes import Process, binary
from programs import LISTENS, free_port

OURS, THEIRS = "10.77.0.1", "10.77.0.2"
PEER = Path(__file__).parents[1] / "peer/elsewhere.py"
POSSIBLE = subprocess.run(["unshare", "-n", "ip", "link", "set", "lo", "up"], check=False, capture_output=True)
pytestmark = [
    ON_DDS,
    pytest.mark.skipif(BACKEND != "dds", reason="in a workspace the middleware obeys the variables"),
    pytest.mark.skipif(POSSIBLE.returncode != 0, reason="the kernel gives no networks of their own (unshare, ip)"),
]


def inside(network: subprocess.Popen, *command: object) -> list[str]:
    """The command in a network."""
    return ["nsenter", "-t", str(network.pid), "-n", *map(str, command)]


@contextmanager
def joined_networks() -> Iterator[list[subprocess.Popen]]:
    """The processes that hold two networks open."""
    networks = [subprocess.Popen(["unshare", "-n", "sleep", "infinity"]) for _ in range(2)]
    try:
        deadline = time.monotonic() + 30
        here = os.stat("/proc/self/ns/net").st_ino
        while any(os.stat(f"/proc/{network.pid}/ns/net").st_ino == here for network in networks):
            assert time.monotonic() < deadline, "unshare makes no network"
            time.sleep(0.01)
        first, second = (network.pid for network in networks)
        ip = ["ip", "link", "add", "cable", "netns", first, "type", "veth", "peer", "name", "cable", "netns", second]
        subprocess.run([str(word) for word in ip], check=True)
        for network, address in zip(networks, (OURS, THEIRS), strict=True):
            up = f"ip link set lo up; ip addr add {address}/24 dev cable; ip link set cable up multicast off"
            subprocess.run(inside(network, "sh", "-ec", up), check=True)
        yield networks
    finally:
        for network in networks:
            network.kill()
            network.wait()


@pytest.mark.parametrize("discovery", ["SUBNET", "LOCALHOST"])
def test_nodes_of_two_hosts_without_multicast_find_each_other(tmp_path, domain_id, discovery):
    around = {
        "ROS_DOMAIN_ID": str(domain_id),
        "ROS_LOCALHOST_ONLY": "0",
        "ROS_AUTOMATIC_DISCOVERY_RANGE": discovery,
        "ROS_DISTRO": "jazzy",
        "ROS_DISCOVERY_SERVER": f"{THEIRS}:11811",
    }
    named = around | {"ROS_STATIC_PEERS": f"no.such.host.invalid;{THEIRS}"}
    program, simulator = binary("rfly_bridge", "RFLY_BRIDGE"), binary("rflysim_emulator", "RFLY_EMULATOR")
    with joined_networks() as (ours, theirs):
        view = [program, "view", "--port", free_port()]
        bridge = [program, "--ros-args", "-p", "simulator_address:=127.0.0.1"]
        alone = Process("view", inside(ours, *view), tmp_path / "view.log", around)
        emulator = Process("emulator", inside(ours, simulator, "--hover"), tmp_path / "emulator.log")
        found = Process("bridge", inside(ours, *bridge), tmp_path / "bridge.log", named)
        programs = [emulator, alone, found]
        for process in programs:
            process.start()
        try:
            emulator.wait_for_output(LISTENS)
            alone.wait_for_output("view: http://")
            command = inside(theirs, sys.executable, PEER, domain_id, "/rflysim/imu", "sensor_msgs/msg/Imu")
            ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
            assert ran.returncode == 0, f"{ran.stderr}\n{found.tail()}"
        finally:
            # nsenter becomes the program.
            codes = [process.stop() for process in reversed(programs)]
        assert codes == [0, 0, 0]
    said = json.loads(ran.stdout)
    assert said["received"] >= 10
    assert found.pid in said["pids"]
    assert alone.pid not in said["pids"], "a program without ROS_STATIC_PEERS is found: the network has multicast"
    output = found.output()
    assert output.count("ignored by the stand-alone program: ROS_DISCOVERY_SERVER") == 1
    assert "`no.such.host.invalid` has no IPv4 address" in output


def test_a_node_that_has_taken_a_network_card_finds_a_bridge_on_loopback_that_starts_later(tmp_path, domain_id):
    around = {"ROS_DOMAIN_ID": str(domain_id), "ROS_LOCALHOST_ONLY": "1", "ROS_DISTRO": "jazzy"}
    with joined_networks() as (ours, _):
        node = [sys.executable, PEER, domain_id, "/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", "LOCALHOST"]
        bridge = [binary("rfly_bridge", "RFLY_BRIDGE"), "--ros-args", "-p", "diagnostics.period_s:=0.5"]
        node = Process("node", inside(ours, *node), tmp_path / "node.log")
        bridge = Process("bridge", inside(ours, *bridge), tmp_path / "bridge.log", around)
        try:
            node.start().wait_for_output("subscribed")
            bridge.start()
            node.wait_for_output('"received"', 90.0)
        finally:
            node.kill()
            code = bridge.stop()
        assert code == 0, bridge.tail()
