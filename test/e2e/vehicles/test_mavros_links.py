"""The mavros-style interface when things go wrong, with several vehicles, and behind the vendor's own structs.

Each test starts emulator and bridge for itself; `test_mavros.py` flies one vehicle that nothing happens to.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from diagnostics import Report
from geometry import TransformBuffer, apply, nanoseconds
from mavros import WITNESS, Vehicle, fly, pose, twist, vector


def test_with_keep_alive_a_short_silence_is_bridged_and_a_long_one_is_not(tmp_path, domain_id, simulator_ports):
    # The vehicle would give up after 4 s; that neither is a fraction of a second is for machines that stand still.
    keep_alive, tolerance = 8.0, 4.0
    with fly(tmp_path, domain_id, **{"control.keep_alive_s": keep_alive, "control.timeout_s": 20.0}) as system:
        vehicle = Vehicle(system.peer)
        vehicle.wait_ready()
        vehicle.patient(tolerance)
        stream, target = vehicle.take_off()
        with stream:
            vehicle.wait_state(mode="OFFBOARD")
            count, said = len(vehicle.modes()), len(vehicle.texts())
            stream.pause()
            begin = time.time()
            vehicle.wait("state", lambda state: stamp_of(state) > begin + tolerance + 2.0)
            stream.set(**pose(target + [1, 0, 0], 0.0))
            assert set(vehicle.modes(count)) == {"OFFBOARD"}
            vehicle.wait_near(target + [1, 0, 0])
            assert not any("Failsafe" in text for text in vehicle.texts()[said:])
            stream.pause()
            begin = time.time()
            failed = lambda: any("Failsafe" in text for text in vehicle.texts()[said:])  # noqa: E731
            vehicle.peer.wait_for(failed, "the failsafe", 60.0)
            assert time.time() - begin > keep_alive
        system.assert_alive()


def stamp_of(message) -> float:
    """Host time in s."""
    return nanoseconds(message.header.stamp) * 1e-9


def test_a_vehicle_that_falls_silent_is_disconnected_and_found_again(tmp_path, domain_id, simulator_ports):
    with fly(tmp_path, domain_id) as system:
        vehicle = Vehicle(system.peer)
        vehicle.wait_ready()
        for _ in range(2):
            vehicle.wait_state(connected=True)
            system.emulator.kill()
            lost = vehicle.wait_state(connected=False)
            assert (lost.mode, lost.armed) == ("", False)
            assert not vehicle.arm().success, "nobody there"
            system.emulator.start()
            vehicle.wait_state(connected=True)
            vehicle.wait_ready()
            vehicle.insist("cmd/arming", value=False)


def test_two_vehicles_fly_apart(tmp_path, domain_id, simulator_ports):
    second = replace(WITNESS, seq=1, vehicle=2)
    parameters = {"vehicles": [1, 2]}
    with fly(tmp_path, domain_id, sensors=(WITNESS, second), copters=2, **parameters) as system:
        one, two = Vehicle(system.peer), Vehicle(system.peer, "/mavros2")
        for vehicle in (one, two):
            vehicle.wait_ready()
            vehicle.patient()
        start = two.position()
        (stream, target), (other, goal) = one.take_off(2.0), two.take_off(4.0)
        with stream, other:
            two.wait_near(goal)
            stream.set(**pose(target + [3, 0, 0], 0.0))
            other.set(**pose(goal + [0, 3, 0], 0.0))
            one.wait_near(target + [3, 0, 0])
            two.wait_near(goal + [0, 3, 0])
            one.land()
            # The other one flies on.
            two.wait_near(goal + [0, 3, 0], 0.6)
            two.next("state")
            two.wait_state(connected=True, armed=True)
            two.land()
        assert two.last("local_position/pose").header.frame_id
        assert np.linalg.norm(two.position() - start) < 10


def test_the_local_origin_is_known_to_a_bridge_that_starts_after_it_was_said(tmp_path, domain_id, simulator_ports):
    with fly(tmp_path, domain_id, **{"control.timeout_s": 20.0}) as system:
        # PX4 says it once, when its estimator sets it; the emulator does the same.
        vehicle = Vehicle(system.peer)
        vehicle.wait_ready()
        system.bridge.stop()
        kind = "geographic_msgs/msg/GeoPointStamped"
        latched = system.peer.subscribe("/mavros/global_position/gp_origin", kind, transient_local=True)
        system.bridge.start()
        system.peer.wait_for(lambda: latched.samples, "the local origin", 60.0)
        position = latched.messages[-1].position
        assert abs(position.latitude - 40.154) < 0.001 and abs(position.longitude - 116.259) < 0.001
        diagnostics = system.peer.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray")
        for _ in range(3):
            vehicle.next("state")
        system.peer.wait_for(lambda: diagnostics.samples, "/diagnostics", 60.0)
        values = Report(diagnostics.messages[-1]).find("autopilot of vehicle 1")
        # Each transmission of the one request is answered.
        assert len(latched.samples) <= 1 + values.get("command_retransmitted", 0), "it is not asked again"


def place(transforms: TransformBuffer, message) -> np.ndarray:
    """Where the pose of a message is in the map; its frame is fixed there."""
    p = message.pose.position
    return apply(transforms.lookup("map", message.header.frame_id, 0), np.array([[p.x, p.y, p.z]]))[0]


@pytest.mark.parametrize("link", ["mavlink_full", "udp_full"])
def test_local_positions_of_vehicles_set_down_apart_are_where_the_vehicles_are(
    tmp_path, domain_id, simulator_ports, link
):
    second = replace(WITNESS, seq=1, vehicle=2)
    spawn = ("40,-25,30", "-60,12,90")
    parameters = {"vehicles": [1, 2]}
    with fly(tmp_path, domain_id, link, sensors=(WITNESS, second), spawn=spawn, **parameters) as system:
        peer = system.peer
        # One message has all of them, whenever one comes late.
        latched = peer.subscribe("/tf_static", "tf2_msgs/msg/TFMessage", transient_local=True)
        kind, topic = "geometry_msgs/msg/PoseStamped", "/rflysim/copter{}/ground_truth/pose"
        truth = [peer.subscribe(topic.format(id), kind) for id in (1, 2)]
        vehicles = [Vehicle(peer), Vehicle(peer, "/mavros2")]
        for vehicle in vehicles:
            vehicle.wait_state(connected=True)
        found: list[list[float]] = []

        def there() -> bool:
            peer.take()
            if not latched.samples or not all(t.samples for t in truth):
                return False
            transforms = TransformBuffer()
            transforms.add(latched.messages[-1], static=True)
            seen = [place(transforms, v.last("local_position/pose")) for v in vehicles]
            found[:] = [list(p) for p in seen]
            true = [vector(t.messages[-1].pose.position) for t in truth]
            return all(np.linalg.norm(a - b) < 0.5 for a, b in zip(seen, true, strict=True))

        try:
            peer.wait_for(there, "local positions at their places", 60.0)
        except AssertionError as error:
            raise AssertionError(f"{error}; in the map they are at {found}") from None
        # The truth is what the test thinks it is, and the positions themselves are those of mavros: from the origin.
        assert np.linalg.norm(vector(truth[1].messages[-1].pose.position)[:2] - [12, -60]) < 0.5
        for id, vehicle in enumerate(vehicles, 1):
            assert vehicle.last("local_position/pose").header.frame_id == f"copter{id}/local_origin"
            assert np.linalg.norm(vehicle.position()) < 0.5
        system.assert_alive()


@pytest.mark.parametrize("link", ["udp_full", "udp_simple"])
def test_vehicles_behind_the_structs_of_the_vendor_fly_the_same(tmp_path, domain_id, simulator_ports, link):
    with fly(tmp_path, domain_id, link) as system:
        vehicle = Vehicle(system.peer)
        vehicle.wait_state(connected=True)
        start = vehicle.position()
        target = start + [0, 0, 3.0]
        with vehicle.stream("setpoint_position/local", **pose(target, 0.0)) as stream:
            # What the links cannot carry; the first setpoint arms and takes over.
            vehicle.mode("OFFBOARD")
            vehicle.arm()
            vehicle.wait_near(target, 0.6)
            stream.set(**pose(target + [3, 1, 0], 0.0))
            vehicle.wait_near(target + [3, 1, 0], 0.6)
        with vehicle.stream("setpoint_velocity/cmd_vel", **twist((0.0, 1.0, 0.0))):
            before = vehicle.position()
            vehicle.peer.wait_for(lambda: vehicle.position()[1] - before[1] > 2.0, "2 m to the north", 60.0)
            assert abs(vehicle.position()[0] - before[0]) < 1.0
        system.assert_alive()


