"""Somebody who has no business here speaks like the simulator: nothing of it is believed, and he is named once."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle

import numpy as np
import psutil
import pytest
import spoof
from diagnostics import Report
from foreign import HERE, THERE
from geometry import nanoseconds
from mavros import Vehicle, fly
from recording import Recording
from soak import count
from system import System
from topics import DIAGNOSTICS, TF, main_topic, topics_of
from truth import Truth, sim_ns

from sensors import RAW, with_defaults

CAMERA = with_defaults(0, 1, RAW, width=64, height=48, rate=30)
FRAMES = count(60, 3000)
ODOMETRY = {"/rflysim/ground_truth/odom": "nav_msgs/msg/Odometry"}
STATE = {"/mavros/state": "mavros_msgs/msg/State"}
NEIGHBOUR = "127.0.0.2"
"""An address of this host that no interface has: whoever sends from it is not accepted."""
LEAST_STEP = 0.25
"""So much later or earlier in s must ticks come that the clock counts a step."""


def local(address: str = "127.0.0.1") -> socket.socket:
    """A socket of this host."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.bind((address, 0))
    return sender


def lies(now: Callable[[], float]) -> dict[int, Callable[[], bytes]]:
    """What a stranger sends to each port; `now` is the simulation time."""
    return {
        CAMERA.port: lambda: spoof.frame(now() + 0.9),
        spoof.TRUTH: lambda: spoof.truth(now() + 0.01),
        spoof.CONTROL: spoof.armed,
        spoof.HEARTBEATS: lambda: spoof.clock(1, 1000.0),
    }


def senders(recording: Recording) -> dict:
    """What the newest report says of those who were refused."""
    recording.collect_more(2, ["/diagnostics"])
    return Report(recording.messages("/diagnostics")[-1]).find(": senders")


@contextmanager
def watched(directory, domain_id: int, **parameters) -> Iterator[tuple[System, Recording, Callable[[], float]]]:
    """A grounded vehicle with a camera, everything that could be deceived, and the simulation time."""
    with fly(directory, domain_id, sensors=(CAMERA,), **{"time.mode": "sim"} | parameters) as system:
        recording = Recording(system)
        recording.subscribe({**DIAGNOSTICS, **TF, **ODOMETRY, **STATE, **topics_of(CAMERA)})
        recording.collect(20, [main_topic(CAMERA), "/rflysim/ground_truth/odom"])
        recording.collect(2, ["/mavros/state"])

        def now() -> float:
            # From the newest image on: the emulator's time stands still while it gets no processor.
            newest = recording.newest(main_topic(CAMERA))
            return nanoseconds(newest.message.header.stamp) * 1e-9 + time.time() - newest.arrival

        yield system, recording, now


@pytest.mark.parametrize("who", ["a foreign host", "a foreign host, to a group", "another address of this host"])
def test_lies_of_a_stranger_change_nothing_and_he_is_named_once(tmp_path, domain_id, foreign, who):
    stranger = NEIGHBOUR if who.startswith("another") else THERE
    sender = local(NEIGHBOUR) if stranger == NEIGHBOUR else foreign.udp()
    to = {"a foreign host": HERE, "a foreign host, to a group": "224.0.0.10"}.get(who, "127.0.0.1")
    # As if the simulator were elsewhere: otherwise most ports are open to this host only.
    anywhere = {} if stranger == NEIGHBOUR else {"bind_address": "0.0.0.0"}
    with watched(tmp_path, domain_id, **anywhere) as (system, recording, now):
        first = len(recording.samples[main_topic(CAMERA)])
        before = system.command("stats")["sensors"]["0"]["frames"]
        content = lies(now)
        if to == "224.0.0.10":
            content = {spoof.HEARTBEATS: content[spoof.HEARTBEATS]}
        with sender, spoof.Storm(sender, to, content):
            recording.collect_more(FRAMES, [main_topic(CAMERA), "/rflysim/ground_truth/odom"])
            refused = senders(recording)
        sent = system.command("stats")["sensors"]["0"]["frames"] - before
        came = len(recording.messages(main_topic(CAMERA))) - first
        assert came >= sent - 3 - FRAMES // 20, f"{came} of {sent} frames"
        heights = [m.pose.pose.position.z for m in recording.messages("/rflysim/ground_truth/odom")]
        assert max(np.abs(heights)) < 100.0
        assert not any(state.armed for state in recording.messages("/mavros/state"))
        assert refused["refused"] > 20 and refused[stranger] > 20, refused
        log = system.bridge.output()
        assert log.count(f"{stranger} sends to UDP port") == 1, log
        assert f"-p 'accept_from:=[{stranger}]'," in log
        clocks = Report(recording.messages("/diagnostics")[-1]).find("clock of vehicle 1")
        assert clocks["restarts"] == 0
    known = Truth(system.truth_file, system.truth_frames).frames[CAMERA.seq]
    late = [(frame.host_ns - sim_ns(frame.sim)) * 1e-9 for frame in known.values()]
    # The emulator's time stands still while it gets no processor: that is a step of the clock, and nobody lied.
    assert clocks["steps"] == 0 or max(late) - min(late) > LEAST_STEP, (clocks, max(late) - min(late))
    assert all(stamp in known for stamp in recording.by_stamp(main_topic(CAMERA))), "a stamp that was never rendered"


