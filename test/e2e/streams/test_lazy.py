"""Nothing is decoded and nothing is converted for topics without subscribers."""

from __future__ import annotations

import math

import pytest
from backend import SEES_READERS_LEAVE
from diagnostics import Report
from recording import Recording
from system import System
from topics import DIAGNOSTICS, main_topic, topics_of

from sensors import COMPRESSED, COMPRESSED_OTHER, RAW, with_defaults

COLOUR, JPEG, CLOUD = with_defaults(0, 1, RAW), with_defaults(1, 1, COMPRESSED_OTHER), with_defaults(2, 20, COMPRESSED)
SENSORS = [COLOUR, JPEG, CLOUD]


@pytest.fixture
def system(tmp_path, domain_id, simulator_ports):
    parameters = {"transport_mode": "file", "diagnostics.period_s": 0.1}
    with System(tmp_path, domain_id, SENSORS, parameters=parameters) as system:
        recording = Recording(system)
        recording.subscribe(DIAGNOSTICS)
        yield system, recording


def report_when(system: System, recording: Recording, ready) -> Report:
    """Returns the first report for which `ready` holds."""

    def latest():
        recording.harvest()
        messages = recording.messages("/diagnostics")
        report = Report(messages[-1]) if messages else None
        return report if report and ready(report) else None

    return system.peer.wait_for(latest, "the report")


def test_without_subscribers_nothing_is_converted(system):
    system, recording = system
    report = report_when(system, recording, lambda r: all(r.sensor(s.seq)["frames"] >= 20 for s in SENSORS))
    assert [report.sensor(s.seq)["converted"] for s in SENSORS] == [0, 0, 0]
    assert all(math.isnan(report.sensor(s.seq)["latency_p50_ms"]) for s in SENSORS), "what nobody measured is no 0"
    assert sum(report.find(f"topic {main_topic(s)}")["published"] for s in SENSORS) == 0


def test_a_stream_of_which_only_compressed_is_subscribed_is_never_decoded(system):
    system, recording = system
    compressed = f"{main_topic(JPEG)}/compressed"
    recording.subscribe({compressed: topics_of(JPEG)[compressed]})
    recording.collect(20, [compressed])
    report = report_when(system, recording, lambda r: r.find(f"topic {compressed}")["published"] >= 20)
    assert report.find(f"topic {main_topic(JPEG)}")["published"] == 0
    assert report.sensor(COLOUR.seq)["converted"] == 0


@pytest.mark.skipif(not SEES_READERS_LEAVE, reason="Fast DDS 2.6 does not see a reader of Cyclone leave; test/ros2 does it")
def test_conversion_starts_with_the_first_subscriber_and_ends_with_the_last(system):
    system, recording = system
    topic = main_topic(CLOUD)
    recording.subscribe({topic: topics_of(CLOUD)[topic]})
    recording.collect(10, [topic])
    system.peer.unsubscribe(recording._subscriptions.pop(topic))
    report_when(system, recording, lambda r: r.find(f"topic {topic}")["subscribers"] == 0)
    # The figures of one report are read one after the other: all of the next one are later than the end of the subscription.
    recording.collect_more(1, ["/diagnostics"])
    before = report_when(system, recording, lambda _: True).sensor(CLOUD.seq)
    after = report_when(system, recording, lambda r: r.sensor(CLOUD.seq)["frames"] >= before["frames"] + 20)
    assert after.sensor(CLOUD.seq)["converted"] - before["converted"] <= 2
