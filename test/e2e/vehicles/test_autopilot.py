"""The emulator's vehicles, flown by pymavlink: what they answer is what real PX4 answered (docs/emulator_autopilot.md)."""

from __future__ import annotations

import itertools
import json
import math
import socket
import statistics
import struct
import time

import pytest

pytest.importorskip("pymavlink")

from autopilot import LAND, LOITER, MISSION, NAN, OFFBOARD, ONBOARD, PATIENCE, RETURN, TAKEOFF, Pilot, Vehicle

pytestmark = pytest.mark.usefixtures("simulator_ports")


@pytest.fixture
def busy(tmp_path):
    """A vehicle that says what it says by itself."""
    with Vehicle(tmp_path), Pilot() as pilot:
        pilot.ready()
        yield pilot


@pytest.fixture
def pilot(busy):
    """A vehicle that says what the tests need."""
    busy.quiet()
    return busy


def test_streams_have_the_rates_of_the_onboard_link(busy):
    pilot = busy
    expected = {
        "ATTITUDE": 100,
        "ATTITUDE_QUATERNION": 50,
        "HIGHRES_IMU": 50,
        "GLOBAL_POSITION_INT": 50,
        "LOCAL_POSITION_NED": 30,
        "ODOMETRY": 30,
        "TIMESYNC": 10,
        "ALTITUDE": 10,
        "ATTITUDE_TARGET": 10,
        "POSITION_TARGET_LOCAL_NED": 10,
        "SERVO_OUTPUT_RAW": 10,
        "VFR_HUD": 10,
        "GPS_RAW_INT": 8,
        "EXTENDED_SYS_STATE": 5,
        "SYS_STATUS": 5,
        "HEARTBEAT": 1,
        "ESTIMATOR_STATUS": 1,
        "MISSION_CURRENT": 1,
        "BATTERY_STATUS": 0.5,
        "HOME_POSITION": 0.5,
        "VIBRATION": 0.5,
    }
    # By the vehicle's own time, which ATTITUDE tells a hundred times a second, not by when they got here.
    heard: dict[str, list[int]] = {name: [] for name in expected}
    seen = dict(pilot.count)

    def enough() -> bool:
        for name in expected:
            if pilot.count.get(name, 0) > seen.get(name, 0):
                heard[name].append(pilot.last["ATTITUDE"].time_boot_ms)
        seen.update(pilot.count)
        return all(len(times) >= 4 for times in heard.values())

    pilot.wait(60, enough, "four messages of each")
    for name, rate in expected.items():
        periods = [after - before for before, after in itertools.pairwise(heard[name])]
        assert 1e3 / statistics.median(periods) == pytest.approx(rate, rel=0.15), name


def test_arming_is_refused_in_offboard_without_setpoints_and_the_text_says_so(pilot):
    assert pilot.set_mode(OFFBOARD) == 0
    pilot.wait(PATIENCE, lambda: pilot.mode == OFFBOARD, "mode")
    assert pilot.last["HEARTBEAT"].system_status == 0
    assert pilot.arm() == 1
    pilot.hears("Arming denied: Resolve system health failures first")


def test_modes_that_do_not_exist_are_answered_as_px4_does(pilot):
    assert pilot.set_mode((9, 0)) == 0
    assert pilot.set_mode((4, 99)) == 1
    pilot.next("HEARTBEAT")
    assert pilot.mode == LOITER
    pilot.hears("Unsupported auto mode")


def test_commands_for_nobody_get_no_answer(pilot):
    pilot.heard.clear()
    for target in [(0, 0), (1, 190), (2, 1)]:
        pilot.mav.command_long_send(*target, 400, 0, 1, 0, 0, 0, 0, 0, 0)
    # Commands are answered in their order: what comes after them has its answer, they have none.
    pilot.mav.command_long_send(1, 1, 24, 0, *[0.0] * 7)
    assert pilot.answer(24) == 3
    assert not [m for m in pilot.heard if m.get_type() == "COMMAND_ACK" and m.command == 400]
    assert pilot.command(12345) == 3
    assert not pilot.armed


