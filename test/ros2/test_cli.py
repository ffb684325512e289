"""`ros2 topic`, `ros2 node`, `ros2 service` and `ros2 param` of a running bridge."""

from __future__ import annotations

import re
import time

import pytest
import yaml
from backend import TOOLS_SEE_DEPTH
from conftest import COLOUR, DEPTH, RANGE, SENSORS
from topics import DIAGNOSTICS, IMU, TF, info_topic, main_topic, topics_of

from ros import NEEDS_ROS2, NODE, Background, ros2, ros2_for

pytestmark = [NEEDS_ROS2, pytest.mark.usefixtures("running")]


def expected_topics() -> dict[str, str]:
    topics = {**TF, **IMU, **DIAGNOSTICS}
    for sensor in SENSORS:
        topics |= topics_of(sensor)
    return topics


def test_topic_list_shows_every_topic_with_its_type_and_one_publisher():
    published = ros2("topic", "list", "-v").split("Subscribed topics:")[0]
    found = dict(re.findall(r"^ \* (\S+) \[(\S+)\] 1 publisher$", published, re.M))
    expected = expected_topics()
    assert {topic: found.get(topic) for topic in expected} == expected


def test_topic_type_and_find():
    assert ros2("topic", "type", main_topic(COLOUR)).strip() == "sensor_msgs/msg/Image"
    found = ros2("topic", "find", "sensor_msgs/msg/CameraInfo").split()
    assert info_topic(COLOUR) in found and main_topic(COLOUR) not in found


def qos_of(topic: str) -> dict[str, str]:
    """The fields of the one publisher in `ros2 topic info --verbose`."""
    text = ros2("topic", "info", "--verbose", topic)
    assert "Publisher count: 1" in text, text
    publisher = text.split("Publisher count: 1")[1].split("Subscription count")[0]
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in publisher.splitlines())}


def depth(count: int) -> str:
    """How the tool shows the depth of a remote publisher."""
    return f"KEEP_LAST ({count})" if TOOLS_SEE_DEPTH else "UNKNOWN"


@pytest.mark.parametrize(
    ("topic", "kind", "durability", "kept"),
    [
        (main_topic(COLOUR), "sensor_msgs/msg/Image", "VOLATILE", 3),
        (info_topic(COLOUR), "sensor_msgs/msg/CameraInfo", "VOLATILE", 5),
        ("/rflysim/imu", "sensor_msgs/msg/Imu", "VOLATILE", 50),
        ("/tf", "tf2_msgs/msg/TFMessage", "VOLATILE", 100),
        ("/tf_static", "tf2_msgs/msg/TFMessage", "TRANSIENT_LOCAL", 1),
        ("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", "VOLATILE", 10),
    ],
)
def test_topic_info_shows_node_type_and_qos(topic, kind, durability, kept):
    shown = qos_of(topic)
    assert (shown["Node name"], shown["Node namespace"]) == ("rfly_bridge", "/")
    assert shown["Topic type"] == kind
    assert (shown["Reliability"], shown["Durability"]) == ("RELIABLE", durability)
    assert shown["History (Depth)"] == depth(kept)


def test_topic_echo_shows_a_message():
    [message] = [m for m in yaml.safe_load_all(ros2("topic", "echo", "--once", info_topic(COLOUR))) if m]
    assert message["header"]["frame_id"] == f"sensor{COLOUR.seq}_optical_frame"
    assert (message["width"], message["height"]) == (COLOUR.width, COLOUR.height)
    assert abs(message["header"]["stamp"]["sec"] - time.time()) < 30
    assert message["k"][0] == pytest.approx(COLOUR.width / 2)  # fov 90 degrees


def test_topic_echo_of_a_field_and_without_arrays():
    assert ros2("topic", "echo", "--once", "--field", "encoding", main_topic(DEPTH)).split("\n")[0] == "16UC1"
    text = ros2("topic", "echo", "--once", "--no-arr", main_topic(COLOUR))
    assert "encoding: bgr8" in text and f"step: {COLOUR.width * 3}" in text


def test_topic_hz_is_the_rate_of_the_sensor():
    with Background("topic", "hz", main_topic(RANGE)) as hz:
        hz.wait_for(r"average rate: [\d.]+(?:.*\n)+.*average rate: [\d.]+(?:.*\n)+.*average rate")
    rates = [float(rate) for rate in re.findall(r"average rate: ([\d.]+)", hz.output)]
    assert rates[-1] == pytest.approx(RANGE.rate, rel=0.1), hz.output


def test_topic_bw_is_rate_times_size():
    # A small image: of big ones this best-effort reader may lose some (test_throughput.py and dds_matrix.py count those).
    with Background("topic", "bw", main_topic(DEPTH)) as bw:
        bw.wait_for(r"(?s)B/s from .*B/s from .*B/s from ")
    shown = re.findall(r"([\d.]+) ([KM]?)B/s from", bw.output)[-1]
    rate = float(shown[0]) * {"": 1, "K": 1e3, "M": 1e6}[shown[1]]
    size = DEPTH.width * DEPTH.height * 2
    assert rate == pytest.approx(DEPTH.rate * size, rel=0.2), bw.output


