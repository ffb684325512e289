"""Do all sensors of one tick agree about where things are, through TF and camera_info?

Every comparison uses only what a subscriber has: messages, /tf, /tf_static, camera_info; the mathematics is in
geometry.py. The absolute pose is compared with the emulator's truth once, because no relative comparison sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from geometry import (
    ENU_FROM_NED,
    FLU_FROM_FRD,
    NWU_FROM_NED,
    Agreement,
    angle_between,
    apply,
    compare_with_depth,
    project,
    rigid,
    rotation_from_euler,
)
from images import cloud_array, metres, xyz
from recording import Recording
from system import System
from topics import CAMERA_INFO, TF, info_topic, main_topic, topics_of
from truth import Truth

from sensors import COMPRESSED, RAW, Sensor

WIDTH, HEIGHT, RATE = 320, 240, 5
DEPTH_STEP = 0.001
LIDAR_RANGE = 60.0
POINT_STEP = LIDAR_RANGE / 32767
LIDAR_PARAMS = (LIDAR_RANGE, 0.0, -180.0, 180.0, -50.0, 30.0)
QUATERNION = (0.9238795325112867, 0.0, -0.22095, 0.31246)  # w, x, y, z, normalised below
HALF_VEHICLE = np.array([0.4, 0.4, 0.15])


def unit(q):
    """Normalises a quaternion."""
    return tuple(float(v) for v in np.array(q) / np.linalg.norm(q))


def depth_camera(seq: int, **changes) -> Sensor:
    return Sensor(
        seq, 2, RAW, **{"width": WIDTH, "height": HEIGHT, "rate": RATE, "params": (0.2, 60.0, DEPTH_STEP), **changes}
    )


def lidar(seq: int, type_id: int, **changes) -> Sensor:
    base = {"width": 360, "height": 40, "rate": RATE, "params": LIDAR_PARAMS}
    return Sensor(seq, type_id, COMPRESSED, **{**base, **changes})


CAMERAS = {
    "straight": depth_camera(0),
    "pitched, 60 degrees": depth_camera(1, angles=(0.0, -30.0, 0.0), fov=60.0, position=(0.2, 0.1, -0.1)),
    "yawed and rolled, 120 degrees": depth_camera(2, angles=(10.0, 5.0, 70.0), fov=120.0, position=(-0.1, 0.3, 0.05)),
    "quaternion": depth_camera(3, quaternion=unit(QUATERNION), position=(0.0, -0.4, -0.3)),
    "vehicle bottom": depth_camera(4, mount=1, angles=(0.0, -60.0, -20.0), position=(0.1, 0.0, 0.05)),
    "ground": depth_camera(5, mount=2, angles=(0.0, -15.0, 30.0), position=(-15.0, -12.0, -6.0)),
    "level": depth_camera(6, mount=3, angles=(0.0, -25.0, 45.0), position=(0.0, 0.0, 0.3)),
    "on another sensor": depth_camera(
        7, mount=4, vehicle=1, angles=(5.0, -10.0, 35.0), position=(0.1, 0.05, 0.02), fov=75.0
    ),
}
LIDARS = {
    "mechanical": lidar(8, 20, position=(0.0, 0.0, -0.3)),
    "mechanical, turned": lidar(9, 20, angles=(20.0, -15.0, 50.0), position=(0.2, -0.2, -0.2)),
    "Mid-40": lidar(
        11, 22, width=100, height=60, fov=70.432, params=(LIDAR_RANGE, 2.956, 1.4, 1.18, 10.0, 5.0, 0.0),
        angles=(0.0, -20.0, 0.0), position=(0.25, 0.0, 0.0),
    ),
    "Mid-360": lidar(12, 23, params=(LIDAR_RANGE,), position=(0.0, 0.0, -0.25), angles=(0.0, -35.0, 0.0)),
}  # fmt: skip
WORLD_LIDAR = lidar(10, 21, position=(0.0, 0.0, -0.3))
DEPTH_CLOUD = Sensor(
    13, 7, COMPRESSED, width=WIDTH, height=HEIGHT, rate=RATE, angles=(0.0, -30.0, 0.0), fov=60.0,
    position=(0.2, 0.1, -0.1), params=(60.0, 4.0),
)  # fmt: skip
RANGES = {
    "straight": Sensor(14, 5, COMPRESSED, rate=RATE, params=(60.0,)),
    "pitched": Sensor(15, 5, COMPRESSED, rate=RATE, params=(60.0,), angles=(0.0, -40.0, 15.0)),
    "in the image centre": Sensor(
        16, 5, COMPRESSED, rate=RATE, params=(60.0,), mount=4, vehicle=1, position=(0.0, 0.0, 0.0)
    ),
}
VIEW = {
    "width": 640,
    "height": 480,
    "rate": RATE,
    "mount": 2,
    "fov": 100.0,
    "angles": (0.0, -25.0, 0.0),
    "position": (-16.0, 0.0, -9.0),
}
BOXES = Sensor(17, 30, COMPRESSED, params=(80.0, 8.0), **VIEW)
TARGETS = Sensor(18, 31, COMPRESSED, rate=RATE, params=(80.0, 8.0), angles=(0.0, -10.0, 20.0))

# Carried by the second vehicle, so that the emulator writes down its pose at every tick.
WITNESS = Sensor(19, 5, COMPRESSED, rate=RATE, params=(60.0,), vehicle=2)

EVERYTHING = [*CAMERAS.values(), *LIDARS.values(), WORLD_LIDAR, DEPTH_CLOUD, *RANGES.values(), BOXES, TARGETS, WITNESS]


@dataclass
class Flight:
    """One recorded run."""

    recording: Recording
    truth: Truth
    world_from_ned: np.ndarray
    sensors: list[Sensor]

    def ticks(self, *topics: str) -> list[int]:
        """Stamps at which all `topics` have a message."""
        return common_ticks(self.recording, topics)

    def lookup(self, target: str, source: str, stamp: int) -> np.ndarray:
        return self.recording.transforms.lookup(target, source, stamp)


def common_ticks(recording: Recording, topics: Iterable[str]) -> list[int]:
    """Stamps at which all `topics` have a message, and for which there are transforms: true states come a hundred times a
    second, and what was lost on the way to this program is not the bridge's."""
    common = set.intersection(*(set(recording.by_stamp(topic)) for topic in topics))
    return sorted(stamp for stamp in common if recording.transforms.is_known(stamp, within=25_000_000))


