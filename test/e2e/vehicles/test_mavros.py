"""A controller without ROS flies vehicles through the mavros-style interface.

The controller is `mavros.py` on PyPI `cyclonedds`; the vehicle is the autopilot of the emulator; what happened is
compared with what the emulator wrote down, and the interface with what a running mavros 2.12 showed of itself.
"""

from __future__ import annotations

import json
import math
import time
from contextlib import suppress

import numpy as np
import pytest
from backend import TELLS_DEPTH
from diagnostics import Report
from geometry import ENU_FROM_NED, FLU_FROM_FRD, nanoseconds, rotation_from_quaternion
from mavros import (
    BODY_NED,
    IN_AIR,
    LOCAL_NED,
    ON_GROUND,
    ONLY_POSITION,
    ONLY_VELOCITY,
    SERVICES,
    SETPOINTS,
    TELEMETRY,
    Vehicle,
    fly,
    pose,
    twist,
    vector,
    xyz,
)
from peer.publisher import Publication, Stream
from processes import ROOT
from test_parameters import Parameters
from truth import Truth

GRAPH = json.loads((ROOT / "test/fixtures/golden/mavros/graph.json").read_text())
ACCEPTED, TEMPORARILY_REJECTED, UNSUPPORTED = 0, 1, 3


@pytest.fixture(scope="module")
def system(tmp_path_factory, domain_id, simulator_ports):
    """One vehicle over MAVLink."""
    # Nobody is lost here; a machine may stand still.
    with fly(tmp_path_factory.mktemp("mavros"), domain_id, **{"control.timeout_s": 20.0}) as system:
        yield system


@pytest.fixture(scope="module")
def shared(system):
    vehicle = Vehicle(system.peer)
    vehicle.wait_ready()
    vehicle.patient()

    def discovered() -> bool:
        peer = vehicle.peer
        topics, services = peer.topics().keys() | {want.topic for want in peer.wants()}, peer.services()
        whole = all(f"/mavros/{name}" in topics for name in TELEMETRY | SETPOINTS)
        return whole and all(f"/mavros/{name}" in services for name in SERVICES)

    # What is missing is named by the first test.
    with suppress(AssertionError):
        vehicle.peer.wait_for(discovered, "the interface", 60.0)
    return vehicle


@pytest.fixture
def vehicle(shared, system):
    """The vehicle on the ground and disarmed, before and after."""
    shared.wait_state(connected=True, armed=False)
    shared.insist("set_mode", custom_mode="AUTO.LOITER")
    shared.wait_state(connected=True, armed=False, mode="AUTO.LOITER")
    yield shared
    shared.end_streams()
    system.assert_alive()
    if shared.wait_state(connected=True).armed:
        with suppress(AssertionError):
            shared.land()
        shared.call("cmd/command", command=400, param1=0.0, param2=21196.0)
    shared.wait_state(armed=False)


def test_every_topic_and_service_that_controllers_need_is_there_with_its_type(vehicle):
    mavros = {topic["name"]: topic["types"] for topic in GRAPH["topics"]}
    services = {service["name"]: service["types"] for service in GRAPH["services"]}
    wants, offers, offered = vehicle.peer.wants(), vehicle.peer.offers(), vehicle.peer.services()
    for name, kind in TELEMETRY.items():
        assert mavros[f"/mavros/{name}"] == [kind], "the list of this test"
        assert [o.type for o in offers if o.topic == f"/mavros/{name}"] == [kind], name
    for name, kind in SETPOINTS.items():
        # Without `use_quaternion` mavros has the other half of setpoint_attitude only.
        assert name == "setpoint_attitude/attitude" or mavros[f"/mavros/{name}"] == [kind], "the list of this test"
        assert kind in {w.type for w in wants if w.topic == f"/mavros/{name}"}, name
    for name, kind in SERVICES.items():
        assert services[f"/mavros/{name}"] == [kind], "the list of this test"
        assert offered.get(f"/mavros/{name}") == kind, name


