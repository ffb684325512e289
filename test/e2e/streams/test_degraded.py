"""Noise, late and dropped frames on purpose, as a subscriber, `/diagnostics` and `top` see them."""

from __future__ import annotations

import math
import os
import subprocess

import numpy as np
import pytest
from backend import environment
from diagnostics import Report
from images import cloud_array, metres
from processes import binary
from recording import Recording
from system import System
from topics import CLOUD, DIAGNOSTICS, IMAGE, main_topic
from truth import Truth, true_image, true_points

from sensors import COMPRESSED, RAW, SHARED_MEMORY, with_defaults

COLOUR, DEPTH, FILE = with_defaults(0, 1, RAW), with_defaults(1, 2, RAW), with_defaults(2, 2, COMPRESSED)
LIDAR, LIVOX = with_defaults(3, 20, COMPRESSED), with_defaults(4, 23, SHARED_MEMORY)
SENSORS = [COLOUR, DEPTH, FILE, LIDAR, LIVOX]
LATENCY, DROP, DROPOUT, RANGE = 0.15, 0.2, 0.1, 0.03
ACCELEROMETER, GYROSCOPE, RATE, BIAS = 2e-3, 1.7e-4, 200, 0.05
GPS = [2.0, 1.0, 4.0]
PARAMETERS = {
    "time.mode": "sim",
    "transport_mode": "file",
    "diagnostics.period_s": 0.5,
    "control.geoid": "none",
    "degrade.seed": 11,
    "degrade.latency_s": LATENCY,
    "degrade.jitter_s": 0.03,
    "degrade.drop": DROP,
    "degrade.depth_noise_m": 0.005,
    "degrade.depth_noise_per_m": 0.001,
    "degrade.lidar_noise_m": RANGE,
    "degrade.lidar_dropout": DROPOUT,
    "degrade.gps_noise_m": GPS,
    "imu.rate_hz": RATE,
    "imu.accelerometer_noise_density": ACCELEROMETER,
    "imu.gyroscope_noise_density": GYROSCOPE,
    "imu.gyroscope_bias": [0.0, 0.0, BIAS],
}
TOPICS = {main_topic(s): IMAGE if s in (COLOUR, DEPTH, FILE) else CLOUD for s in SENSORS}
IMU, PLACE, PLACE_TRUE = "/rflysim/imu", "/rflysim/gps", "/rflysim/ground_truth/gps"
FIX = "sensor_msgs/msg/NavSatFix"
WARN = 1
STATUS = "rfly_bridge: degraded on purpose"
STILL = ["--pose", "-6,1,-2,0,0,30", "--cloud-format", "36:i16:label"]


def record(directory, domain_id):
    """A run of a vehicle that stands still."""
    with System(directory, domain_id, SENSORS, parameters=PARAMETERS, emulator=STILL) as system:
        recording = Recording(system)
        recording.subscribe({**TOPICS, IMU: "sensor_msgs/msg/Imu", PLACE: FIX, PLACE_TRUE: FIX, **DIAGNOSTICS})
        recording.collect(40, list(TOPICS))
        recording.collect(1000, [IMU])
        recording.collect(300, [PLACE, PLACE_TRUE])
        recording.collect_more(3, list(DIAGNOSTICS))
        top = [str(binary("rfly_bridge", "RFLY_BRIDGE")), "top", "--seconds", "8", "--prefix", "/diagnostics"]
        around = {**os.environ, **environment(domain_id)}
        shown = subprocess.run(top, env=around, capture_output=True, text=True, check=True, timeout=120).stdout
        recording.harvest()
    return recording, Truth(system.truth_file, system.truth_frames), shown, system.bridge.output()


@pytest.fixture(scope="module")
def run(tmp_path_factory, domain_id, simulator_ports):
    return record(tmp_path_factory.mktemp("degraded"), domain_id)


@pytest.fixture(scope="module")
def again(tmp_path_factory, domain_id, simulator_ports, run):
    return record(tmp_path_factory.mktemp("again"), domain_id)


def frames(run, sensor):
    """Messages of a sensor with what was rendered at their stamps."""
    recording, truth, *_ = run
    found = [(m, truth.frames[sensor.seq].get(t)) for t, m in recording.by_stamp(main_topic(sensor)).items()]
    found = [(message, frame.payload()) for message, frame in found if frame]
    assert len(found) >= 20
    return found


