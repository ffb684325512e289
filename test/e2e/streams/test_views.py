"""The configurations for RViz, Foxglove and rosbag2 name what the shipped Config.json really publishes."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import pytest
import yaml
from processes import ROOT
from recording import Recording
from system import System

IMAGE, CLOUD = "sensor_msgs/msg/Image", "sensor_msgs/msg/PointCloud2"
INFO, IMU = "sensor_msgs/msg/CameraInfo", "sensor_msgs/msg/Imu"
STRING, RANGE = "std_msgs/msg/String", "sensor_msgs/msg/Range"
PATH = "nav_msgs/msg/Path"
STATS, DIAGNOSTICS = "rfly_bridge_msgs/msg/BridgeStats", "diagnostic_msgs/msg/DiagnosticArray"

# What the displays of RViz subscribe to; DepthCloud is read apart.
MARKERS = "visualization_msgs/msg/MarkerArray"
RVIZ = {
    "Image": IMAGE, "MarkerArray": MARKERS, "Path": PATH, "PointCloud2": CLOUD, "Range": RANGE, "RobotModel": STRING,
}  # fmt: skip
WITHOUT_TOPIC = {"Grid", "TF", "DepthCloud"}


@pytest.fixture(scope="module")
def seen(tmp_path_factory, domain_id, simulator_ports):
    """Offers, frames and one message of ~/stats of a bridge with the shipped configuration."""
    directory = tmp_path_factory.mktemp("views")
    parameters = {"config": ROOT / "config" / "Config.json", "diagnostics.period_s": 0.5}
    with System(directory, domain_id, [], parameters=parameters) as system:
        recording = Recording(system)
        recording.subscribe({"/tf": "tf2_msgs/msg/TFMessage", "/tf_static": "tf2_msgs/msg/TFMessage"})
        recording.subscribe({"/rfly_bridge/stats": STATS, "/rflysim/imu": IMU})
        system.peer.wait_for_topics((topic for topic, _, _, _ in wanted()), 60.0)
        recording.collect(2, ["/tf", "/rfly_bridge/stats", "/rflysim/imu"])
        recording.collect(1, ["/tf_static"])
        offers = {offer.topic: offer for offer in system.peer.offers()}

        def frames() -> set[str]:
            recording.harvest()
            transforms = [t for name in ("/tf", "/tf_static") for m in recording.messages(name) for t in m.transforms]
            return {t.child_frame_id for t in transforms} | {t.header.frame_id for t in transforms}

        # What is missing is named by the test.
        with suppress(AssertionError):
            system.peer.wait_for(lambda: shown_frames() <= frames(), "every frame", 60.0)
        messages = {name: recording.messages(name)[-1] for name in ("/rfly_bridge/stats", "/rflysim/imu")}
        known = frames()
    return offers, known, messages


def rviz() -> dict:
    """The configuration of RViz."""
    return yaml.safe_load((ROOT / "config" / "bridge.rviz").read_text())["Visualization Manager"]


def rviz_topics():
    """Topic, type, wants reliable, wants latched."""
    for display in rviz()["Displays"]:
        kind = display["Class"].removeprefix("rviz_default_plugins/")
        if kind == "DepthCloud":
            reliable = display["Reliability Policy"] == "Reliable"
            for key in ("Depth Map Topic", "Color Image Topic"):
                yield display[key], IMAGE, reliable, False
            # It looks for the calibration beside the depth image.
            yield display["Depth Map Topic"].rsplit("/", 1)[0] + "/camera_info", INFO, reliable, False
        elif kind not in WITHOUT_TOPIC:
            topic = display["Description Topic" if kind == "RobotModel" else "Topic"]
            latched = topic["Durability Policy"] == "Transient Local"
            yield topic["Value"], RVIZ[kind], topic["Reliability Policy"] == "Reliable", latched


def foxglove() -> dict:
    """The panels of the Foxglove layout."""
    return json.loads((ROOT / "config" / "foxglove.json").read_text())["configById"]


def paths():
    """Message paths of the plots: topic and what follows."""
    for name, panel in foxglove().items():
        if name.startswith("Plot!"):
            for path in panel["paths"]:
                topic, rest = re.fullmatch(r"(/[^.\[{]*)(.*)", path["value"]).groups()
                yield topic, rest


def foxglove_topics():
    """Topic, type, wants reliable, wants latched; Foxglove's bridge takes what is offered."""
    for name, panel in foxglove().items():
        kind = name.split("!")[0]
        if kind == "3D":
            for topic in panel["topics"]:
                ros_type = {"camera_info": INFO, "markers": MARKERS, "path": PATH}.get(topic.rsplit("/", 1)[1], CLOUD)
                yield topic, ros_type, False, False
            for layer in panel["layers"].values():
                if "topic" in layer:
                    yield layer["topic"], STRING, False, True
        elif kind == "Image":
            yield panel["imageMode"]["imageTopic"], IMAGE, False, False
            yield panel["imageMode"]["calibrationTopic"], INFO, False, False
        elif kind == "DiagnosticSummary":
            yield panel["topicToRender"], DIAGNOSTICS, False, False
        else:
            assert kind == "Plot", kind
    for topic, _ in paths():
        yield topic, {"/rflysim/imu": IMU, "/rfly_bridge/stats": STATS}[topic], False, False


