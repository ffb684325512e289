"""Faults of the network and of the simulator: the bridge stays up, recovers, and counts what happened by its cause."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from diagnostics import Report
from geometry import nanoseconds
from images import pixels
from recording import Recording
from soak import count
from system import System
from topics import DIAGNOSTICS, IMU, main_topic, topics_of
from truth import Truth, true_image

from sensors import COMPRESSED, RAW, with_defaults

# Two datagrams per frame, and two sensors of one. All fit several times into the smallest usual receive buffer
# (212992 bytes), so that only the faults asked for lose anything.
CAMERA = with_defaults(0, 1, RAW, width=200, height=150, rate=20)
DEPTH = with_defaults(1, 2, COMPRESSED, rate=20)
LIDAR = with_defaults(2, 20, COMPRESSED, rate=20)
SENSORS = [CAMERA, DEPTH, LIDAR]
FRAMES = 120
# Datagrams of garbage, and how many come in a second.
RANDOM, PER_S = count(100_000, 1_000_000), 100_000


def latest(recording: Recording) -> Report:
    """Waits for a report that begins after now."""
    recording.collect_more(2, ["/diagnostics"])
    return Report(recording.messages("/diagnostics")[-1])


class Outcome:
    """One run with faults: what was sent, what was received, what the bridge counted."""

    def __init__(self, directory: Path, domain_id: int, faults: list[str], *, frames: int = FRAMES):
        parameters = {"time.mode": "sim", "diagnostics.period_s": 0.2, "transport_mode": "file"}
        with System(directory, domain_id, SENSORS, parameters=parameters, emulator=faults) as system:
            self.recording = Recording(system)
            topics = {**DIAGNOSTICS, **IMU}
            for sensor in SENSORS:
                topics |= {main_topic(sensor): topics_of(sensor)[main_topic(sensor)]}
            self.recording.subscribe(topics)
            self.recording.collect(frames, [main_topic(CAMERA), main_topic(DEPTH)])
            # A frame that misses a piece is counted as soon as later ones are whole, so the last ones are.
            system.command("faults none")
            until = {seq: sensor["frames"] + 4 for seq, sensor in system.command("stats")["sensors"].items()}

            def followed() -> bool:
                now = system.command("stats")["sensors"]
                return all(now[seq]["frames"] >= count for seq, count in until.items())

            system.peer.wait_for(followed, "frames without faults", 60.0)
            system.command("pause")
            self.sent, self.report = self._settled(system)
            system.assert_alive()
        self.truth = Truth(system.truth_file, system.truth_frames)

    def _settled(self, system: System) -> tuple[dict, Report]:
        """Counters of the paused emulator, and a report of the bridge, once neither changes any more."""
        before, now, report = None, {}, None
        while before != now:
            report = latest(self.recording)
            sent = system.command("stats")["sensors"]
            before, now = now, {**sent, **{s.seq: self._counted(report, s) for s in SENSORS}}
        return {int(seq): {**sensor, **sensor["faults"]} for seq, sensor in sent.items()}, report

    @staticmethod
    def _counted(report: Report, sensor) -> tuple:
        values = report.sensor(sensor.seq)
        return values["received"], values["frames"], report.drops(sensor.seq)

    def overran(self) -> bool:
        """Had a socket no room? The bridge says so: it did not get to run for longer than the buffers last."""
        return any(self.report.drops(sensor.seq).get("socket_overflow") for sensor in SENSORS)

    def figures(self, sensor) -> tuple[dict, dict, dict[str, int]]:
        """Counters of the emulator, of the bridge, and the bridge's drops of a sensor."""
        return self.sent[sensor.seq], self.report.sensor(sensor.seq), self.report.drops(sensor.seq)

    def assert_images_are_whole(self) -> None:
        """No published image mixes frames or misses a piece."""
        messages = self.recording.by_stamp(main_topic(CAMERA))
        compared = 0
        for stamp, message in messages.items():
            frame = self.truth.frames[CAMERA.seq].get(stamp)
            if frame and frame.file:
                assert np.array_equal(pixels(message), true_image(CAMERA, frame.payload()))
                compared += 1
        assert compared >= 5


@pytest.fixture
def outcome(tmp_path, domain_id, simulator_ports):
    """Runs with the faults of a test, and once more if the machine added one of its own."""

    def run(*faults, **options) -> Outcome:
        for attempt in range(3):
            result = Outcome(tmp_path / str(attempt), domain_id, list(faults), **options)
            if not result.overran():
                return result
        raise AssertionError("datagrams were lost in the sockets of the bridge, three times")

    return run


def test_without_faults_every_frame_arrives_and_nothing_is_dropped(outcome):
    result = outcome()
    for sensor in SENSORS:
        sent, received, drops = result.figures(sensor)
        assert received["received"] == sent["datagrams"]
        assert received["frames"] == sent["frames"]
        assert not any(drops.values()), drops
    result.assert_images_are_whole()


