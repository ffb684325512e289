"""The parameter services, and that what they change changes in the simulator, in camera_info and in TF."""

from __future__ import annotations

import math
import time
from contextlib import suppress

import numpy as np
import pytest
from geometry import apply, compare_with_depth, nanoseconds
from images import metres, xyz
from peer.messages import TYPES
from peer.services import Client
from recording import Recording
from system import System
from topics import IMU, TF, info_topic, main_topic, topics_of

from sensors import COMPRESSED, RAW, Sensor

RANGE = 60.0
CAMERA = Sensor(0, 2, RAW, width=320, height=240, rate=10, params=(0.2, RANGE, 0.001))
LIDAR = Sensor(
    1, 20, COMPRESSED, width=360, height=40, rate=10, position=(0.0, 0.0, -0.3),
    params=(RANGE, 0.0, -180.0, 180.0, -50.0, 30.0),
)  # fmt: skip
EVENTS = {"/parameter_events": "rcl_interfaces/msg/ParameterEvent", "/rosout": "rcl_interfaces/msg/Log"}
INTEGER, DOUBLE, STRING, INTEGERS, DOUBLES = 2, 3, 4, 7, 8
SERVICES = {
    "get_parameters": "GetParameters",
    "get_parameter_types": "GetParameterTypes",
    "set_parameters": "SetParameters",
    "set_parameters_atomically": "SetParametersAtomically",
    "describe_parameters": "DescribeParameters",
    "list_parameters": "ListParameters",
}


def value(given):
    """A rcl_interfaces/msg/ParameterValue."""
    kinds = {bool: (1, "bool_value"), int: (2, "integer_value"), float: (3, "double_value"), str: (4, "string_value")}
    fields = {
        "type": 0, "bool_value": False, "integer_value": 0, "double_value": 0.0, "string_value": "",
        "byte_array_value": [], "bool_array_value": [], "integer_array_value": np.array([], np.int64),
        "double_array_value": np.array([], np.float64), "string_array_value": [],
    }  # fmt: skip
    fields["byte_array_value"] = np.array([], np.uint8)
    fields["bool_array_value"] = np.array([], np.bool_)
    if isinstance(given, list):
        fields |= {"type": DOUBLES, "double_array_value": np.array(given, np.float64)}
    elif given is not None:
        kind, field = kinds[type(given)]
        fields |= {"type": kind, field: given}
    return TYPES.types["rcl_interfaces/msg/ParameterValue"](**fields)


def plain(message):
    """The value that is set."""
    fields = {
        1: "bool_value", 2: "integer_value", 3: "double_value", 4: "string_value",
        7: "integer_array_value", 8: "double_array_value", 9: "string_array_value",
    }  # fmt: skip
    found = getattr(message, fields[message.type])
    return list(found) if message.type > STRING else found


class Parameters:
    """What `ros2 param` does."""

    def __init__(self, peer, node="/rfly_bridge"):
        self._clients = {
            name: Client(peer, f"{node}/{name}", f"rcl_interfaces/srv/{kind}") for name, kind in SERVICES.items()
        }
        for client in self._clients.values():
            client.wait()

    def get(self, *names):
        return [plain(v) for v in self._clients["get_parameters"].call(names=list(names)).values]

    def types(self, *names):
        return list(self._clients["get_parameter_types"].call(names=list(names)).types)

    def describe(self, *names):
        return self._clients["describe_parameters"].call(names=list(names)).descriptors

    def list(self, *prefixes, depth=0):
        return self._clients["list_parameters"].call(prefixes=list(prefixes), depth=depth).result

    def set(self, atomically=False, **values):
        parameter = TYPES.types["rcl_interfaces/msg/Parameter"]
        parameters = [parameter(name=name.replace("__", "."), value=value(v)) for name, v in values.items()]
        if atomically:
            return self._clients["set_parameters_atomically"].call(parameters=parameters).result
        return self._clients["set_parameters"].call(parameters=parameters).results


