"""Every TypeID over every transport: what a subscriber gets is what the emulator rendered.

One run of emulator and bridge serves all tests of a transport; over UDP there is one for each header of fragments. Headers carry
simulation time (`time.mode:=sim`), so a message and the rendered frame it must equal are found by their stamps.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import cv2
import numpy as np
import pytest
from backend import DISTRO, TELLS_DEPTH
from geometry import ENU_FROM_NED, NWU_FROM_NED, nanoseconds
from images import cloud_array, pixels, psnr
from recording import Recording
from system import System
from topics import CAMERA_INFO, CLOCK, DIAGNOSTICS, IMU, TF, info_topic, main_topic, topics_of
from truth import BOX_ENTRY, RANGE_RECORD, TARGET_ENTRY, Truth, true_image, true_list, true_points

from sensors import (
    CLOUD_TYPES,
    COLOUR_TYPES,
    IMAGE_TYPES,
    RAW,
    SHARED_MEMORY,
    Sensor,
    every_shared_memory_sensor,
    every_udp_sensor,
)

# Of 32 bytes with a frame id, and of 24 without.
KINDS = {"udp": every_udp_sensor(), "udp_header_a": every_udp_sensor(), "memory": every_shared_memory_sensor()}
FRAMES = 8


@dataclass
class Run:
    """Messages and truth of one run."""

    recording: Recording
    truth: Truth
    sensors: list[Sensor]

    def pairs(self, sensor: Sensor, topic: str | None = None):
        """(message, rendered payload) for every message of a topic of `sensor`."""
        topic = topic or main_topic(sensor)
        messages = self.recording.by_stamp(topic)
        frames = self.truth.frames[sensor.seq]
        unknown = set(messages) - set(frames)
        assert not unknown, f"{topic} has stamps that were never rendered: {sorted(unknown)[:3]}"
        assert len(messages) >= FRAMES
        pairs = [(message, frames[stamp].payload()) for stamp, message in messages.items() if frames[stamp].file]
        assert len(pairs) >= FRAMES
        return pairs


def record(directory, domain_id, kind: str) -> Run:
    """Runs two vehicles and all sensors until every topic has some messages."""
    sensors = KINDS[kind]
    emulator = ["--vehicles", "2", "--fragment-header", "a" if kind == "udp_header_a" else "b"]
    emulator += ["--cloud-format", "36:i16:label"]  # labels also of what nobody asked for
    # A calibration that a subscriber missed is sent again, for as long as this test may stand still.
    parameters = {"time.mode": "sim", "transport_mode": "file", "qos.camera_info.depth": 100}
    with System(directory, domain_id, sensors, parameters=parameters, emulator=emulator) as system:
        recording = Recording(system)
        topics = {**TF, **CLOCK, **DIAGNOSTICS, **IMU}
        for sensor in sensors:
            topics |= topics_of(sensor)
        recording.subscribe(topics)
        steady = [t for t in topics if t not in ("/tf_static", "/diagnostics")]
        recording.collect(FRAMES, steady, 120.0)
        # Messages of one tick, of every sensor: a network may lose some on the way to a subscriber.
        while not complete(recording, sensors):
            recording.collect_more(1, steady)
    return Run(recording, Truth(system.truth_file, system.truth_frames), sensors)


def complete(recording: Recording, sensors: list[Sensor]) -> bool:
    """Are there enough ticks of each sensor of which all its topics have a message, and one tick of all sensors?"""
    ticks = [set.intersection(*(set(recording.by_stamp(t)) for t in topics_of(sensor))) for sensor in sensors]
    return all(len(stamps) >= FRAMES for stamps in ticks) and bool(set.intersection(*ticks))


@pytest.fixture(scope="module")
def udp(tmp_path_factory, domain_id, simulator_ports) -> Run:
    return record(tmp_path_factory.mktemp("content_udp"), domain_id, "udp")


@pytest.fixture(scope="module")
def udp_header_a(tmp_path_factory, domain_id, simulator_ports) -> Run:
    return record(tmp_path_factory.mktemp("content_udp_a"), domain_id, "udp_header_a")


@pytest.fixture(scope="module")
def memory(tmp_path_factory, domain_id, simulator_ports) -> Run:
    return record(tmp_path_factory.mktemp("content_memory"), domain_id, "memory")


def each(*types: int, modes: tuple[int, ...] = (0, 1, 2, 3)):
    """Parametrises a test over the sensors of the given types, with the run each belongs to."""
    sensors = [(kind, sensor) for kind, all_of_kind in KINDS.items() for sensor in all_of_kind]
    chosen = [(kind, s) for kind, s in sensors if s.type in types and s.mode in modes]
    labels = [f"type{s.type}-mode{s.mode}" + ("-a" if kind == "udp_header_a" else "") for kind, s in chosen]
    return pytest.mark.parametrize(("kind", "sensor"), chosen, ids=labels)


@pytest.fixture
def run(kind: str, request) -> Run:
    """The run of this kind."""
    return request.getfixturevalue(kind)


every_run = pytest.mark.parametrize("kind", KINDS)


def is_jpeg(run: Run, sensor: Sensor) -> bool:
    """What the simulator really sent, by the bytes that passed through."""
    if sensor.mode in (SHARED_MEMORY, RAW):
        return False
    first = next(iter(run.recording.by_stamp(f"{main_topic(sensor)}/compressed").values()))
    return bytes(first.data[:2]) == b"\xff\xd8"


@each(*[t for t in IMAGE_TYPES if t != 2])
def test_images_have_the_rendered_pixels(run, sensor):
    for message, payload in run.pairs(sensor):
        assert message.encoding == ("bgr8" if sensor.type in COLOUR_TYPES else "mono8")
        assert (message.height, message.width) == sensor.shape
        found, rendered = pixels(message), true_image(sensor, payload)
        if is_jpeg(run, sensor):
            assert psnr(found, rendered) > 28, f"{psnr(found, rendered):.1f} dB"
        else:
            assert np.array_equal(found, rendered)


@each(2)
def test_depth_is_millimetres_with_0_for_invalid(run, sensor):
    for message, payload in run.pairs(sensor):
        assert message.encoding == "16UC1"
        counts = true_image(sensor, payload)
        assert np.array_equal(pixels(message), np.where(counts == 65535, 0, counts))
        assert (counts != 65535).mean() > 0.3, "the scene is empty"


@each(2)
def test_depth_in_metres_marks_no_return(run, sensor):
    for message, payload in run.pairs(sensor, f"{main_topic(sensor)}_float"):
        assert message.encoding == "32FC1"
        counts, found = true_image(sensor, payload), pixels(message)
        valid = counts != 65535
        assert np.allclose(found[valid], counts[valid] * np.float32(0.001), rtol=1e-6, atol=0)
        assert not np.isfinite(found[~valid]).any()


@each(*IMAGE_TYPES, modes=(1, 3))
def test_compressed_images_pass_through(run, sensor):
    """An independent decoder gets the rendered image (PNG) or exactly what the raw topic shows (JPEG)."""
    raw = run.recording.by_stamp(main_topic(sensor))
    for message, payload in run.pairs(sensor, f"{main_topic(sensor)}/compressed"):
        data = np.frombuffer(bytes(message.data), np.uint8)
        sent = run.truth.frames[sensor.seq][nanoseconds(message.header.stamp)]
        assert (len(data), zlib.crc32(data.tobytes())) == (sent.sent_length, sent.sent_crc32), (
            "not the bytes that were sent"
        )
        jpeg = bytes(data[:2]) == b"\xff\xd8"
        png = bytes(data[:4]) == b"\x89PNG"
        assert jpeg or png
        assert ("jpeg" in message.format) == jpeg and ("png" in message.format) == png, message.format
        decoded, rendered = cv2.imdecode(data, cv2.IMREAD_UNCHANGED), true_image(sensor, payload)
        if png:
            assert np.array_equal(decoded, rendered)
            continue
        assert sensor.type != 2, "depth must be lossless"
        assert psnr(decoded, rendered) > 28
        if (same := raw.get(nanoseconds(message.header.stamp))) is not None:
            # Two JPEG decoders may round differently.
            assert np.abs(decoded.astype(int) - pixels(same).astype(int)).max() <= 4


@each(2, modes=(1, 3))
def test_compressed_depth_is_what_its_transport_plugin_expects(run, sensor):
    for message, payload in run.pairs(sensor, f"{main_topic(sensor)}/compressedDepth"):
        assert message.format == "16UC1; compressedDepth png" or message.format == "16UC1; compressedDepth"
        decoded = cv2.imdecode(np.frombuffer(bytes(message.data)[12:], np.uint8), cv2.IMREAD_UNCHANGED)
        counts = true_image(sensor, payload)
        assert np.array_equal(decoded, np.where(counts == 65535, 0, counts))


@each(*IMAGE_TYPES)
def test_every_image_has_a_camera_info_with_its_header(run, sensor):
    images, infos = run.recording.by_stamp(main_topic(sensor)), run.recording.by_stamp(info_topic(sensor))
    both = set(images) & set(infos)
    # At the ends one may be missing that the other has; in between none.
    inner = [s for s in images if min(infos) <= s <= max(infos)]
    assert len(both) >= FRAMES and set(inner) <= both
    for stamp in both:
        image, info = images[stamp], infos[stamp]
        assert info.header == image.header
        assert (info.height, info.width) == (image.height, image.width) == sensor.shape
        k, p = np.array(info.k).reshape(3, 3), np.array(info.p).reshape(3, 4)
        half_width = sensor.width / 2
        if sensor.type == 8:
            assert info.distortion_model == "equidistant"
            focal = 0.915 * half_width / np.radians(sensor.fov / 2)  # as measured in the real simulator
        else:
            assert info.distortion_model == "plumb_bob"
            focal = half_width / np.tan(np.radians(sensor.fov / 2))
        assert not np.any(info.d)
        expected = [[focal, 0, half_width - 0.5], [0, focal, sensor.height / 2 - 0.5], [0, 0, 1]]
        assert np.allclose(k, expected, atol=1e-3)
        assert np.allclose(p, np.c_[k, [0, 0, 0]]) and np.array_equal(np.array(info.r).reshape(3, 3), np.eye(3))


@each(*CLOUD_TYPES)
def test_clouds_have_the_rendered_points(run, sensor):
    for message, payload in run.pairs(sensor):
        cloud = cloud_array(message)
        points, fourth = true_points(sensor, payload)
        if sensor.type == 21:  # the wire is NED, the map ENU
            points = points @ ENU_FROM_NED.T
        if sensor.type in (22, 23):  # without rings there is no place to keep for a missing point
            there = points.any(axis=1)
            points, fourth = points[there], fourth[there]
        assert cloud.size == len(points) > 100
        assert [field.name for field in message.fields] == ["x", "y", "z", "label"]
        found = np.stack([cloud["x"], cloud["y"], cloud["z"]], -1).reshape(-1, 3)
        finite = np.isfinite(found).all(axis=1)
        assert np.isnan(found[~finite]).all(), "a missing point is NaN in all three"
        assert not np.any(points[~finite]), "only points at the origin are missing"
        assert np.allclose(found[finite], points[finite], rtol=1e-6, atol=1e-6)
        assert message.is_dense == bool(finite.all())
        assert np.array_equal(cloud["label"].ravel()[finite], fourth[finite]), "label is the raw class, not scaled"
        assert set(np.unique(fourth[finite])) - {0}, "no class was rendered"


@each(20, 21)
def test_mechanical_lidars_are_organised_in_rings(run, sensor):
    for message, _ in run.pairs(sensor):
        assert (message.height, message.width) == sensor.shape


@each(5)
def test_the_range_is_the_rendered_distance(run, sensor):
    for message, payload in run.pairs(sensor):
        record = np.frombuffer(payload, RANGE_RECORD, 1)[0]
        if record["distance"] < sensor.params[0]:
            assert message.range == record["distance"]
        else:
            assert message.range == np.inf
        assert message.max_range == sensor.params[0]
        if DISTRO == "humble":  # the field came later
            assert not hasattr(message, "variance")
        else:
            assert message.variance == 0


@each(5)
def test_the_hit_of_the_range_finder_is_in_map(run, sensor):
    for message, payload in run.pairs(sensor, f"{main_topic(sensor)}/hit"):
        record = np.frombuffer(payload, RANGE_RECORD, 1)[0]
        assert message.header.frame_id == "map"
        if not message.detections:
            assert record["distance"] >= sensor.params[0]
            continue
        [hit] = message.detections
        p, c = hit.results[0].pose.pose.position, hit.bbox.center.position
        assert int(hit.results[0].hypothesis.class_id) == record["id"]
        assert np.allclose([p.x, p.y, p.z], ENU_FROM_NED @ record["hit"], atol=1e-5)
        assert np.allclose([c.x, c.y, c.z], ENU_FROM_NED @ record["box"], atol=1e-5)


@each(30)
def test_detections_are_the_rendered_boxes(run, sensor):
    total = 0
    for message, payload in run.pairs(sensor):
        boxes = true_list(payload, BOX_ENTRY)
        assert len(message.detections) == len(boxes)
        for detection, box in zip(message.detections, boxes, strict=True):
            centre, size = (box["min"] + box["max"]) / 2, box["max"] - box["min"]
            assert detection.results[0].hypothesis.class_id == str(box["id"])
            assert detection.results[0].hypothesis.score == pytest.approx(float(box["score"]))
            position = detection.bbox.center.position
            assert np.allclose([position.x, position.y], centre, atol=0.51)  # half a pixel: edges or centres
            assert np.allclose([detection.bbox.size_x, detection.bbox.size_y], size, atol=1e-3)
            total += 1
    print(f"{total} boxes compared")


@each(31)
def test_targets_are_the_rendered_positions(run, sensor):
    total = 0
    for message, payload in run.pairs(sensor):
        targets = true_list(payload, TARGET_ENTRY)
        assert [d.results[0].hypothesis.class_id for d in message.detections] == [str(t["id"]) for t in targets]
        total += len(targets)
    assert total >= FRAMES


# Small messages of every node, with the depths of rcl and rclcpp (rmw/qos_profiles.h, rcl/logging_rosout.h).
RCL_DEPTHS = {"/rosout": 1000, "/parameter_events": 1000}


@every_run
def test_every_topic_has_the_right_type_and_a_qos_that_every_reader_accepts(run):
    expected = {**TF, **CLOCK, **DIAGNOSTICS, **IMU}
    for sensor in run.sensors:
        expected |= topics_of(sensor)
    offers = run.recording.offers
    assert {t: offers[t].type for t in expected} == expected
    for topic, offer in offers.items():
        if topic == "/clock":
            continue
        assert offer.reliable, f"{topic} would not match a reliable reader"
        if not TELLS_DEPTH:
            continue
        if topic in RCL_DEPTHS:
            assert offer.depth == RCL_DEPTHS[topic], topic
        else:
            assert 1 <= offer.depth <= 100, f"{topic} keeps {offer.depth}"
        if expected.get(topic) == CAMERA_INFO:
            assert offer.depth == 100, f"{topic} keeps {offer.depth}, not what was set"
    assert offers["/tf_static"].transient_local
    assert not offers["/tf"].transient_local


@every_run
def test_sensors_of_one_tick_carry_the_identical_stamp(run):
    stamps = [set(run.recording.by_stamp(main_topic(sensor))) for sensor in run.sensors]
    common = set.intersection(*stamps)
    assert common, "no tick at which every sensor has a message with the same stamp"


@every_run
def test_stamps_of_a_topic_increase(run):
    for topic in [main_topic(s) for s in run.sensors] + ["/rflysim/imu"]:
        stamps = [nanoseconds(m.header.stamp) for m in run.recording.messages(topic)]
        assert all(a < b for a, b in zip(stamps, stamps[1:], strict=False)), topic


@every_run
def test_every_frame_id_has_a_path_to_map(run):
    frames = {}
    for sensor in run.sensors:
        for topic in topics_of(sensor):
            frames |= {m.header.frame_id: topic for m in run.recording.messages(topic)}
    frames |= {m.header.frame_id: "imu" for m in run.recording.messages("/rflysim/imu")}
    for frame, topic in frames.items():
        path = run.recording.transforms.path_to_root(frame)
        assert path[-1] == "map", f"{topic}: {' -> '.join(path)}"


@every_run
def test_images_are_in_optical_frames_and_the_rest_in_links(run):
    [colour, *_] = (sensor for sensor in run.sensors if sensor.type == 1)
    for sensor in run.sensors:
        [frame] = {m.header.frame_id for m in run.recording.messages(main_topic(sensor))}
        if sensor.type == 2:
            # Mount, size and field of view are those of the first colour camera: registered.
            assert frame == f"sensor{colour.seq}_optical_frame"
        elif sensor.type in (*IMAGE_TYPES, 30):
            assert frame == f"sensor{sensor.seq}_optical_frame"
        elif sensor.type == 21:
            assert frame == "map"
        elif sensor.type != 31:
            assert frame == f"sensor{sensor.seq}_link"


def test_the_clock_runs_with_the_simulation(udp):
    times = [nanoseconds(m.clock) for m in udp.recording.messages("/clock")]
    assert len(times) >= FRAMES
    assert all(a <= b for a, b in zip(times, times[1:], strict=False))
    # Never ahead of the simulation, by when a message was here; and not behind by more than the run.
    [start] = udp.truth.starts
    samples = udp.recording.samples["/clock"]
    assert all(time <= s.arrival * 1e9 - start["start_ns"] + 1e6 for time, s in zip(times, samples, strict=True))
    assert times[-1] > min(min(frames) for frames in udp.truth.frames.values())


def test_the_imu_is_the_true_motion_in_flu_at_200_hz(udp):
    messages = udp.recording.messages("/rflysim/imu")
    stamps = np.array([nanoseconds(m.header.stamp) for m in messages])
    assert np.median(np.diff(stamps)) == pytest.approx(5_000_000, abs=1_000)
    assert {m.header.frame_id for m in messages} == {"imu_link"}
    compared = 0
    for stamp, message in zip(stamps, messages, strict=True):
        assert message.orientation_covariance[0] == -1
        assert np.allclose(message.angular_velocity_covariance, np.diag([0.001] * 3).ravel())
        true = udp.truth.vehicles[1].get(int(stamp))
        if true is None:
            continue
        a, w = message.linear_acceleration, message.angular_velocity
        assert np.allclose([a.x, a.y, a.z], NWU_FROM_NED @ true["specific_force"], atol=1e-4)
        assert np.allclose([w.x, w.y, w.z], NWU_FROM_NED @ true["rate"], atol=1e-5)
        assert a.z > 5, "at rest a z-up accelerometer reads +g"
        compared += 1
    assert compared >= FRAMES // 2