def test_a_square_in_offboard_then_landing_disarms(pilot):
    pilot.take_off(5)
    assert pilot.landed == 2
    for corner in [(10, 0, -5), (10, 10, -5), (0, 10, -5), (0, 0, -5)]:
        pilot.go(*corner, yaw=1.0)
        pilot.wait(40, lambda corner=corner: pilot.near(corner), f"corner {corner}")
    assert pilot.last["ATTITUDE"].yaw == pytest.approx(1.0, abs=0.1)
    assert pilot.arm(False) == 1
    assert pilot.command(21, 0, 0, 0, NAN, NAN, NAN, NAN) == 0
    pilot.wait(PATIENCE, lambda: pilot.mode == LAND and pilot.landed == 4, "landing")
    pilot.wait(60, lambda: not pilot.armed, "disarm")
    pilot.hears("Disarmed by landing")
    assert pilot.landed == 1
    assert pilot.position[2] == pytest.approx(0, abs=0.05)
    said = [text.strip() for text in pilot.texts]
    order = ["Armed by external command", "Takeoff detected", "Disarming denied: not landed", "Landing at current position"]
    assert [text for text in said if text in order] == order
    assert said[-2:] == ["Landing detected", "Disarmed by landing"]


def test_velocities_reach_their_values_and_limits(pilot):
    pilot.take_off(10)

    def velocity(north: float, east: float, down: float) -> None:
        mask = 0b110111000111 & ~(1 << 11)
        send = pilot.mav.set_position_target_local_ned_send
        pilot.setpoint = lambda: send(0, 1, 1, 1, mask, 0, 0, 0, north, east, down, 0, 0, 0, 0, 0)

    velocity(0, 2, 0)
    pilot.fly(6)
    assert pilot.last["LOCAL_POSITION_NED"].vy == pytest.approx(1.85, abs=0.2)  # drag: the integrator needs its time
    velocity(0, 0, -5)
    pilot.fly(3)
    assert pilot.last["POSITION_TARGET_LOCAL_NED"].vz == pytest.approx(-3, abs=0.01)
    assert pilot.last["LOCAL_POSITION_NED"].vz == pytest.approx(-2.8, abs=0.3)


def test_setpoints_that_px4_does_not_take_are_named_and_do_not_count(pilot):
    # If one counted, it would count for longer than this test takes.
    pilot.patient()
    send = pilot.mav.set_position_target_local_ned_send
    for frame, mask, text in [
        (9, 0b100111111000, "coordinate frame 9 unsupported"),
        (8, 0b100111111000, "invalid"),
        (1, 0b111111111111, "invalid"),
        (1, 0b101000111111, "force not supported"),
    ]:
        pilot.texts.clear()
        send(0, 1, 1, frame, mask, 0, 0, -5, 0, 0, 0, 1, 0, 0, 0, 0)
        pilot.hears(f"SET_POSITION_TARGET_LOCAL_NED {text}")
    assert pilot.set_mode(OFFBOARD) == 0
    pilot.fly(1.0)  # it looks at the set-points twice a second
    pilot.next("HEARTBEAT")
    assert pilot.mode == OFFBOARD
    assert pilot.last["HEARTBEAT"].system_status == 0


def test_a_stream_that_ends_is_a_failsafe_and_one_that_comes_back_ends_it(pilot):
    pilot.take_off(8)
    stream, pilot.setpoint = pilot.setpoint, None
    # One behind the other, so that nothing comes between: the last set-point, and from then on PX4's own second.
    stream()
    pilot.loss_after(1.0)
    stopped = pilot.boot_time()
    lived = pilot.clock
    pilot.hears("Failsafe activated")
    took = pilot.last["ATTITUDE"].time_boot_ms * 1e-3 - stopped
    # A vehicle whose computer stood still notices later: what it has not lived through does not count.
    left_out = max(0.0, took - (pilot.clock - lived))
    assert 0.8 < took < 1.6 + left_out, (took, left_out)
    pilot.wait(PATIENCE, lambda: pilot.last["HEARTBEAT"].system_status == 5, "critical")
    assert pilot.mode == (3, 0)
    high = pilot.position[2]
    pilot.wait(PATIENCE, lambda: pilot.position[2] - high > 1.0, "sinking")
    assert 0.4 < pilot.last["LOCAL_POSITION_NED"].vz < 1.0
    pilot.patient()
    pilot.setpoint = stream
    back = lambda: pilot.mode == OFFBOARD and pilot.last["HEARTBEAT"].system_status == 4  # noqa: E731
    pilot.wait(PATIENCE, back, "back")
    pilot.wait(40, lambda: pilot.near((0, 0, -8)), "back at its place")


