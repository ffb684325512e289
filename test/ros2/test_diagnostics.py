"""/diagnostics shows a reader that gets nothing because its QoS does not match, and what a robot monitor groups by."""

from __future__ import annotations

import pytest
from backend import MIDDLEWARE, ON_DDS
from conftest import COLOUR, SENSORS
from diagnostic_msgs.msg import DiagnosticArray
from diagnostics import Report
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import Image
from topics import main_topic

from ros import wait, wait_count

TOPIC = f"topic {main_topic(COLOUR)}"


@pytest.fixture
def reports(running, listener):
    return listener.collect(DiagnosticArray, "/diagnostics", 10)


def test_every_source_and_every_topic_has_a_status_with_the_name_of_the_node(reports):
    def well() -> DiagnosticArray | None:
        """The newest report, if everything in it is well and it has the rates of more than the first moments."""
        report = reports[-1]
        if any(status.level != b"\x00" for status in report.status):
            return None
        found = Report(report)
        rates = (found.sensor(sensor.seq)["rate_hz"] == pytest.approx(sensor.rate, rel=0.5) for sensor in SENSORS)
        return report if all(rates) else None

    wait_count(reports, 3, "reports")
    report = wait(well, "a report in which everything is well, with the rates of the sensors")
    names = [status.name for status in report.status]
    assert all(name.startswith("rfly_bridge: ") for name in names) and len(set(names)) == len(names)
    found = Report(report)
    for sensor in SENSORS:
        assert found.find(f"topic {main_topic(sensor)}")["incompatible_qos"] == 0


@pytest.mark.skipif(MIDDLEWARE != "zenoh", reason="on DDS such a reader gets nothing")
def test_on_zenoh_a_reader_that_asks_for_old_images_gets_the_new_ones(reports, listener):
    images = listener.collect(Image, main_topic(COLOUR), QoSProfile(depth=5, durability=DurabilityPolicy.TRANSIENT_LOCAL))
    wait_count(images, 3, "images")
    count = len(reports)
    wait_count(reports, count + 2, "reports")
    assert Report(reports[-1]).find(TOPIC)["incompatible_qos"] == 0
    listener.forget(images)


@ON_DDS
def test_a_reader_that_asks_for_what_is_not_offered_is_shown(reports, listener):
    wait_count(reports, 2, "reports")
    images = listener.collect(Image, main_topic(COLOUR), QoSProfile(depth=5, durability=DurabilityPolicy.TRANSIENT_LOCAL))

    def warned():
        report = Report(reports[-1])
        return report if report.find(TOPIC)["incompatible_qos"] == 1 else None

    report = wait(warned, "the reader in /diagnostics")
    name = f"rfly_bridge: {TOPIC}"
    assert report.levels[name] == b"\x01"
    assert "DURABILITY" in report.messages[name], report.messages[name]
    assert images == [], "it cannot match"
    listener.forget(images)