def record(directory, domain_id: int, sensors: list[Sensor], convention: str, count: int) -> Flight:
    """Flies a lap with two vehicles and records `count` ticks of every sensor."""
    parameters = {
        "time.mode": "sim",
        "world_convention": convention,
        "transport_mode": "file",
        "vehicles": [1, 2],
        "vehicle_bottom_m": float(HALF_VEHICLE[2]),
        # So much can be sent again to a subscriber that got nothing done for seconds.
        "qos.tf.depth": 1000,
    }
    with System(directory, domain_id, sensors, parameters=parameters, emulator=["--vehicles", "2"]) as system:
        recording, vehicles = Recording(system), {f"copter{n}/base_link" for n in (1, 2)}
        # First, so that there are transforms for all that comes after.
        recording.subscribe(TF)
        system.peer.wait_for(lambda: recording.harvest() or vehicles <= recording.transforms.edges.keys(), "vehicles")
        topics = {}
        for sensor in sensors:
            topics |= needed_topics(sensor)
        recording.subscribe(topics)
        recording.collect(count, list(topics), 120.0)
        while len(common_ticks(recording, topics)) < count:
            recording.collect_more(1, list(topics))
        recording.collect_transforms()
    return Flight(
        recording,
        Truth(system.truth_file, system.truth_frames),
        ENU_FROM_NED if convention == "enu" else NWU_FROM_NED,
        sensors,
    )