def test_nobody_hears_texts_without_a_ground_station(tmp_path):
    with Vehicle(tmp_path), Pilot(kind=ONBOARD) as pilot:
        pilot.ready()
        assert pilot.arm() == 0
        pilot.wait(PATIENCE, lambda: pilot.armed, "arming")
        pilot.wait(40, lambda: not pilot.armed, "preflight disarm")
        pilot.next("HEARTBEAT")
        assert pilot.texts == []


def test_takeoff_by_command_hovers_and_returns(pilot):
    ground = pilot.last["HOME_POSITION"].altitude / 1e3
    assert pilot.arm() == 0
    assert pilot.command(22, 0, 0, 0, NAN, NAN, NAN, ground + 6) == 0
    pilot.wait(PATIENCE, lambda: pilot.mode == TAKEOFF and pilot.landed == 3, "taking off")
    pilot.wait(40, lambda: pilot.mode == LOITER and pilot.landed == 2, "hover")
    assert pilot.position[2] == pytest.approx(-6, abs=0.5)
    assert pilot.set_mode(OFFBOARD) == 1
    pilot.hears("Switching to Offboard is currently not available")
    assert pilot.command(20) == 0
    pilot.wait(PATIENCE, lambda: pilot.mode == RETURN, "return")
    pilot.wait(60, lambda: not pilot.armed, "landed at home")
    pilot.hears("RTL: land at destination")


def test_parameters_are_listed_read_and_set_byte_for_byte(pilot):
    values = lambda: [m for m in pilot.heard if m.get_type() == "PARAM_VALUE"]  # noqa: E731
    last = lambda: bool(values()) and values()[-1].param_index == values()[-1].param_count - 1  # noqa: E731
    # A thousand per second: where this program was not there for a moment some are lost, and the list is asked for again.
    for _ in range(5):
        pilot.heard.clear()
        pilot.mav.param_request_list_send(1, 1)
        pilot.spin(10, last)
        if len(values()) > 1 and len(values()) >= values()[0].param_count + 1:
            break
    first, *rest = values()
    assert first.param_id == "_HASH_CHECK"
    assert [m.param_index for m in rest] == list(range(first.param_count))
    names = [m.param_id for m in rest]
    assert names == sorted(names)
    assert len(names) > 300
    assert {m.param_type for m in rest} == {6, 9}
    assert {"MPC_XY_VEL_MAX", "COM_RC_IN_MODE", "NAV_RCL_ACT", "MIS_TAKEOFF_ALT", "COM_OBL_RC_ACT"} <= set(names)

    def write(*wanted: tuple[str, float, int]) -> list:
        """Sets parameters, the last of which is answered; returns the answers."""
        pilot.heard.clear()
        for name, value, kind in wanted:
            pilot.mav.param_set_send(1, 1, name.encode(), value, kind)
        pilot.wait(PATIENCE, lambda: any(m.param_id == wanted[-1][0] for m in values()), f"an answer to {wanted[-1]}")
        return values()

    four = struct.unpack("<f", struct.pack("<i", 4))[0]
    [answer] = write(("COM_OBL_RC_ACT", four, 6))
    assert struct.pack("<f", answer.param_value) == struct.pack("<i", 4)
    [answer] = write(("MPC_XY_VEL_MAX", 3.5, 9))
    assert (answer.param_value, answer.param_type) == (3.5, 9)
    # No answer to the wrong type and to the unknown name: what was asked for after them is answered.
    [answer] = write(("COM_OBL_RC_ACT", 4.0, 9), ("NO_SUCH_NAME", 1.0, 9), ("MPC_XY_VEL_MAX", 3.25, 9))
    assert answer.param_value == 3.25