@pytest.fixture(scope="module")
def running(tmp_path_factory, domain_id, simulator_ports):
    """Emulator and bridge with a depth camera and a lidar; everything recorded."""
    options = {"transport_mode": "file", "time.mode": "sim", "imu.rate_hz": 100, "request.timeout_s": 2.0}
    directory = tmp_path_factory.mktemp("parameters")
    with System(directory, domain_id, [CAMERA, LIDAR], parameters=options) as system:
        recording = Recording(system)
        recording.subscribe({**TF, **IMU, **EVENTS, **topics_of(CAMERA), **topics_of(LIDAR)})
        recording.collect(3, [main_topic(CAMERA), main_topic(LIDAR), "/rflysim/imu"])
        yield system, recording, Parameters(system.peer)


def test_every_parameter_is_listed_typed_and_described(running):
    _, _, parameters = running
    listed = parameters.list()
    names = list(listed.names)
    assert {"window", "use_sim_time", "imu.rate_hz", "sensor0.fov_deg", "sensor1.topic"} <= set(names)
    assert "sensor1.fov_deg" not in names, "a lidar has no field of view"
    assert "qos_overrides./tf.publisher.depth" in names
    assert {"imu", "sensor0"} <= set(listed.prefixes)
    described = parameters.describe(*names)
    assert [d.name for d in described] == names
    assert [d.type for d in described] == parameters.types(*names)
    assert len(parameters.get(*names)) == len(names)
    assert all(len(d.description) > 10 for d in described)
    fov = next(d for d in described if d.name == "sensor0.fov_deg")
    assert (fov.floating_point_range[0].from_value, fov.floating_point_range[0].to_value) == (0.001, 360.0)
    assert not fov.read_only and fov.description.endswith("Unit: deg.")
    assert list(parameters.list("imu", depth=1).names) == [n for n in names if n.startswith("imu.")]


def test_values_are_those_of_the_command_line_the_file_and_the_table(running):
    _, _, parameters = running
    names = ["imu.rate_hz", "sensor0.fov_deg", "sensor1.position", "diagnostics.period_s", "topic_prefix", "vehicles"]
    assert parameters.get(*names) == [100, 90.0, [0.0, 0.0, -0.3], 1.0, "rflysim", []]
    assert parameters.types(*names) == [INTEGER, DOUBLE, DOUBLES, DOUBLE, STRING, INTEGERS]
    assert parameters.get("imu.rate_hz", "nonsense") == [], "as rclcpp answers for an undeclared name"


def changed(event) -> list[str]:
    """Names in a message of /parameter_events."""
    return [parameter.name for parameter in event.changed_parameters]


def test_a_refused_value_says_why_and_changes_nothing(running):
    _, recording, parameters = running

    def fence(period: float) -> int:
        """Changes something, and returns the number of the event that says so; events keep their order."""

        def said(event) -> bool:
            return [plain(parameter.value) for parameter in event.changed_parameters] == [period]

        assert parameters.set(diagnostics__period_s=period)[0].successful
        recording.wait_for("/parameter_events", said)
        return [said(event) for event in recording.messages("/parameter_events")].index(True)

    before = fence(0.9)
    wrong = parameters.set(imu__rate_hz=5000, imu__rate=100, sensor0__fov_deg="wide", window=2, sensor0__position=None)
    assert [r.successful for r in wrong] == [False] * 5
    range_, unknown, kind, fixed, unset = (r.reason for r in wrong)
    assert "1..=1000 Hz" in range_ and "5000" in range_
    assert 'did you mean "imu.rate_hz"?' in unknown
    assert "must be a number" in kind
    assert "restart needed" in fixed
    assert "cannot be undeclared" in unset
    both = parameters.set(atomically=True, sensor0__fov_deg=50.0, imu__rate_hz=0)
    assert not both.successful and "imu.rate_hz" in both.reason
    assert parameters.get("imu.rate_hz", "sensor0.fov_deg", "window") == [100, 90.0, 0]
    assert fence(1.0) == before + 1, "an event of what was refused"


