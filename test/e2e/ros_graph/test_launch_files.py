"""What the launch files decide, as far as it can be tested without ROS; test/launch runs them for real."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from processes import ROOT

sys.path.insert(0, str(ROOT / "launch"))
import rfly_launch as rfly


def load(directory: Path, content: str) -> list[rfly.Bridge]:
    """Reads a vehicles.yaml with this content; beside it is a sensor list."""
    (directory / "Config.json").write_text("{}")
    file = directory / "vehicles.yaml"
    file.write_text(content)
    return rfly.load_bridges(file)


def test_off_and_no_are_the_words_that_were_written(tmp_path):
    parameters = "{control.link: off, tf.publish: no, vehicle1.link: 'off', map_frame: true}"
    (bridge,) = load(tmp_path, f"bridges: [{{id: a, parameters: {parameters}}}]")
    assert bridge.settings["control.link"] == bridge.settings["vehicle1.link"] == "off"
    assert bridge.settings["tf.publish"] == "no"
    assert bridge.settings["map_frame"] == "true"


def problems(directory: Path, content: str) -> list[tuple[str, str]]:
    """What is wrong with it."""
    with pytest.raises(rfly.Problems) as caught:
        load(directory, content)
    return caught.value.found


def test_the_shipped_file_has_two_bridges_with_a_vehicle_each():
    bridges = rfly.load_bridges(ROOT / "config" / "vehicles.yaml")
    assert [(b.id, b.vehicles) for b in bridges] == [("copter1", [1]), ("copter2", [2])]
    for bridge in bridges:
        assert yaml.safe_load(bridge.settings["config"]) == [str(ROOT / "config" / "two_vehicles.json")]
    # Every sensor of the file belongs to exactly one of them.
    disabled = [{name for name in b.settings if name.endswith(".enabled")} for b in bridges]
    assert not disabled[0] & disabled[1]
    assert disabled[0] | disabled[1] == {f"sensor{n}.enabled" for n in range(7)}


def test_every_key_is_explained_in_the_shipped_file():
    text = (ROOT / "config" / "vehicles.yaml").read_text()
    for key in rfly.KEYS:
        assert f"\n# {key} " in text, key


def test_an_entry_becomes_parameters(tmp_path):
    [bridge] = load(
        tmp_path,
        """
bridges:
  - id: left
    config: Config.json
    simulator_address: 192.168.1.10
    window: 2
    vehicles: [3, 4]
    namespace: /left
    topic_prefix: left/sim
    frame_prefix: "uav{id}/"
    parameters: {imu.rate_hz: 100, rgb.encoding: rgb8, tf.publish: false, imu.linear_acceleration_covariance: [0.1, 0.1, 0.2]}
""",
    )
    assert (bridge.id, bridge.namespace, bridge.window, bridge.local) == ("left", "/left", 2, False)
    arguments = rfly.ros_arguments(bridge.settings)
    assert arguments[::2] == ["-p"] * (len(arguments) // 2)
    values = dict(argument.split(":=", 1) for argument in arguments[1::2])
    assert {name: yaml.safe_load(value) for name, value in values.items()} == {
        "config": [str(tmp_path / "Config.json")],
        "simulator_address": "192.168.1.10",
        "window": 2,
        "vehicles": [3, 4],
        "topic_prefix": "left/sim",
        "frame_prefix": "uav{id}/",
        "imu.rate_hz": 100,
        "rgb.encoding": "rgb8",
        "tf.publish": False,
        "imu.linear_acceleration_covariance": [0.1, 0.1, 0.2],
    }


def test_all_problems_are_reported_at_once_with_their_paths(tmp_path):
    found = problems(
        tmp_path,
        """
bridges:
  - id: left
    config: Confg.json
    windw: 1
  - simulator_address: 192.168.1
    window: 20
    vehicles: [0]
  - left
  - id: 2fast
    namespace: "a b"
    parameters: {window: 1, imu: {rate_hz: 5}}
vehicles: []
""",
    )
    assert [path for path, _ in found] == [
        "vehicles",
        "bridges[0].windw",
        "bridges[1].simulator_address",
        "bridges[1].window",
        "bridges[1].vehicles",
        "bridges[1].id",
        "bridges[2]",
        "bridges[3].id",
        "bridges[3].namespace",
        "bridges[3].parameters.window",
        "bridges[3].parameters.imu",
    ]
    assert 'did you mean "window"?' in dict(found)["bridges[0].windw"]


def test_what_two_bridges_may_not_share_is_reported(tmp_path):
    found = problems(
        tmp_path,
        """
