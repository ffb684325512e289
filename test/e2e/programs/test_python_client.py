"""The Python package `rfly_bridge` (docs/python.md), against emulator and bridge, and its examples."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request
from itertools import islice

import cv2
import numpy as np
import pytest
from foxglove import Client
from geometry import ENU_FROM_NED, FLU_FROM_FRD, LINK_FROM_OPTICAL, angle_between, rotation_from_quaternion
from gymnasium.utils.env_checker import check_env
from peer import Peer
from peer.messages import JAZZY, make
from processes import ROOT
from python_client import start
from truth import Truth

import rfly_bridge
from rfly_bridge.messages import Types
from sensors import COMPRESSED, with_defaults

SENSORS = [with_defaults(0, 1, COMPRESSED), with_defaults(1, 2, COMPRESSED), with_defaults(2, 20, COMPRESSED)]
ENTRIES = [sensor.entry(new_layout=False) for sensor in SENSORS]
RGB, DEPTH, CLOUD = (sensor.topic.removeprefix("/rflysim/") for sensor in SENSORS)
POSE = "geometry_msgs/msg/PoseStamped"
# A machine that stands still for a moment does not take the vehicle out of OFFBOARD.
PATIENT = {"param_id": "COM_OF_LOSS_T", "value": {"type": 3, "double_value": 30.0}}
EXAMPLES = ROOT / "examples/python"


@pytest.fixture(scope="module")
def sim(domain_id, simulator_ports, tmp_path_factory):
    """A vehicle on the ground, with stamps in time of the simulation and the truth written down."""
    truth = tmp_path_factory.mktemp("truth") / "truth.jsonl"
    emulator = ["--grounded", "--truth", truth]
    with start(domain_id, config=ENTRIES, emulator=emulator, parameters={"time.mode": "sim"}) as sim:
        sim.truth = truth
        yield sim


def port(sim: rfly_bridge.Sim) -> int:
    return int(sim.url.rsplit(":", 1)[1])


def test_images_and_clouds_are_those_that_a_dds_subscriber_gets(sim, domain_id):
    for wait, name in ((sim.image, RGB), (sim.image, DEPTH), (sim.cloud, CLOUD)):
        wait(name)
    assert sim.topics()[f"/rflysim/{RGB}"] == "sensor_msgs/msg/Image"
    peer = Peer(domain_id)
    try:
        for sensor, name in zip(SENSORS, (RGB, DEPTH, CLOUD), strict=True):
            subscription = peer.subscribe(sensor.topic, sim.topics()[sensor.topic], depth=200)
            peer.wait_for(lambda s=subscription: len(s.samples) > 3, sensor.topic)
            got = sim.cloud(name) if sensor.type == 20 else sim.image(name)

            def same(subscription=subscription, got=got):
                found = [m for m in subscription.messages if m.header.stamp.sec * 10**9 + m.header.stamp.nanosec == got.stamp_ns]
                return found[0] if found else None

            message = peer.wait_for(same, f"the message of {sensor.topic} at {got.stamp}")
            assert got.frame == message.header.frame_id and got.stamp == pytest.approx(got.stamp_ns * 1e-9)
            if sensor.type == 20:
                raw = np.asarray(message.data).tobytes()
                points = np.frombuffer(raw, "<f4").reshape(-1, message.point_step // 4)[:, :3]
                assert len(points) > 1000 and np.array_equal(got.points, points, equal_nan=True)
                assert {"x", "y", "z", "label"} <= set(got.fields.dtype.names)
            else:
                kind, shape = ("u1", (*sensor.shape, 3)) if sensor.type == 1 else ("<u2", sensor.shape)
                pixels = np.frombuffer(np.asarray(message.data).tobytes(), kind).reshape(shape)
                assert np.array_equal(got.data, pixels) and got.data.std() > 10
                assert got.encoding == message.encoding and got.data.flags.writeable
    finally:
        peer.close()


def test_the_newest_is_got_and_a_newer_one_waited_for(sim):
    first = sim.image(RGB)
    later = sim.image(RGB, after=first.stamp)
    assert later.stamp > first.stamp
    odometry = sim.latest("ground_truth/odom")
    assert odometry.header.frame_id == "map" and odometry.child_frame_id == "base_link"
    stamps = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in sim.history("ground_truth/odom")]
    assert stamps == sorted(stamps)


def test_sets_have_one_stamp_and_go_on(sim):
    sets = list(islice(sim.sets(RGB, DEPTH), 10))
    stamps = [rgb.stamp_ns for rgb, _ in sets]
    assert stamps == [depth.stamp_ns for _, depth in sets] and stamps == sorted(set(stamps))
    assert all(rgb.data.shape == (*SENSORS[0].shape, 3) and depth.data.dtype == np.uint16 for rgb, depth in sets)


def test_every_type_that_can_be_published_is_encoded_as_rosbags_defines_it(sim):
    with urllib.request.urlopen(sim.url.replace("ws", "http") + "/subscribed", timeout=30) as response:
        schemas = json.load(response)["schemas"]
    types = Types()
    assert len(schemas) > 30
    for name, definition in schemas.items():
        types.register(name, definition)
        message = JAZZY.deserialize_cdr(types.encode(name, {}), name)
        # Zero and empty, and no rotation.
        empty = JAZZY.deserialize_cdr(bytes(JAZZY.serialize_cdr(make(name), name)), name)
        assert re.sub(r"\bw=1\.0", "w=0.0", str(message)) == str(empty), name
    header = {"stamp": {"sec": 5, "nanosec": 6}, "frame_id": "map"}
    full = {"header": header, "pose": {"position": {"x": 1, "y": np.float32(2.5), "z": float("nan")}}}
    decoded = JAZZY.deserialize_cdr(types.encode(POSE, full), POSE)
    position, stamp = decoded.pose.position, decoded.header.stamp
    assert (position.x, position.y, decoded.pose.orientation.w, stamp.sec, stamp.nanosec) == (1.0, 2.5, 1.0, 5, 6)
    assert np.isnan(position.z) and decoded.header.frame_id == "map"
    override = "mavros_msgs/msg/OverrideRCIn"
    channels = JAZZY.deserialize_cdr(types.encode(override, {"channels": range(18)}), override).channels
    assert channels.tolist() == list(range(18))
    for name, fields, why in [
        (POSE, {"pose": {"positon": {}}}, "did you mean 'position'"),
        (POSE, {"pose": {"position": {"x": "1"}}}, "pose.position.x: '1' is not float64"),
        (POSE, {"header": {"frame_id": 3}}, "header.frame_id: 3 is not text"),
        (POSE, {"header": {"stamp": {"nanosec": -1}}}, "header.stamp.nanosec: -1 is not uint32"),
        (POSE, {"pose": 5}, "pose: 5 is not a geometry_msgs/msg/Pose"),
        (override, {"channels": [1, 2]}, "channels has 2 elements, expected 18"),
        (override, {"channels": 7}, "channels: 7 is not a list"),
    ]:
        with pytest.raises(ValueError, match=why.replace("[", r"\[")):
            types.encode(name, fields)


def test_what_is_asked_wrongly_is_answered_with_what_to_do(sim):
    for call, error, why in [
        (lambda: sim.latest("sensor0/img_rbg", timeout=0.1), TimeoutError, "did you mean 'sensor0/img_rgb'"),
        (lambda: sim.latest("img_depth/none", timeout=0.1), TimeoutError, "there is no topic img_depth/none"),
        (lambda: sim.latest("camera_info"), ValueError, "may be any of /rflysim/sensor0/camera_info, /rflysim/sensor1/camera_info"),
        (lambda: sim.image(CLOUD), TypeError, "has no Image"),
        (lambda: sim.call("/mavros/cmd/armin", {}, timeout=0.1), TimeoutError, "did you mean '/mavros/cmd/arming'"),
        (lambda: sim.call("/mavros/cmd/arming", {"valu": True}), rfly_bridge.BridgeError, 'has no field "valu"'),
        (lambda: sim.call("/mavros/set_mode", {"custom_mode": 1.5j}), TypeError, "cannot be sent"),
        (lambda: sim.publish("/mavros/setpoint", {}), rfly_bridge.BridgeError, "no topic that the bridge subscribes to"),
        (lambda: sim.publish("setpoint_position/local", {"x": 1}), ValueError, "has no field 'x'"),
        (lambda: sim.publish("setpoint_position/local", {}, rate=0), ValueError, "rate"),
        (lambda: sim.vehicle(7, timeout=0.1), TimeoutError, "/mavros7/statustext/recv"),
        (lambda: rfly_bridge.connect(1, timeout=0.1), ConnectionError, "view.port:=1 .*rfly_bridge.start"),
        (lambda: rfly_bridge.connect(sim.url[5:].replace("127.0.0.1", "0.0.0.0")), ConnectionError, "use 127.0.0.1 or localhost"),
    ]:
        with pytest.raises(error, match=why):
            call()
    answer = sim.call("/rfly_bridge/get_parameters", {"names": np.array(["view.control"])})
    assert answer["values"][0]["bool_value"] is True


def test_a_flight_is_flown_and_a_refusal_has_the_vehicles_reason(sim):
    drone = sim.vehicle(1)
    drone.wait_ready()
    assert sim.call("/mavros/param/set", PATIENT)["success"]
    with pytest.raises(rfly_bridge.BridgeError, match="not under control"):
        drone.goto(1, 0, 3)
    with pytest.raises(rfly_bridge.BridgeError, match="NO_SUCH"):
        drone.set_mode("NO_SUCH")
    start = drone.position
    true_start = point(sim.latest("ground_truth/odom").pose.pose.position)
    drone.takeoff(3.0)
    assert drone.state.armed and drone.state.mode == "OFFBOARD"
    with pytest.raises(rfly_bridge.BridgeError, match="disarming is refused: .*[Dd]isarm"):
        drone.disarm()
    drone.goto(*(start + [4, 2, 3]), yaw=0.5)
    # By the simulator's truth, not by the estimate.
    moved = point(sim.latest("ground_truth/odom").pose.pose.position) - true_start
    assert np.linalg.norm(moved - [4, 2, 3]) < 1.0, moved
    drone.set_velocity(0.0, -1.0, 0.5)
    drone._until(lambda: np.linalg.norm(drone.velocity - [0, -1, 0.5]) < 0.3, 30.0, "has not the velocity")
    drone.goto(*(start + [0, 0, 3]), wait=False)
    drone.land()
    assert not drone.state.armed and drone._stream is None
    down = point(sim.latest("ground_truth/odom").pose.pose.position)
    assert abs(down[2] - true_start[2]) < 0.3


def point(p: object) -> np.ndarray:
    return np.array([p.x, p.y, p.z])


def test_a_vehicle_that_somebody_else_lands_is_left_to_them(sim):
    drone = sim.vehicle(1)
    drone.takeoff(3.0)

    def operator() -> None:
        with Client(port(sim)) as other:
            assert other.call("/mavros/set_mode", {"custom_mode": "AUTO.LAND"})["response"]["mode_sent"]

    thread = threading.Timer(1.0, operator)
    thread.start()
    with pytest.raises(rfly_bridge.BridgeError, match="somebody has taken it out of OFFBOARD .*AUTO.LAND"):
        drone.goto(*(drone.position + [200, 0, 0]), timeout=60)
    thread.join()
    assert drone._stream is None
    with pytest.raises(rfly_bridge.BridgeError, match="not under control"):
        drone.set_velocity(1, 0, 0)
    drone._until(lambda: not drone.state.armed, 60.0, "has not landed")


def run(example: str, *arguments: object) -> str:
    """Runs an example as a user does."""
    paths = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, EXAMPLES / example, *map(str, arguments)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_example_flies_a_square(sim):
    lines = run("square.py", "--port", port(sim), "--side", 3).splitlines()
    corners = np.array([json.loads(line.removeprefix("at ")) for line in lines if line.startswith("at ")])
    assert np.allclose(np.diff(corners, axis=0), [[0, 3, 0], [-3, 0, 0], [0, -3, 0]], atol=1.1), corners
    assert lines[-1].startswith("landed")


def test_the_example_saves_pairs_with_the_true_pose_of_the_camera(sim, tmp_path):
    drone = sim.vehicle(1)
    drone.takeoff(3.0)
    drone.set_velocity(0.5, 0.5, 0.0, yaw_rate=0.3)
    try:
        assert "20 pairs" in run("save_rgbd.py", "--port", port(sim), "--out", tmp_path, "--count", 20)
    finally:
        drone.land()
    truth = Truth(sim.truth, tmp_path)
    compared = 0
    for line in (tmp_path / "poses.txt").read_text().splitlines():
        name, *numbers = line.split()
        depth = cv2.imread(str(tmp_path / f"depth/{name}.png"), cv2.IMREAD_UNCHANGED)
        assert depth.dtype == np.uint16 and cv2.imread(str(tmp_path / f"rgb/{name}.png")).shape == (*depth.shape, 3)
        position, rotation = np.array(numbers[:3], float), rotation_from_quaternion(*map(float, numbers[3:]))
        true = truth.vehicle_pose(1, int(name.replace(".", "")))
        if true is None:
            continue
        ned, body = true
        camera = ned + body @ np.array(SENSORS[0].position)
        expected = ENU_FROM_NED @ body @ FLU_FROM_FRD.T @ LINK_FROM_OPTICAL
        assert np.linalg.norm(position - ENU_FROM_NED @ camera) < 0.02, (position, ENU_FROM_NED @ camera)
        assert angle_between(rotation, expected) < 0.01
        compared += 1
    assert compared >= 10


def test_the_example_is_an_environment_for_gymnasium(sim):
    sys.path.insert(0, str(EXAMPLES))
    try:
        from gym_env import FlyToGoal
    finally:
        sys.path.remove(str(EXAMPLES))

    start = sim.vehicle(1).position
    env = FlyToGoal(sim, goal=start + [6.0, 0.0, 3.0])
    check_env(env, skip_render_check=True, skip_close_check=True)
    seen, _ = env.reset(seed=1)
    assert seen["depth"].shape == SENSORS[1].shape and seen["way"] == pytest.approx([6, 0, 0], abs=1.0)
    total, terminated = 0.0, False
    for _ in range(200):
        way = seen["way"] / np.linalg.norm(seen["way"])
        seen, reward, terminated, _, _ = env.step(2.0 * way.astype(np.float32))
        total += reward
        if terminated:
            break
    env.close()
    assert terminated and total > 10, (terminated, total, seen["way"])


def test_a_stream_keeps_its_rate_and_ends(sim):
    with sim.publish("setpoint_velocity/cmd_vel", {}, rate=50.0) as stream:
        before, start = stream.sent, time.monotonic()
        first = sim.image(RGB)
        sim.image(RGB, after=first.stamp + 1.0)
        sent, elapsed = stream.sent - before, time.monotonic() - start
        stream.set({"twist": {"linear": {"x": 1.0}}})
    assert 5 < sent < 60 * elapsed, (sent, elapsed)
    after = stream.sent
    sim.image(RGB, after=sim.image(RGB).stamp)
    assert stream.sent == after
