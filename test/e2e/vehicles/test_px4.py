"""Real PX4 flown through the bridge, and the emulator's autopilot beside it: the same flight, written down.

`RFLY_PX4` is a command that starts PX4 SITL (for example with the simulator SIH) so that it takes MAVLink on UDP 20100 and
sends to 20101 of this machine, until it gets SIGTERM; without it only the emulator is flown. `RFLY_FLIGHTS` is a
directory for transcripts and tracks (docs/img/flight.py draws them).
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from backend import environment
from geometry import nanoseconds
from mavros import BODY_NED, LOCAL_NED, ONLY_VELOCITY, Vehicle, heading, twist, vector, xyz
from peer import Peer
from processes import Process, binary
from programs import emulator_process

PX4 = os.environ.get("RFLY_PX4", "")
ACCEPTED, TEMPORARILY_REJECTED, UNSUPPORTED = 0, 1, 3


class Autopilot:
    """PX4 or the emulator, which can be killed and started again."""

    def __init__(self, kind: str, directory: Path):
        self.kind, self.directory = kind, directory
        self._process: subprocess.Popen | Process | None = None

    def start(self) -> None:
        """Starts it."""
        if self.kind == "px4":
            log = (self.directory / "px4.log").open("ab")
            # In a group of its own, so that nothing of it survives.
            self._process = subprocess.Popen(
                shlex.split(PX4), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        else:
            self._process = emulator_process(self.directory, ["--grounded"], self.directory / "truth.jsonl", None).start()

    def stop(self) -> None:
        """Ends it at once."""
        if isinstance(self._process, subprocess.Popen):
            os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        elif self._process:
            self._process.kill()
        self._process = None


class Flight:
    """A vehicle, and a transcript of what happens to it."""

    def __init__(self, vehicle: Vehicle, kind: str):
        self.vehicle, self.kind, self.lines = vehicle, kind, [f"flight of {kind}"]
        self._start, self._unix, self._texts = time.monotonic(), time.time(), 0

    def note(self, text: str) -> None:
        """Writes a line with time, place and mode."""
        v = self.vehicle
        for said in v.texts()[self._texts :]:
            self.lines.append(f"           said: {said.strip()}")
            self._texts += 1
        state = v.last("state")
        place = " ".join(f"{value:6.2f}" for value in v.position())
        self.lines.append(
            f"{time.monotonic() - self._start:8.2f}  [{place}]  {state.mode:12} {'armed' if state.armed else '     '}  {text}"
        )

    def call(self, name: str, how=None, **fields):
        """Calls a service (`how`: `ask` of the vehicle, or `insist` or `call`), and notes answer and duration."""
        start = time.monotonic()
        answer = (how or self.vehicle.ask)(name, **fields)
        shown = {k: getattr(answer, k) for k in ("success", "result", "mode_sent") if hasattr(answer, k)}
        self.note(f"{name} {fields} -> {shown} in {time.monotonic() - start:.2f} s")
        return answer

    def save(self) -> None:
        """Keeps transcript and track where the user wants them."""
        if directory := os.environ.get("RFLY_FLIGHTS"):
            Path(directory, f"{self.kind}.txt").write_text("\n".join(self.lines) + "\n")
            poses = self.vehicle.topic("local_position/pose").messages
            rows = [(nanoseconds(p.header.stamp) * 1e-9 - self._unix, *vector(p.pose.position)) for p in poses]
            track = ["seconds,east,north,up", *(",".join(f"{value:.3f}" for value in row) for row in rows)]
            Path(directory, f"{self.kind}.csv").write_text("\n".join(track) + "\n")


@contextmanager
def running(kind: str, directory: Path, domain_id: int, *parameters: str):
    """Autopilot, bridge and peer."""
    autopilot = Autopilot(kind, directory)
    arguments = [word for parameter in ("imu.enabled:=false", *parameters) for word in ("-p", parameter)]
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "--ros-args", *arguments]
    bridge = Process("rfly_bridge", command, directory / "bridge.log", environment(domain_id))
    peer = Peer(domain_id)
    autopilot.start()
    bridge.start()
    try:
        flight = Flight(Vehicle(peer), kind)
        yield autopilot, flight
        flight.save()
        assert bridge.alive(), bridge.tail()
    except BaseException:
        print(bridge.tail())
        print("\n".join(flight.lines))
        raise
    finally:
        peer.close()
        bridge.stop()
        autopilot.stop()


class Stamps:
    """All stamps of what a vehicle reports most often, from its start to its end."""

    TOPICS = ("local_position/pose", "local_position/odom", "imu/data", "imu/data_raw", "global_position/global", "altitude")

    def __init__(self, vehicle: Vehicle):
        options = {"reliable": True, "depth": 2000}
        self._topics = {name: vehicle.topic(name, **options) for name in self.TOPICS}
        self._peer = vehicle.peer

    def check(self) -> None:
        """None goes back, and none is later than it was published."""
        for name, topic in self._topics.items():
            topic.take()
            self._peer.wait_for(lambda topic=topic: len(topic.samples) > 100, name, 60.0)
            stamps = np.array([nanoseconds(sample.message.header.stamp) for sample in topic.samples])
            sent = np.array([sample.source_ns for sample in topic.samples])
            back = np.flatnonzero(np.diff(stamps) < 0)
            assert not len(back), (name, len(back), np.diff(stamps)[back][:5] * 1e-6)
            ahead = stamps - sent
            assert ahead.max() <= 0, (name, (ahead > 0).sum(), ahead.max() * 1e-6)


KINDS = ["emulator", pytest.param("px4", marks=pytest.mark.skipif(not PX4, reason="RFLY_PX4 is not set"))]


@pytest.fixture(scope="module", params=KINDS)
def flown(request, tmp_path_factory, domain_id, simulator_ports):
    """One autopilot that is flown by every test of this file in turn."""
    with running(request.param, tmp_path_factory.mktemp(request.param), domain_id) as (autopilot, flight):
        stamps = Stamps(flight.vehicle)
        flight.vehicle.wait_ready()
        wait_armable(flight)
        yield autopilot, flight
        stamps.check()


def wait_armable(flight: Flight) -> None:
    """PX4 says STANDBY (3) once it could be armed."""
    flight.vehicle.end_streams()
    flight.vehicle.wait_state(120, connected=True, system_status=3)
    flight.note("ready")


def test_imu_comes_at_the_rate_that_was_asked_for(flown):
    """PX4's simulator steps every 4 ms and the emulator every 5: 250 Hz is a sample in each step."""
    _, flight = flown
    vehicle = flight.vehicle
    step = 4e6 if flight.kind == "px4" else 5e6
    for name, message in (("imu/data", 31), ("imu/data_raw", 105)):
        flight.call("set_message_interval", vehicle.insist, message_id=message, message_rate=250.0)
        topic = vehicle.topic(name)
        topic.take()
        asked = len(topic.samples)

        def steps(topic=topic) -> np.ndarray:
            return np.diff([nanoseconds(sample.message.header.stamp) for sample in topic.samples[-600:]])

        vehicle.peer.wait_for(lambda: len(topic.samples) > asked + 600, name, 120.0)  # noqa: B023
        # PX4 leaves steps out where it is short of CPU: then later ones count.
        vehicle.peer.wait_for(lambda: abs(np.median(steps()) - step) < 0.5e6, name, 120.0)  # noqa: B023
        flight.note(f"{name}: {1e9 / steps().mean():.1f} Hz on average, {np.median(steps()) * 1e-6:.2f} ms apart as a rule")
        flight.call("set_message_interval", vehicle.insist, message_id=message, message_rate=0.0)