def needed_topics(sensor: Sensor) -> dict[str, str]:
    """The topics of a sensor that geometry needs."""
    topics = {main_topic(sensor): topics_of(sensor)[main_topic(sensor)]}
    if sensor.type == 2:
        topics[info_topic(sensor)] = CAMERA_INFO
    return topics


@pytest.fixture(scope="module")
def flight(tmp_path_factory, domain_id, simulator_ports) -> Flight:
    """All sensors, ENU; half a lap, so that wherever it begins something is before the nose often enough: 17 times at least,
    measured over all beginnings (of 24 ticks it was 9)."""
    return record(tmp_path_factory.mktemp("geometry_enu"), domain_id, EVERYTHING, "enu", count=40)


@pytest.fixture(scope="module")
def flight_nwu(tmp_path_factory, domain_id, simulator_ports) -> Flight:
    """A few sensors, NWU."""
    sensors = [CAMERAS["straight"], CAMERAS["ground"], LIDARS["mechanical"], WORLD_LIDAR, WITNESS]
    return record(tmp_path_factory.mktemp("geometry_nwu"), domain_id, sensors, "nwu", count=8)


Distortion = Callable[[np.ndarray], np.ndarray]


def agreement(
    flight: Flight, source: str, camera: Sensor, points_of, *, point_step: float, distort: Distortion = lambda t: t
):
    """Carries points of the messages of `source` into the camera and compares them with its depth image.

    `distort` falsifies the transform; the negative controls use it.
    """
    calibration = info_topic(camera)
    clouds, images, infos = (flight.recording.by_stamp(t) for t in (source, camera.topic, calibration))
    compared = hidden = agreeing = 0
    worst = 0.0
    for stamp in flight.ticks(source, camera.topic, calibration):
        cloud, image = clouds[stamp], images[stamp]
        transform = distort(flight.lookup(image.header.frame_id, cloud.header.frame_id, stamp))
        result = compare_with_depth(
            apply(transform, points_of(cloud)),
            metres(image),
            infos[stamp],
            depth_step=DEPTH_STEP,
            point_step=point_step,
        )
        compared += result.compared
        hidden += result.hidden
        agreeing += result.agreeing
        worst = max(worst, result.worst if result.agreeing else 0.0)
    return Agreement(compared, hidden, agreeing, worst)


def yawed(transform: np.ndarray) -> np.ndarray:
    """A mount that is wrong by 2 degrees of yaw (about the optical frame's vertical axis)."""
    return rigid(rotation_from_euler(0, np.radians(2.0), 0), [0, 0, 0]) @ transform


def swapped(transform: np.ndarray) -> np.ndarray:
    """Two axes exchanged."""
    return rigid(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]], float), [0, 0, 0]) @ transform


# A lidar and a camera that look at the same things.
PAIRS = [(camera, name) for camera in CAMERAS for name in ("mechanical", "mechanical, turned")] + [
    ("straight", "Mid-40"),
    ("pitched, 60 degrees", "Mid-40"),
    ("straight", "Mid-360"),
    ("vehicle bottom", "Mid-360"),
    ("quaternion", "Mid-360"),
]


@pytest.mark.parametrize(("camera", "name"), PAIRS)
def test_lidar_points_land_on_the_depth_image(flight, camera, name):
    result = agreement(flight, LIDARS[name].topic, CAMERAS[camera], xyz, point_step=POINT_STEP)
    print(f"{name} lidar in the {camera} camera: {result}")
    assert result.compared >= 300, result
    assert result.share >= 0.99, result


@pytest.mark.parametrize("camera", CAMERAS)
@pytest.mark.parametrize("wrong", [yawed, swapped])
def test_a_wrong_transform_makes_the_agreement_collapse(flight, camera, wrong):
    result = agreement(flight, LIDARS["mechanical"].topic, CAMERAS[camera], xyz, point_step=POINT_STEP, distort=wrong)
    assert result.share < 0.6, result


