"""The vendor's public Python client and the bridge on one simulator: what docs/beside.md says, each way round.

`RFLYSIM_SDK` names a directory with a copy of the client (test_vendor_client.py); without it these tests are skipped.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from geometry import nanoseconds
from images import pixels
from mavros import WITNESS
from recording import Recording
from system import System
from truth import sim_ns
from vendor import PATIENCE, VendorClient, wait

from sensors import COMPRESSED, RAW, Sensor, with_defaults, write_config

pytestmark = pytest.mark.usefixtures("simulator_ports")

ORDERS = pytest.mark.parametrize("first", ["sdk", "bridge"])
CAMERAS = [replace(with_defaults(i, 1, COMPRESSED), width=160, height=120, rate=15) for i in (0, 1)]
IMAGE, INFO, ODOMETRY = "/rflysim/sensor0/img_rgb", "/rflysim/sensor0/camera_info", "/rflysim/ground_truth/odom"
WITHOUT_LINK = {"transport_mode": "file", "control.link": "off", "imu.enabled": False, "time.mode": "sim"}
MATCHES = 5


def sdk() -> str:
    directory = os.environ.get("RFLYSIM_SDK")
    if not directory:
        pytest.skip("RFLYSIM_SDK is not set: the vendor's client is not on this machine")
    return directory


def asks(client: VendorClient, config: Path) -> None:
    """The client asks for the sensors of a Config.json and receives them."""
    assert client("vision", "jsonLoad", -1, str(config))
    assert client("vision", "sendReqToUE4", 0, "127.0.0.1")
    client("vision", "startImgCap")


def other_ports(path: Path, sensors: list[Sensor]) -> Path:
    """A Config.json of the same SeqIDs for a second program on this host."""
    _comment, text = write_config(path, sensors).read_text().split("\n", 1)
    config = json.loads(text)
    for row in config["VisionSensors"]:
        row["SendProtocol"][5] += 100
    path.write_text(json.dumps(config))
    return path


def focal(fov_deg: float) -> float:
    return CAMERAS[0].width / 2 / math.tan(math.radians(fov_deg) / 2)


@ORDERS
def test_camera_info_follows_a_client_that_changes_the_field_of_view(tmp_path, domain_id, first):
    """Where the client was first, the bridge's request comes last, and counts."""
    sdk()
    with System(tmp_path, domain_id, CAMERAS, parameters=WITHOUT_LINK, emulator=["--hover"]) as system, VendorClient() as client:
        if first == "sdk":
            system.bridge.stop()
            change(client, system.config)
            system.bridge.start()
        recording = Recording(system)
        recording.subscribe({IMAGE: "sensor_msgs/msg/Image", INFO: "sensor_msgs/msg/CameraInfo"})
        has = lambda fov: lambda info: abs(info.k[0] - focal(fov)) < 0.01  # noqa: E731
        recording.wait_for(INFO, has(CAMERAS[0].fov))
        recording.collect_more(60, [IMAGE, INFO])
        if first == "bridge":
            change(client, system.config)
            recording.wait_for(INFO, has(45.0))
            system.bridge.wait_for_output("SeqID 0")
        before = len(recording.samples[INFO])
        recording.collect_more(30, [INFO])
        new = recording.messages(INFO)[before:]
        assert all(has(45.0 if first == "bridge" else CAMERAS[0].fov)(info) for info in new), {info.k[0] for info in new}


def change(client: VendorClient, config: Path) -> None:
    """As scripts zoom: the request of a camera again, with another field of view."""
    assert client("vision", "jsonLoad", -1, str(config))
    client("vision", "VisSensor.0.CameraFOV", 45.0)
    client("vision", "sendUpdateUEImage", {"of": "VisSensor.0"}, 0, "127.0.0.1")


