"""What strangers send to the ports of DDS."""

from __future__ import annotations

import re
import socket
import time

import pytest
from backend import BACKEND
from peer.services import Client
from soak import count
from system import System

from sensors import COMPRESSED, with_defaults

pytestmark = pytest.mark.skipif(BACKEND != "dds", reason="in a workspace the middleware logs and secures itself")

RANGE = [with_defaults(0, 5, COMPRESSED, rate=5)]
PACKETS = count(20_000, 2_000_000)
# An RTPS header, and a DATA submessage that is too short for what it says it is.
MALFORMED = b"RTPS\x02\x03\x01\x0f" + bytes(12) + bytes([0x15, 5, 4, 0]) + bytes(4)


def test_a_flood_of_malformed_packets_is_said_in_a_few_lines(tmp_path, domain_id, simulator_ports):
    with System(tmp_path, domain_id, RANGE) as system:
        client = Client(system.peer, "/rfly_bridge/get_parameters", "rcl_interfaces/srv/GetParameters").wait()
        ports = [port for port in system.bridge.udp_ports() if 7400 <= port - 250 * domain_id < 7650]
        assert ports
        start = time.monotonic()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            for n in range(PACKETS):
                stranger.sendto(MALFORMED, ("127.0.0.1", ports[n % len(ports)]))
                if n % 50 == 49:
                    time.sleep(0.0005)
        seconds = time.monotonic() - start
        assert client.call(names=["topic_prefix"]).values[0].string_value == "rflysim"
        output = system.bridge.output()
        lines = [line for line in output.splitlines() if "malformed packet" in line]
        assert lines, output
        assert all(re.search(r" WARN Cyclone DDS: ", line) for line in lines), lines[:3]
        assert len(lines) <= 2 + seconds / 5, f"{len(lines)} lines in {seconds:.0f} s"
        assert len(output) < 100_000


def test_security_that_must_be_enforced_and_cannot_be_ends_the_start(tmp_path, domain_id, simulator_ports):
    enforce = {"ROS_SECURITY_ENABLE": "true", "ROS_SECURITY_STRATEGY": "Enforce"}
    system = System(tmp_path / "enforce", domain_id, RANGE, variables=enforce)
    system.bridge.start()
    system.peer.wait_for(lambda: not system.bridge.alive(), "the refused bridge to end")
    assert "has no DDS Security" in system.bridge.output()
    assert system.bridge.stop() == 1
    system.peer.close()
    permissive = {"ROS_SECURITY_ENABLE": "true", "ROS_SECURITY_STRATEGY": "Permissive"}
    with System(tmp_path / "permissive", domain_id, RANGE, variables=permissive) as system:
        system.bridge.wait_for_output("neither encrypted nor authenticated")
