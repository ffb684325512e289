"""Many vehicles behind one bridge: all are there, none costs a thread, and what is meant for one reaches that one."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
from backend import environment
from mavros import TELEMETRY, Vehicle, fly, pose
from processes import Process, binary
from soak import only_in_soak
from system import System

# So long a machine may stand still; that nobody is lost for less is seen by hearing everybody again.
PATIENCE_S = 30.0


def prefix(number: int) -> str:
    """As the vendor numbers them."""
    return "/mavros" if number == 1 else f"/mavros{number}"


def threads(process: Process) -> int:
    """Threads of a running program, without those of Zenoh, which come and go."""
    tasks = Path(f"/proc/{process.pid}/task").glob("*/comm")
    return sum(not re.match(r"(acc|app|net|rx|tx)-\d", task.read_text()) for task in tasks)


def threads_with_one(tmp_path, domain_id) -> int:
    """Threads of a bridge that serves one vehicle."""
    (tmp_path / "one").mkdir()
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "--ros-args", "-p", "control.link:=mavlink_full"]
    bridge = Process("rfly_bridge", command, tmp_path / "one" / "bridge.log", environment(domain_id)).start()
    bridge.wait_for_output("vehicles: 1")
    # Some begin with the first timer: until it has been as many for a second.
    count = [0] * 10
    while len(set(count[-10:])) > 1 or not count[-1]:
        time.sleep(0.1)
        count.append(threads(bridge))
    assert bridge.stop() == 0
    return count[-1]


def assert_no_thread_each(bridge: Process, alone: int) -> None:
    """As many threads as for one vehicle. One that begins late is no thread per vehicle."""
    assert abs(threads(bridge) - alone) <= 2, f"{threads(bridge)} threads, {alone} for one vehicle"


class Fleet:
    """The `state` of every vehicle, kept from the beginning."""

    def __init__(self, system: System, count: int):
        self.system, self.numbers = system, range(1, count + 1)
        self.states = {n: self._subscribe(n) for n in self.numbers}

    def _subscribe(self, number: int):
        options = {"reliable": True, "transient_local": True, "depth": 100}
        return self.system.peer.subscribe(f"{prefix(number)}/state", TELEMETRY["state"], **options)

    def wait_connected(self, timeout: float = 120.0) -> None:
        """Returns once every vehicle was heard."""

        def missing() -> list[int]:
            return [n for n, t in self.states.items() if not (t.samples and t.messages[-1].connected)]

        try:
            self.system.peer.wait_for(lambda: not missing(), "every vehicle to be connected", timeout)
        except AssertionError as error:
            raise AssertionError(f"{error}; missing are {missing()}") from None

    def wait_heard(self) -> None:
        """Returns once every vehicle was heard again."""
        self.system.peer.take()
        counts = {n: len(topic.samples) for n, topic in self.states.items()}
        missing = lambda: [n for n, topic in self.states.items() if len(topic.samples) == counts[n]]  # noqa: E731
        self.system.peer.wait_for(lambda: not missing(), "a new state of every vehicle", 60.0)

    def ever_armed(self) -> set[int]:
        """Vehicles that said so at some time."""
        self.system.peer.take()
        return {n for n, topic in self.states.items() if any(state.armed for state in topic.messages)}

    def disconnected(self) -> set[int]:
        """Vehicles that were lost after they had been heard."""
        self.system.peer.take()
        return {n for n, t in self.states.items() if any(not state.connected for state in t.messages)}


def assert_frames(vehicle: Vehicle, number: int) -> None:
    """Frames carry the name of the vehicle: all are in one tree."""
    odometry = vehicle.last("local_position/odom")
    assert odometry.child_frame_id == f"copter{number}/base_link"
    assert vehicle.last("imu/data").header.frame_id == f"copter{number}/base_link"


@only_in_soak
def test_a_hundred_udp_simple_vehicles_of_which_one_is_flown(tmp_path, domain_id, simulator_ports):
    count, flown, neighbours = 100, 77, (76, 78)
    alone = threads_with_one(tmp_path, domain_id)
    parameters = {"vehicles": list(range(1, count + 1)), "imu.enabled": False, "control.timeout_s": PATIENCE_S}
    with fly(tmp_path, domain_id, "udp_simple", copters=count, **parameters) as system:
        fleet = Fleet(system, count)
        fleet.wait_connected()
        assert_no_thread_each(system.bridge, alone)
        one, *others = (Vehicle(system.peer, prefix(n)) for n in (flown, *neighbours))
        start, rest = one.position(), [other.position() for other in others]
        target = start + [0, 0, 2.0]
        with one.stream("setpoint_position/local", **pose(target, 0.0)):
            system.peer.wait_for(lambda: one.mode("OFFBOARD"), "OFFBOARD, for which there must be set-points")
            one.wait_armed()
            one.wait_near(target, 0.5)
        assert_frames(one, flown)
        for other, place in zip(others, rest, strict=True):
            assert np.linalg.norm(other.position() - place) < 0.1
        assert fleet.ever_armed() == {flown}
        fleet.wait_heard()
        assert not fleet.disconnected()
        assert_no_thread_each(system.bridge, alone)
        system.assert_alive()


def test_twenty_mavlink_vehicles_of_which_two_are_flown(tmp_path, domain_id, simulator_ports):
    count, flown, neighbours = 20, (3, 17), (2, 4, 16, 18)
    alone = threads_with_one(tmp_path, domain_id)
    parameters = {"vehicles": list(range(1, count + 1)), "imu.enabled": False, "control.timeout_s": PATIENCE_S}
    with fly(tmp_path, domain_id, copters=count, **parameters) as system:
        fleet = Fleet(system, count)
        fleet.wait_connected()
        assert_no_thread_each(system.bridge, alone)
        pair = [Vehicle(system.peer, prefix(n)) for n in flown]
        others = [Vehicle(system.peer, prefix(n)) for n in neighbours]
        for vehicle in pair:
            vehicle.wait_ready()
            vehicle.patient()
        rest = [other.position() for other in others]
        streams = []
        for vehicle, number, height in zip(pair, flown, (1.5, 3.0), strict=True):
            stream, target = vehicle.take_off(height)
            streams.append((vehicle, stream, target))
            assert_frames(vehicle, number)
        # Apart: each to where it alone was sent.
        for (_, stream, target), move in zip(streams, ([2, 0, 0], [0, 2, 0]), strict=True):
            target += move
            stream.set(**pose(target, 0.0))
        for vehicle, _, target in streams:
            vehicle.wait_near(target, 0.5)
        for other, place in zip(others, rest, strict=True):
            assert np.linalg.norm(other.position() - place) < 0.1
        for _, stream, _ in streams:
            stream.__exit__()
        assert fleet.ever_armed() == set(flown)
        fleet.wait_heard()
        assert not fleet.disconnected()
        system.assert_alive()