def test_whoever_matches_mavros_matches_the_bridge(vehicle):
    """Per topic of the recorded graph: offered is at least what mavros offers, asked for at most what it asks for."""
    offers = {offer.topic: offer for offer in vehicle.peer.offers()}
    wants = {want.topic: want for want in vehicle.peer.wants()}
    compared = 0
    for topic in GRAPH["topics"]:
        name = topic["name"]
        if not name.startswith("/mavros/"):
            continue
        ours = offers.get(name)
        for publisher in topic["publishers"] if ours else []:
            qos = publisher["qos"]
            assert ours.type == publisher["type"], name
            assert ours.reliable or qos["reliability"] == "BEST_EFFORT", name
            assert ours.transient_local or qos["durability"] == "VOLATILE", name
            if TELLS_DEPTH and qos["durability"] == "TRANSIENT_LOCAL":
                assert ours.depth >= 1, name
            compared += 1
        ours = wants.get(name)
        # mavros listens to some of its own topics.
        for subscriber in topic["subscribers"] if ours and name not in offers else []:
            qos = subscriber["qos"]
            assert ours.type == subscriber["type"], name
            assert not ours.reliable or qos["reliability"] == "RELIABLE", name
            assert not ours.transient_local or qos["durability"] == "TRANSIENT_LOCAL", name
            compared += 1
    assert compared >= 60, compared


def test_a_vehicle_on_the_ground_says_so(vehicle):
    vehicle.wait_state(connected=True, armed=False, system_status=3)
    vehicle.wait("extended_state", lambda m: m.landed_state == ON_GROUND)
    assert vehicle.last("battery").voltage > 5.0
    assert 0.0 < vehicle.last("battery").percentage <= 1.0
    assert vehicle.last("global_position/raw/fix").status.status >= 0
    assert vehicle.last("global_position/raw/satellites").data >= 6
    vehicle.wait("imu/data", lambda m: np.linalg.norm(vector(m.linear_acceleration) - [0, 0, 9.81]) < 0.5)
    vehicle.wait("home_position/home", lambda m: np.linalg.norm(vector(m.position) - vehicle.position()) < 1.0)


def test_offboard_without_setpoints_cannot_be_armed_and_the_reason_is_said(vehicle):
    vehicle.patient(1.0)
    count = len(vehicle.texts())
    vehicle.mode("OFFBOARD")
    answer = vehicle.ask("cmd/arming", value=True)
    assert (answer.success, answer.result) == (False, TEMPORARILY_REJECTED)
    vehicle.peer.wait_for(lambda: any("denied" in text for text in vehicle.texts()[count:]), "the reason", 60.0)
    assert not vehicle.next("state").armed
    vehicle.insist("set_mode", custom_mode="AUTO.LOITER")
    vehicle.wait_state(mode="AUTO.LOITER")
    vehicle.patient()


@pytest.mark.parametrize("mode", ["NO_SUCH_MODE", "RATTITUDE", "AUTO.RTGS"])
def test_a_mode_that_the_vehicle_does_not_take_is_reported_as_refused(vehicle, mode):
    count = len(vehicle.modes())
    assert vehicle.mode(mode) is False
    vehicle.next("state")
    assert set(vehicle.modes(count)) == {"AUTO.LOITER"}


def test_commands_report_what_became_of_them(vehicle):
    answer = vehicle.ask("cmd/command", command=12345)
    assert (answer.success, answer.result) == (False, UNSUPPORTED)
    answer = vehicle.ask("cmd/command", command=400, param1=0.0)
    assert (answer.success, answer.result) == (True, ACCEPTED)
    # PX4 has no NAV_TAKEOFF_LOCAL, and its 23 is another command than that of the service.
    assert not vehicle.call("cmd/takeoff_local").success
    assert not vehicle.call("cmd/land_local").success
    assert not vehicle.next("state").armed


def test_several_calls_at_once_are_all_answered(vehicle):
    names = ["cmd/command", "cmd/arming", "cmd/command"]
    requests = [{"command": 12345}, {"value": False}, {"command": 410}]
    clients = [vehicle.client(name) for name in names]
    numbers = [client.send(request) for client, request in zip(clients, requests, strict=True)]
    answers = [client.receive(number, 60.0) for client, number in zip(clients, numbers, strict=True)]
    assert [answer.success for answer in answers] == [False, True, True]


