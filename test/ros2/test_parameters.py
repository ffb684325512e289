"""Parameters that change while the bridge runs: what subscribers see, and what is refused."""

from __future__ import annotations

import math

import pytest
from programs import Programs
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage
from topics import info_topic, main_topic

from ros import NODE, Background, ros2, wait, wait_count
from sensors import RAW, with_defaults

CAMERA = with_defaults(0, 1, RAW, rate=20)
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def bridge(tmp_path, domain_id, simulator_ports):
    parameters = {"transport_mode": "file", "diagnostics.period_s": 0.2}
    with Programs(tmp_path, domain_id, [CAMERA], parameters=parameters, keep_frames=False) as programs:
        programs.bridge.wait_for_output("sensors: ")
        yield programs
        programs.assert_alive()


def changeable(name: str, value: str) -> None:
    """Sets a parameter; skips the test where the bridge does not have it."""
    if name not in ros2("param", "list", NODE).split():
        pytest.skip(f"{name} is not a parameter of this version")
    answer = ros2("param", "set", NODE, name, value)
    assert "Set parameter successful" in answer, answer


def test_the_rate_of_the_imu_follows(bridge, listener):
    from sensor_msgs.msg import Imu

    samples = listener.collect(Imu, "/rflysim/imu", 50)
    wait_count(samples, 100, "IMU samples")
    changeable("imu.rate_hz", "50")

    def period() -> float:
        stamps = [m.header.stamp.sec + m.header.stamp.nanosec * 1e-9 for m in samples[-21:]]
        return (stamps[-1] - stamps[0]) / 20

    wait(lambda: abs(period() - 0.02) < 0.002, "50 Hz")
    assert ros2("param", "get", NODE, "imu.rate_hz").strip() == "Integer value is: 50"


def test_the_field_of_view_reaches_camera_info(bridge, listener):
    infos = listener.collect(CameraInfo, info_topic(CAMERA), 10)
    wait_count(infos, 3, "camera_info")
    assert infos[-1].k[0] == pytest.approx(CAMERA.width / 2)
    changeable(f"sensor{CAMERA.seq}.fov_deg", "60.0")
    expected = CAMERA.width / 2 / math.tan(math.radians(30))
    wait(lambda: infos[-1].k[0] == pytest.approx(expected, rel=1e-4), "the new focal length")


def test_the_rate_of_a_sensor_follows(bridge, listener):
    images = listener.collect(Image, main_topic(CAMERA), 5)
    wait_count(images, 10, "images")
    changeable(f"sensor{CAMERA.seq}.rate_hz", "5")

    def period() -> float:
        first, last = (m.header.stamp.sec + m.header.stamp.nanosec * 1e-9 for m in (images[-5], images[-1]))
        return (last - first) / 4

    wait(lambda: abs(period() - 0.2) < 0.02, "5 Hz")


def test_the_mounting_angles_reach_tf(bridge, listener):
    static = listener.collect(TFMessage, "/tf_static", LATCHED)

    def pitch() -> float | None:
        """Of the sensor's link against the body, in degrees, nose down positive."""
        for message in reversed(static):
            for t in message.transforms:
                if t.child_frame_id == f"sensor{CAMERA.seq}_link":
                    q = t.transform.rotation
                    return math.degrees(math.asin(2 * (q.w * q.y - q.z * q.x)))
        return None

    wait(lambda: pitch() is not None, "the mount on /tf_static")
    assert pitch() == pytest.approx(0, abs=0.01)
    changeable(f"sensor{CAMERA.seq}.orientation_deg", "[0.0, -20.0, 0.0]")
    wait(lambda: pitch() == pytest.approx(20, abs=0.01), "the new mount")


def test_what_cannot_change_is_refused_with_the_reason_and_stays(bridge):
    with Background("param", "set", NODE, "simulator_address", "10.0.0.1") as setting:
        setting.wait_for(r"(?i)failed[^\n]*\S+ \S+")
    assert ros2("param", "get", NODE, "simulator_address").strip() == "String value is: 127.0.0.1"


def test_a_change_is_announced_on_parameter_events(bridge, listener):
    from rcl_interfaces.msg import ParameterEvent

    events = listener.collect(ParameterEvent, "/parameter_events", 100)
    wait(lambda: listener.node.count_publishers("/parameter_events") > 1, "the bridge's publisher")
    changeable("imu.rate_hz", "100")

    def announced():
        return [p for e in events if e.node == NODE for p in e.changed_parameters if p.name == "imu.rate_hz"]

    [change] = wait(announced, "the event")
    assert change.value.integer_value == 100