def test_lost_datagrams_cost_their_frames_and_no_others(outcome):
    result = outcome("--loss", "0.01", "--seed", "7", frames=240)
    lost = 0
    for sensor in SENSORS:
        sent, received, drops = result.figures(sensor)
        assert received["received"] == sent["datagrams"]
        assert received["frames"] == sent["frames"] - sent["harmed"]
        lost += sent["lost"]
        # A frame of which nothing arrives is counted by its number; every other is counted as incomplete.
        cause = "incomplete" if sensor is CAMERA else "lost"
        assert drops[cause] == sum(drops.values()) == sent["harmed"] > 0, (drops, sent)
        assert received["frames"] + drops[cause] == sent["frames"]
    assert lost > 0
    result.assert_images_are_whole()


def test_reordered_datagrams_cost_nothing(outcome):
    result = outcome("--reorder", "0.2", "--seed", "3")
    sent, received, drops = result.figures(CAMERA)
    assert sent["reordered"] > 20
    # The last frame may still have been held back when the emulator ended.
    assert sent["frames"] - received["frames"] <= 1, (sent, received, drops)
    result.assert_images_are_whole()


def test_duplicated_datagrams_are_counted_and_delivered_once(outcome):
    result = outcome("--duplicate", "0.2", "--seed", "5")
    for sensor in SENSORS:
        sent, received, drops = result.figures(sensor)
        assert sent["duplicated"] > 0
        assert received["received"] == sent["datagrams"]
        assert received["frames"] == sent["frames"]
        ignored = {key: count for key, count in received.items() if key.startswith("ignored_")}
        assert not any(drops.values()) and sum(ignored.values()) == sent["duplicated"], (drops, ignored, sent)
        stamps = [nanoseconds(m.header.stamp) for m in result.recording.messages(main_topic(sensor))]
        assert len(stamps) == len(set(stamps))
    result.assert_images_are_whole()


def test_corrupted_datagrams_are_counted_and_never_fatal(outcome):
    result = outcome("--corrupt", "0.05", "--seed", "11")
    total = 0
    for sensor in SENSORS:
        sent, received, drops = result.figures(sensor)
        assert sent["corrupted"] > 0
        # A flipped byte inside the pixels is not noticed by anybody (there is no checksum); one in a header is.
        assert received["frames"] >= sent["frames"] - sent["harmed"] - 1
        total += sum(drops.values())
    assert total > 0


def test_everything_at_once(outcome):
    result = outcome(
        "--loss", "0.02", "--reorder", "0.05", "--duplicate", "0.05", "--corrupt", "0.01", "--delay-ms", "5",
        "--delay-jitter-ms", "10", "--seed", "23",
    )  # fmt: skip
    for sensor in SENSORS:
        sent, received, _ = result.figures(sensor)
        assert received["frames"] >= 0.5 * sent["frames"]
        assert len(result.recording.messages(main_topic(sensor))) > 0


def test_a_frame_that_is_never_completed_is_counted_although_nothing_follows(tmp_path, domain_id, simulator_ports):
    parameters = {
        "diagnostics.period_s": 0.2, "time.mode": "sim", "transport_mode": "file", "request.timeout_s": 1.0,
    }  # fmt: skip
    with System(tmp_path, domain_id, [CAMERA], parameters=parameters) as system:
        recording = Recording(system)
        recording.subscribe({**DIAGNOSTICS, **topics_of(CAMERA)})
        recording.collect(5, [main_topic(CAMERA)])
        system.emulator.kill()
        silent = lambda report: "silent" in str(report.messages)  # noqa: E731
        system.peer.wait_for(lambda: silent(latest(recording)), "the loss of the simulator", 60.0)
        incomplete = lambda: latest(recording).drops(CAMERA.seq).get("incomplete", 0)  # noqa: E731
        before = incomplete()
        # The first of two pieces of the next frame.
        newest = nanoseconds(recording.messages(main_topic(CAMERA))[-1].header.stamp) * 1e-9
        piece = struct.pack("<4id", 1234567890, 24 + 60_000, 0, 2, newest + 0.05) + bytes(60_000)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(piece, ("127.0.0.1", CAMERA.port))
        system.peer.wait_for(lambda: incomplete() == before + 1, "the incomplete frame in /diagnostics", 60.0)
        # And the stream goes on.
        system.start_emulator()
        recording.collect_more(5, [main_topic(CAMERA)])


def wait_for_stamps_of_now(recording: Recording, topics: list[str]) -> None:
    """Receives until something new on each of `topics` comes within a second of its stamp; all of it does, unless somebody
    on its way stands still."""
    recording.harvest()
    counts = {topic: len(recording.samples[topic]) for topic in topics}

    def late(topic: str) -> list[float]:
        """By how much what came is late."""
        new = recording.samples[topic][counts[topic] :]
        return [sample.arrival - nanoseconds(sample.message.header.stamp) * 1e-9 for sample in new]

    def now() -> bool:
        recording.system.assert_alive()
        recording.harvest()
        return all(any(abs(seconds) < 1.0 for seconds in late(topic)) for topic in topics)

    try:
        recording.system.peer.wait_for(now, "stamps of now", 60.0)
    except AssertionError as error:
        raise AssertionError(f"{error}; late by {({topic: late(topic)[-1:] for topic in topics})} s") from None
    assert all(seconds > -1.0 for topic in topics for seconds in late(topic)), "a stamp of the future"