def test_what_px4_refuses_is_refused_with_its_reason(flown):
    _, flight = flown
    vehicle = flight.vehicle
    durations = []
    for _ in range(5):
        start = time.monotonic()
        assert not flight.call("set_mode", vehicle.call, custom_mode="NONSENSE").mode_sent
        durations.append(time.monotonic() - start)
    assert min(durations) < 1.0, "a name that does not exist needs no answer of the vehicle"
    # PX4 acknowledges these two with 0 and does nothing that lets it arm.
    flight.call("set_mode", vehicle.call, custom_mode="OFFBOARD")
    answer = flight.call("cmd/arming", value=True)
    assert (answer.success, answer.result) == (False, TEMPORARILY_REJECTED)
    vehicle.peer.wait_for(lambda: any("Arming denied" in text for text in vehicle.texts()), "the reason", 60.0)
    flight.call("set_mode", flight.vehicle.insist, custom_mode="AUTO.LOITER")
    assert not flight.call("cmd/takeoff_local", position=xyz((0, 0, 3))).success
    assert not flight.call("cmd/land_local", position=xyz((0, 0, 0))).success
    answer = flight.call("cmd/command", command=31010)
    assert (answer.success, answer.result) == (False, UNSUPPORTED)
    assert not vehicle.wait_state(connected=True).armed