def test_a_square_by_position_setpoints(vehicle):
    start = vehicle.position()
    stream, target = vehicle.take_off(3.0)
    with stream:
        vehicle.wait("extended_state", lambda m: m.landed_state == IN_AIR)
        for corner in ([3.0, 0.0, 0.0], [3.0, 3.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.0]):
            stream.set(**pose(target + corner, 0.5))
            vehicle.wait_near(target + corner)
        vehicle.wait_yaw(0.5)
        # What the vehicle says that it was asked for.
        vehicle.wait("setpoint_raw/target_local", lambda m: np.allclose(vector(m.position), target, atol=0.01))
        vehicle.land()
    vehicle.wait_near(start, 1.0)
    vehicle.wait("extended_state", lambda m: m.landed_state == ON_GROUND)


def fly_a_metre(vehicle, velocity) -> None:
    """Waits until the vehicle has this velocity and goes a metre with it; again if a failsafe came in between, because this
    machine stood still."""
    deadline = time.monotonic() + 60.0
    while True:
        vehicle.wait_velocity(velocity, 0.45)
        before, count = vehicle.position(), len(vehicle.texts())
        vehicle.peer.wait_for(lambda: np.linalg.norm(vehicle.position() - before) > 1.0, "a metre", 60.0)
        moved = vehicle.position() - before
        if np.argmax(np.abs(moved)) == np.argmax(np.abs(velocity)) and moved @ velocity > 0:
            return
        disturbed = any("Failsafe" in text for text in vehicle.texts()[count:])
        assert disturbed and time.monotonic() < deadline, moved


def test_velocity_setpoints_go_east_north_and_up_and_turn_to_the_left(vehicle):
    stream, _ = vehicle.take_off()
    stream.__exit__()
    with vehicle.stream("setpoint_velocity/cmd_vel", **twist((1.0, 0.0, 0.0))) as stream:
        for velocity in ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.5]):
            stream.set(**twist(velocity))
            fly_a_metre(vehicle, velocity)
        stream.set(**twist((0, 0, 0), 0.5))
        first, poses = vehicle.yaw(), vehicle.topic("local_position/pose")
        count = len(poses.samples)
        vehicle.wait_yaw(first + 0.8)
        yaws = np.unwrap([yaw_of(message.pose.orientation) for message in poses.messages[count:]])
        assert yaws[-1] > yaws[0], "to the left"
    with vehicle.stream("setpoint_velocity/cmd_vel_unstamped", linear=xyz((0, -1.0, 0)), angular=xyz((0, 0, 0))):
        vehicle.wait_velocity([0.0, -1.0, 0.0], 0.45)
        vehicle.land()


def test_raw_setpoints_in_the_body_go_where_the_nose_points(vehicle):
    stream, target = vehicle.take_off()
    with stream:
        stream.set(**pose(target, math.pi / 2))
        vehicle.wait_yaw(math.pi / 2)
        stream.pause()
        forward = {"coordinate_frame": BODY_NED, "type_mask": ONLY_VELOCITY, "velocity": xyz((1.0, 0.0, 0.0))}
        with vehicle.stream("setpoint_raw/local", **forward) as raw:
            vehicle.wait_velocity([0.0, 1.0, 0.0], 0.45)
            raw.set(**(forward | {"velocity": xyz((0.0, 1.0, 0.0))}))  # left, that is west
            vehicle.wait_velocity([-1.0, 0.0, 0.0], 0.45)
            raw.set(
                coordinate_frame=LOCAL_NED, type_mask=ONLY_POSITION, position=xyz(target + [1, 2, 1]), yaw=0.0
            )
            vehicle.wait_near(target + [1, 2, 1])
            vehicle.wait_yaw(0.0)
            vehicle.land()


def test_attitude_setpoints_tilt_the_vehicle(vehicle):
    stream, _ = vehicle.take_off(5.0)
    thrust = vehicle.next("setpoint_raw/target_attitude").thrust
    east = {"x": 0.0, "y": math.sin(0.1), "z": 0.0, "w": math.cos(0.1)}  # nose east and 0.2 rad down
    with vehicle.stream("setpoint_raw/attitude", 50.0, type_mask=7, orientation=east, thrust=thrust):
        stream.__exit__()

        def tilted() -> bool:
            velocity, attitude = vehicle.velocity(), matrix(vehicle.last("imu/data").orientation)
            along = velocity[0] > 1.0 and abs(velocity[1]) < 0.5
            return along and np.allclose(attitude[:, 2], [math.sin(0.2), 0, math.cos(0.2)], atol=0.1)

        vehicle.peer.wait_for(tilted, "speed to the east, nose down", 60.0)
        vehicle.land()