def test_timesync_and_ping_are_answered(pilot):
    pilot.heard.clear()
    pilot.mav.timesync_send(0, 123456789)
    mine = lambda: [m for m in pilot.heard if m.get_type() == "TIMESYNC" and m.ts1 == 123456789]  # noqa: E731
    pilot.wait(PATIENCE, lambda: bool(mine()), "answer")
    boot = pilot.last["ATTITUDE"].time_boot_ms / 1e3
    assert mine()[0].tc1 / 1e9 == pytest.approx(boot, abs=0.2)


def test_messages_come_when_asked_for(pilot):
    assert pilot.command(512, 148) == 0
    pilot.wait(PATIENCE, lambda: "AUTOPILOT_VERSION" in pilot.last, "the version")
    assert pilot.last["AUTOPILOT_VERSION"].flight_sw_version >> 16 == 0x0110
    assert pilot.command(512, 99999) == 2
    assert pilot.command(511, 30, 500_000) == 0
    stamps = [pilot.next("ATTITUDE").time_boot_ms for _ in range(6)]
    assert statistics.median(b - a for a, b in itertools.pairwise(stamps)) == pytest.approx(500, rel=0.1)
    assert pilot.command(511, 0, 500_000) == 4


def upload(pilot: Pilot, items: list[tuple]) -> int:
    """Uploads a mission and returns the result."""
    pilot.heard.clear()
    pilot.mav.mission_count_send(1, 1, len(items), 0)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pilot.spin(1, lambda: bool(pilot.heard))
        for message in pilot.heard:
            if message.get_type() in {"MISSION_REQUEST", "MISSION_REQUEST_INT"}:
                pilot.mav.mission_item_int_send(1, 1, message.seq, *items[message.seq], 0)
            if message.get_type() == "MISSION_ACK":
                return message.type
        pilot.heard.clear()
    return -1


def test_a_mission_is_kept_flown_and_ends_on_the_ground(pilot):
    home = pilot.last["HOME_POSITION"]
    north = home.latitude + int(math.degrees(15 / 6371000) * 1e7)
    place = (home.longitude, 5.0)
    items = [
        (6, 22, 1, 1, 0, 0, 0, NAN, home.latitude, *place),
        (6, 16, 0, 1, 0, 0, 0, NAN, north, *place),
        (6, 21, 0, 1, 0, 0, 0, NAN, north, home.longitude, 0.0),
    ]
    assert upload(pilot, items) == 0
    pilot.mav.mission_request_list_send(1, 1, 0)
    pilot.wait(PATIENCE, lambda: "MISSION_COUNT" in pilot.last and pilot.last["MISSION_COUNT"].count == 3, "count")
    for seq, item in enumerate(items):
        pilot.mav.mission_request_int_send(1, 1, seq, 0)
        same = lambda seq=seq: "MISSION_ITEM_INT" in pilot.last and pilot.last["MISSION_ITEM_INT"].seq == seq  # noqa: E731
        pilot.wait(PATIENCE, same, "item")
        got = pilot.last["MISSION_ITEM_INT"]
        assert (got.frame, got.command, got.x, got.y, got.z) == (item[0], item[1], item[8], item[9], item[10])
    pilot.mav.mission_ack_send(1, 1, 0, 0)
    assert pilot.command(300) == 0
    pilot.hears("Armed by mission start")
    reached = set()

    def done() -> bool:
        reached.update(m.seq for m in pilot.heard if m.get_type() == "MISSION_ITEM_REACHED")
        return "Disarmed by landing\t" in pilot.texts

    pilot.wait(120, done, "mission")
    assert reached == {0, 1, 2}
    assert pilot.mode == MISSION
    assert pilot.position[0] == pytest.approx(15, abs=1.5)
    pilot.hears("Mission finished, landed")


def test_items_that_px4_does_not_know_are_refused(pilot):
    assert upload(pilot, [(6, 9999, 1, 1, 0, 0, 0, 0, 0, 0, 5.0)]) == 3
    assert upload(pilot, [(1, 16, 1, 1, 0, 0, 0, 0, 0, 0, 5.0)]) == 2
    pilot.mav.mission_clear_all_send(1, 1, 0)
    pilot.wait(PATIENCE, lambda: pilot.last["MISSION_ACK"].type == 0, "cleared")


