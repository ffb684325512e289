"""Parameters that change what a subscriber sees: encodings, names, frames, the vendor's depth."""

from __future__ import annotations

import numpy as np
import pytest
from geometry import FLU_FROM_FRD
from images import cloud_array, pixels
from recording import Recording
from system import System
from topics import CAMERA_INFO, CLOUD, IMAGE, TF
from truth import Truth, true_image

from sensors import COMPRESSED, RAW, with_defaults

COLOUR, FILE = with_defaults(0, 1, RAW), with_defaults(1, 1, COMPRESSED)
DEPTH, LIDAR = with_defaults(2, 2, RAW), with_defaults(3, 20, COMPRESSED)
SENSORS = [COLOUR, FILE, DEPTH, LIDAR]
PARAMETERS = {
    "time.mode": "sim",
    "transport_mode": "file",
    "topic_prefix": "/drone",
    "rgb.encoding": "rgb8",
    "depth.encoding": "vendor",
    "depth.publish_float": False,
    "compressed.enabled": False,
    "cloud.organized": False,
    "frame_prefix": "uav{id}_",
    "map_frame": "world",
    "imu.frame": "frd",
    "imu.linear_acceleration_covariance": [0.1, 0.2, 0.3],
}
TOPICS = {
    "/drone/sensor0/img_rgb": IMAGE,
    "/drone/sensor0/camera_info": CAMERA_INFO,
    "/drone/sensor1/img_rgb": IMAGE,
    "/drone/sensor2/img_depth": IMAGE,
    "/drone/sensor3/vehicle_lidar": CLOUD,
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
