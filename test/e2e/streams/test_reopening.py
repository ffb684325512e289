"""Size, type and vehicle of a running sensor: what an independent subscriber gets afterwards agrees with sensors that stayed."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml
from agreement import CAMERA, DEPTH, LIDAR, SWEEP, assert_they_agree
from backend import ANSWERS_PEER
from geometry import nanoseconds
from peer.messages import decode
from recording import Recording
from rosbags.rosbag2 import Reader
from system import System
from test_parameters import Parameters
from topics import CLOUD, DIAGNOSTICS, IMAGE, TF, info_topic, main_topic, topics_of

from sensors import COMPRESSED, SHARED_MEMORY, Sensor

pytestmark = pytest.mark.skipif(not ANSWERS_PEER, reason="the peer's client speaks to Cyclone only; test/ros2 has the tools")

# The same on the other vehicle, and a camera that becomes something else.
OTHER = replace(LIDAR, seq=2, vehicle=2)
COLOUR = Sensor(3, 1, COMPRESSED, width=160, height=120, rate=10, params=DEPTH)
NAMED = Sensor(5, 2, COMPRESSED, width=64, height=48, rate=10, params=DEPTH)
BLOCK = Sensor(4, 1, SHARED_MEMORY, width=160, height=120, rate=10)


@pytest.fixture(scope="module")
def running(tmp_path_factory, domain_id, simulator_ports):
    """Emulator and bridge with two vehicles; what the sensors have at first is recorded."""
    directory = tmp_path_factory.mktemp("reopening")
    options = {
        "record.directory": directory,
        "transport_mode": "file",
        "time.mode": "sim",
        "vehicles": [1, 2],
        "control.link": "off",
        "sensor5.topic": "front/main",
        "diagnostics.period_s": 0.2,
    }
    sensors = [CAMERA, LIDAR, OTHER, COLOUR, BLOCK, NAMED]
    with System(directory, domain_id, sensors, parameters=options, emulator=["--vehicles", "2"]) as system:
        recording = Recording(system)
        topics = {name: kind for sensor in sensors[:-1] for name, kind in topics_of(sensor).items()}
        recording.subscribe({**TF, **DIAGNOSTICS, **topics})
        recording.collect(3, [main_topic(sensor) for sensor in sensors[:-1]])
        yield system, recording, Parameters(system.peer)


def newest(recording, topic):
    """The last stamp of a topic."""
    recording.harvest()
    return max(recording.by_stamp(topic), default=0)


def set_together(parameters, **values):
    """Sets all values, or fails with the reason."""
    result = parameters.set(atomically=True, **values)
    assert result.successful, result.reason


def offered(system) -> set[str]:
    """Topics that somebody publishes now."""
    system.peer.take()
    return {offer.topic for offer in system.peer.offers()}


def wait_until_only(system, begun, ended):
    """Waits until topics are there, and others are not any more."""
    there = lambda: begun <= offered(system) and not ended & offered(system)  # noqa: E731
    system.peer.wait_for(there, f"{begun} instead of {ended}", 60.0)


def drops(recording, name) -> dict[str, int]:
    """Drops of a source by cause, as /diagnostics has them."""
    recording.harvest()
    for message in reversed(recording.messages("/diagnostics")):
        for status in message.status:
            if status.name.endswith(name):
                return {v.key: int(v.value) for v in status.values if v.key.startswith("drop_")}
    return {}


def test_the_size_of_a_depth_camera_changes_with_its_camera_info(running):
    system, recording, parameters = running
    before, others = len(recording.messages(main_topic(CAMERA))), drops(recording, "sensor1 vehicle_lidar")
    set_together(parameters, sensor0__width=400, sensor0__height=200)
    assert parameters.get("sensor0.width", "sensor0.height") == [400, 200]

    def sizes(topic):
        return [(message.width, message.height) for message in recording.messages(topic)]

    recording.wait_for(main_topic(CAMERA), lambda image: image.width == 400, since=before)
    recording.collect_more(5, [main_topic(CAMERA)])
    for topic in (main_topic(CAMERA), info_topic(CAMERA)):
        found = sizes(topic)
        turn = found.index((400, 200))
        assert set(found[:turn]) == {(320, 240)} and set(found[turn:]) == {(400, 200)}
    images, infos = recording.by_stamp(main_topic(CAMERA)), recording.by_stamp(info_topic(CAMERA))
    first = min(stamp for stamp, image in images.items() if image.width == 400)
    for stamp in set(images) & set(infos):
        assert images[stamp].width == infos[stamp].width
        assert images[stamp].step * images[stamp].height == len(images[stamp].data)
    assert_they_agree(recording, CAMERA, LIDAR, since=first)
    # Others were received on.
    assert drops(recording, "sensor1 vehicle_lidar") == others


def test_the_size_of_a_camera_in_shared_memory_changes(running):
    system, recording, parameters = running
    set_together(parameters, sensor4__width=200, sensor4__height=100)
    recording.wait_for(main_topic(BLOCK), lambda image: (image.width, image.height) == (200, 100))
    recording.collect_more(5, [main_topic(BLOCK)])
    sizes = [(image.width, image.height) for image in recording.messages(main_topic(BLOCK))]
    turn = sizes.index((200, 100))
    assert set(sizes[:turn]) == {(160, 120)} and set(sizes[turn:]) == {(200, 100)}


def test_a_camera_becomes_a_depth_camera_then_a_lidar_and_a_camera_again(running):
    system, recording, parameters = running
    depth, lidar = replace(COLOUR, type=2), replace(COLOUR, type=20)
    colour = set(topics_of(COLOUR))
    set_together(parameters, sensor3__type_id=2)
    wait_until_only(system, set(topics_of(depth)), colour - set(topics_of(depth)))
    recording.subscribe({main_topic(depth): IMAGE})
    since = newest(recording, main_topic(COLOUR)) + 1
    assert_they_agree(recording, depth, LIDAR, since)
    recording.wait_for("/diagnostics", lambda m: any(s.name.endswith("sensor3 img_depth") for s in m.status))

    size = {"sensor3__width": 360, "sensor3__height": 40, "sensor3__other_params": [float(v) for v in SWEEP]}
    set_together(parameters, sensor3__type_id=20, **size)
    wait_until_only(system, {main_topic(lidar)}, set(topics_of(depth)))
    recording.subscribe({main_topic(lidar): CLOUD})
    assert_they_agree(recording, CAMERA, lidar)

    size = {"sensor3__width": 160, "sensor3__height": 120, "sensor3__other_params": []}
    set_together(parameters, sensor3__type_id=1, **size)
    wait_until_only(system, colour, {main_topic(lidar)})
    recording.collect_more(5, [main_topic(COLOUR), info_topic(COLOUR)])
    assert recording.messages(main_topic(COLOUR))[-1].encoding == "bgr8"


def test_a_topic_with_a_name_of_its_own_gets_another_type(running):
    system, _, parameters = running
    topic = "/rflysim/front/main"
    types = lambda: {offer.type for offer in system.peer.offers() if offer.topic == topic}  # noqa: E731
    system.peer.wait_for(lambda: types() == {IMAGE}, "images", 60.0)
    size = {"sensor5__width": 90, "sensor5__height": 16, "sensor5__other_params": [float(v) for v in SWEEP]}
    set_together(parameters, sensor5__type_id=20, **size)
    system.peer.wait_for(lambda: types() == {CLOUD}, "clouds instead", 60.0)
    clouds = system.peer.subscribe(topic, CLOUD, reliable=True, transient_local=False, depth=10)
    system.peer.wait_for(lambda: clouds.take() or clouds.samples, "a cloud", 60.0)
    assert clouds.samples[-1].message.header.frame_id == "copter1/sensor5_link"


def test_a_camera_moves_to_another_vehicle(running):
    system, recording, parameters = running
    before = len(recording.messages(main_topic(CAMERA)))
    set_together(parameters, sensor0__vehicle=2)
    of_second = lambda image: image.header.frame_id == "copter2/sensor0_optical_frame"  # noqa: E731
    first = recording.wait_for(main_topic(CAMERA), of_second, since=before)
    since = nanoseconds(first.header.stamp)
    # What it sees is what the lidar of that vehicle sees.
    assert_they_agree(recording, CAMERA, OTHER, since)
    links = [
        (t.header.frame_id, nanoseconds(t.header.stamp))
        for message in recording.messages("/tf_static")
        for t in message.transforms
        if t.child_frame_id == "copter2/sensor0_link"
    ]
    assert links[0] == ("copter2/base_link", since), "TF has it with the first image that shows it"
    after = recording.messages(main_topic(CAMERA))
    turn = next(i for i, image in enumerate(after) if of_second(image))
    assert all(of_second(image) for image in after[turn:])


def test_a_recording_has_the_topics_of_before_and_after(running):
    system, recording, parameters = running
    depth = replace(COLOUR, type=2)
    set_together(parameters, record__ros="reopened", record__depth="all")
    recording.collect_more(3, [main_topic(COLOUR)])
    set_together(parameters, sensor3__type_id=2, sensor3__width=200)
    wait_until_only(system, set(topics_of(depth)), {main_topic(COLOUR)})
    images = system.peer.subscribe(main_topic(depth), IMAGE, reliable=True, transient_local=False, depth=10)
    system.peer.wait_for(lambda: images.take() or images.samples, "a depth image", 60.0)
    set_together(parameters, sensor3__type_id=1)
    recording.collect_more(3, [main_topic(COLOUR)])
    set_together(parameters, record__ros="")
    bag = system.directory / "reopened"
    ended = lambda: "recorded" in system.bridge.log.read_text()  # noqa: E731
    system.peer.wait_for(ended, "the end of the recording", 30.0)
    topics = yaml.safe_load((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]["topics_with_message_count"]
    names = [topic["topic_metadata"]["name"] for topic in topics]
    assert len(names) == len(set(names)), "a topic that begins again is the same topic"
    widths = {main_topic(COLOUR): [], main_topic(depth): []}
    with Reader(bag) as reader:
        for connection, _, raw in reader.messages():
            if connection.topic in widths:
                widths[connection.topic].append(decode(raw, IMAGE).width)
    assert widths[main_topic(COLOUR)][0] == 160 and widths[main_topic(COLOUR)][-1] == 200
    assert set(widths[main_topic(depth)]) == {200}


def test_what_cannot_be_is_refused_with_all_problems_and_nothing_changes(running):
    system, recording, parameters = running
    before = parameters.get("sensor1.type_id", "sensor1.width", "sensor1.vehicle")
    topics = offered(system)
    wrong = parameters.set(atomically=True, sensor1__type_id=1, sensor1__width=0, sensor1__height=9000)
    assert not wrong.successful
    assert "sensor1.width: must be in 1..=8192 px, is 0" in wrong.reason
    assert "sensor1.height: must be in 1..=8192 px, is 9000" in wrong.reason
    far, unknown = parameters.set(sensor1__vehicle=3, sensor1__type_id=10)
    assert not far.successful and "serves (1, 2), is 3" in far.reason
    assert not unknown.successful and "optical flow" in unknown.reason
    assert parameters.get("sensor1.type_id", "sensor1.width", "sensor1.vehicle") == before
    assert offered(system) == topics
    recording.collect_more(5, [main_topic(LIDAR)])
