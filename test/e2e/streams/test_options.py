"""Parameters that change what a subscriber sees: encodings, names, frames, the vendor's depth, pairs of cameras, scans."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from geometry import FLU_FROM_FRD
from images import cloud_array, pixels
from recording import Recording
from system import System
from topics import CAMERA_INFO, CLOUD, IMAGE, TF
from truth import Truth, true_image

from sensors import COMPRESSED, LIDAR as LIDAR_PARAMS, RAW, with_defaults

COLOUR, FILE = with_defaults(0, 1, RAW), with_defaults(1, 1, COMPRESSED, position=(0.3, 0.2, 0.0))
DEPTH, LIDAR = with_defaults(2, 2, RAW), with_defaults(3, 20, COMPRESSED)
FISHEYE = with_defaults(4, 8, RAW, width=320, height=320)
SENSORS = [COLOUR, FILE, DEPTH, LIDAR, FISHEYE]
BASELINE = 0.2
PARAMETERS = {
    "time.mode": "sim",
    "transport_mode": "file",
    "topic_prefix": "/drone",
    "rgb.encoding": "rgb8",
    "depth.encoding": "vendor",
    "depth.publish_float": False,
    "compressed.enabled": False,
    "cloud.organized": False,
    "scan.source": "ring",
    "sensor1.stereo_left": 0,
    "frame_prefix": "uav{id}_",
    "map_frame": "world",
    "imu.frame": "frd",
    "imu.linear_acceleration_covariance": [0.1, 0.2, 0.3],
}
TOPICS = {
    "/drone/sensor0/img_rgb": IMAGE,
    "/drone/sensor0/camera_info": CAMERA_INFO,
    "/drone/sensor1/img_rgb": IMAGE,
    "/drone/sensor1/camera_info": CAMERA_INFO,
    "/drone/sensor2/img_depth": IMAGE,
    "/drone/sensor3/vehicle_lidar": CLOUD,
    "/drone/sensor3/scan": "sensor_msgs/msg/LaserScan",
    "/drone/sensor4/fisheye": IMAGE,
    "/drone/sensor4/camera_info": CAMERA_INFO,
    "/drone/imu": "sensor_msgs/msg/Imu",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory, domain_id, simulator_ports):
    directory = tmp_path_factory.mktemp("options")
    with System(directory, domain_id, SENSORS, parameters=PARAMETERS) as system:
        recording = Recording(system)
        recording.subscribe({**TF, **TOPICS})
        recording.collect(5, list(TOPICS))
        recording.collect(1, list(TF))
        recording.collect_transforms()
        images, imu = (f"/drone/{name}" for name in ("sensor0/img_rgb", "imu"))

        def common() -> set[int]:
            recording.harvest()
            return set(recording.by_stamp(images)) & set(recording.by_stamp(imu))

        # The truth of the IMU is written down with the frames.
        system.peer.wait_for(lambda: len(common()) >= 5, "samples of the IMU at ticks of the renderer", 60.0)
        recording.offers = {offer.topic: offer for offer in system.peer.offers()}
    return recording, Truth(system.truth_file, system.truth_frames)


@pytest.mark.parametrize("sensor", [COLOUR, FILE], ids=["raw", "PNG"])
def test_rgb8_has_the_channels_the_other_way_round(run, sensor):
    recording, truth = run
    for stamp, message in recording.by_stamp(f"/drone/sensor{sensor.seq}/img_rgb").items():
        assert message.encoding == "rgb8"
        rendered = true_image(sensor, truth.frames[sensor.seq][stamp].payload())
        assert np.array_equal(pixels(message), rendered[:, :, ::-1])


def test_vendor_depth_is_the_count_of_the_simulator(run):
    recording, truth = run
    for stamp, message in recording.by_stamp("/drone/sensor2/img_depth").items():
        assert message.encoding == "mono16"
        assert np.array_equal(pixels(message), true_image(DEPTH, truth.frames[DEPTH.seq][stamp].payload()))


def test_switched_off_topics_do_not_exist(run):
    recording, _ = run
    absent = [
        t
        for t in recording.offers
        if (t.endswith(("/compressed", "_float", "/compressedDepth")) and not t.startswith("/mavros/")) or "rflysim" in t
    ]
    assert absent == []


def test_an_unorganised_cloud_is_one_dense_row(run):
    recording, _ = run
    for message in recording.messages("/drone/sensor3/vehicle_lidar"):
        cloud = cloud_array(message)
        assert message.height == 1 and message.is_dense
        assert all(np.isfinite(cloud[name]).all() for name in "xyz")


def test_frames_have_the_prefix_and_the_root_its_name(run):
    recording, _ = run
    for topic in TOPICS:
        for frame in {m.header.frame_id for m in recording.messages(topic)}:
            assert frame.startswith("uav1_"), f"{topic}: {frame}"
            assert recording.transforms.path_to_root(frame)[-1] == "world"


def test_the_imu_can_stay_in_frd(run):
    recording, truth = run
    compared = 0
    for stamp, message in recording.by_stamp("/drone/imu").items():
        in_body = recording.transforms.lookup("uav1_base_link", message.header.frame_id, stamp)
        assert np.allclose(in_body[:3, :3], FLU_FROM_FRD), message.header.frame_id
        assert np.allclose(message.linear_acceleration_covariance, np.diag([0.1, 0.2, 0.3]).ravel())
        if true := truth.vehicles[1].get(stamp):
            a = message.linear_acceleration
            assert np.allclose([a.x, a.y, a.z], true["specific_force"], atol=1e-4)
            compared += 1
    assert compared >= 3


def together(recording, *topics: str) -> list[int]:
    """Stamps at which all `topics` have a message."""
    stamps = set.intersection(*(set(recording.by_stamp(topic)) for topic in topics))
    assert len(stamps) >= 3, topics
    return sorted(stamps)


def sampled(image: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Colours at places between pixels; NaN outside."""
    maps = (np.asarray(a, np.float32) for a in (u, v))
    return cv2.remap(image.astype(np.float32), *maps, cv2.INTER_LINEAR, borderValue=(np.nan,) * 3)


