"""The peer itself: what it receives is what a writer of the same library sent, byte for byte."""

from __future__ import annotations

import numpy as np
from backend import ON_DDS
from cyclonedds.core import Policy, Qos
from cyclonedds.pub import DataWriter
from cyclonedds.topic import Topic
from peer import TYPES, Peer
from peer.messages import HUMBLE, JAZZY
from peer.publisher import Publication, Stream
from peer.raw import demangle_type, mangle_type, raw_class


pytestmark = ON_DDS


def image(width: int, height: int):
    header = TYPES.types["std_msgs/msg/Header"](
        stamp=TYPES.types["builtin_interfaces/msg/Time"](sec=12, nanosec=34), frame_id="camera"
    )
    data = np.arange(width * height, dtype=np.uint8)
    return TYPES.types["sensor_msgs/msg/Image"](
        header=header, height=height, width=width, encoding="mono8", is_bigendian=0, step=width, data=data
    )


def test_type_names_are_mangled_as_ros_2_does():
    assert mangle_type("sensor_msgs/msg/Image") == "sensor_msgs::msg::dds_::Image_"
    assert demangle_type("sensor_msgs::msg::dds_::Image_") == "sensor_msgs/msg/Image"
    assert demangle_type("some::other::Type") is None


def test_the_peer_receives_raw_cdr_and_sees_the_offered_qos(domain_id):
    sender, receiver = Peer(domain_id), Peer(domain_id)
    sent = bytes(TYPES.serialize_cdr(image(640, 480), "sensor_msgs/msg/Image"))
    cls = raw_class(mangle_type("sensor_msgs/msg/Image"))
    qos = Qos(Policy.Reliability.Reliable(0), Policy.Durability.TransientLocal, Policy.History.KeepLast(3))
    writer = DataWriter(sender.participant, Topic(sender.participant, "rt/camera/image", cls), qos=qos)
    subscription = receiver.subscribe("/camera/image", "sensor_msgs/msg/Image", transient_local=True)
    receiver.wait_for(subscription.matched, "a match")
    writer.write(cls(payload=sent))
    receiver.wait_for(lambda: subscription.samples, "the sample")
    assert subscription.samples[0].cdr == sent
    assert subscription.messages[0].header.frame_id == "camera"
    offer = receiver.offer("/camera/image")
    assert (offer.type, offer.reliable, offer.transient_local, offer.depth) == ("sensor_msgs/msg/Image", True, True, 3)
    receiver.close()
    sender.close()


def test_humble_and_jazzy_agree_on_every_message_but_range():
    names = [
        "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage", "sensor_msgs/msg/CameraInfo", "sensor_msgs/msg/Imu",
        "sensor_msgs/msg/PointCloud2", "tf2_msgs/msg/TFMessage", "rosgraph_msgs/msg/Clock",
        "diagnostic_msgs/msg/DiagnosticArray", "vision_msgs/msg/Detection2DArray", "vision_msgs/msg/Detection3DArray",
    ]  # fmt: skip
    assert [name for name in names if JAZZY.fielddefs[name][1] != HUMBLE.fielddefs[name][1]] == []
    old, new = (store.fielddefs["sensor_msgs/msg/Range"][1] for store in (HUMBLE, JAZZY))
    assert new[: len(old)] == old and [name for name, _ in new[len(old) :]] == ["variance"]


def test_what_the_peer_publishes_arrives_with_its_nested_fields(domain_id):
    sender, receiver = Peer(domain_id), Peer(domain_id)
    kind = "mavros_msgs/msg/PositionTarget"
    subscription = receiver.subscribe("/target", kind)
    with Stream(Publication(sender, "/target", kind), 100.0, position={"y": 2.5}, type_mask=0x9F8) as stream:
        receiver.wait_for(lambda: len(subscription.samples) >= 3, "samples")
        stream.set(yaw=1.0)
        receiver.wait_for(lambda: subscription.messages[-1].yaw == 1.0, "the change")
    first, last = subscription.messages[0], subscription.messages[-1]
    assert (first.position.x, first.position.y, first.type_mask) == (0.0, 2.5, 0x9F8)
    assert last.position.y == 0.0 and last.header.stamp.sec > 1_700_000_000
    # A bridge that another test killed is in the graph until its lease ends.
    assert [(w.type, w.reliable) for w in sender.wants() if w.topic == "/target"] == [(kind, True)]
    receiver.close()
    sender.close()
