"""`rfly_bridge calib`: each file is read as its consumer reads it and compared with the keys of the consumer's own source;
poses and lenses are compared with Config.json by the documented conventions, in numpy alone."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import consumers
import cv2
import numpy as np
import pytest
import yaml
from geometry import FLU_FROM_FRD, LINK_FROM_OPTICAL, apply, inverse, rigid, rotation_from_euler, rotation_from_quaternion
from processes import ROOT, binary

from sensors import LIDAR, RAW, Sensor, with_defaults, write_config

LEFT = Sensor(1, 3, RAW, width=640, height=480, rate=20, position=(0.2, -0.06, 0.05), angles=(3.0, -12.0, 25.0))
BASELINE = 0.12
DEPTH = with_defaults(4, 2, RAW, width=640, height=480, rate=20, position=(0.3, 0.0, -0.1), angles=(0.0, -20.0, 0.0))
COLOUR = Sensor(3, 1, RAW, width=640, height=480, rate=20, position=DEPTH.position, angles=DEPTH.angles)
LIDAR_20 = with_defaults(5, 20, 1, position=(-0.05, 0.02, -0.3), quaternion=(0.8, 0.0, 0.36, 0.48))
MID360 = with_defaults(6, 23, 1, position=(0.1, 0.0, -0.2), angles=(0.0, 30.0, -90.0))
FISHEYE = with_defaults(7, 8, RAW, position=(0.1, 0.0, 0.1), angles=(0.0, -90.0, 0.0))
DOWN = Sensor(8, 9, RAW)


def rotation(sensor: Sensor) -> np.ndarray:
    """Attitude of a sensor on its vehicle, FRD, as docs/frames.md says."""
    if sensor.quaternion:
        w, x, y, z = sensor.quaternion
        return rotation_from_quaternion(x, y, z, w)
    return rotation_from_euler(*np.radians(sensor.angles))


def on_vehicle(sensor: Sensor, *, optical: bool) -> np.ndarray:
    """Pose of a sensor's link or optical frame on its vehicle, FLU."""
    link = rigid(FLU_FROM_FRD @ rotation(sensor) @ FLU_FROM_FRD, FLU_FROM_FRD @ np.array(sensor.position))
    return link @ rigid(LINK_FROM_OPTICAL, [0, 0, 0]) if optical else link


def beside(left: Sensor, baseline: float, seq: int) -> Sensor:
    """A camera that looks the same way, to the right."""
    position = np.array(left.position) + rotation(left) @ np.array([0.0, baseline, 0.0])
    return Sensor(**{**left.__dict__, "seq": seq, "position": tuple(position)})


RIGHT = beside(LEFT, BASELINE, 2)
EVERY = [LEFT, RIGHT, COLOUR, DEPTH, LIDAR_20, MID360, FISHEYE, DOWN]