def test_by_default_only_this_host_reaches_the_ports_and_the_group_alone_is_open(tmp_path, domain_id, foreign):
    with watched(tmp_path, domain_id) as (system, _, _):
        open_to_all = {c.laddr.port for c in connections(system) if c.laddr.ip == "0.0.0.0"}
        simulator = {CAMERA.port, spoof.HEARTBEATS, spoof.CONTROL, spoof.TRUTH, 31000}
        assert simulator <= system.bridge.udp_ports()
        assert simulator & open_to_all == {spoof.HEARTBEATS}


def connections(system: System):
    """The sockets of the bridge."""
    return psutil.Process(system.bridge.pid).net_connections("udp")


def test_a_dead_vehicle_does_not_come_back_by_a_strangers_heartbeat(tmp_path, domain_id, foreign):
    with watched(tmp_path, domain_id, bind_address="0.0.0.0") as (system, recording, _):
        vehicle = Vehicle(system.peer)
        system.emulator.kill()
        vehicle.wait_state(connected=False)
        states = vehicle.topic("state", reliable=True, transient_local=True)
        seen = len(states.samples)
        with foreign.udp() as sender, spoof.Storm(sender, HERE, {spoof.CONTROL: spoof.armed}, 0.1) as storm:
            system.peer.wait_for(lambda: storm.rounds > 30, "lies", 60.0)
            assert senders(recording)[THERE] > 20
        assert not any(state.connected for state in states.messages[seen:])
        system.start_emulator()
        vehicle.wait_state(connected=True)


def test_who_is_accepted_is_believed(tmp_path, domain_id, foreign):
    with watched(tmp_path, domain_id, accept_from=["192.0.2.0/24"]) as (system, recording, now):
        # Some of them are a little newer than the true ones, however old the image is that `now` is learnt from.
        ahead = cycle(np.arange(0.0, 0.1, 0.005))
        content = {spoof.TRUTH: lambda: spoof.truth(now() + next(ahead))}
        far = lambda m: m.pose.pose.position.z > spoof.FAR / 2  # noqa: E731
        with foreign.udp() as sender, spoof.Storm(sender, HERE, content):
            recording.wait_for("/rflysim/ground_truth/odom", far)
        assert senders(recording)["refused"] == 0
        assert "is not accepted" not in system.bridge.output()


def test_a_vehicle_stays_with_the_socket_it_was_connected_from(tmp_path, domain_id, foreign):
    with watched(tmp_path, domain_id) as (system, recording, _):
        vehicle = Vehicle(system.peer)
        vehicle.wait_ready()
        states = vehicle.topic("state", reliable=True, transient_local=True)
        seen = len(states.samples)
        counted = lambda: Report(recording.messages("/diagnostics")[-1]).find("autopilot of vehicle 1")  # noqa: E731
        with local() as sender, spoof.Storm(sender, "127.0.0.1", {spoof.CONTROL: spoof.armed}, 0.05):
            port = sender.getsockname()[1]

            def noticed() -> bool:
                recording.harvest()
                return counted().get("ignored_other_sender", 0) > 20

            system.peer.wait_for(noticed, "heartbeats of another socket counted", 60.0)
            assert not any(state.armed for state in states.messages[seen:])
            assert system.bridge.output().count(f"datagrams from 127.0.0.1:{port} are dropped") == 1
            # It falls silent, and the other one is the vehicle from then on.
            system.emulator.kill()
            vehicle.wait_state(connected=True, armed=True, mode="OFFBOARD")
        system.start_emulator()


@pytest.mark.parametrize("accepted", [False, True])
def test_no_vehicle_is_controlled_where_nobody_is_accepted(tmp_path, domain_id, foreign, accepted):
    parameters = {"control.discover_s": 4.0, **({"accept_from": [THERE]} if accepted else {})}
    told = foreign.udp(port=20112)
    told.settimeout(0.1)
    with foreign.udp() as sender, told:
        content = {spoof.HEARTBEATS: lambda: spoof.clock(7, 1.0)}
        with spoof.Storm(sender, HERE, content, 0.05), fly(tmp_path, domain_id, sensors=(CAMERA,), **parameters) as system:
            log = system.bridge.output
            known = "heartbeats of 2 vehicles: 1, 7" if accepted else "heartbeats of 1 vehicles: 1"
            system.peer.wait_for(lambda: known in log(), "the vehicles that were heard", 60.0)
            if not accepted:
                assert log().count(f"{THERE} sends to UDP port 20005") == 1
            Vehicle(system.peer).wait_ready()
            received = 0
            try:
                while received == 0 or accepted and received < 2:
                    told.recv(2048)
                    received += 1
            except TimeoutError:
                pass
            assert (received > 0) == accepted, f"{received} datagrams for a vehicle at {THERE}"