def test_a_reboot_packet_begins_the_boot_time_anew(pilot):
    pilot.spin(1)
    before = pilot.last["ATTITUDE"].time_boot_ms
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as user:
        user.sendto(struct.pack("<ii", 987654321, -1), ("127.0.0.1", 20100))
    pilot.wait(PATIENCE, lambda: pilot.last["ATTITUDE"].time_boot_ms < before, "reboot")
    pilot.last.clear()
    pilot.ready()


def test_the_true_state_follows_the_flight_from_where_the_vehicle_stands(tmp_path):
    with Vehicle(tmp_path, "--spawn", "5,-7,90"), Pilot() as pilot:
        pilot.ready()
        pilot.take_off(3)
        pilot.fly(3)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as truth:
            truth.bind(("127.0.0.1", 30101))
            truth.settimeout(PATIENCE)
            packet = truth.recv(2048)
            pilot.next("LOCAL_POSITION_NED")
        north, east, down = struct.unpack_from("<3d", packet, 120)
        assert (north - 5, east + 7, down + 0.15) == pytest.approx(pilot.position, abs=0.1)
        assert pilot.last["ATTITUDE"].yaw == pytest.approx(0, abs=0.2)  # from 90 degrees to what was asked for


@pytest.mark.parametrize(
    ("mode", "present", "absent"),
    [
        ("mavlink_simple", {"HEARTBEAT", "ATTITUDE", "LOCAL_POSITION_NED"}, {"HIGHRES_IMU", "ODOMETRY"}),
        ("mavlink_nogps", {"HEARTBEAT", "ATTITUDE", "GPS_RAW_INT"}, {"GLOBAL_POSITION_INT", "LOCAL_POSITION_NED"}),
        ("mavlink_nosend", set(), {"HEARTBEAT", "ATTITUDE", "LOCAL_POSITION_NED"}),
    ],
)
def test_the_other_modes_send_less(tmp_path, mode, present, absent):
    with Vehicle(tmp_path, "--autopilot", mode), Pilot() as pilot:
        pilot.wait(PATIENCE, lambda: present <= set(pilot.count), f"{present}")
        pilot.spin(4)
        assert present <= set(pilot.count)
        assert not absent & set(pilot.count)


def test_copter_sim_is_asked_for_structs_and_flies_by_them(tmp_path):
    with (
        Vehicle(tmp_path),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as states,
    ):
        states.bind(("127.0.0.1", 20101))
        states.settimeout(PATIENCE)
        request = struct.pack("<iibbbb4x3ff2d", 1234567, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
        states.sendto(request, ("127.0.0.1", 30100))

        def state() -> tuple[float, ...]:
            while True:
                packet = states.recv(2048)
                if len(packet) == 52 and struct.unpack_from("<i", packet)[0] == 1234567890:
                    return struct.unpack_from("<3f", packet, 28)

        for _ in range(60):  # two seconds: until the estimator knows where it is
            state()
        states.sendto(struct.pack("<ii4f", 1234567890, 2, 3, 4, -2, 0), ("127.0.0.1", 20100))
        end = time.monotonic() + 60
        while math.dist(state(), (3, 4, -2)) > 0.3:
            assert time.monotonic() < end, "never there"


def test_a_fence_and_a_low_battery_can_be_provoked(tmp_path):
    with (
        Vehicle(tmp_path, "--fence", "8,0", "--control", "20999"),
        Pilot() as pilot,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as user,
    ):
        user.settimeout(PATIENCE)
        pilot.ready()
        pilot.quiet()
        pilot.take_off(5)
        pilot.go(30, 0, -5)
        left = "Geofence violation: exceeding maximum distance to Home"  # PX4 ends this one without a tab
        pilot.wait(PATIENCE, lambda: left in pilot.texts, left)
        pilot.wait(PATIENCE, lambda: pilot.mode == LOITER and pilot.last["HEARTBEAT"].system_status == 5, "hold")
        user.sendto(b"battery 1 4", ("127.0.0.1", 20999))
        assert json.loads(user.recv(1000)) == {"ok": True}
        pilot.hears("Emergency battery level")
        pilot.wait(PATIENCE, lambda: pilot.mode == LAND, "landing")
        pilot.wait(60, lambda: not pilot.armed, "disarm")
        # Nobody takes off with that.
        assert pilot.set_mode(LOITER) == 0
        assert pilot.arm() == 1