def run(*arguments: object) -> subprocess.CompletedProcess:
    """Runs `rfly_bridge calib`."""
    program = binary("rfly_bridge", "RFLY_BRIDGE")
    command = [program, "calib", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


class Written:
    """The files of one consumer for some sensors."""

    def __init__(self, directory: Path, consumer: str, sensors: list[Sensor], options: str = "", ros: str = ""):
        config = write_config(directory / "Config.json", sensors)
        self.directory = directory / consumer
        self.arguments = ["--for", consumer, *options.split(), "--output", self.directory]
        self.ros = ["--ros-args", "-p", f"config:={config}", *ros.split()]
        self.result = run(*self.arguments, *self.ros)
        assert self.result.returncode == 0, self.result.stderr
        self.report = self.result.stderr

    def path(self, name: str) -> Path:
        """A file."""
        return self.directory / name

    def yaml(self, name: str) -> dict:
        """A file as PyYAML reads it."""
        return yaml.safe_load(self.path(name).read_text())

    def parameters(self, name: str) -> dict[str, object]:
        """A parameter file of ROS 2, dotted."""
        (section,) = self.yaml(name).values()
        return dotted(section["ros__parameters"])


def dotted(tree: dict, prefix: str = "") -> dict[str, object]:
    """A tree as one level with dotted names."""
    found: dict[str, object] = {}
    for key, value in tree.items():
        name = prefix + key
        found |= dotted(value, name + ".") if isinstance(value, dict) else {name: value}
    return found


def agrees(found: dict[str, object], contract: consumers.Contract, *, without: set[str] = frozenset()) -> None:
    """Every key of the consumer is there with the type that it is declared with, and no key that nobody reads."""
    assert set(found) == set(contract.keys) - without, contract.source
    for key, value in found.items():
        kind = contract.keys[key]
        if isinstance(kind, tuple):
            assert [type(v) for v in value] == [kind[0]] * kind[1], f"{key} = {value} in {contract.reader}"
        else:
            assert type(value) is kind, f"{key} = {value} in {contract.reader}"


def same_pose(found: np.ndarray, expected: np.ndarray) -> None:
    """Two poses, within what the files round."""
    assert found.shape == (4, 4)
    assert np.abs(found - expected).max() < 1e-9


def square(values: list[float]) -> np.ndarray:
    """A rotation given row by row."""
    return np.array(values, float).reshape(3, 3)


@pytest.mark.parametrize("frame", ["flu", "frd"])
def test_fast_lio(tmp_path, frame):
    written = Written(tmp_path, "fast_lio", EVERY, ros=f"-p imu.frame:={frame}")
    found = written.parameters("fast_lio.yaml")
    agrees(found, consumers.FAST_LIO)
    assert found["common.lid_topic"] == LIDAR_20.topic and found["common.imu_topic"] == "/rflysim/imu"
    assert (found["preprocess.lidar_type"], found["preprocess.timestamp_unit"]) == (3, 3), "OUST64, ns"
    assert found["preprocess.scan_line"] == LIDAR_20.height and found["mapping.det_range"] == LIDAR[0]
    assert found["mapping.acc_cov"] == 0.1 and found["mapping.b_gyr_cov"] == 0.0001, "the consumer's defaults"
    # src/IMU_Processing.hpp: offset_R_L_I and offset_T_L_I turn points of the lidar into the frame of the IMU.
    pose = rigid(square(found["mapping.extrinsic_R"]), found["mapping.extrinsic_T"])
    imu = rigid(FLU_FROM_FRD if frame == "frd" else np.eye(3), [0, 0, 0])
    same_pose(pose, inverse(imu) @ on_vehicle(LIDAR_20, optical=False))


def test_fast_lio_takes_a_livox_as_custom_msg(tmp_path):
    written = Written(tmp_path, "fast_lio", EVERY, f"--lidar {MID360.seq}")
    found = written.parameters("fast_lio.yaml")
    agrees(found, consumers.FAST_LIO)
    assert found["common.lid_topic"] == f"{MID360.topic}/custom"
    assert (found["preprocess.lidar_type"], found["preprocess.scan_line"]) == (1, 4), "AVIA, as many lines as the bridge has"
    assert not written.path("rfly_bridge.yaml").exists(), "CustomMsg is there whatever the layout"


def test_covariances_of_the_imu_are_its_noise(tmp_path):
    ros = "-p imu.rate_hz:=400 -p imu.linear_acceleration_covariance:=[0.04,0.04,0.04] -p imu.angular_velocity_covariance:=[0.0001,0.0001,0.0001]"
    found = Written(tmp_path, "fast_lio", EVERY, ros=ros).parameters("fast_lio.yaml")
    assert (found["mapping.acc_cov"], found["mapping.gyr_cov"]) == (0.04, 0.0001), "variances of samples"
    found = Written(tmp_path, "vins", EVERY, ros=ros)
    file = cv2.FileStorage(str(found.path("vins.yaml")), cv2.FILE_STORAGE_READ)
    assert file.getNode("acc_n").real() == pytest.approx(0.2, abs=1e-12), "standard deviation of samples"
    found = Written(tmp_path, "kalibr", EVERY, ros=ros).yaml("imu.yaml")
    # ConfigReader.py: discrete = density / sqrt(1 / rate)
    assert found["accelerometer_noise_density"] * np.sqrt(found["update_rate"]) == pytest.approx(0.2, abs=1e-12)
    assert found["gyroscope_noise_density"] * np.sqrt(found["update_rate"]) == pytest.approx(0.01, abs=1e-12)


@pytest.mark.parametrize(
    ("sensor", "layout", "handler"), [(LIDAR_20, "xyz_label", 3), (LIDAR_20, "hesai", 4), (MID360, "velodyne", 6)]
)
def test_faster_lio(tmp_path, sensor, layout, handler):
    written = Written(tmp_path, "faster_lio", EVERY, f"--lidar {sensor.seq}", f"-p cloud.layout:={layout}")
    found = dotted(written.yaml("faster_lio.yaml"))
    agrees(found, consumers.FASTER_LIO)
    assert found["preprocess.lidar_type"] == handler and found["common.lid_topic"] == sensor.topic
    pose = rigid(square(found["mapping.extrinsic_R"]), found["mapping.extrinsic_T"])
    same_pose(pose, on_vehicle(sensor, optical=False))
    wanted = {3: "ouster", 4: "hesai", 6: "livox"}[handler]
    assert written.parameters("rfly_bridge.yaml")[f"sensor{sensor.seq}.cloud_layout"] == wanted
    assert ("does not fit now" in written.report) == (wanted != layout)


@pytest.mark.parametrize("layout", ["xyz_label", "velodyne"])
def test_lio_sam(tmp_path, layout):
    written = Written(tmp_path, "lio_sam", EVERY, ros=f"-p cloud.layout:={layout}")
    found = written.parameters("lio_sam.yaml")
    agrees(found, consumers.LIO_SAM)
    assert found["sensor"] == {"xyz_label": "ouster", "velodyne": "velodyne"}[layout]
    assert (found["N_SCAN"], found["Horizon_SCAN"]) == (LIDAR_20.height, LIDAR_20.width)
    assert found["lidarFrame"] == f"sensor{LIDAR_20.seq}_link" and found["baselinkFrame"] == "base_link"
    lidar = on_vehicle(LIDAR_20, optical=False)
    # utility.hpp, imuConverter: acceleration of the lidar's axes = extrinsicRot * that of the IMU's; attitude of the lidar =
    # that of the IMU * extrinsicRPY. imuPreintegration.cpp: pose of the IMU = pose of the lidar * extrinsicTrans.
    up = np.array([0.0, 0.0, 9.81])
    assert np.allclose(square(found["extrinsicRot"]) @ up, lidar[:3, :3].T @ up, atol=1e-9)
    assert np.allclose(square(found["extrinsicRPY"]), lidar[:3, :3], atol=1e-9)
    assert np.allclose(lidar @ [*found["extrinsicTrans"], 1], [0, 0, 0, 1], atol=1e-9)
    bridge = written.parameters("rfly_bridge.yaml")
    assert (bridge["imu.orientation"], bridge["tf.source"]) == ("truth", "external")


def test_a_lidar_with_a_part_of_the_circle_has_columns_for_all_of_it(tmp_path):
    part = with_defaults(5, 20, 1, width=90, height=8, params=(50.0, 0.0, -45.0, 45.0, -10.0, 30.0))
    assert Written(tmp_path, "lio_sam", [part]).parameters("lio_sam.yaml")["Horizon_SCAN"] == 360


def points_ahead(sensor: Sensor) -> np.ndarray:
    """Points of the vehicle's frame that the camera sees."""
    random = np.random.default_rng(11)
    local = np.column_stack([random.uniform(-1, 1, (50, 2)) * [2.0, 1.5], random.uniform(3.0, 30.0, 50)])
    return apply(on_vehicle(sensor, optical=True), local)


def seen_by(sensor: Sensor, points: np.ndarray) -> np.ndarray:
    """Pixels of points, from Config.json: DataWidth pixels span CameraFOV, pixel centres are whole numbers."""
    local = apply(inverse(on_vehicle(sensor, optical=True)), points)
    centre = np.array([sensor.width - 1, sensor.height - 1]) / 2
    if sensor.type == 8:
        across = np.linalg.norm(local[:, :2], axis=1)
        angle = np.arctan2(across, local[:, 2])
        focal = 0.915 * sensor.width / np.radians(sensor.fov)  # as measured in the real simulator
        return centre + focal * (angle / across)[:, None] * local[:, :2]
    focal = sensor.width / 2 / np.tan(np.radians(sensor.fov) / 2)
    return centre + focal * local[:, :2] / local[:, 2:]


def matrix_of(node) -> np.ndarray:
    """A list of lists of OpenCV's FileStorage, as OpenVINS reads it."""
    return np.array([[node.at(r).at(c).real() for c in range(4)] for r in range(4)])


def kind_of(node) -> type:
    """Type of a node of OpenCV's FileStorage."""
    return int if node.isInt() else float if node.isReal() else str


@pytest.mark.parametrize("eyes", [(LEFT, RIGHT), (COLOUR,), (FISHEYE,)])
def test_vins(tmp_path, eyes):
    options = "" if len(eyes) == 2 else f"--cameras {eyes[0].seq}"
    written = Written(tmp_path, "vins", EVERY, options)
    text = written.path("vins.yaml").read_text()
    assert text.startswith("%YAML:1.0\n")
    file = cv2.FileStorage(str(written.path("vins.yaml")), cv2.FILE_STORAGE_READ)
    for key, kind in consumers.VINS.keys.items():
        assert kind_of(file.getNode(key)) is kind, key
    assert file.getNode("num_of_cam").real() == len(eyes)
    assert file.getNode("image1_topic").empty() == (len(eyes) == 1)
    assert (file.getNode("td").real(), file.getNode("g_norm").real()) == (0.0, 9.81)
    assert file.getNode("imu_topic").string() == "/rflysim/imu"
    for i, sensor in enumerate(eyes):
        assert file.getNode(f"image{i}_topic").string() == sensor.topic
        pose = file.getNode(f"body_T_cam{i}").mat()
        assert pose.dtype == np.float64
        same_pose(pose, on_vehicle(sensor, optical=True))
        name = file.getNode(f"cam{i}_calib").string()
        camera = cv2.FileStorage(str(written.path(name)), cv2.FILE_STORAGE_READ)
        model = camera.getNode("model_type").string()
        assert (camera.getNode("image_width").real(), camera.getNode("image_height").real()) == (sensor.width, sensor.height)
        contract = consumers.VINS_KANNALA_BRANDT if sensor is FISHEYE else consumers.VINS_PINHOLE
        numbers = {
            key: camera.getNode(section).getNode(key).real()
            for section, keys in contract.keys.items()
            for key in keys
            if not camera.getNode(section).getNode(key).empty()
        }
        assert set(numbers) == {key for keys in contract.keys.values() for key in keys}
        local = apply(inverse(pose), points_ahead(sensor))
        if sensor is FISHEYE:
            assert model == "KANNALA_BRANDT"
            focal = np.array([numbers["mu"], numbers["mv"]])
            across = np.linalg.norm(local[:, :2], axis=1)
            theta = np.arctan2(across, local[:, 2])
            terms = [numbers[k] * theta**power for k, power in (("k2", 3), ("k3", 5), ("k4", 7), ("k5", 9))]
            pixels = focal * ((theta + sum(terms)) / across)[:, None] * local[:, :2] + [numbers["u0"], numbers["v0"]]
        else:
            assert model == "PINHOLE"
            assert not any(numbers[k] for k in ("k1", "k2", "p1", "p2"))
            pixels = local[:, :2] / local[:, 2:] * [numbers["fx"], numbers["fy"]] + [numbers["cx"], numbers["cy"]]
        assert np.abs(pixels - seen_by(sensor, points_ahead(sensor))).max() < 1e-4


@pytest.mark.parametrize("eyes", [(LEFT, RIGHT), (FISHEYE,)])
def test_openvins(tmp_path, eyes):
    options = "" if len(eyes) == 2 else f"--cameras {eyes[0].seq}"
    written = Written(tmp_path, "openvins", EVERY, options)
    estimator = cv2.FileStorage(str(written.path("estimator_config.yaml")), cv2.FILE_STORAGE_READ)
    for key, kind in consumers.OPENVINS.keys.items():
        node = estimator.getNode(key)
        assert not node.empty(), key
        if kind is bool:  # opencv_yaml_parse.h takes 0, 1 and the words
            assert node.isInt() or node.string() in ("true", "false"), key
        elif isinstance(kind, tuple):
            assert node.isSeq() and node.size() == kind[1], key
        elif kind is float:
            assert node.isReal() or node.isInt(), key
        else:
            assert kind_of(node) is kind, key
    assert estimator.getNode("max_cameras").real() == len(eyes)
    assert f"max_cameras:={len(eyes)} use_stereo:={str(len(eyes) == 2).lower()}" in written.report
    assert estimator.getNode("track_frequency").real() > eyes[0].rate
    # VioManagerHelper.cpp, try_to_initialize: a vehicle at rest need not jerk. InertialInitializer.cpp: one in motion is not waited for.
    for key in ("try_zupt", "zupt_only_at_beginning", "init_dyn_use"):
        node = estimator.getNode(key)  # some versions read the word as a number
        assert node.real() == 1 if node.isInt() else node.string() == "true", key

    # A node lives as long as its file.
    file = cv2.FileStorage(str(written.path(estimator.getNode("relative_config_imu").string())), cv2.FILE_STORAGE_READ)
    imu = file.getNode("imu0")
    assert imu.getNode("rostopic").string() == "/rflysim/imu" and imu.getNode("update_rate").real() == 200.0
    assert all(imu.getNode(key).real() > 0 for key in consumers.NOISE)
    for key in ("Tw", "R_IMUtoGYRO", "Ta", "R_IMUtoACC", "Tg"):
        rows = imu.getNode(key)
        values = np.array([[rows.at(r).at(c).real() for c in range(3)] for r in range(3)])
        assert np.array_equal(values, np.zeros((3, 3)) if key == "Tg" else np.eye(3)), key

    chain = cv2.FileStorage(str(written.path(estimator.getNode("relative_config_imucam").string())), cv2.FILE_STORAGE_READ)
    assert chain.getNode("cam1").empty() == (len(eyes) == 1)
    for i, sensor in enumerate(eyes):
        camera = chain.getNode(f"cam{i}")
        same_pose(matrix_of(camera.getNode("T_imu_cam")), on_vehicle(sensor, optical=True))
        assert camera.getNode("rostopic").string() == sensor.topic
        assert camera.getNode("timeshift_cam_imu").real() == 0.0
        values = {
            key: [camera.getNode(key).at(j).real() for j in range(camera.getNode(key).size())]
            for key in ("intrinsics", "distortion_coeffs", "resolution")
        }
        assert values["resolution"] == [sensor.width, sensor.height]
        assert values["distortion_coeffs"] == [0.0] * 4
        local = apply(inverse(on_vehicle(sensor, optical=True)), points_ahead(sensor))
        across = np.linalg.norm(local[:, :2], axis=1)
        # CamEqui.h: the angle to the axis stands for its tangent.
        scale = np.arctan2(across, local[:, 2]) / across if sensor is FISHEYE else 1 / local[:, 2]
        fu, fv, cu, cv = values["intrinsics"]
        pixels = scale[:, None] * local[:, :2] * [fu, fv] + [cu, cv]
        assert np.abs(pixels - seen_by(sensor, points_ahead(sensor))).max() < 1e-4
        assert camera.getNode("distortion_model").string() == ("equidistant" if sensor is FISHEYE else "radtan")


def test_kalibr(tmp_path):
    written = Written(tmp_path, "kalibr", EVERY)
    chain = written.yaml("camchain-imucam.yaml")
    assert list(chain) == ["cam0", "cam1"]
    for i, sensor in enumerate((LEFT, RIGHT)):
        camera = chain[f"cam{i}"]
        poses = {key: np.array(camera.pop(key), float) for key in ("T_cam_imu", "T_cn_cnm1") if key in camera}
        assert camera.pop("cam_overlaps") == [1 - i]
        agrees(camera, consumers.KALIBR_CAMERA)
        assert (camera["camera_model"], camera["distortion_model"]) == ("pinhole", "radtan")
        same_pose(poses["T_cam_imu"], inverse(on_vehicle(sensor, optical=True)))
        # A point of the IMU's frame through the written pose and lens, and from Config.json alone.
        points = points_ahead(sensor)
        local = apply(poses["T_cam_imu"], points)
        fu, fv, pu, pv = camera["intrinsics"]
        pixels = local[:, :2] / local[:, 2:] * [fu, fv] + [pu, pv]
        assert np.abs(pixels - seen_by(sensor, points)).max() < 1e-4
        if i:
            same_pose(poses["T_cn_cnm1"], rigid(np.eye(3), [-BASELINE, 0, 0]))
    imu = written.yaml("imu.yaml")
    assert all(type(imu[key]) is float and imu[key] > 0 for key in (*consumers.NOISE, "update_rate"))
    assert imu["rostopic"] == "/rflysim/imu"


def launch_arguments(written: Written) -> dict[str, str]:
    """Arguments of the launch file that is included."""
    (entity,) = written.yaml("rtabmap.launch.yaml")["launch"]
    assert entity["include"]["file"] == "$(find-pkg-share rtabmap_launch)/launch/rtabmap.launch.py"
    return {argument["name"]: argument["value"] for argument in entity["include"]["arg"]}


def test_rtabmap_with_depth(tmp_path):
    written = Written(tmp_path, "rtabmap", EVERY, ros="-p imu.orientation:=truth")
    found = launch_arguments(written)
    stereo = {key for key in consumers.RTABMAP.keys if key.startswith(("left_", "right_"))}
    agrees(found, consumers.RTABMAP, without=stereo)
    assert (found["rgb_topic"], found["depth_topic"]) == (COLOUR.topic, DEPTH.topic)
    assert found["camera_info_topic"] == f"/rflysim/sensor{COLOUR.seq}/camera_info"
    assert (found["stereo"], found["approx_sync"], found["frame_id"]) == ("false", "false", "base_link")
    assert written.parameters("rfly_bridge.yaml")["tf.source"] == "external"


def test_rtabmap_with_stereo(tmp_path):
    written = Written(tmp_path, "rtabmap", [RIGHT, LEFT])
    found = launch_arguments(written)
    other = {"rgb_topic", "depth_topic", "camera_info_topic", "imu_topic", "wait_imu_to_init"}
    agrees(found, consumers.RTABMAP, without=other)
    assert (found["left_image_topic"], found["right_image_topic"]) == (LEFT.topic, RIGHT.topic)


def test_a_pair_that_parameters_name_is_the_pair(tmp_path):
    third = beside(LEFT, 2 * BASELINE, 9)
    every = [LEFT, RIGHT, third]
    found = launch_arguments(Written(tmp_path, "rtabmap", every))
    assert (found["left_image_topic"], found["right_image_topic"]) == (LEFT.topic, RIGHT.topic)
    (tmp_path / "named").mkdir()
    named = Written(tmp_path / "named", "rtabmap", every, ros=f"-p sensor{third.seq}.stereo_left:={RIGHT.seq}")
    found = launch_arguments(named)
    assert (found["left_image_topic"], found["right_image_topic"]) == (RIGHT.topic, third.topic)


@pytest.mark.parametrize("lidar", [False, True])
def test_nvblox(tmp_path, lidar):
    written = Written(tmp_path, "nvblox", EVERY, f"--lidar {LIDAR_20.seq}" if lidar else "")
    found = written.parameters("nvblox.yaml")
    of_lidar = {key for key in consumers.NVBLOX.keys if "lidar_" in key or "elevation" in key}
    agrees(found, consumers.NVBLOX, without=set() if lidar else of_lidar)
    assert found["use_lidar"] == lidar and found["use_depth"] and found["use_color"] and found["global_frame"] == "map"
    (entity,) = written.yaml("nvblox.launch.yaml")["launch"]
    assert entity["node"]["param"][-1] == {"from": "$(dirname)/nvblox.yaml"}
    remap = {rule["from"]: rule["to"] for rule in entity["node"]["remap"]}
    assert set(remap) == consumers.NVBLOX_TOPICS - (set() if lidar else {"pointcloud"})
    assert remap["camera_0/depth/image"] == DEPTH.topic and remap["camera_0/color/image"] == COLOUR.topic
    assert written.parameters("rfly_bridge.yaml")[f"sensor{COLOUR.seq}.encoding"] == "rgb8"
    if lidar:
        low, high = (np.degrees(found[f"{name}_zero_elevation_rad"]) for name in ("min_angle_below", "max_angle_above"))
        # Rings from -30 degrees in steps of 50 / 16: the last angle of a range is not reached.
        assert (low, high) == (pytest.approx(-30.0), pytest.approx(20.0 - 50.0 / 16))
        assert (found["lidar_width"], found["lidar_height"]) == (LIDAR_20.width, LIDAR_20.height)


def test_px4ctrl(tmp_path):
    config = write_config(tmp_path / "Config.json", EVERY)
    result = run("--for", "px4ctrl", "--ros-args", "-p", f"config:={config}")
    assert result.returncode == 0, result.stderr
    (section,) = yaml.safe_load(result.stdout).values()
    agrees(dotted(section["ros__parameters"]), consumers.PX4CTRL)
    assert " -r odom:=/mavros/local_position/odom -r cmd:=/position_cmd\n" in result.stderr
    assert "VEL_IN_BODY" in result.stderr
    result = run("--for", "px4ctrl", "--ros-args", "-p", f"config:={config}", "-p", "control.prefix:=uav{id}/mavros")
    assert " -r odom:=/uav1/mavros/local_position/odom " in result.stderr
    assert " -r /mavros/setpoint_raw/attitude:=/uav1/mavros/setpoint_raw/attitude" in result.stderr


CONSUMERS = ["fast_lio", "faster_lio", "lio_sam", "vins", "openvins", "rtabmap", "nvblox", "kalibr", "px4ctrl"]


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_with_the_parameters_of_the_file_nothing_is_left_to_change(tmp_path, consumer):
    written = Written(tmp_path, consumer, EVERY)
    parameters = written.path("rfly_bridge.yaml")
    if not parameters.exists():
        assert "parameters of the bridge" not in written.report
        return
    files = {path.name: path.read_text() for path in written.directory.iterdir()}
    again = run(*written.arguments, "--force", *written.ros, "--params-file", parameters)
    assert again.returncode == 0, again.stderr
    assert "does not fit now" not in again.stderr and "fits now: " in again.stderr
    same = {path.name: path.read_text() for path in written.directory.iterdir()}
    assert same == files


def test_names_follow_remapping_namespace_and_prefix(tmp_path):
    ros = f"-r __ns:=/lab -r rflysim/imu:=/imu/data -p sensor{LIDAR_20.seq}.topic:=points -p frame_prefix:=uav{{id}}/"
    found = Written(tmp_path, "lio_sam", EVERY, ros=ros).parameters("lio_sam.yaml")
    assert (found["pointCloudTopic"], found["imuTopic"]) == ("/lab/rflysim/points", "/imu/data")
    assert (found["baselinkFrame"], found["odometryFrame"], found["mapFrame"]) == ("uav1/base_link", "uav1/odom", "map")


def test_the_vehicle_is_chosen(tmp_path):
    other = with_defaults(9, 20, 1, vehicle=2, position=(0.0, 0.0, 0.5))
    written = Written(tmp_path, "fast_lio", [LIDAR_20, other], "--vehicle 2")
    found = written.parameters("fast_lio.yaml")
    assert found["common.lid_topic"] == other.topic and found["common.imu_topic"] == "/rflysim/copter2/imu"
    assert found["mapping.extrinsic_T"] == [0.0, 0.0, -0.5]


def refused(tmp_path: Path, sensors: list[Sensor], arguments: str, ros: str = "") -> list[str]:
    """The problems; nothing was written."""
    config = write_config(tmp_path / "Config.json", sensors)
    directory = tmp_path / "out"
    result = run(*arguments.split(), "--output", directory, "--ros-args", "-p", f"config:={config}", *ros.split())
    assert result.returncode == 1 and result.stdout == ""
    assert not directory.exists()
    return [line.strip() for line in result.stderr.splitlines()]


def test_all_that_is_missing_is_listed_and_nothing_is_written(tmp_path):
    ros = "-p imu.enabled:=false"
    for consumer in ("fast_lio", "faster_lio", "lio_sam"):
        lines = refused(tmp_path, [LEFT], f"--for {consumer}", ros)
        assert lines[0] == "rfly_bridge: 2 problems"
        assert lines[1].startswith("lidar ") and "TypeID 20, 22 or 23" in lines[1]
        assert lines[2].startswith("imu.enabled ")
    for consumer in ("vins", "openvins", "kalibr"):
        lines = refused(tmp_path, [MID360], f"--for {consumer}", ros)
        assert [line.split()[0] for line in lines[1:]] == ["imu.enabled", "camera"]
    assert [line.split()[0] for line in refused(tmp_path, [LEFT], "--for rtabmap")[1:]] == ["cameras"]
    assert [line.split()[0] for line in refused(tmp_path, [LEFT], "--for nvblox")[1:]] == ["lidar", "depth"]
    lines = refused(tmp_path, [LEFT], "--for px4ctrl", "-p control.link:=off -p control.read_only:=true")
    assert [line.split()[0] for line in lines[1:]] == ["control.link", "control.read_only"]


def test_a_sensor_that_does_not_fit_is_refused_by_name(tmp_path):
    level = Sensor(9, 1, RAW, mount=3)
    on_pod = Sensor(10, 1, RAW, vehicle=DOWN.seq, mount=4)
    every = [*EVERY, level, on_pod]
    for options, where, why in [
        (f"--for lio_sam --lidar {MID360.seq}", f"sensor {MID360.seq}", "has no rings"),
        (f"--for fast_lio --lidar {LEFT.seq}", "--lidar", "is a grey camera"),
        ("--for fast_lio --lidar 77", "--lidar", "has no sensor 77"),
        (f"--for vins --cameras {DOWN.seq}", f"sensor {DOWN.seq}", "turns in its mount"),
        ("--for vins --cameras 10", "sensor 10", "turns in its mount"),
        ("--for vins --cameras 9", "sensor 9", "stays level"),
        (f"--for vins --cameras {LEFT.seq},{FISHEYE.seq}", "--cameras", "different sizes"),
        (f"--for vins --cameras {LEFT.seq},{LEFT.seq}", "--cameras", "equal SeqIDs"),
        (f"--for vins --cameras {LEFT.seq},{RIGHT.seq},{COLOUR.seq}", "--cameras", "more than two"),
        (f"--for vins --cameras {LIDAR_20.seq}", f"sensor {LIDAR_20.seq}", "is not a camera"),
        ("--for vins --vehicle 3", "vehicle 3", "not configured"),
    ]:
        lines = refused(tmp_path, every, options)
        assert any(line.startswith(where + " ") and why in line for line in lines[1:]), (options, lines)


@pytest.mark.parametrize(
    "change",
    [
        {"width": 320},
        {"rate": 10},
        {"fov": 80.0},
        {"type": 1},
        {"angles": (3.0, -12.0, 26.0)},
        {"position": (0.25, -0.06, 0.05)},
    ],
)
def test_two_cameras_that_are_not_rectified_are_no_pair(tmp_path, change):
    written = Written(tmp_path, "vins", [LEFT, Sensor(**{**RIGHT.__dict__, **change})])
    assert "one camera only" in written.report
    assert not written.path("cam1.yaml").exists()


def test_files_that_are_there_stay_unless_forced(tmp_path):
    written = Written(tmp_path, "vins", EVERY)
    camera = written.path("cam1.yaml")
    camera.write_text("mine\n")
    written.path("cam0.yaml").unlink()
    again = run(*written.arguments, *written.ros)
    assert again.returncode == 1 and "--force" in again.stderr and "cam1.yaml" in again.stderr
    assert camera.read_text() == "mine\n" and not written.path("cam0.yaml").exists(), "no part of the set"
    assert run(*written.arguments, "--force", *written.ros).returncode == 0
    assert camera.read_text() != "mine\n"


def test_one_file_goes_to_stdout_and_several_want_a_directory(tmp_path):
    config = write_config(tmp_path / "Config.json", EVERY)
    ros = ["--ros-args", "-p", f"config:={config}"]
    one = run("--for", "fast_lio", *ros)
    assert one.returncode == 0 and "ros__parameters" in yaml.safe_load(one.stdout)["/**"]
    assert f"-p sensor{LIDAR_20.seq}.cloud_layout:=ouster   does not fit now, is xyz_label" in one.stderr
    several = run("--for", "vins", *ros)
    assert several.returncode == 1 and several.stdout == "" and "--output DIR" in several.stderr


def test_stamps_of_another_clock_are_warned_of(tmp_path):
    report = Written(tmp_path, "fast_lio", EVERY, ros="-p time.mode:=arrival").report
    assert "stamps include the delay of the transport" in report
    bottom = Sensor(**{**LIDAR_20.__dict__, "mount": 1})
    assert "vehicle_bottom_m is 0" in Written(tmp_path, "lio_sam", [bottom]).report


@pytest.mark.parametrize(
    ("consumer", "group", "warned"),
    [
        ("fast_lio", "imu", ["/rflysim/imu"]),
        ("lio_sam", "imu", []),
        ("vins", "image", [LEFT.topic, RIGHT.topic]),
        ("rtabmap", "camera_info", ["/rflysim/sensor3/camera_info", "/rflysim/sensor4/camera_info"]),
        ("nvblox", "image", [DEPTH.topic, COLOUR.topic]),
    ],
)
def test_topics_that_a_reliable_reader_would_not_get_are_warned_of(tmp_path, consumer, group, warned):
    report = Written(tmp_path, consumer, EVERY, ros=f"-p qos.{group}.reliability:=best_effort").report
    found = [line.split()[1] for line in report.splitlines() if "published with best effort" in line]
    assert found == warned


def test_the_shipped_configuration_serves_every_consumer(tmp_path):
    for consumer in CONSUMERS:
        result = run("--for", consumer, "--output", tmp_path / consumer, "--ros-args", "-p", "config:=config/Config.json")
        assert result.returncode == 0, result.stderr
        assert json.dumps(sorted(path.name for path in (tmp_path / consumer).iterdir())) != "[]"