@ORDERS
@pytest.mark.parametrize("foreign", ["follow", "yield"])
def test_a_stream_that_both_want_is_named_and_goes_where_the_parameter_says(tmp_path, domain_id, first, foreign):
    sdk()
    parameters = WITHOUT_LINK | {"request.timeout_s": 2.0, "request.foreign": foreign}
    with System(tmp_path, domain_id, CAMERAS, parameters=parameters) as system, VendorClient() as client:
        config = other_ports(tmp_path / "theirs.json", CAMERAS[:1])
        stamp = lambda: float(np.ravel(client("vision", "timeStmp.0"))[0])  # noqa: E731
        if first == "sdk":
            system.bridge.stop()
            asks(client, config)
            wait(lambda: stamp() > 0, "the client gets its stream")
            system.bridge.start()
        recording = Recording(system)
        topics = {f"/rflysim/sensor{camera.seq}/img_rgb": "sensor_msgs/msg/Image" for camera in CAMERAS}
        recording.subscribe(topics)
        recording.collect(10, list(topics))
        if first == "bridge":
            asks(client, config)
            system.bridge.wait_for_output("while others deliver")
            if foreign == "yield":
                before = stamp()
                wait(lambda: stamp() > before + 5, "the client keeps the stream")
                return
        # It was asked for by the bridge last.
        before = len(recording.samples[IMAGE])
        recording.wait_for(IMAGE, lambda _: True, since=before)


@ORDERS
@pytest.mark.parametrize("forward", [True, False])
def test_the_client_has_the_true_position_if_it_is_forwarded(tmp_path, domain_id, first, forward):
    sdk()
    parameters = WITHOUT_LINK | ({"forward_to": "127.0.0.2"} if forward else {})
    with System(tmp_path, domain_id, [WITNESS], parameters=parameters) as system, VendorClient() as client:
        place = lambda: client("mav", "truePosNED")  # noqa: E731
        if first == "sdk":
            system.bridge.stop()
            client("mav", "InitTrueDataLoop")
            wait(lambda: any(place()), "the true position without the bridge")
            system.bridge.start()
        recording = Recording(system)
        recording.subscribe({ODOMETRY: "nav_msgs/msg/Odometry"})
        recording.collect(20, [ODOMETRY])
        if first == "bridge":
            client("mav", "InitTrueDataLoop")
        recording.collect_more(20, [ODOMETRY])
        if forward:
            seen = {tuple(place())}
            wait(lambda: len(seen.add(tuple(place())) or seen) > 5, "the true position moves")
        else:
            before = place()
            recording.collect_more(50, [ODOMETRY])
            assert place() == before, "docs/beside.md: without forward_to the client gets none"


@ORDERS
@pytest.mark.parametrize("mode", [COMPRESSED, RAW])
def test_both_get_the_same_pictures_under_other_seqids(tmp_path, domain_id, first, mode):
    ours = [replace(with_defaults(0, 1, mode), width=160, height=120, rate=10)]
    theirs = [replace(ours[0], seq=5)]
    directory = sdk()
    with System(tmp_path, domain_id, ours, parameters=WITHOUT_LINK) as system:
        if first == "sdk":
            system.bridge.stop()
        config, output = write_config(tmp_path / "theirs.json", theirs), tmp_path / "received.npz"
        driver = Path(__file__).parents[1].joinpath("vendor_driver.py")
        command = [sys.executable, driver, directory, config, "-1", "60", "20", output]
        recording = Recording(system)
        if first == "bridge":
            recording.subscribe({IMAGE: "sensor_msgs/msg/Image"})
            recording.collect(5, [IMAGE])
        log = (tmp_path / "client.log").open("w+")
        with subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT) as client:
            if first == "sdk":
                time.sleep(2)
                system.bridge.start()
                recording.subscribe({IMAGE: "sensor_msgs/msg/Image"})
            end = time.monotonic() + 3 * PATIENCE
            while client.poll() is None and time.monotonic() < end:
                recording.collect_more(5, [IMAGE])
            assert client.poll() == 0, (tmp_path / "client.log").read_text()[-2000:]
        log.close()
        stored = np.load(output)
        [sensor] = json.loads(bytes(stored["report"]))["sensors"]
        got = {sim_ns(t): stored[f"frame_5_{i}"] for i, t in enumerate(sensor["stamps"])}
        mine = {nanoseconds(message.header.stamp): message for message in recording.messages(IMAGE)}
        both = got.keys() & mine.keys()
        assert len(both) >= MATCHES, (sorted(got)[:5], sorted(mine)[:5])
        different = [at for at in both if not np.array_equal(got[at], pixels(mine[at]))]
        assert not different, f"{len(different)} of {len(both)} pictures differ"