def mismatch(a: np.ndarray, b: np.ndarray) -> float:
    """Mean absolute difference where both are known."""
    both = np.isfinite(a) & np.isfinite(b)
    assert both.mean() > 0.3
    return float(np.abs(a - b)[both].mean())


def test_the_right_camera_of_a_pair_has_the_baseline_in_p_and_shows_what_it_says(run):
    recording, truth = run
    left, right, depth = "/drone/sensor0/img_rgb", "/drone/sensor1/img_rgb", "/drone/sensor2/img_depth"
    infos = "/drone/sensor0/camera_info", "/drone/sensor1/camera_info"
    images = [recording.by_stamp(topic) for topic in (left, right, depth, *infos)]
    v, u = np.mgrid[: COLOUR.height, : COLOUR.width].astype(float)
    found, wrong = [], []
    for stamp in together(recording, left, right, depth, *infos):
        a, b, counts, info_a, info_b = (by_stamp[stamp] for by_stamp in images)
        assert {m.header.frame_id for m in (a, b, info_a, info_b)} == {"uav1_sensor0_optical_frame"}
        p = np.array(info_b.p).reshape(3, 4)
        assert p[0, 3] == pytest.approx(-p[0, 0] * BASELINE)
        assert np.array_equal(np.delete(p, 3, 1), np.array(info_a.p).reshape(3, 4)[:, :3]) and info_a.p[3] == 0
        z = np.where(pixels(counts) == 65535, np.nan, pixels(counts) * 0.001)
        for shares, factor in ((found, 1.0), (wrong, 1.5), (wrong, -1.0)):
            # Near enough to have a disparity that a wrong baseline would falsify.
            disparity = np.where(z < 15.0, -p[0, 3] / z * factor, np.nan)
            moved = sampled(pixels(b), np.nan_to_num(u - disparity, nan=-9.0), v)
            near = np.isfinite(disparity) & (u - disparity >= 0)
            shares.append(float(np.nanmean(np.abs(moved - pixels(a).astype(float))[near])) if near.sum() > 500 else np.nan)
    print(f"mean difference {np.nanmean(found):.2f}, with another baseline {np.nanmean(wrong):.2f}")
    assert np.nanmean(found) < 0.3 * np.nanmean(wrong)


def test_registered_depth_is_in_the_frame_of_the_colour_camera(run):
    recording, _ = run
    assert {m.header.frame_id for m in recording.messages("/drone/sensor2/img_depth")} == {"uav1_sensor0_optical_frame"}