def bag_topics():
    """Topic, no type, wants reliable, wants latched."""
    for topic, qos in yaml.safe_load((ROOT / "config" / "rosbag2_qos.yaml").read_text()).items():
        assert set(qos) == {"reliability", "durability", "history", "depth"}
        yield topic, None, qos["reliability"] == "reliable", qos["durability"] == "transient_local"


def wanted():
    """All of them."""
    return [*rviz_topics(), *foxglove_topics(), *bag_topics()]


def test_every_topic_is_published_with_its_type_and_a_compatible_qos(seen):
    offers, _, _ = seen
    for topic, kind, reliable, latched in wanted():
        offer = offers[topic]
        assert kind in (None, offer.type), topic
        assert offer.reliable or not reliable, f"{topic} is wanted reliable"
        assert offer.transient_local or not latched, f"{topic} is wanted latched"


def test_what_is_latched_is_latched_when_a_bag_is_played(seen):
    offers, _, _ = seen
    for topic, _, _, latched in bag_topics():
        assert latched == offers[topic].transient_local, topic


def shown_frames() -> set[str]:
    """Frames that the configurations name."""
    views = [rviz()["Global Options"]["Fixed Frame"], rviz()["Views"]["Current"]["Target Frame"]]
    [tf] = [d for d in rviz()["Displays"] if d["Class"] == "rviz_default_plugins/TF"]
    shown = [name for name in tf["Frames"] if name != "All Enabled"]
    scene = foxglove()["3D!scene"]
    layers = [layer["frameId"] for layer in scene["layers"].values() if "frameId" in layer]
    return {*views, *shown, *layers, scene["followTf"]}


def test_every_frame_exists(seen):
    _, frames, _ = seen
    assert shown_frames() <= frames


def test_every_panel_of_the_layout_exists_once():
    layout = json.loads((ROOT / "config" / "foxglove.json").read_text())["layout"]

    def panels(node):
        return [node] if isinstance(node, str) else [*panels(node["first"]), *panels(node["second"])]

    assert sorted(panels(layout)) == sorted(foxglove())


def test_every_plot_follows_a_field(seen):
    _, _, messages = seen
    for topic, path in paths():
        values = [messages[topic]]
        for step in re.findall(r"\.\w+|\[:\]|\{[^}]*\}", path):
            if step == "[:]":
                values = [item for value in values for item in value]
            elif step.startswith("{"):
                field, text = re.fullmatch(r'\{(\w+)=="(.*)"\}', step).groups()
                values = [value for value in values if getattr(value, field) == text]
            else:
                values = [getattr(value, step[1:]) for value in values]
        assert values and all(isinstance(float(value), float) for value in values), path