def agreement(recording, since):
    """How many lidar points, carried into the camera through TF, lie where the depth image says."""
    clouds, images, infos = (
        recording.by_stamp(t) for t in (main_topic(LIDAR), main_topic(CAMERA), info_topic(CAMERA))
    )
    compared = agreeing = 0
    for stamp in sorted(set(clouds) & set(images) & set(infos)):
        if stamp <= since:
            continue
        image, cloud = images[stamp], clouds[stamp]
        with suppress(KeyError):
            transform = recording.transforms.lookup(image.header.frame_id, cloud.header.frame_id, stamp)
            result = compare_with_depth(
                apply(transform, xyz(cloud)),
                metres(image),
                infos[stamp],
                depth_step=0.001,
                point_step=RANGE / 32767,
            )
            compared += result.compared
            agreeing += result.agreeing
    return compared, agreeing


def wait_until_they_agree(recording, frames=15, timeout=90.0):
    """Receives until `frames` new frames agree; nothing tells which frame is the first with the new values."""
    deadline = time.monotonic() + timeout
    while True:
        recording.harvest()
        since = max(recording.by_stamp(main_topic(CAMERA)))
        recording.collect_more(frames, [main_topic(CAMERA), main_topic(LIDAR)])
        compared, agreeing = agreement(recording, since)
        if compared > 1000 and agreeing / compared > 0.98:
            return
        assert time.monotonic() < deadline, f"{agreeing} of {compared} points agree"


def view(recording):
    """What is said of both sensors: the focal length and where they are on the vehicle."""
    recording.harvest()
    poses = [
        recording.transforms.lookup("base_link", recording.messages(main_topic(s))[-1].header.frame_id, 0)
        for s in (CAMERA, LIDAR)
    ]
    return recording.messages(info_topic(CAMERA))[-1].k[0], np.round(poses, 6).tolist()


@pytest.mark.parametrize(
    "change",
    [
        {"sensor0__fov_deg": 60.0},
        {"sensor0__orientation_deg": [5.0, -20.0, 30.0]},
        {"sensor0__position": [0.1, 0.4, -0.2]},
        {"sensor1__orientation_deg": [0.0, 10.0, -40.0]},
    ],
    ids=["field of view", "orientation", "position", "a lidar turns"],
)
def test_a_sensor_that_changes_still_agrees_with_the_other(running, change):
    system, recording, parameters = running
    before, events = view(recording), len(recording.messages("/parameter_events"))
    result = parameters.set(atomically=True, **change)
    assert result.successful, result.reason
    ((name, wanted),) = change.items()
    assert parameters.get(name.replace("__", ".")) == [wanted]
    # What was said before agrees with the frames of before.
    system.peer.wait_for(lambda: view(recording) != before, "the new values in camera_info or TF", 60.0)
    if name == "sensor0__fov_deg":
        assert view(recording)[0] == pytest.approx(CAMERA.width / 2 / math.tan(math.radians(wanted) / 2))
    wait_until_they_agree(recording)
    names = [name.replace("__", ".")]
    event = recording.wait_for("/parameter_events", lambda event: changed(event) == names, since=events)
    assert event.node == "/rfly_bridge"


def wait_for_rate(recording, topic, rate_hz, *, count=20, since=0):
    """Receives until the stamps of the last `count` messages are on the grid of a rate and of no lower one, with frames
    that follow each other without a gap; the first `since` messages do not count.

    A simulator that is late leaves frames out: how many there are per second is a matter of the machine.
    """
    period = 10**9 // rate_hz

    def settled() -> bool:
        recording.harvest()
        stamps = [nanoseconds(message.header.stamp) for message in recording.messages(topic)[since:][-count:]]
        return len(stamps) == count and math.gcd(*stamps) == period and period in np.diff(stamps)

    recording.system.peer.wait_for(settled, f"{rate_hz} Hz on {topic}", 90.0)


def test_rates_change(running):
    _, recording, parameters = running
    assert all(r.successful for r in parameters.set(sensor0__rate_hz=20, imu__rate_hz=50))
    wait_for_rate(recording, main_topic(CAMERA), 20)
    wait_for_rate(recording, "/rflysim/imu", 50)
    # The other one stays.
    wait_for_rate(recording, main_topic(LIDAR), 10)