def test_a_scan_is_the_ring_of_the_cloud_nearest_to_the_horizon(run):
    recording, _ = run
    cloud_topic, scan_topic = "/drone/sensor3/vehicle_lidar", "/drone/sensor3/scan"
    clouds, scans = recording.by_stamp(cloud_topic), recording.by_stamp(scan_topic)
    low, high = LIDAR_PARAMS[4:6]
    elevations = low + (high - low) * np.arange(LIDAR.height) / LIDAR.height
    wanted = elevations[np.abs(elevations).argmin()]
    for stamp in together(recording, cloud_topic, scan_topic):
        scan, cloud = scans[stamp], cloud_array(clouds[stamp])
        assert scan.header == clouds[stamp].header
        x, y, z = (cloud[name].ravel().astype(float) for name in "xyz")
        ring = np.abs(np.degrees(np.arctan2(z, np.hypot(x, y))) - wanted) < 0.5
        ranges = np.array(scan.ranges)
        assert len(ranges) == LIDAR.width and scan.angle_min == pytest.approx(-np.pi)
        assert scan.angle_increment == pytest.approx(2 * np.pi / LIDAR.width)
        assert scan.angle_max == pytest.approx(np.pi - 2 * np.pi / LIDAR.width)
        assert (scan.time_increment, scan.range_max) == (0.0, LIDAR_PARAMS[0])
        assert scan.scan_time == pytest.approx(1 / LIDAR.rate)
        column = np.round((np.arctan2(y[ring], x[ring]) - scan.angle_min) / scan.angle_increment).astype(int)
        expected = np.full(LIDAR.width, np.inf)
        expected[column % LIDAR.width] = np.hypot(x[ring], y[ring])
        assert np.isfinite(expected).sum() > LIDAR.width // 4
        assert np.allclose(ranges, expected, atol=1e-4)


def test_the_fisheye_calibration_projects_the_scene_to_where_the_image_shows_it(run):
    """OpenCV carries the pixels of a pinhole camera at the same place into the fisheye image."""
    recording, _ = run
    topics = "/drone/sensor0/img_rgb", "/drone/sensor0/camera_info", "/drone/sensor4/fisheye", "/drone/sensor4/camera_info"
    messages = [recording.by_stamp(topic) for topic in topics]
    found, wrong = [], []
    for stamp in together(recording, *topics):
        pinhole, pinhole_info, fisheye, info = (by_stamp[stamp] for by_stamp in messages)
        assert info.distortion_model == "equidistant" and len(info.d) == 4
        v, u = np.mgrid[: COLOUR.height, : COLOUR.width].astype(float)
        rays = np.stack([u, v, np.ones_like(u)], -1) @ np.linalg.inv(np.array(pinhole_info.k).reshape(3, 3)).T
        for shares, factor in ((found, 1.0), (wrong, 1.1), (wrong, 0.9)):
            k = np.array(info.k).reshape(3, 3) * np.array([[factor, 1, 1], [1, factor, 1], [1, 1, 1]])
            places, _ = cv2.fisheye.projectPoints(rays.reshape(-1, 1, 3), np.zeros(3), np.zeros(3), k, np.array(info.d))
            at = places.reshape(*u.shape, 2)
            shares.append(mismatch(sampled(pixels(fisheye), at[..., 0], at[..., 1]), pixels(pinhole).astype(float)))
    print(f"mean difference {np.mean(found):.2f}, with another focal length {np.mean(wrong):.2f}")
    assert np.mean(found) < 0.3 * np.mean(wrong)


def test_the_fisheye_calibration_is_the_model_of_the_simulator(run):
    """r = 0.915 * W / FOV * theta, as measured in the real simulator, about the middle of the image, for every direction that OpenCV projects."""
    recording, _ = run
    info = recording.messages("/drone/sensor4/camera_info")[0]
    theta, around = (a.ravel() for a in np.meshgrid(np.radians(np.linspace(0, 89.9, 200)), np.radians(np.arange(0, 360, 7))))
    rays = np.stack([np.sin(theta) * np.cos(around), np.sin(theta) * np.sin(around), np.cos(theta)], -1)
    k, d = np.array(info.k).reshape(3, 3), np.array(info.d)
    found, _ = cv2.fisheye.projectPoints(rays.reshape(-1, 1, 3), np.zeros(3), np.zeros(3), k, d)
    radius = 0.915 * FISHEYE.width / np.radians(FISHEYE.fov) * theta
    wanted = np.stack([radius * np.cos(around), radius * np.sin(around)], -1) + (FISHEYE.width - 1) / 2
    worst = np.abs(found.reshape(-1, 2) - wanted).max()
    print(f"largest reprojection error {worst:.1e} px")
    assert worst < 1e-6