def test_take_off_and_landing_by_command(vehicle):
    start, altitude, count = vehicle.position(), vehicle.next("altitude").amsl, len(vehicle.modes())
    nan = math.nan
    vehicle.insist("cmd/arming", value=True)
    vehicle.insist("cmd/command", command=22, param4=nan, param5=nan, param6=nan, param7=altitude + 4.0)
    vehicle.peer.wait_for(lambda: "AUTO.TAKEOFF" in vehicle.modes(count), "AUTO.TAKEOFF", 60.0)
    vehicle.wait_near(start + [0, 0, 4.0], 1.0)
    vehicle.wait_state(mode="AUTO.LOITER")
    answer = vehicle.ask("cmd/arming", value=False)
    assert (answer.success, answer.result) == (False, TEMPORARILY_REJECTED), "in the air"
    vehicle.insist("cmd/land", yaw=nan, latitude=nan, longitude=nan)
    vehicle.peer.wait_for(lambda: "AUTO.LAND" in vehicle.modes(count), "AUTO.LAND", 60.0)
    vehicle.wait_state(120.0, armed=False)


def counts(system) -> dict[str, float]:
    """Counters of the vehicle in /diagnostics."""
    subscription = system.peer.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray")
    system.peer.wait_for(lambda: len(subscription.samples) >= 2, "diagnostics", 60.0)
    report = Report(subscription.messages[-1])
    system.peer.unsubscribe(subscription)
    found = {}
    for name, values in report.values.items():
        if name.endswith("autopilot of vehicle 1"):
            found |= {key: number for key, number in values.items() if isinstance(number, float)}
    return found