def test_a_killed_simulator_is_noticed_and_data_flow_again_after_it_returns(tmp_path, domain_id, simulator_ports):
    parameters = {"diagnostics.period_s": 0.2, "request.timeout_s": 1.0, "transport_mode": "file"}
    with System(tmp_path, domain_id, SENSORS, parameters=parameters) as system:
        recording = Recording(system)
        topics = {**DIAGNOSTICS, **IMU}
        for sensor in SENSORS:
            topics |= {main_topic(sensor): topics_of(sensor)[main_topic(sensor)]}
        recording.subscribe(topics)
        data = [main_topic(sensor) for sensor in SENSORS] + ["/rflysim/imu"]
        # Long enough that the simulation time of the next run cannot be taken for a late datagram of this one.
        recording.collect(120, data)
        system.emulator.kill()

        def lost() -> bool:
            recording.harvest()
            messages = Report(recording.messages("/diagnostics")[-1]).messages
            return any("silent" in text for name, text in messages.items() if "sensor0" in name)

        system.peer.wait_for(lost, "the loss of the simulator in /diagnostics", 60.0)
        system.emulator.start()
        recording.collect_more(20, data)
        wait_for_stamps_of_now(recording, data)
        for topic in data:
            stamps = [nanoseconds(m.header.stamp) for m in recording.messages(topic)]
            back = [(a, b) for a, b in zip(stamps, stamps[1:], strict=False) if a >= b]
            assert not back, f"{topic} ran backwards: {back[:3]}"


def test_a_restarted_simulation_is_announced_and_stamps_go_on(tmp_path, domain_id, simulator_ports):
    """The simulation starts anew at time 0 and has forgotten every request, while its windows stay open."""
    parameters = {"diagnostics.period_s": 0.2, "request.timeout_s": 1.0, "transport_mode": "file"}
    with System(tmp_path, domain_id, SENSORS, parameters=parameters) as system:
        recording = Recording(system)
        data = [main_topic(sensor) for sensor in SENSORS] + ["/rflysim/imu"]
        topics = {**DIAGNOSTICS, **IMU}
        for sensor in SENSORS:
            topics |= {main_topic(sensor): topics_of(sensor)[main_topic(sensor)]}
        recording.subscribe(topics)
        recording.collect(80, data)
        assert latest(recording).find("clock of vehicle 1")["restarts"] == 0
        system.command("restart")
        restarted = lambda message: Report(message).find("clock of vehicle 1")["restarts"] > 0  # noqa: E731
        recording.wait_for("/diagnostics", restarted)
        recording.collect_more(40, data)
        wait_for_stamps_of_now(recording, data)
        assert latest(recording).find("clock of vehicle 1")["restarts"] == 1
        for topic in data:
            stamps = np.array([nanoseconds(m.header.stamp) for m in recording.messages(topic)])
            assert (np.diff(stamps) > 0).all(), f"{topic} ran backwards"


def test_random_datagrams_to_every_open_port_change_nothing(tmp_path, domain_id, simulator_ports):
    parameters = {"diagnostics.period_s": 0.2, "time.mode": "sim", "transport_mode": "file"}
    with System(tmp_path, domain_id, SENSORS, parameters=parameters) as system:
        recording = Recording(system)
        topics = {**DIAGNOSTICS, **IMU}
        for sensor in SENSORS:
            topics |= {main_topic(sensor): topics_of(sensor)[main_topic(sensor)]}
        recording.subscribe(topics)
        data = [main_topic(sensor) for sensor in SENSORS]
        recording.collect(30, data)
        before = system.bridge.resident_bytes()
        ports = sorted(system.bridge.udp_ports())
        assert {sensor.port for sensor in SENSORS} <= set(ports)
        flood = subprocess.Popen(
            [sys.executable, Path(__file__).parents[1].joinpath("flood.py"), str(RANDOM), str(PER_S), "42", *map(str, ports)],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        while flood.poll() is None:
            recording.harvest()
            time.sleep(0.02)
        assert int(flood.stdout.read()) == RANDOM
        assert system.bridge.alive(), system.report()
        recording.collect_more(30, data)
        after = system.bridge.resident_bytes()
        assert after - before < 64 << 20, f"{before >> 20} MiB before, {after >> 20} MiB after"
        report = latest(recording)
        refused = sum(sum(report.drops(sensor.seq).values()) for sensor in SENSORS)
        assert refused > 1000, "the garbage was not counted"
        print(f"{len(ports)} ports; RSS {before >> 20} -> {after >> 20} MiB; {refused} counted as bad by the sensors")
    truth = Truth(system.truth_file, system.truth_frames)
    compared = 0
    for stamp, message in recording.by_stamp(main_topic(CAMERA)).items():
        frame = truth.frames[CAMERA.seq].get(stamp)
        assert frame is not None, "an image with a stamp that was never rendered: garbage was published"
        if frame.file:
            assert np.array_equal(pixels(message), true_image(CAMERA, frame.payload()))
            compared += 1
    assert compared >= 20
