"""A public offboard controller (mav_controllers_ros: poses and velocities of mavros in, body rates and thrust for
setpoint_raw/attitude out) flies a figure of eight through the bridge."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import yaml
from ament_index_python.packages import get_package_share_directory
from figures import row
from geometry import ENU_FROM_NED
from programs import Programs

from ros import Background, package, wait
from sensors import COMPRESSED, with_defaults

NAME = "mav_controllers_ros"
# The truth of a vehicle is written down with each rendered frame.
WITNESS = with_defaults(0, 5, COMPRESSED, rate=50)
G, HOVER = 9.81, 0.5
"""PX4's share of thrust at hover (MPC_THR_HOVER), which the configuration gives as largest thrust."""


def test_a_controller_for_mavros_flies_a_figure_of_eight(tmp_path, domain_id):
    package(NAME)
    config = Path(get_package_share_directory(NAME)) / "config"
    mass = yaml.safe_load((config / "geometric_controller.yaml").read_text())["geometric_controller_node"]["ros__parameters"]["mass"]
    settings = yaml.safe_load((config / "geometric_mavros.yaml").read_text())
    settings["geometric_mavros_node"]["ros__parameters"]["max_thrust"] = mass * G / HOVER
    ours = tmp_path / "geometric_mavros.yaml"
    ours.write_text(yaml.safe_dump(settings))
    wanted_file = tmp_path / "wanted.txt"
    parameters = {"transport_mode": "file", "control.link": "mavlink_full"}
    with (
        Programs(tmp_path, domain_id, [WITNESS], parameters=parameters, emulator=["--grounded"], keep_frames=False) as programs,
        Background("launch", NAME, "geometric_controller.launch.py"),
        Background("launch", NAME, "geometric_to_mavros.launch.py", f"param_file:={ours}"),
    ):
        eight = Path(__file__).with_name("eight.py")
        with Background(program=[sys.executable, str(eight), str(wanted_file)]) as controller:
            wait(lambda: not controller.alive(), "the end of the flight", 240.0)
        assert re.search(r"(?m)^done$", controller.output), controller.output
        programs.assert_alive()
    began, ended = (int(re.search(rf"(?m)^{word} (\d+)", controller.output)[1]) for word in ("eight", "hold"))
    errors, path = tracking(programs.truth_file, wanted_file, began, ended)
    away = np.linalg.norm(errors, axis=1)
    figures = {
        "path_m": round(path, 1),
        "worst_m": round(float(away.max()), 3),
        "height_rms_m": round(float(np.sqrt((errors[:, 2] ** 2).mean())), 3),
        "seconds": round((ended - began) * 1e-9, 1),
    }
    assert path > 30, path
    given = "pose, velocity, IMU and state as of mavros in, setpoint_raw/attitude (rates and thrust) out"
    changes = "geometric_controller.yaml as it is, geometric_mavros.yaml with max_thrust of twice the weight"
    rms = float(np.sqrt((away**2).mean()))
    row(NAME, given, "distance from a flown figure of eight, 8 m by 4 m, r.m.s.", rms, 0.25, "m", changes, **figures)
    assert figures["worst_m"] < 0.6, figures


def tracking(truth_file: Path, wanted_file: Path, began: int, ended: int) -> tuple[np.ndarray, float]:
    """Where the vehicle truly was, from where it was wanted at the same time (ENU, m), and the length of its way."""
    entries = [json.loads(line) for line in truth_file.read_text().splitlines()]
    flown = [(e["due_ns"], ENU_FROM_NED @ e["vehicle"]["position"]) for e in entries if e["kind"] == "frame"]
    stamps, places = np.array([at for at, _ in flown]), np.array([place for _, place in flown])
    places = places - places[0]
    wanted = np.loadtxt(wanted_file)
    during = (stamps > began) & (stamps < ended)
    shall = np.stack([np.interp(stamps[during], wanted[:, 0], wanted[:, axis]) for axis in (1, 2, 3)], axis=1)
    return places[during] - shall, float(np.linalg.norm(np.diff(places[during], axis=0), axis=1).sum())