@pytest.mark.parametrize("camera", ["straight", "ground"])
def test_lidar_points_land_on_the_depth_image_in_nwu(flight_nwu, camera):
    result = agreement(flight_nwu, LIDARS["mechanical"].topic, CAMERAS[camera], xyz, point_step=POINT_STEP)
    assert result.compared >= 300, result
    assert result.share >= 0.99, result


def test_world_lidar_points_land_on_the_depth_image(flight, flight_nwu):
    for run in (flight, flight_nwu):
        for camera in ("straight", "ground"):
            result = agreement(run, WORLD_LIDAR.topic, CAMERAS[camera], xyz, point_step=POINT_STEP)
            assert result.compared >= 300, result
            assert result.share >= 0.99, result


@pytest.mark.parametrize("run", ["flight", "flight_nwu"])
def test_the_world_lidar_is_the_vehicle_lidar_through_tf(run, request):
    flight = request.getfixturevalue(run)
    local, world = LIDARS["mechanical"].topic, WORLD_LIDAR.topic
    ticks = flight.ticks(local, world)
    assert len(ticks) >= 5
    clouds, worlds = flight.recording.by_stamp(local), flight.recording.by_stamp(world)
    for stamp in ticks:
        a, b = clouds[stamp], worlds[stamp]
        assert b.header.frame_id == "map"
        transform = flight.lookup("map", a.header.frame_id, stamp)
        p, q = (cloud_array(cloud).ravel() for cloud in (a, b))
        p, q = (np.stack([c["x"], c["y"], c["z"]], -1).astype(float) for c in (p, q))
        both = np.isfinite(p).all(axis=1) & np.isfinite(q).all(axis=1)
        assert both.sum() > 3000
        # One step per axis in each of the two quantisations.
        assert np.abs(apply(transform, p[both]) - q[both]).max() < 2.8 * POINT_STEP


def test_the_depth_cloud_matches_the_depth_image(flight):
    camera = CAMERAS["pitched, 60 degrees"]
    result = agreement(flight, DEPTH_CLOUD.topic, camera, xyz, point_step=60.0 / 32767)
    assert result.compared >= 5000, result
    assert result.share >= 0.99, result
    assert agreement(flight, DEPTH_CLOUD.topic, camera, xyz, point_step=60.0 / 32767, distort=yawed).share < 0.6


@pytest.mark.parametrize("name", RANGES)
def test_the_range_reading_matches_the_depth_image(flight, name):
    """A range is along x of its frame; the point it means lies on every depth image that sees it."""
    topic = main_topic(RANGES[name])

    def point(message) -> np.ndarray:
        if message.range == np.inf:  # nothing within reach
            return np.empty((0, 3))
        assert message.min_range <= message.range <= message.max_range, message
        return np.array([[message.range, 0.0, 0.0]], float)

    results = {camera: agreement(flight, topic, sensor, point, point_step=1e-3) for camera, sensor in CAMERAS.items()}
    assert sum(r.compared for r in results.values()) >= 8, results
    assert sum(r.agreeing for r in results.values()) >= 0.95 * sum(r.compared for r in results.values()), results


def test_the_range_finder_on_a_camera_measures_its_image_centre(flight):
    """Mount type 4 with zero position and angle, as the vendor describes it."""
    camera = CAMERAS["pitched, 60 degrees"]
    topic = main_topic(RANGES["in the image centre"])
    calibration = info_topic(camera)
    messages, images, infos = (flight.recording.by_stamp(t) for t in (topic, camera.topic, calibration))
    for stamp in flight.ticks(topic, camera.topic, calibration):
        transform = flight.lookup(images[stamp].header.frame_id, messages[stamp].header.frame_id, stamp)
        u, v, _ = project(apply(transform, np.array([[5.0, 0.0, 0.0]])), infos[stamp])
        assert (u[0], v[0]) == pytest.approx(((WIDTH - 1) / 2, (HEIGHT - 1) / 2), abs=1e-3)


