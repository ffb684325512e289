"""What the program says where Zenoh cannot do what is asked: one line each, with what to do (docs/zenoh.md)."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import contextmanager

import pytest
from backend import MIDDLEWARE, environment
from processes import Process, binary
from system import System
from test_zenoh_programs import run

from sensors import RAW, with_defaults

if MIDDLEWARE != "zenoh":
    pytest.skip("the program is without Zenoh (scripts/zenoh.sh builds and tests it)", allow_module_level=True)

CAMERA = with_defaults(0, 1, RAW)
IMAGE = "sensor_msgs/msg/Image"
PARAMETERS = {"transport_mode": "file", "time.mode": "sim", "diagnostics.period_s": 0.2}


def connect(endpoint: str) -> str:
    return f'connect/endpoints=["{endpoint}"];listen/endpoints=["tcp/127.0.0.1:0"]'


def about_zenoh(domain_id: int, overrides: str) -> list[str]:
    """The lines about Zenoh that a command writes."""
    around = {**os.environ, **environment(domain_id), "ZENOH_CONFIG_OVERRIDE": overrides}
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "topics"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=around, check=False)
    lines = [line for line in done.stderr.splitlines() if "no topics in the graph" not in line]
    assert all("Zenoh" in line or "ZENOH" in line for line in lines), done.stderr
    return lines


@pytest.mark.parametrize("command", [("topics",), ("router",), ("--middleware=zenoh",)])
def test_addresses_of_transports_that_this_build_lacks_are_named_with_what_to_do(domain_id, command):
    pairs = 'listen/endpoints=["tls/127.0.0.1:7448","quic/127.0.0.1:7449"];connect/endpoints=["tls/127.0.0.1:7447"]'
    said = run(domain_id, *command, code=1, ZENOH_CONFIG_OVERRIDE=pairs).splitlines()
    [line] = [line for line in said if "ZENOH" in line]
    for part in ("ZENOH_CONFIG_OVERRIDE", "`tls/127.0.0.1:7447`", "`tls/127.0.0.1:7448`", "`quic/127.0.0.1:7449`", "use tcp/"):
        assert part in line, line


@contextmanager
def listener(accept):
    """A server on TCP; `accept` gets each connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=accept, args=(connection,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield f"tcp/127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


def test_a_router_that_wants_tls_is_one_line(domain_id, tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-subj", "/CN=router"]
    subprocess.run(made, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def accept(connection):
        try:
            context.wrap_socket(connection, server_side=True)
        except (OSError, ssl.SSLError):
            connection.close()

    with listener(accept) as endpoint:
        [line] = about_zenoh(domain_id, connect(endpoint))
    assert "no Zenoh router" in line and endpoint in line and "opens no Zenoh session" in line and "TLS" in line


def test_a_program_that_does_not_speak_zenoh_is_one_line(domain_id):
    with listener(lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as endpoint:
        [line] = about_zenoh(domain_id, connect(endpoint))
    assert endpoint in line and "opens no Zenoh session: another program" in line


@pytest.mark.parametrize(
    ("endpoint", "said"),
    [
        ("tcp/127.0.0.1:7999", "nobody listens there: start a router with `rfly_bridge router`"),
        # Without a route where the test has a network of its own; elsewhere nobody answers.
        ("tcp/192.0.2.1:7447", "check the address"),
        ("tcp/no.such.host.invalid:7447", "check its name"),
        ("tcp/127.0.0.1", "check its name"),
    ],
)
def test_a_router_that_cannot_be_reached_is_one_line_with_the_reason(domain_id, endpoint, said):
    [line] = about_zenoh(domain_id, connect(endpoint))
    assert "no Zenoh router" in line and f"{endpoint}: " in line and said in line, line


def test_nodes_with_other_type_hashes_are_named_once(tmp_path, domain_id, simulator_ports):
    # The peer has the hashes of Jazzy.
    with System(tmp_path, domain_id, [CAMERA], parameters=PARAMETERS, variables={"ROS_DISTRO": "humble"}) as system:
        system.peer.wait_for_topics([CAMERA.topic], check=system.assert_alive)
        system.peer.subscribe(CAMERA.topic, IMAGE)
        system.peer.subscribe("/tf", "tf2_msgs/msg/TFMessage")
        system.bridge.wait_for_output("exchange nothing on")
        [line] = [line for line in system.bridge.output().splitlines() if "exchange nothing on" in line]
        assert "/peer" in line and "Jazzy or later" in line and "ROS_DISTRO=humble" in line


@pytest.mark.parametrize("shared_memory", [True, False])
def test_who_reads_through_a_socket_is_said_once(tmp_path, domain_id, simulator_ports, shared_memory):
    from peer.on_zenoh import ZenohPeer

    parameters = {**PARAMETERS, "zenoh.shared_memory_mb": 4}
    with System(tmp_path, domain_id, [CAMERA], parameters=parameters) as system:
        peer = ZenohPeer(domain_id, shared_memory=shared_memory)
        images = peer.subscribe(CAMERA.topic, IMAGE)
        reports = peer.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray")
        peer.wait_for(lambda: len(images.samples) >= 5, "images", 60.0)
        count = len(reports.samples)
        peer.wait_for(lambda: len(reports.samples) >= count + 3, "reports", 60.0)
        said = [line for line in system.bridge.output().splitlines() if "through a socket" in line]
        if shared_memory:
            assert not said
        else:
            [line] = said
            assert f"/peer reads {CAMERA.topic}" in line and "transport/shared_memory/enabled=true" in line
        peer.close()


# As a user without privileges has it, with a limit of 64 KiB.
UNLOCKABLE = ["prlimit", "--memlock=65536:65536", "setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"]
# As a container has it, with 64 KiB.
CRAMPED = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=64k tmpfs /dev/shm && exec "$@"', "sh"]


@pytest.mark.parametrize(("around", "reason"), [(UNLOCKABLE, "ulimit -l"), (CRAMPED, "room in /dev/shm")], ids=["locked", "room"])
def test_without_shared_memory_one_line_says_why_and_images_go_through_sockets(
    tmp_path, domain_id, simulator_ports, around, reason
):
    if not shutil.which(around[0]) or subprocess.run([*around, "true"], capture_output=True, check=False).returncode:
        pytest.skip(f"{around[0]} may not do this here")
    with System(tmp_path, domain_id, [CAMERA], parameters=PARAMETERS) as system:
        system.bridge.stop()
        system.bridge = Process("rfly_bridge", [*around, *system.bridge.command], tmp_path / "limited.log", environment(domain_id))
        system.bridge.start()
        images = system.peer.subscribe(CAMERA.topic, IMAGE)
        system.peer.wait_for(lambda: len(images.samples) >= 3, "images through sockets", 60.0)
        assert images.shared == 0
        [line] = [line for line in system.bridge.output().splitlines() if "shared memory" in line]
        assert "images and clouds go through sockets" in line and reason in line, line