def assert_deviation(residuals, sigma, tolerance=0.1):
    """Mean and standard deviation, the mean within five standard errors."""
    residuals = np.asarray(residuals)
    assert abs(residuals.mean()) < 5 * sigma / math.sqrt(residuals.size), residuals.mean()
    assert residuals.std() == pytest.approx(sigma, rel=tolerance)


@pytest.mark.parametrize("sensor", SENSORS, ids=lambda s: f"type{s.type}-mode{s.mode}")
def test_frames_come_late_in_order_with_true_stamps(run, sensor):
    recording, truth, *_ = run
    stamps = []
    for sample in recording.samples[main_topic(sensor)]:
        stamp = sample.message.header.stamp
        stamps.append(stamp.sec * 10**9 + stamp.nanosec)
        if frame := truth.frames[sensor.seq].get(stamps[-1]):
            # To the millisecond of the bridge's timer.
            assert sample.source_ns - frame.host_ns > (LATENCY - 0.001) * 1e9
    assert stamps == sorted(set(stamps))
    assert len(set(stamps) & set(truth.frames[sensor.seq])) >= 20, "stamps are those of ticks"


def test_one_frame_in_five_is_dropped_and_counted(run):
    recording, truth, *_ = run
    sent = dropped = 0
    for sensor in (COLOUR, DEPTH, FILE, LIDAR):
        came = set(recording.by_stamp(main_topic(sensor)))
        during = {stamp for stamp in truth.frames[sensor.seq] if min(came) <= stamp <= max(came)}
        sent, dropped = sent + len(during), dropped + len(during - came)
    assert abs(dropped - sent * DROP) < 5 * math.sqrt(sent * DROP * (1 - DROP)), f"{dropped} of {sent}"
    reports = [Report(message) for message in recording.messages("/diagnostics")]
    assert reports[-1].levels[STATUS] == WARN
    for phrase in ("frames late by 150ms", "20 % of frames dropped", "noise of the IMU", "noise of gps"):
        assert phrase in reports[-1].messages[STATUS]
    for figure, of_sensor in {
        "frames_dropped": lambda report, seq: report.drops(seq).get("on_purpose", 0),
        "frames_held_back": lambda report, seq: report.sensor(seq).get("held_back", 0),
    }.items():
        # The frames go on while a report is written: its sum is between those of the sensors before and after it.
        sums = [sum(of_sensor(report, sensor.seq) for sensor in SENSORS) for report in reports]
        for before, report, after in zip(sums, reports[1:], sums[2:]):
            assert before <= report.values[STATUS][figure] <= after
        assert sums[-1] > 0


def test_the_log_and_top_say_so(run):
    _, _, shown, log = run
    assert "degraded on purpose: frames late by 150ms" in log
    assert "degraded on purpose: frames late by 150ms" in shown
    assert "frames_dropped" in shown


@pytest.mark.parametrize("sensor", [DEPTH, FILE], ids=["raw", "PNG"])
def test_noise_of_depth_grows_with_depth(run, sensor):
    residuals, depths = [], []
    for message, payload in frames(run, sensor):
        counts = true_image(sensor, payload)
        found = metres(message)
        there = (counts > 0) & (counts < 65535)
        assert np.array_equal(there, np.isfinite(found)), "noise makes no return and takes none"
        residuals.append((found - counts * 0.001)[there])
        depths.append(counts[there] * 0.001)
    residuals, depths = np.concatenate(residuals), np.concatenate(depths)
    compared = 0
    for near, far in [(0.5, 3), (3, 6), (6, 12), (12, 24), (24, 48)]:
        inside = (depths >= near) & (depths < far)
        if inside.sum() > 2000:
            sigma = 0.005 + 0.001 * depths[inside] ** 2
            assert_deviation(residuals[inside] / sigma, 1.0, 0.05)
            compared += 1
    assert compared >= 2