bridges:
  - {id: a, vehicles: [1, 2], config: nowhere.json}
  - {id: a, vehicles: [2], windw: 1}
  - {id: b, vehicles: [3], params_file: nowhere.yaml}
""",
    )
    assert [path for path, _ in found] == [
        "bridges[0].config",
        "bridges[1].windw",
        "bridges[2].params_file",
        "bridges[1].id",
        "bridges[1].vehicles",
    ]


@pytest.mark.parametrize("content", ["", "bridges: 3", "- 1", "bridges: []", "bridges: [", "vehicles: [1]"])
def test_a_file_without_bridges_is_refused(tmp_path, content):
    assert problems(tmp_path, content)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(rfly.Problems, match="nowhere.yaml: 1 problem"):
        rfly.load_bridges(tmp_path / "nowhere.yaml")


def test_single_parameters_come_after_the_file_and_the_file_after_defaults():
    arguments = rfly.ros_arguments(
        {"time.mode": rfly.text("sim")}, defaults={"config": rfly.text("demo.json")}, params_file="mine.yaml", log_level="debug"
    )
    assert arguments == [
        *("-p", 'config:="demo.json"'),
        *("--params-file", "mine.yaml"),
        *("-p", 'time.mode:="sim"'),
        *("--log-level", "debug"),
    ]


@pytest.mark.parametrize("value", ["on", "1", "a: b", "copter{id}/", "[x", "it's", '"', "ünï"])
def test_text_stays_text(value):
    assert yaml.safe_load(rfly.text(value)) == value


def test_config_may_be_a_list():
    assert yaml.safe_load(rfly.paths("[a.json, b.json]")) == ["a.json", "b.json"]
    assert yaml.safe_load(rfly.paths("/a b/c.json")) == "/a b/c.json"


def test_the_emulator_has_the_vehicles_and_windows_that_are_asked_for():
    assert rfly.emulator_arguments("", []) == []
    assert rfly.emulator_arguments("", [1, 3]) == ["--vehicles", "3"]
    assert rfly.emulator_arguments("--hover --loss 0.1", [2], 1) == [
        *("--hover", "--loss", "0.1"),
        *("--vehicles", "2"),
        *("--windows", "2"),
    ]
    assert rfly.emulator_arguments("--vehicles=5", [2]) == ["--vehicles=5"]
    assert rfly.emulator_arguments("--pose '1,2,-3,0,0,90'", [2]) == ["--pose", "1,2,-3,0,0,90"]
    assert rfly.vehicle_numbers("[1, 2]") == [1, 2]
    assert rfly.vehicle_numbers("[1, x") == rfly.vehicle_numbers("2") == rfly.vehicle_numbers("") == []


def test_the_dds_profile_replaces_nothing_of_the_users():
    config = ROOT / "config"
    everything = rfly.dds_environment("true", config, {})
    assert set(everything) == {
        "CYCLONEDDS_URI",
        "FASTRTPS_DEFAULT_PROFILES_FILE",
        "FASTDDS_DEFAULT_PROFILES_FILE",
    }
    for name, value in everything.items():
        path = Path(value.removeprefix("file://"))
        assert path.parent == config and path.is_file(), name
    mine = {"FASTRTPS_DEFAULT_PROFILES_FILE": "mine.xml"}
    assert set(rfly.dds_environment("true", config, mine)) == {"CYCLONEDDS_URI"}
    assert set(rfly.dds_environment("true", config, {"CYCLONEDDS_URI": "x"})) == {
        "FASTRTPS_DEFAULT_PROFILES_FILE",
        "FASTDDS_DEFAULT_PROFILES_FILE",
    }
    assert rfly.dds_environment("false", config, {}) == {}


@pytest.mark.parametrize("code, stopping, fails", [(0, False, False), (1, False, True), (-2, True, False)])
def test_a_bridge_that_fails_by_itself_makes_the_launch_fail(code, stopping, fails):
    handler = rfly.ended("the bridge", lambda reason: ("shutdown", reason))
    event, context = SimpleNamespace(returncode=code), SimpleNamespace(is_shutdown=stopping)
    if fails:
        with pytest.raises(RuntimeError, match="the bridge has failed with exit code 1"):
            handler(event, context)
    else:
        assert handler(event, context) == ("shutdown", "the bridge has ended")