def test_what_cannot_be_is_no_success(flown):
    """Values that are no numbers, items that are not there, and half an arming command."""
    _, flight = flown
    vehicle = flight.vehicle
    wait_armable(flight)
    pulled = flight.call("param/pull", vehicle.insist, force_pull=True)
    assert pulled.param_received > 20
    for value in (float("nan"), float("inf")):
        answer = flight.call("param/set", vehicle.call, param_id="MPC_XY_VEL_MAX", value={"type": 3, "double_value": value})
        assert not answer.success
    kept = flight.call("param/set", vehicle.insist, param_id="MPC_XY_VEL_MAX", value={"type": 3, "double_value": 11.5})
    assert kept.value.double_value == 11.5
    place = vehicle.last("global_position/global")
    point = {"frame": 3, "command": 16, "autocontinue": True, "z_alt": 10.0}
    point |= {"x_lat": place.latitude, "y_long": place.longitude}
    flight.call("mission/push", vehicle.insist, waypoints=[point | {"is_current": True}, point])
    assert not flight.call("mission/set_current", vehicle.call, wp_seq=7).success
    reason = "there is no item 7: the mission has 2"
    vehicle.peer.wait_for(lambda: any(reason in text for text in vehicle.texts()), "the reason", 60.0)
    flight.call("mission/set_current", vehicle.insist, wp_seq=1)
    flight.call("mission/clear", vehicle.insist)
    flight.call("set_mode", vehicle.insist, custom_mode="AUTO.LOITER")
    wait_armable(flight)
    # PX4 rounds: half a one is a one. It disarms by itself, or is told to by less than half of one.
    flight.call("cmd/command", vehicle.insist, command=400, param1=0.5)
    vehicle.wait_state(armed=True)
    flight.call("cmd/command", vehicle.insist, command=400, param1=0.4)
    vehicle.wait_state(armed=False)


def test_a_take_off_is_one_or_is_no_success(flown):
    _, flight = flown
    vehicle = flight.vehicle
    wait_armable_again(flight)
    here = vehicle.last("altitude").amsl
    unknown = {"latitude": float("nan"), "longitude": float("nan"), "yaw": float("nan")}
    # Above the ground it would be a take-off to 3 m; altitudes are above sea level.
    answer = flight.call("cmd/takeoff", vehicle.call, altitude=3.0, **unknown)
    assert not answer.success
    vehicle.peer.wait_for(lambda: any("not above the vehicle" in text for text in vehicle.texts()), "the reason", 60.0)
    wait_armable_again(flight)
    vehicle.wait_armed()
    answer = flight.call("cmd/takeoff", vehicle.call, altitude=here + 4.0, **unknown)
    assert answer.success
    assert vehicle.position()[2] > 0.2 or vehicle.last("extended_state").landed_state != 1
    vehicle.peer.wait_for(lambda: vehicle.position()[2] > 3.0, "4 m", 120.0)
    flight.note("took off by cmd/takeoff")
    answer = flight.call("cmd/takeoff", vehicle.call, altitude=here, **unknown)
    assert not answer.success
    vehicle.land()
    flight.note("landed and disarmed")


