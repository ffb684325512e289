"""Topics as the sources of their consumers want them: names, types, fields, units, order, QoS.

| consumer | version read |
|---|---|
| FAST-LIO2 | Ericsii/FAST_LIO_ROS2 b6ebca0, src/preprocess.{h,cpp}, src/laserMapping.cpp, src/IMU_Processing.hpp |
| octomap_server | OctoMap/octomap_mapping fb6ceb6 (2.1.0), src/octomap_server.cpp |
| OpenVINS | rpng/open_vins 6948812 (2.7), ov_msckf/src/ros/ROS2Visualizer.cpp |
| mav_controllers_ros | mzahana/mav_controllers_ros c721e6a, src/geometric_mavros_node.cpp and its launch files |
"""

from __future__ import annotations

import numpy as np
import pytest
from backend import HAS_LIVOX
from geometry import nanoseconds
from recording import Recording
from system import System
from topics import CLOUD, IMAGE, IMU, TF

from sensors import COMPRESSED, RAW, with_defaults

LIVOX = with_defaults(0, 23, COMPRESSED, rate=10)
OUSTER = with_defaults(1, 20, COMPRESSED, rate=10)
PLAIN = with_defaults(2, 20, COMPRESSED, rate=10)
LEFT, RIGHT = with_defaults(3, 3, RAW, rate=20), with_defaults(4, 3, RAW, rate=20, position=(0.3, 0.2, 0.0))
CUSTOM = f"{LIVOX.topic}/custom"
PARAMETERS = {"transport_mode": "file", "sensor1.cloud_layout": "ouster", "time.mode": "sim"}
MAVROS = {
    "/mavros/local_position/pose": "geometry_msgs/msg/PoseStamped",
    "/mavros/local_position/velocity_local": "geometry_msgs/msg/TwistStamped",
    "/mavros/imu/data": "sensor_msgs/msg/Imu",
    "/mavros/state": "mavros_msgs/msg/State",
}
TOPICS = {
    **({CUSTOM: "livox_ros_driver2/msg/CustomMsg"} if HAS_LIVOX else {}),
    OUSTER.topic: CLOUD,
    PLAIN.topic: CLOUD,
    LEFT.topic: IMAGE,
    RIGHT.topic: IMAGE,
    **IMU,
    **TF,
    **MAVROS,
}
FLOAT32, UINT8, UINT16, UINT32 = 7, 2, 4, 6
"""Of sensor_msgs/PointField."""
needs_livox = pytest.mark.skipif(not HAS_LIVOX, reason="livox_ros_driver2 is not in the workspace of the bridge")


@pytest.fixture(scope="module")
def seen(tmp_path_factory, domain_id, simulator_ports):
    """A vehicle at rest, level, and what it publishes."""
    sensors = [LIVOX, OUSTER, PLAIN, LEFT, RIGHT]
    emulator = ["--hover", "--livox-pattern", "rosette"]
    directory = tmp_path_factory.mktemp("contracts")
    with System(directory, domain_id, sensors, parameters=PARAMETERS, emulator=emulator, keep_frames=False) as system:
        recording = Recording(system)
        recording.subscribe(TOPICS)
        recording.collect(10, [t for t in TOPICS if t.startswith("/rflysim/sensor")])
        recording.collect(2, [*MAVROS])
        recording.collect_transforms()
        yield recording


@pytest.mark.parametrize(
    ("topic", "reliable"),
    [
        pytest.param(CUSTOM, True, marks=needs_livox),  # FAST-LIO2: depth 20
        (OUSTER.topic, False),  # FAST-LIO2: sensor data
        ("/rflysim/imu", True),  # FAST-LIO2: depth 10
        (PLAIN.topic, False),  # octomap_server: sensor data
        (LEFT.topic, True),  # OpenVINS, two cameras: message_filters' default
        ("/mavros/local_position/pose", False),
        ("/mavros/local_position/velocity_local", False),
        ("/mavros/imu/data", False),
        ("/mavros/state", True),
    ],
)
def test_a_consumers_reader_matches(seen, topic, reliable):
    offer = seen.offers[topic]
    assert offer.type == TOPICS[topic]
    # All of them read volatile, which any durability serves.
    assert offer.reliable or not reliable


@needs_livox
def test_fast_lio_takes_the_points_of_a_livox(seen):
    for message in seen.messages(CUSTOM):
        points = message.points
        assert message.point_num == len(points) > 1000
        assert {point.line for point in points} <= set(range(4)), "scan_line is 4 in mid360.yaml"
        assert {point.tag & 0x30 for point in points} <= {0x00, 0x10}
        # In ms of a float after the header's stamp; the last one tells the length of the scan.
        assert max(point.offset_time for point in points) < 100_000_000
        assert message.timebase == nanoseconds(message.header.stamp)
        ranges = np.array([[point.x, point.y, point.z] for point in points])
        assert np.isfinite(ranges).all()
        assert (np.linalg.norm(ranges, axis=1) > 0).all(), "no return is no point"
        # A point that equals the one before is dropped.
        assert (np.abs(np.diff(ranges, axis=0)).max(axis=1) > 1e-7).mean() > 0.99


