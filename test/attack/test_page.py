"""Clients of the page's port that ask for much, take nothing, or say nothing."""

from __future__ import annotations

import json
import os
import resource
import socket
import struct
import time
from pathlib import Path

import pytest
from browser import wait_for
from foxglove import Client
from page import answers, free_tcp_port, get
from peer import Peer
from programs import Programs

from sensors import COMPRESSED, with_defaults

SENSORS = [with_defaults(0, 1, COMPRESSED)]
MIB = 1 << 20
SOAK = "RFLY_SOAK" in os.environ


@pytest.fixture(scope="module")
def viewed(tmp_path_factory, domain_id, simulator_ports):
    """A bridge that is flown from its page, and the port."""
    port = free_tcp_port()
    parameters = {"view.port": port, "view.control": True}
    directory = tmp_path_factory.mktemp("view")
    with Programs(
        directory, domain_id, SENSORS, parameters=parameters, keep_frames=False, emulator=["--grounded"]
    ) as programs:
        wait_for(lambda: answers(port), "the port")
        yield programs, port


def test_answers_that_nobody_takes_cost_bounded_memory(viewed):
    """Each message asks for many channels that are not there."""
    programs, port = viewed
    before = programs.bridge.resident_bytes()
    wrong = {"op": "subscribe", "subscriptions": [{"id": n, "channelId": 10_000_000 + n} for n in range(27_000)]}
    message = json.dumps(wrong)
    assert len(message) < MIB
    with Client(port) as client:
        client.socket.settimeout(5)
        sent = 0
        try:
            for _ in range(300):
                client.socket.send(message)
                sent += 1
        except (TimeoutError, OSError):
            pass  # it no longer reads
        assert programs.bridge.resident_bytes() - before < 60 * MIB, f"after {sent} messages"
        assert get(port)[0] == 200


def test_what_is_wrong_with_a_long_list_is_said_briefly(viewed):
    _, port = viewed
    with Client(port) as client:
        client.send({"op": "subscribe", "subscriptions": [{"id": n, "channelId": 10_000_000 + n} for n in range(5000)]})
        client.until(lambda: any("more subscriptions" in text for text in client.statuses), "the number of the others")
        assert len(client.statuses) == 11 and "4990 more" in client.statuses[-1]


def test_connections_that_ask_for_nothing_end_and_keep_nobody_out(viewed):
    _, port = viewed
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(300)]
    for begun in silent[::2]:
        begun.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")

    def ended(connection: socket.socket) -> bool:
        connection.settimeout(0.01)
        try:
            while data := connection.recv(4096):
                assert b"408" in data.split(b"\r\n")[0] or not data
            return True
        except TimeoutError:
            return False
        except OSError:
            return True

    def served() -> bool:
        try:
            return get(port)[0] == 200
        except OSError:
            return False

    wait_for(served, "the page, in spite of them")
    wait_for(lambda: all(ended(connection) for connection in silent), "the end of all that said nothing")


