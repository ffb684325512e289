"""The URDF as others read it: an XML parser, and the frames of TF as they arrive."""

from __future__ import annotations

import shutil
import subprocess
import xml.etree.ElementTree as xml
from dataclasses import replace

import numpy as np
import pytest
from processes import ROOT, binary
from recording import Recording
from system import System
from topics import TF

from sensors import COMPRESSED, with_defaults

DESCRIPTION = "/rflysim/robot_description"


def matrix(xyz: list[float], rpy: list[float]) -> np.ndarray:
    """4x4 of a URDF origin: roll about x, then pitch about y, then yaw about z, all of the parent."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(rpy), np.cos(rpy)
    result = np.eye(4)
    x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    result[:3, :3], result[:3, 3] = z @ y @ x, xyz
    return result


def of_message(transform) -> np.ndarray:
    """4x4 of a geometry_msgs/Transform."""
    t, q = transform.translation, transform.rotation
    x, y, z, w = q.x, q.y, q.z, q.w
    result = np.eye(4)
    result[:3, 3] = t.x, t.y, t.z
    result[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return result


def joints(urdf: str) -> dict[str, tuple[str, str, np.ndarray]]:
    """Kind, parent and pose of each child."""
    found = {}
    for joint in xml.fromstring(urdf).iter("joint"):
        origin = joint.find("origin")
        pose = matrix(*([float(v) for v in origin.get(key).split()] for key in ("xyz", "rpy")))
        child = joint.find("child").get("link")
        assert child not in found, f"{child} has two parents"
        found[child] = (joint.get("type"), joint.find("parent").get("link"), pose)
    return found


def command(*arguments: str) -> subprocess.CompletedProcess:
    """Runs `rfly_bridge urdf`."""
    program = binary("rfly_bridge", "RFLY_BRIDGE")
    return subprocess.run([program, "urdf", *arguments], capture_output=True, text=True, cwd=ROOT, check=False)


def test_the_shipped_configuration_makes_one_tree_of_links():
    result = command("--ros-args", "-p", "config:=config/Config.json")
    assert result.returncode == 0 and result.stderr == ""
    robot = xml.fromstring(result.stdout)
    links = [link.get("name") for link in robot.iter("link") if link.get("name")]
    assert len(links) == len(set(links))
    children = joints(result.stdout)
    assert set(links) - set(children) == {"base_link"}, "one root"
    for child in children:
        seen = [child]
        while seen[-1] in children:
            seen.append(children[seen[-1]][1])
            assert len(seen) < 10
        assert seen[-1] == "base_link"
    rotors = robot.find("link[@name='base_link']").findall("visual/geometry/cylinder")
    assert len(rotors) == 4
    assert {"sensor0_link", "sensor0_optical_frame", "sensor8_link", "imu_link"} <= set(links)


def answers(*words: str) -> bool:
    """Is the program there, and does it run in this environment?"""
    return shutil.which(words[0]) is not None and subprocess.run(words, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not shutil.which("check_urdf"), reason="check_urdf is not installed (liburdfdom-tools)")
def test_urdfdom_reads_the_robot(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(command("--ros-args", "-p", "config:=config/Config.json").stdout)
    result = subprocess.run(["check_urdf", file], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "root Link: base_link" in result.stdout


@pytest.mark.skipif(not answers("xacro", "--help"), reason="xacro is not installed, or its Python not sourced")
def test_two_vehicles_of_the_macro_share_a_description(tmp_path):
    (tmp_path / "vehicle.xacro").write_text(command("--xacro", "--ros-args", "-p", "config:=config/Config.json").stdout)
    joint = '<joint name="{0}" type="floating"><parent link="map"/><child link="{0}/base_link"/></joint>'
    (tmp_path / "both.xacro").write_text(
        '<robot name="both" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        f'<xacro:include filename="{tmp_path}/vehicle.xacro"/><link name="map"/>'
        '<xacro:rflysim_vehicle prefix="a/"/><xacro:rflysim_vehicle prefix="b/"/>'
        f"{joint.format('a')}{joint.format('b')}</robot>"
    )
    expand = ["xacro", tmp_path / "both.xacro"]
    result = subprocess.run(expand, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    links = [link.get("name") for link in xml.fromstring(result.stdout).iter("link") if link.get("name")]
    one = {name[2:] for name in links if name.startswith("a/")}
    assert len(links) == len(set(links)) == 2 * len(one) + 1
    assert one == {name[2:] for name in links if name.startswith("b/")} and "sensor0_optical_frame" in one


def test_wrong_parameters_and_vehicles_are_refused():
    result = command("--vehicle", "3", "--ros-args", "-p", "config:=config/Config.json")
    assert result.returncode == 1 and result.stdout == ""
    assert "vehicle 3" in result.stderr
    result = command("--ros-args", "-p", "confg:=x")
    assert result.returncode == 1 and 'did you mean "config"' in result.stderr


@pytest.mark.parametrize("static", [True, False])
def test_the_description_is_latched_and_agrees_with_tf(tmp_path, domain_id, simulator_ports, static):
    turned = replace(with_defaults(0, 1, COMPRESSED), position=(0.3, -0.15, 0.1), angles=(10.0, -20.0, 70.0))
    sensors = [turned, with_defaults(1, 20, COMPRESSED), with_defaults(2, 9, COMPRESSED)]
    with System(tmp_path, domain_id, sensors, parameters={"tf.publish_static": static}) as system:
        recording = Recording(system)
        # Long after it was published.
        recording.subscribe(TF)
        recording.collect(1, ["/tf_static"])
        recording.wait_for("/tf", lambda m: "sensor2_link" in {t.child_frame_id for t in m.transforms})
        recording.subscribe({DESCRIPTION: "std_msgs/msg/String"})
        recording.collect(1, [DESCRIPTION])
        urdf = joints(recording.messages(DESCRIPTION)[0].data)
        fixed = {t.child_frame_id: t for m in recording.messages("/tf_static") for t in m.transforms}
        moving = {t.child_frame_id: t for m in recording.messages("/tf") for t in m.transforms}
    assert {"odom", "map_ned"} <= set(fixed), "the world stays with the bridge"
    of_urdf = {child for child, (kind, _, _) in urdf.items() if kind == "fixed"}
    assert of_urdf >= {"imu_link", "sensor0_link", "sensor0_optical_frame", "sensor1_link"}
    assert (of_urdf <= set(fixed)) if static else not (of_urdf & set(fixed)), "what robot_state_publisher publishes"
    assert urdf["sensor2_link"][0] == "floating" and "sensor2_link" in moving
    known = {**fixed, **moving}
    for child, (_, parent, pose) in urdf.items():
        if child in known:
            assert known[child].header.frame_id == parent
            assert np.allclose(of_message(known[child].transform), pose, atol=1e-6), child