def test_node_list_and_info():
    assert ros2("node", "list").split().count(NODE) == 1
    text = ros2("node", "info", NODE)
    publishers = text.split("Publishers:")[1].split("Service Servers:")[0]
    found = dict(re.findall(r"^\s+(/\S+): (\S+)$", publishers, re.M))
    expected = expected_topics()
    assert {topic: found.get(topic) for topic in expected} == expected


PARAMETER_SERVICES = {
    f"{NODE}/{verb}": f"rcl_interfaces/srv/{kind}"
    for verb, kind in {
        "describe_parameters": "DescribeParameters",
        "get_parameter_types": "GetParameterTypes",
        "get_parameters": "GetParameters",
        "list_parameters": "ListParameters",
        "set_parameters": "SetParameters",
        "set_parameters_atomically": "SetParametersAtomically",
    }.items()
}


def test_service_list_shows_the_parameter_services():
    found = dict(re.findall(r"^(\S+) \[(\S+)\]$", ros2("service", "list", "-t"), re.M))
    assert {name: found.get(name) for name in PARAMETER_SERVICES} == PARAMETER_SERVICES
    name, kind = f"{NODE}/get_parameters", "rcl_interfaces/srv/GetParameters"
    assert ros2("service", "type", name).strip() == kind


def test_service_call_gets_and_describes_a_parameter():
    request = "{names: [imu.rate_hz, map_frame]}"
    answer = ros2("service", "call", f"{NODE}/get_parameters", "rcl_interfaces/srv/GetParameters", request)
    assert re.search(r"type=2.*integer_value=200.*type=4.*string_value='map'", answer, re.S), answer
    answer = ros2("service", "call", f"{NODE}/describe_parameters", "rcl_interfaces/srv/DescribeParameters", request)
    assert re.search(r"name='imu.rate_hz'.*from_value=1,\s*to_value=1000", answer, re.S), answer


def test_service_call_that_sets_nonsense_is_refused_with_a_reason():
    request = "{parameters: [{name: imu.rate_hz, value: {type: 2, integer_value: 100000}}]}"
    answer = ros2("service", "call", f"{NODE}/set_parameters", "rcl_interfaces/srv/SetParameters", request)
    assert "successful=False" in answer and "1000" in answer.split("reason=")[1], answer


def test_param_list_has_every_parameter_of_the_table():
    found = set(ros2("param", "list", NODE).split())
    assert {"config", "simulator_address", "imu.rate_hz", "time.mode", "use_sim_time", "topic_prefix"} <= found


def test_param_get_shows_value_and_type():
    assert ros2("param", "get", NODE, "imu.rate_hz").strip() == "Integer value is: 200"
    assert ros2("param", "get", NODE, "transport_mode").strip() == "String value is: file"
    assert ros2("param", "get", NODE, "tf.publish").strip() == "Boolean value is: True"


def test_param_describe_shows_text_range_and_constraints():
    text = ros2("param", "describe", NODE, "imu.rate_hz")
    assert "Type: integer" in text and "Min value: 1" in text and "Max value: 1000" in text, text
    assert "Rate to request" in text, text


def test_param_dump_is_a_file_that_the_bridge_accepts():
    dumped = yaml.safe_load(ros2("param", "dump", NODE))
    parameters = dumped[NODE]["ros__parameters"]
    assert parameters["imu"]["rate_hz"] == 200
    assert parameters["diagnostics"]["period_s"] == pytest.approx(0.2)


def test_param_set_of_an_unknown_name_or_a_wrong_type_fails():
    # The tool prints the reason and ends with 1 or, in Humble, with 0.
    for name, value in (("imu.rate_hertz", "100"), ("imu.rate_hz", "fast")):
        with Background("param", "set", NODE, name, value) as setting:
            setting.wait_for(r"(?i)failed|not (been )?declared|type")
        assert "Set parameter successful" not in setting.output


def test_rosout_carries_what_the_bridge_logs(tmp_path):
    with Background("topic", "echo", "/rosout", "rcl_interfaces/msg/Log") as echo:
        # Other nodes (those of the tools) write here as well, and what is printed may end in the middle of a message.
        echo.wait_for(r"(?s)name: rfly_bridge\n.*?\n---\n")
    # Before the first message stands what rcl says of the environment.
    complete = echo.output[echo.output.index("stamp:") : echo.output.rindex("\n---\n")]
    messages = [message for message in yaml.safe_load_all(complete) if message["name"] == "rfly_bridge"]
    assert messages and all(message["msg"] and message["level"] in (10, 20, 30, 40, 50) for message in messages)


def test_a_topic_that_does_not_exist_is_not_there():
    """What a negative answer looks like, so that the tests above mean something."""
    ros2("topic", "info", "/rflysim/sensor99/img_rgb", code=1)
    ros2("node", "info", "/another_bridge", code=1)
    assert "average rate" not in ros2_for(4, "topic", "hz", "/rflysim/sensor99/img_rgb")