def test_connections_that_are_kept_keep_nobody_out(viewed):
    """Each asks once, so that it has no reason to end by itself for ten seconds."""
    _, port = viewed
    kept = [socket.create_connection(("127.0.0.1", port)) for _ in range(256)]
    for connection in kept:
        connection.sendall(b"GET /style.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert connection.recv(15) == b"HTTP/1.1 200 OK"
    assert get(port)[0] == 200
    with Client(port) as client:
        client.until(lambda: client.info, "the greeting")
    for connection in kept:
        connection.close()


def test_more_clients_than_places_are_refused_and_the_places_are_free_again(viewed):
    _, port = viewed
    clients, refused = [], 0
    for _ in range(80):
        try:
            clients.append(Client(port))
        except Exception as error:  # noqa: BLE001 (of the library: a handshake with another status)
            assert "503" in str(error), error
            refused += 1
    assert (len(clients), refused) == (64, 16)
    for client in clients:
        client.socket.close()
    with Client(port) as client:
        client.until(lambda: client.info, "the greeting")


@pytest.mark.skipif(not SOAK, reason="takes a minute: make soak")
def test_clients_that_give_no_sign_of_life_are_dropped(viewed):
    _, port = viewed
    clients = [Client(port) for _ in range(64)]  # they read nothing, so they answer no ping
    end = time.monotonic() + 90
    while time.monotonic() < end:
        try:
            with Client(port) as client:
                client.until(lambda: client.info, "the greeting")
            break
        except Exception as error:  # noqa: BLE001
            assert "503" in str(error), error
            time.sleep(1)
    else:
        raise AssertionError("silent clients keep their places")
    for client in clients:
        client.socket.close()


def test_long_requests_cost_bounded_memory(viewed):
    """Each waits for a mission that takes a while; read, it is a hundred times as large."""
    programs, port = viewed
    before = programs.bridge.resident_bytes()
    service = "/mavros/mission/push"
    request = json.dumps({"waypoints": [{}] * 280_000}, separators=(",", ":")).encode()
    refused, highest = 0, 0
    with Client(port) as one, Client(port) as other:
        for client in (one, other):
            client.until(lambda client=client: service in client.services, service)
            client.socket.settimeout(30)
        for number in range(60):
            for client in (one, other):
                head = struct.pack("<BIII", 2, client.services[service]["id"], number, 4)
                client.socket.send_binary(head + b"json" + request)
            highest = max(highest, programs.bridge.resident_bytes())
        for client in (one, other):

            def is_last(message: dict) -> bool:
                nonlocal refused
                refused += "other long requests" in message.get("message", "")
                return message.get("callId") == 59

            client.first(is_last, "the answer to the last call")
    assert refused > 0
    assert highest - before < 400 * MIB, f"{(highest - before) // MIB} MiB"
    assert get(port)[0] == 200


def test_a_landing_leaves_while_many_calls_of_all_clients_wait(viewed):
    _, port = viewed
    with Client(port) as busy, Client(port) as operator:

        def ask(client: Client, number: int, service: str, request: dict) -> None:
            client.until(lambda: service in client.services, service)
            head = struct.pack("<BIII", 2, client.services[service]["id"], number, 4)
            client.socket.send_binary(head + b"json" + json.dumps(request).encode())

        for number in range(30):
            ask(busy, number, "/mavros/mission/push", {"waypoints": [{"frame": 3, "command": 16}] * 50})
            ask(busy, 100 + number, "/mavros/set_mode", {"custom_mode": "OFFBOARD"})
        for client in (operator, busy):
            ask(client, 999, "/mavros/set_mode", {"custom_mode": "AUTO.LAND"})
            answer = client.first(lambda message: message.get("callId") == 999, "the answer to AUTO.LAND")
            assert answer["op"] == "response" and answer["response"]["mode_sent"], answer


def test_without_descriptors_data_flow_and_it_is_said(viewed, domain_id):
    programs, port = viewed
    pid = programs.bridge.pid
    usual = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    used = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    peer = Peer(domain_id)
    try:
        images = peer.subscribe(SENSORS[0].topic, "sensor_msgs/msg/Image", reliable=False, depth=5)
        statuses = peer.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", reliable=True, depth=50)
        peer.wait_for(lambda: images.take() or images.samples, "an image")
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + 5, usual[1]))
        greedy = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
        programs.bridge.wait_for_output("no connection can be accepted: ")

        def warned() -> bool:
            statuses.take()
            found = [status for sample in statuses.messages for status in sample.status if status.name.endswith(": view")]
            return any("no connection can be accepted" in status.message for status in found)

        peer.wait_for(warned, "the warning in /diagnostics")
        images.take()
        count = len(images.samples)
        peer.wait_for(lambda: images.take() or len(images.samples) > count + 5, "images in spite of it")
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)
        peer.close()
    for connection in greedy:
        connection.close()
    wait_for(lambda: get(port)[0] == 200, "the page")