def test_covariances_change(running):
    _, recording, parameters = running
    assert parameters.set(imu__linear_acceleration_covariance=[0.1, 0.2, 0.3])[0].successful
    wanted = [0.1, 0, 0, 0, 0.2, 0, 0, 0, 0.3]
    recording.wait_for("/rflysim/imu", lambda imu: list(imu.linear_acceleration_covariance) == wanted)
    recording.collect_more(20, ["/rflysim/imu"])
    assert list(recording.messages("/rflysim/imu")[-1].linear_acceleration_covariance) == wanted


def test_noise_of_the_imu_changes_and_ends(running):
    _, recording, parameters = running
    noise = {"imu__rate_hz": 50, "imu__gyroscope_noise_density": 0.01, "imu__gyroscope_bias": [0.0, 0.0, 100.0]}
    assert all(r.successful for r in parameters.set(**noise))
    variance = 0.01**2 * 50
    noisy = lambda imu: imu.angular_velocity.z > 90 and abs(imu.angular_velocity_covariance[0] - variance) < 1e-12  # noqa: E731
    recording.wait_for("/rflysim/imu", noisy)
    off = {"imu__gyroscope_noise_density": 0.0, "imu__gyroscope_bias": [0.0, 0.0, 0.0]}
    since = len(recording.messages("/rflysim/imu"))
    assert all(r.successful for r in parameters.set(**off))
    exact = lambda imu: abs(imu.angular_velocity.z) < 90 and imu.angular_velocity_covariance[0] == 0.001  # noqa: E731
    recording.wait_for("/rflysim/imu", exact, since=since)


def test_a_simulator_that_restarts_is_asked_for_what_was_set(running):
    system, recording, parameters = running
    assert parameters.set(sensor0__fov_deg=75.0, sensor0__rate_hz=5)[0].successful
    system.emulator.kill()

    def silent() -> bool:
        recording.harvest()
        said = [log.msg for log in recording.messages("/rosout") if "sensor0 " in log.msg]
        last = [msg for msg in said if msg.startswith(("receiving", "no data any more"))][-1:]
        return any(msg.startswith("no data") for msg in last)

    # From then on nothing comes of what the old one has sent.
    system.peer.wait_for(silent, "the bridge to miss the simulator", 60.0)
    old = len(recording.messages(main_topic(CAMERA)))
    system.emulator.start()
    recording.collect_more(10, [main_topic(CAMERA), info_topic(CAMERA)])
    focal = CAMERA.width / 2 / math.tan(math.radians(75.0) / 2)
    assert recording.messages(info_topic(CAMERA))[-1].k[0] == pytest.approx(focal)
    # The rate of the request that a new simulator got.
    wait_for_rate(recording, main_topic(CAMERA), 5, count=10, since=old)


def test_the_log_is_on_rosout(running):
    _, recording, parameters = running
    assert parameters.set(diagnostics__period_s=0.5)[0].successful
    changed = recording.wait_for("/rosout", lambda log: log.msg == "parameter diagnostics.period_s set to 0.5")
    assert changed.line > 0
    offer = recording.offers["/rosout"]
    assert offer.reliable and offer.transient_local
    logs = recording.messages("/rosout")
    assert {log.name for log in logs} == {"rfly_bridge"}
    started = [log for log in logs if log.msg.startswith("sensors: 2, vehicles: 1")]
    assert len(started) == 1 and started[0].level == 20, "what was logged before this subscriber is there"


def test_many_calls_at_once_are_all_answered(running):
    system, _, _ = running
    client = Client(system.peer, "/rfly_bridge/get_parameters", "rcl_interfaces/srv/GetParameters").wait()
    start = time.monotonic()
    numbers = [client.send({"names": ["window"]}) for _ in range(200)]
    assert [plain(client.receive(number).values[0]) for number in numbers] == [0] * 200
    assert time.monotonic() - start < 60
