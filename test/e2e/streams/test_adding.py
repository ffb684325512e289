"""A sensor that is added while the bridge runs: an independent subscriber gets what one of Config.json would give."""

from __future__ import annotations

import json
import socket
from dataclasses import replace

import pytest
from agreement import CAMERA, DEPTH, LIDAR, assert_they_agree
from backend import ANSWERS_PEER
from peer.services import Client
from recording import Recording
from system import System
from test_parameters import EVENTS, Parameters
from topics import DIAGNOSTICS, TF, info_topic, main_topic, topics_of

from sensors import COMPRESSED, Sensor

pytestmark = pytest.mark.skipif(not ANSWERS_PEER, reason="the peer's client speaks to Cyclone only; test/ros2 has the tools")

# A depth camera elsewhere than that of the file, and a lidar that it carries.
ADDED = Sensor(7, 2, COMPRESSED, width=240, height=180, rate=10, position=(0.1, 0.2, -0.2), angles=(0.0, -20.0, 40.0), params=DEPTH)
CARRIED = replace(LIDAR, seq=8, mount=4, vehicle=7, position=(0.0, 0.0, -0.2))


@pytest.fixture(scope="module")
def running(tmp_path_factory, domain_id, simulator_ports):
    """Emulator and bridge with a depth camera and a lidar; who is subscribed to what is not there yet, too."""
    options = {"transport_mode": "file", "time.mode": "sim", "control.link": "off", "diagnostics.period_s": 0.2}
    with System(tmp_path_factory.mktemp("adding"), domain_id, [CAMERA, LIDAR], parameters=options) as system:
        recording = Recording(system)
        recording.subscribe({**TF, **DIAGNOSTICS, **EVENTS, **topics_of(CAMERA), **topics_of(LIDAR)})
        recording.collect(3, [main_topic(CAMERA), main_topic(LIDAR)])
        add = Client(system.peer, "/rflysim/sensors/add", "rfly_bridge_msgs/srv/AddSensor")
        add.wait()
        yield system, recording, add


def row(sensor: Sensor, **changes) -> str:
    """The row as a user writes it."""
    return json.dumps({**sensor.entry(new_layout=False), **changes})


def statuses(recording: Recording) -> dict[str, int]:
    """What /diagnostics says last: names and levels."""
    recording.harvest()
    message = recording.messages("/diagnostics")[-1]
    return {s.name.split(": ")[-1]: int.from_bytes(s.level, "little") if isinstance(s.level, bytes) else int(s.level) for s in message.status}


def test_what_is_wrong_with_a_row_is_said_at_once_and_nothing_changes(running):
    system, recording, add = running
    parameters = Parameters(system.peer)
    before = list(parameters.list().names)
    answer = add.call(row=row(ADDED, SeqID=1, DataWidth=0))
    assert not answer.success
    for text in ("row.SeqID: 1 is also the SeqID of sensor1", "row.DataWidth: must be in 1..=8192 px, is 0"):
        assert text in answer.message, answer.message
    refused = {
        row(ADDED, SendProtocol=[2, 127, 0, 0, 1, LIDAR.port, 0, 0]): f"UDP port {LIDAR.port} is also used by sensor1",
        row(ADDED, TargetCopter=5): "must be a vehicle that the bridge serves (1), is 5",
        row(ADDED, TypeID=9): "9 (pod) cannot be added",
        row(ADDED, TypeID=6): "6 is the microphone",
        row(CARRIED): "must be the SeqID of an earlier sensor",
        "{": "row:1:1: invalid JSON",
        "[]": "must be an object",
    }
    for text, why in refused.items():
        answer = add.call(row=text)
        assert not answer.success and why in answer.message, (text, answer.message)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("", ADDED.port))
        answer = add.call(row=row(ADDED))
        assert not answer.success and str(ADDED.port) in answer.message, answer.message
    assert list(parameters.list().names) == before
    recording.collect_more(3, [main_topic(CAMERA), main_topic(LIDAR)])


def test_a_sensor_that_is_added_gives_what_one_of_the_file_gives(running):
    system, recording, add = running
    answer = add.call(row=row(ADDED))
    assert answer.success and answer.seq_id == 7, answer.message
    recording.subscribe(topics_of(ADDED))
    recording.collect(3, list(topics_of(ADDED)))
    image, info = recording.messages(main_topic(ADDED))[-1], recording.messages(info_topic(ADDED))[-1]
    assert (image.width, image.height) == (info.width, info.height) == (240, 180)
    assert image.header.frame_id == "sensor7_optical_frame"
    # Image, camera_info and TF agree with the points of a lidar that was there before.
    assert_they_agree(recording, ADDED, LIDAR)
    assert statuses(recording)["sensor7 img_depth"] == 0
    # Its parameters are there, told of, and in effect.
    parameters = Parameters(system.peer)
    assert parameters.get("sensor7.width", "sensor7.rate_hz") == [240, 10]
    told = [p.name for event in recording.messages("/parameter_events") for p in event.new_parameters]
    assert "sensor7.width" in told and f"qos_overrides.{main_topic(ADDED)}.publisher.depth" in told
    result = parameters.set(atomically=True, sensor7__width=320, sensor7__height=240)
    assert result.successful, result.reason
    recording.wait_for(main_topic(ADDED), lambda image: image.width == 320)
    result = parameters.set(atomically=True, sensor7__orientation_deg=[0.0, -30.0, 10.0])
    assert result.successful, result.reason
    recording.collect_more(5, [main_topic(ADDED), info_topic(ADDED)])
    Client(system.peer, "/rflysim/sensor7/set_camera_info", "sensor_msgs/srv/SetCameraInfo").wait()


def test_another_is_carried_by_it_and_takes_the_next_number(running):
    system, recording, add = running
    answer = add.call(row=row(CARRIED, SeqID=0, SendProtocol=[1, 127, 0, 0, 1, 0, 0, 0]))
    assert answer.success and answer.seq_id == 8, answer.message
    recording.subscribe(topics_of(CARRIED))
    recording.collect(5, list(topics_of(CARRIED)))
    recording.collect_transforms()
    stamp = max(recording.by_stamp(main_topic(CARRIED)))
    link = recording.transforms.lookup("sensor7_link", "sensor8_link", stamp)
    assert link[2, 3] == pytest.approx(0.2)
    # The others were received on.
    recording.collect_more(5, [main_topic(CAMERA), main_topic(LIDAR), main_topic(ADDED)])
    found = statuses(recording)
    assert found["sensor0 img_depth"] == found["sensor1 vehicle_lidar"] == 0


def test_what_was_made_of_a_row_is_said(running):
    _, _, add = running
    # A lidar as files of 2023 have it.
    lidar = replace(LIDAR, seq=9)
    answer = add.call(row=row(lidar, TypeID=4, otherParams=[50, 0.05, -90, 90, -40, 40]))
    assert answer.success and answer.seq_id == 9
    assert "row.TypeID: is 4 with the otherParams of a lidar" in answer.message
    assert "row.otherParams: has 6 values instead of 8" in answer.message