@pytest.mark.parametrize("sensor", [LIDAR, LIVOX], ids=["rings", "Livox"])
def test_noise_of_a_lidar_is_along_its_rays_and_points_drop_out(run, sensor):
    residuals, here, all_points = [], 0, 0
    for message, payload in frames(run, sensor):
        points, labels = true_points(sensor, payload)
        there = points.any(axis=1)
        cloud = cloud_array(message).ravel()
        found = np.stack([cloud[axis] for axis in "xyz"], -1).astype(float)
        here, all_points = here + np.isfinite(found[:, 0]).sum(), all_points + there.sum()
        if message.height == 1:
            continue
        seen = np.isfinite(found[:, 0])
        assert not (seen & ~there).any()
        assert np.array_equal(cloud["label"], labels.astype(np.uint16))
        ranges = np.linalg.norm(points[seen], axis=1)
        residuals.append(np.linalg.norm(found[seen], axis=1) - ranges)
        across = np.cross(found[seen], points[seen] / ranges[:, None])
        assert np.abs(across).max() < 1e-4
    missing = all_points - here
    assert abs(missing - all_points * DROPOUT) < 5 * math.sqrt(all_points * DROPOUT * (1 - DROPOUT))
    if sensor is LIDAR:
        assert_deviation(np.concatenate(residuals), RANGE, 0.05)


def test_the_imu_has_the_noise_and_covariance_of_its_parameters(run):
    recording, *_ = run
    messages = recording.messages(IMU)
    acceleration = np.array([[m.linear_acceleration.x, m.linear_acceleration.y, m.linear_acceleration.z] for m in messages])
    rate = np.array([[m.angular_velocity.x, m.angular_velocity.y, m.angular_velocity.z] for m in messages])
    # At rest and level: the acceleration of gravity, and no rate but the bias.
    assert_deviation((acceleration - acceleration.mean(axis=0)).ravel(), ACCELEROMETER * math.sqrt(RATE))
    assert abs(acceleration.mean(axis=0)[2] - 9.8) < 0.05
    assert_deviation((rate - [0.0, 0.0, BIAS]).ravel(), GYROSCOPE * math.sqrt(RATE))
    last = messages[-1]
    assert np.allclose(last.linear_acceleration_covariance, np.eye(3).ravel() * ACCELEROMETER**2 * RATE, rtol=1e-9)
    assert np.allclose(last.angular_velocity_covariance, np.eye(3).ravel() * GYROSCOPE**2 * RATE, rtol=1e-9)


def test_gps_has_noise_and_the_truth_has_none(run):
    recording, *_ = run
    noisy, true = recording.by_stamp(PLACE), recording.by_stamp(PLACE_TRUE)
    both = sorted(set(noisy) & set(true))
    assert len(both) > 200
    errors = []
    for stamp in both:
        a, b = noisy[stamp], true[stamp]
        metre = 6_378_137.0 * math.pi / 180.0  # within half a percent
        east = (a.longitude - b.longitude) * metre * math.cos(math.radians(b.latitude))
        errors.append([east, (a.latitude - b.latitude) * metre, a.altitude - b.altitude])
        assert list(a.position_covariance) == [4.0, 0, 0, 0, 1.0, 0, 0, 0, 16.0]
        assert a.header.frame_id == "base_link"
    for axis, sigma in zip(np.array(errors).T, GPS):
        assert_deviation(axis, sigma, 0.2)
    assert len({(true[stamp].latitude, true[stamp].longitude) for stamp in both}) == 1


@pytest.mark.parametrize("sensor", SENSORS, ids=lambda s: f"type{s.type}-mode{s.mode}")
def test_a_second_run_has_the_same_bytes_and_drops_the_same_frames(run, again, sensor):
    one, two = (r[0].by_stamp(main_topic(sensor)) for r in (run, again))
    begin, end = max(min(one), min(two)), min(max(one), max(two))
    first, second = (sorted(stamp for stamp in m if begin <= stamp <= end) for m in (one, two))
    sent = [set(r[1].frames[sensor.seq]) for r in (run, again)]
    rendered = sent[0] & sent[1]
    if sensor.mode != SHARED_MEMORY:  # a block that is not yet read is not written to
        assert [s for s in first if s in rendered] == [s for s in second if s in rendered]
    compared = 0
    for stamp in set(first) & set(second) & rendered:
        payloads = [r[1].frames[sensor.seq][stamp].payload() for r in (run, again)]
        assert payloads[0] == payloads[1]
        assert bytes(one[stamp].data) == bytes(two[stamp].data)
        compared += 1
    assert compared >= 10