BAD = {
    "nothing finite": {"position": xyz((math.nan,) * 3), "type_mask": ONLY_POSITION | 0x400},
    "infinite": {"position": xyz((math.inf, 0, 0)), "type_mask": ONLY_POSITION},
    "far away": {"position": xyz((1e9, 0, 0)), "type_mask": ONLY_POSITION},
    "too fast": {"velocity": xyz((1e6, 0, 0)), "type_mask": ONLY_VELOCITY},
    "frame 7": {"coordinate_frame": 7, "type_mask": ONLY_VELOCITY},
    "frame 9": {"coordinate_frame": 9, "type_mask": ONLY_VELOCITY},
    "force": {"type_mask": 0x200 | 0xC3F},
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_setpoint_is_refused_and_counted(vehicle, system, kind):
    before = refused(counts(system))
    publication = vehicle.publication("setpoint_raw/local").wait()

    def counted() -> bool:
        # Again and again: the subscription is best effort, and knows this publisher when discovery has got so far.
        publication.publish(**({"coordinate_frame": LOCAL_NED} | BAD[kind]))
        publication.publish(**({"coordinate_frame": LOCAL_NED} | BAD[kind]))
        return refused(counts(system)) >= before + 4

    vehicle.peer.wait_for(counted, "the count", 60.0)


def refused(counts: dict[str, float]) -> float:
    """How many setpoints were not sent."""
    return sum(number for key, number in counts.items() if key.startswith("drop_setpoint"))


def test_parameters_of_the_vehicle_are_ros_parameters(vehicle):
    parameters = Parameters(vehicle.peer, "/mavros/param")
    vehicle.insist("param/pull", force_pull=True)
    names = parameters.list().names
    assert len(names) > 20 and "MPC_XY_VEL_MAX" in names and "COM_RC_IN_MODE" in names
    speed, mode = parameters.get("MPC_XY_VEL_MAX", "COM_RC_IN_MODE")
    assert isinstance(speed, float) and isinstance(mode, int), "types of the vehicle"
    assert [r.successful for r in parameters.set(MPC_XY_VEL_MAX=speed + 1.5)] == [True]
    assert parameters.get("MPC_XY_VEL_MAX") == [speed + 1.5]
    answer = vehicle.call("param/set", param_id="MPC_XY_VEL_MAX", value={"type": 3, "double_value": speed})
    assert answer.success and answer.value.double_value == speed
    assert parameters.get("MPC_XY_VEL_MAX") == [speed]
    refused = parameters.set(NO_SUCH_NAME=1.0)[0]
    assert not refused.successful and refused.reason
    assert vehicle.insist("param/pull", force_pull=True).param_received == len(names)


def test_a_mission_is_written_read_flown_and_deleted(vehicle):
    home = vehicle.last("home_position/home").geo

    def item(command, north, east, height, **fields):
        latitude = home.latitude + math.degrees(north / 6_371_000)
        longitude = home.longitude + math.degrees(east / 6_371_000 / math.cos(math.radians(home.latitude)))
        # MAV_FRAME_GLOBAL_RELATIVE_ALT
        place = {"frame": 3, "x_lat": latitude, "y_long": longitude, "z_alt": height}
        return {"command": command, "autocontinue": True, "param4": math.nan} | place | fields

    mission = [item(22, 0, 0, 4.0), item(16, 8, 0, 4.0, param2=1.0), item(16, 8, 8, 4.0, param2=1.0), item(21, 8, 8, 0)]
    assert vehicle.insist("mission/push", waypoints=mission).wp_transfered == 4
    reached = vehicle.peer.subscribe("/mavros/mission/reached", "mavros_msgs/msg/WaypointReached")
    stored = vehicle.peer.subscribe("/mavros/mission/waypoints", "mavros_msgs/msg/WaypointList", transient_local=True)
    assert vehicle.insist("mission/pull").wp_received == 4
    vehicle.peer.wait_for(lambda: stored.samples and len(stored.messages[-1].waypoints) == 4, "the list", 60.0)
    for sent, read in zip(mission, stored.messages[-1].waypoints, strict=True):
        assert read.command == sent["command"]
        assert abs(read.x_lat - sent["x_lat"]) < 2e-7 and abs(read.y_long - sent["y_long"]) < 2e-7
    start = vehicle.position()
    vehicle.insist("set_mode", custom_mode="AUTO.MISSION")
    vehicle.insist("cmd/arming", value=True)
    vehicle.wait_state(armed=True)
    vehicle.peer.wait_for(lambda: 2 in [m.wp_seq for m in reached.messages], "the third waypoint", 120.0)
    vehicle.wait_state(120.0, armed=False)
    assert np.linalg.norm(vehicle.position()[:2] - start[:2] - [8, 8]) < 2.0
    vehicle.insist("mission/clear")
    assert vehicle.insist("mission/pull").wp_received == 0
    vehicle.peer.unsubscribe(reached)
    vehicle.peer.unsubscribe(stored)


@pytest.mark.parametrize(
    ("plugin", "topic", "command", "count"),
    [("geofence", "fences", 5001, 4), ("rallypoint", "rallypoints", 5100, 2)],
)
def test_fences_and_rally_points_are_written_read_and_deleted(vehicle, plugin, topic, command, count):
    home = vehicle.last("home_position/home").geo
    points = [
        {
            "frame": 0 if plugin == "geofence" else 3, "command": command, "autocontinue": True,
            "param1": float(count) if plugin == "geofence" else 0.0,
            "x_lat": home.latitude + 1e-3 * math.cos(math.tau * i / count),
            "y_long": home.longitude + 1e-3 * math.sin(math.tau * i / count), "z_alt": 20.0,
        }
        for i in range(count)
    ]  # fmt: skip
    stored = vehicle.peer.subscribe(f"/mavros/{plugin}/{topic}", "mavros_msgs/msg/WaypointList", transient_local=True)
    mission = vehicle.insist("mission/pull").wp_received
    assert vehicle.insist(f"{plugin}/push", start_index=0, waypoints=points).wp_transfered == count
    assert vehicle.insist(f"{plugin}/pull").wp_received == count
    # PX4 gives the frame of the integers that it sends; what was pushed is in the list before it is read.
    wanted = [(command, {0: 5, 3: 6}[sent["frame"]]) for sent in points]
    vehicle.peer.wait_for(
        lambda: stored.samples and [(read.command, read.frame) for read in stored.messages[-1].waypoints] == wanted, "the list", 60.0
    )
    for sent, read in zip(points, stored.messages[-1].waypoints, strict=True):
        assert abs(read.x_lat - sent["x_lat"]) < 2e-7 and abs(read.y_long - sent["y_long"]) < 2e-7
    assert vehicle.insist("mission/pull").wp_received == mission, "another list"
    vehicle.insist(f"{plugin}/clear")
    assert vehicle.insist(f"{plugin}/pull").wp_received == 0
    vehicle.peer.unsubscribe(stored)


def test_mavlink_itself_goes_both_ways(vehicle):
    common = pytest.importorskip("pymavlink.dialects.v20.common", reason="pymavlink is not installed")
    source = vehicle.peer.subscribe("/uas1/mavlink_source", "mavros_msgs/msg/Mavlink", reliable=False, depth=1000)
    vehicle.peer.wait_for(lambda: {0, 30} <= {m.msgid for m in source.messages}, "HEARTBEAT and ATTITUDE", 60.0)
    beat = next(m for m in source.messages if m.msgid == 0)
    payload = beat.payload64.tobytes()[: beat.len]
    assert (beat.sysid, beat.compid, beat.magic) == (1, 1, 253) and payload[4:6] == bytes([2, 12])
    vehicle.peer.unsubscribe(source)
    sender = common.MAVLink(None, 255, 190)
    command = sender.command_long_encode(1, 1, 400, 0, 1.0, 0, 0, 0, 0, 0, 0)
    command.pack(sender)
    data = bytes(command.get_payload())
    sink = Publication(vehicle.peer, "/uas1/mavlink_sink", "mavros_msgs/msg/Mavlink").wait()
    # Again and again: the subscription is best effort, as that of mavros, and may miss the first of them.
    with Stream(
        sink, 5.0, framing_status=1, magic=253, len=len(data), sysid=255, compid=190, msgid=76,
        checksum=command.get_crc(), payload64=list(np.frombuffer(data + bytes(-len(data) % 8), "<u8")),
    ):  # fmt: skip
        vehicle.wait_state(armed=True)


def stood_still(subscription, since: float) -> float:
    """For how long nothing came on a topic that comes 20 times a second or more, in s, since a host time: the test, the
    bridge or the vehicle stood still."""
    times = np.array([since, *(sample.arrival for sample in subscription.samples if sample.arrival > since), time.time()])
    gaps = np.diff(times)
    return float(gaps[gaps > 0.2].sum())


def test_a_controller_that_stops_is_followed_by_the_failsafe(vehicle):
    stream, _ = vehicle.take_off()
    with stream:
        vehicle.patient(1.0)
        poses = vehicle.topic("local_position/pose")
        for _ in range(50):
            vehicle.next("local_position/pose")
        count, steady = len(vehicle.texts()), poses.samples[-50].arrival
        stream.pause()
        begin = time.time()
        failed = lambda: any("Failsafe" in text for text in vehicle.texts()[count:])  # noqa: E731
        vehicle.peer.wait_for(failed, "the failsafe", 60.0)
        still = stood_still(poses, steady)
        assert 0.5 - still < time.time() - begin < 3.0 + still, still
        vehicle.wait("state", lambda state: state.mode != "OFFBOARD")
        vehicle.patient()


def test_the_estimate_is_the_truth_in_east_north_up(system, vehicle, tmp_path):
    """Poses, velocities, attitudes, global positions against the emulator's truth at the same host time."""
    names = ["local_position/pose", "local_position/odom", "local_position/velocity_local", "imu/data"]
    names += ["local_position/velocity_body", "global_position/global", "global_position/compass_hdg"]
    for name in names:
        vehicle.topic(name, depth=1000).samples.clear()
    stream, target = vehicle.take_off()
    with stream:
        stream.set(**pose(target + [4, 2, 1], 1.0))
        vehicle.wait_near(target + [4, 2, 1])
        vehicle.land()
    # The emulator still writes: its last line may be half of one.
    finished = tmp_path / "truth.jsonl"
    finished.write_text(system.truth_file.read_text().rpartition("\n")[0])
    truth = TrueMotion(Truth(finished, system.truth_frames), 1)
    compared = dict.fromkeys(names, 0)
    origin = None
    for message in vehicle.topic("local_position/pose").messages:
        at = nanoseconds(message.header.stamp)
        if (true := truth.at(at)) is None:
            continue
        assert message.header.frame_id == "local_origin"
        place, attitude, velocity = true
        offset = place - vector(message.pose.position)
        origin = offset if origin is None else origin
        slack = 0.1 + 0.03 * np.linalg.norm(velocity)
        assert np.linalg.norm(offset - origin) < slack, (offset, origin)
        assert np.abs(matrix(message.pose.orientation) - attitude).max() < 0.1
        compared["local_position/pose"] += 1
    for name in ("local_position/velocity_local", "local_position/velocity_body"):
        for message in vehicle.topic(name).messages:
            if (true := truth.at(nanoseconds(message.header.stamp))) is None:
                continue
            _, attitude, velocity = true
            rotation = attitude if name.endswith("body") else np.eye(3)
            assert np.linalg.norm(rotation @ vector(message.twist.linear) - velocity) < 0.5
            compared[name] += 1
    for message in vehicle.topic("imu/data").messages:
        if (true := truth.at(nanoseconds(message.header.stamp))) is not None:
            assert np.abs(matrix(message.orientation) - true[1]).max() < 0.1
            compared["imu/data"] += 1
    fixes = vehicle.topic("global_position/global").messages
    first = next(fix for fix in fixes if truth.at(nanoseconds(fix.header.stamp)) is not None)
    for message in fixes:
        metres = math.pi / 180 * 6_371_000
        north = (message.latitude - first.latitude) * metres
        east = (message.longitude - first.longitude) * metres * math.cos(math.radians(first.latitude))
        now, then = truth.at(nanoseconds(message.header.stamp)), truth.at(nanoseconds(first.header.stamp))
        if now is None or then is None:
            continue
        moved = now[0] - then[0]
        assert np.linalg.norm([east - moved[0], north - moved[1]]) < 0.6, (east, north, moved)
        compared["global_position/global"] += 1
    assert all(compared[name] > 50 for name in names if name in ("local_position/pose", "imu/data")), compared


def matrix(q) -> np.ndarray:
    return rotation_from_quaternion(q.x, q.y, q.z, q.w)


def yaw_of(q) -> float:
    forward = matrix(q)[:, 0]
    return math.atan2(forward[1], forward[0])


class TrueMotion:
    """Pose and velocity of a vehicle (ENU, FLU) at a time of the host."""

    def __init__(self, truth: Truth, vehicle: int):
        entries = []
        for frames in truth.frames.values():
            for stamp, frame in frames.items():
                if (true := truth.vehicle_pose(vehicle, stamp)) is not None:
                    pose = ENU_FROM_NED @ true[0], ENU_FROM_NED @ true[1] @ FLU_FROM_FRD
                    entries.append((frame.due_ns, *pose))
        entries.sort(key=lambda entry: entry[0])
        # When each tick was due: on a busy machine it comes late.
        [start] = truth.starts
        assert (start["speed"], start["clock_drift_ppm"]) == (1.0, 0.0)
        self.times = np.array([entry[0] for entry in entries])
        self.places = np.array([entry[1] for entry in entries])
        self.attitudes = [entry[2] for entry in entries]
        late = np.diff(self.times) > 100_000_000
        self.held_up = np.concatenate([self.times[:-1][late], self.times[1:][late]])

    def at(self, stamp: int):
        """Position interpolated, attitude of the nearest frame, mean velocity; None where there are no frames, and for a
        second before and after a gap: an emulator that stood still makes up for its steps, and frames are before or after it."""
        i = int(np.searchsorted(self.times, stamp))
        if not 0 < i < len(self.times) or (np.abs(self.held_up - stamp) < 1_000_000_000).any():
            return None
        span = float(self.times[i] - self.times[i - 1]) or 1.0
        share = (stamp - self.times[i - 1]) / span
        place = self.places[i - 1] * (1 - share) + self.places[i] * share
        velocity = (self.places[i] - self.places[i - 1]) / (span * 1e-9)
        return place, self.attitudes[i if share > 0.5 else i - 1], velocity