def test_a_flight_in_offboard(flown):
    _, flight = flown
    vehicle = flight.vehicle
    wait_armable(flight)
    vehicle.patient()
    stream, home = vehicle.take_off(3.0)
    flight.note("took off to 3 m on setpoint_position/local")
    for corner in ([5, 0, 0], [5, 5, 0], [0, 5, 0], [0, 0, 0]):
        target = home + np.array(corner, float)
        stream.set(pose={"position": xyz(target), "orientation": heading(0.0)})
        vehicle.wait_near(target, within=0.8)
        flight.note(f"corner {corner}")
    vehicle.wait_yaw(0.0, within=0.2)
    answer = flight.call("cmd/arming", value=False)
    assert (answer.success, answer.result) == (False, TEMPORARILY_REJECTED), "not while it flies"
    stream.__exit__(None, None, None)
    with vehicle.stream("setpoint_velocity/cmd_vel", **twist((1.5, 0.0, 0.0))):
        vehicle.wait_velocity((1.5, 0.0, 0.0), within=0.6)
        flight.note("1.5 m/s east on setpoint_velocity/cmd_vel")
    forward = {"coordinate_frame": BODY_NED, "type_mask": ONLY_VELOCITY, "velocity": xyz((0.0, 1.0, 0.0)), "yaw_rate": 0.0}
    with vehicle.stream("setpoint_raw/local", **forward):
        # The nose points east: left is north.
        vehicle.wait_velocity((0.0, 1.0, 0.0), within=0.6)
        flight.note("1 m/s to the left on setpoint_raw/local, frame 8")
    hold = {"coordinate_frame": LOCAL_NED, "type_mask": 0x9F8, "position": xyz(home), "yaw": 0.0}
    with vehicle.stream("setpoint_raw/local", **hold):
        vehicle.wait_near(home, within=0.8)
        flight.note("back on setpoint_raw/local, frame 1")
        flight.call("set_mode", flight.vehicle.insist, custom_mode="AUTO.LAND")
        vehicle.wait_state(120, armed=False)
    flight.note("landed and disarmed")


def test_a_controller_that_dies_leaves_the_vehicle_to_its_failsafe(flown):
    _, flight = flown
    vehicle = flight.vehicle
    wait_armable_again(flight)
    stream, _ = vehicle.take_off(3.0)
    flight.note("up again")
    vehicle.patient(1.0)
    stream.__exit__(None, None, None)
    flight.note("the controller is dead")
    vehicle.wait_state(mode="POSCTL")
    flight.note("failsafe")
    vehicle.peer.wait_for(lambda: any("ailsafe" in text for text in vehicle.texts()), "the failsafe to be said", 60.0)
    flight.call("set_mode", flight.vehicle.insist, custom_mode="AUTO.LAND")
    vehicle.wait_state(120, armed=False)
    flight.note("landed and disarmed")


def test_an_autopilot_that_is_killed_and_started_again_is_back_by_itself(flown):
    autopilot, flight = flown
    vehicle = flight.vehicle
    autopilot.stop()
    vehicle.wait_state(connected=False)
    flight.lines.append(f"{time.monotonic() - flight._start:8.2f}  killed: state says disconnected")
    autopilot.start()
    vehicle.wait_state(connected=True)
    wait_armable(flight)
    assert vector(vehicle.next("local_position/pose").pose.position) is not None
    vehicle.patient()
    stream, _ = vehicle.take_off(2.0)
    flight.note("flies after the restart")
    stream.__exit__(None, None, None)
    vehicle.land()
    flight.note("landed and disarmed")


def wait_armable_again(flight: Flight) -> None:
    """After a flight PX4 stays in the mode that it landed in."""
    flight.call("set_mode", flight.vehicle.insist, custom_mode="AUTO.LOITER")
    wait_armable(flight)