def test_fast_lio_takes_the_points_of_an_ouster(seen):
    wanted = {"x": FLOAT32, "y": FLOAT32, "z": FLOAT32, "intensity": FLOAT32, "t": UINT32}
    wanted |= {"reflectivity": UINT16, "ring": UINT8, "ambient": UINT16, "range": UINT32}
    for cloud in seen.messages(OUSTER.topic):
        # PCL matches by name and type, and warns of each that it misses.
        assert {field.name: field.datatype for field in cloud.fields} == wanted
        assert all(field.count == 1 for field in cloud.fields)
        points = read(cloud, wanted)
        assert np.isfinite(np.stack([points[axis] for axis in "xyz"])).all(), "the handler looks for no NaN"
        assert points["ring"].max() < 64, "scan_line"
        assert points["t"].max() < 100_000_000, "timestamp_unit is ns"
        metres = np.linalg.norm([points[axis] for axis in "xyz"], axis=0)
        assert np.allclose(points["range"] / 1000, metres, atol=0.001)


def test_fast_lio_takes_the_imu(seen):
    samples = seen.messages("/rflysim/imu")
    assert len(samples) > 20, "it begins with the mean of more than ten, at rest"
    stamps = np.array([nanoseconds(sample.header.stamp) for sample in samples])
    assert (np.diff(stamps) > 0).all(), "an earlier one clears its buffer"
    for sample in samples:
        a, w = sample.linear_acceleration, sample.angular_velocity
        assert np.allclose([a.x, a.y, a.z], [0, 0, 9.81], atol=0.02), "m/s2, FLU, upwards at rest"
        assert np.allclose([w.x, w.y, w.z], 0, atol=1e-3), "rad/s"
    scans = [nanoseconds(message.header.stamp) for message in seen.messages(OUSTER.topic)]
    assert stamps.max() >= scans[-2], "a scan waits for a sample that is as new"
    assert set(scans[1:-1]) & set(stamps.tolist()), "of one clock"


def test_octomap_server_takes_the_cloud_and_knows_where_it_was(seen):
    for cloud in seen.messages(PLAIN.topic):
        types = {field.name: field.datatype for field in cloud.fields}
        assert {types[axis] for axis in "xyz"} == {FLOAT32}
    cloud = seen.messages(PLAIN.topic)[2]
    place = seen.transforms.lookup("map", cloud.header.frame_id, cloud.header.stamp)
    # 2 m up at north -6 m, and the lidar 0.3 m ahead; north is y.
    assert np.allclose(place[:3, 3], [0, -5.7, 2], atol=0.01)


def test_open_vins_takes_the_images(seen):
    left, right = (seen.by_stamp(sensor.topic) for sensor in (LEFT, RIGHT))
    assert len(set(left) & set(right)) >= 8, "a pair has one stamp"
    for image in (*left.values(), *right.values()):
        assert image.encoding == "mono8"
        assert (image.width, image.height, image.step) == (LEFT.width, LEFT.height, LEFT.width)
    stamps = {nanoseconds(sample.header.stamp) for sample in seen.messages("/rflysim/imu")}
    assert set(left) & stamps, "images and IMU have one clock"


def test_a_controller_for_mavros_is_heard(seen):
    wants = [want for want in seen.system.peer.wants() if want.topic == "/mavros/setpoint_raw/attitude"]
    assert [want.type for want in wants] == ["mavros_msgs/msg/AttitudeTarget"]
    assert not wants[0].transient_local, "its publisher is volatile"
    pose, velocity = (seen.messages(f"/mavros/local_position/{name}")[-1] for name in ("pose", "velocity_local"))
    # ApproximateTime of 10 pairs them.
    assert abs(nanoseconds(pose.header.stamp) - nanoseconds(velocity.header.stamp)) < 1_000_000_000
    q = seen.messages("/mavros/imu/data")[-1].orientation
    p = pose.pose.orientation
    assert abs(q.w * p.w + q.x * p.x + q.y * p.y + q.z * p.z) > 0.9999, "it turns by the difference of their yaws"


def read(cloud, types: dict[str, int]) -> np.ndarray:
    """The points of a cloud, by the offsets that it tells."""
    formats = {FLOAT32: "<f4", UINT8: "u1", UINT16: "<u2", UINT32: "<u4"}
    fields = {field.name: (formats[types[field.name]], field.offset) for field in cloud.fields}
    names, kinds = list(fields), list(fields.values())
    layout = {"names": names, "formats": [k for k, _ in kinds], "offsets": [o for _, o in kinds], "itemsize": cloud.point_step}
    return np.frombuffer(bytes(cloud.data), np.dtype(layout))
