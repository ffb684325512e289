"""Files of `rfly_bridge calib` as ROS 2 itself reads them: rcl's parameter files, and launch's YAML."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import rclpy
from processes import ROOT, binary
from rclpy.parameter import Parameter


def write(directory: Path, consumer: str) -> None:
    """Writes the files of a consumer for the shipped Config.json."""
    program = binary("rfly_bridge", "RFLY_BRIDGE")
    command = [program, "calib", "--for", consumer, "--output", directory]
    subprocess.run([*command, "--ros-args", "-p", "config:=config/Config.json"], check=True, cwd=ROOT, capture_output=True)


def parameters(file: Path) -> dict[str, Parameter]:
    """What a node gets from a parameter file."""
    context = rclpy.Context()
    rclpy.init(args=["--ros-args", "--params-file", str(file)], context=context)
    try:
        node = rclpy.create_node("reader", context=context, automatically_declare_parameters_from_overrides=True)
        return node.get_parameters_by_prefix("")
    finally:
        context.shutdown()


@pytest.mark.parametrize(
    ("consumer", "name", "kind"),
    [
        ("fast_lio", "mapping.extrinsic_R", Parameter.Type.DOUBLE_ARRAY),
        ("fast_lio", "preprocess.lidar_type", Parameter.Type.INTEGER),
        ("lio_sam", "imuGyrBiasN", Parameter.Type.DOUBLE),
        ("lio_sam", "extrinsicTrans", Parameter.Type.DOUBLE_ARRAY),
        ("nvblox", "use_depth", Parameter.Type.BOOL),
        ("px4ctrl", "gain.Kp0", Parameter.Type.DOUBLE),
    ],
)
def test_rcl_reads_the_parameter_files(tmp_path, consumer, name, kind):
    write(tmp_path, consumer)
    assert parameters(tmp_path / f"{consumer}.yaml")[name].type_ == kind


def test_rcl_reads_the_parameters_of_the_bridge(tmp_path):
    write(tmp_path, "fast_lio")
    assert parameters(tmp_path / "rfly_bridge.yaml")["sensor8.cloud_layout"].value == "ouster"


@pytest.mark.parametrize(("consumer", "kind"), [("rtabmap", "IncludeLaunchDescription"), ("nvblox", "Node")])
def test_launch_reads_the_launch_files(tmp_path, consumer, kind):
    frontend = pytest.importorskip("launch.frontend", reason="launch is not installed (PyPI has none)")
    write(tmp_path, consumer)
    root, parser = frontend.Parser.load(str(tmp_path / f"{consumer}.launch.yaml"))
    (action,) = parser.parse_description(root).entities
    assert type(action).__name__ == kind