@pytest.mark.parametrize("run", ["flight", "flight_nwu"])
def test_tf_is_the_true_pose_of_the_vehicle(run, request):
    flight = request.getfixturevalue(run)
    compared = 0
    for stamp in flight.ticks(LIDARS["mechanical"].topic):
        for vehicle in (1, 2):
            true = flight.truth.vehicle_pose(vehicle, stamp)
            if true is None:
                continue
            position, rotation = true
            found = flight.lookup("map", f"copter{vehicle}/base_link", stamp)
            expected = rigid(flight.world_from_ned @ rotation @ FLU_FROM_FRD, flight.world_from_ned @ position)
            # The wire carries angles as f32.
            assert np.abs(found[:3, 3] - expected[:3, 3]).max() < 1e-4
            assert angle_between(found, expected) < 1e-5
            compared += 1
    assert compared >= 10


def vehicle_corners(flight: Flight, vehicle: int, stamp: int) -> np.ndarray | None:
    """The eight corners of a vehicle's body in map."""
    true = flight.truth.vehicle_pose(vehicle, stamp)
    if true is None:
        return None
    position, rotation = true
    corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * HALF_VEHICLE
    return (corners @ rotation.T + position) @ flight.world_from_ned.T


def test_boxes_surround_the_projected_true_pose_of_the_vehicles(flight):
    topic = main_topic(BOXES)
    # A detector has no camera_info; its pixels are those of a pinhole camera of its size and field of view.
    focal = BOXES.width / 2 / np.tan(np.radians(BOXES.fov / 2))
    info = SimpleNamespace(p=[focal, 0, BOXES.width / 2 - 0.5, 0, 0, focal, BOXES.height / 2 - 0.5, 0, 0, 0, 1, 0])
    compared = 0
    messages = flight.recording.by_stamp(topic)
    for stamp in flight.ticks(topic):
        message = messages[stamp]
        for detection in message.detections:
            vehicle = int(detection.results[0].hypothesis.class_id)
            corners = vehicle_corners(flight, vehicle, stamp)
            if corners is None:
                continue
            u, v, z = project(apply(flight.lookup(message.header.frame_id, "map", stamp), corners), info)
            assert (z > 0).all()
            box, centre = detection.bbox, detection.bbox.center.position
            found = np.array(
                [
                    centre.x - box.size_x / 2,
                    centre.y - box.size_y / 2,
                    centre.x + box.size_x / 2,
                    centre.y + box.size_y / 2,
                ]
            )
            # The body can reach out of the image; a box cannot.
            expected = np.array([u.min(), v.min(), u.max(), v.max()])
            expected = np.clip(expected, -0.5, np.array([BOXES.width, BOXES.height] * 2) - 0.5)
            assert np.abs(found - expected).max() <= 1.5, (stamp, vehicle, found, expected)
            compared += 1
    assert compared >= 10


def test_targets_are_the_true_positions_of_the_other_vehicles(flight):
    topic = main_topic(TARGETS)
    compared = 0
    messages = flight.recording.by_stamp(topic)
    for stamp in flight.ticks(topic):
        message = messages[stamp]
        for detection in message.detections:
            vehicle = int(detection.results[0].hypothesis.class_id)
            true = flight.truth.vehicle_pose(vehicle, stamp)
            if true is None:
                continue
            expected = flight.world_from_ned @ true[0]
            p = detection.bbox.center.position
            found = apply(flight.lookup("map", message.header.frame_id, stamp), np.array([[p.x, p.y, p.z]]))[0]
            assert np.abs(found - expected).max() < 1e-3, (vehicle, found, expected)
            compared += 1
    assert compared >= 10
