"""What the bridge puts on Zenoh, against PyPI's eclipse-zenoh, zenoh-ros2-sdk and pamoja-ros2 (docs/zenoh.md)."""

from __future__ import annotations

import pytest
from backend import MIDDLEWARE

if MIDDLEWARE != "zenoh":
    pytest.skip("the program is without Zenoh (scripts/zenoh.sh builds and tests it)", allow_module_level=True)

from collections import Counter
from dataclasses import replace

import numpy as np
import xxhash
import zenoh
from diagnostics import Report
from images import pixels
from pamoja import ros2
from peer.on_zenoh import ZenohPeer, demangle_type, rihs
from peer.services import Client
from programs import Programs
from recording import Recording
from system import System
from topics import DIAGNOSTICS
from truth import Truth, true_image
from zenoh_ros2_sdk import ROS2ServiceClient
from zenoh_ros2_sdk.attachment import Attachment
from zenoh_ros2_sdk.keyexpr import endpoint_liveliness_keyexpr

from sensors import RAW, with_defaults

IMAGE = "sensor_msgs/msg/Image"
CAMERA = replace(with_defaults(0, 1, RAW), width=640, height=480)
PARAMETERS = {"transport_mode": "file", "time.mode": "sim", "diagnostics.period_s": 0.2}
GET = "rcl_interfaces/srv/GetParameters"


def test_keys_tokens_ids_and_attachments_are_those_of_other_implementations(tmp_path, domain_id, simulator_ports):
    with System(tmp_path, domain_id, [CAMERA], parameters=PARAMETERS) as system:
        peer, received = system.peer, []
        plain = peer.session.declare_subscriber(f"{domain_id}/**", received.append)
        peer.wait_for_topics([CAMERA.topic, "/tf", "/diagnostics"], check=system.assert_alive)
        stats = lambda: [s for s in received if "/diagnostics/" in str(s.key_expr)]  # noqa: E731
        images = lambda: [s for s in received if "/img_rgb/" in str(s.key_expr)]  # noqa: E731
        peer.wait_for(lambda: len(stats()) >= 4 and len(images()) >= 4, "messages", 60.0)
        plain.undeclare()

        tokens = {part[9].replace("%", "/"): part for part in peer.tokens("MP")}
        for sample in list(received):
            key = str(sample.key_expr)
            if "/@" in key:
                continue  # of zenoh-ext
            domain, *name, dds_type, known = key.split("/")
            topic, ros_type = "/" + "/".join(name), demangle_type(dds_type)
            assert known == rihs(ros_type)
            assert key == ros2.entity_key(domain_id, topic, ros_type, known), "pamoja-ros2"
            token = "/".join(tokens[topic])
            assert tokens[topic][10:12] == [dds_type, known]
            attachment = Attachment.from_bytes(sample.attachment.to_bytes())
            assert attachment.gid == xxhash.xxh3_128(token.encode()).intdigest().to_bytes(16, "little")
        for samples in (stats(), images()):
            sent = [Attachment.from_bytes(sample.attachment.to_bytes()) for sample in samples]
            numbers = [attachment.sequence_id for attachment in sent]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "none is missing"
            stamps = [attachment.timestamp_ns for attachment in sent]
            assert stamps == sorted(stamps) and abs(stamps[-1] / 1e9 - samples[-1].timestamp.get_time().timestamp()) < 1

        [node] = [part for part in peer.tokens("NN") if part[8] == "rfly_bridge"]
        assert node[3] == node[4] and node[6:] == ["%", "%", "rfly_bridge"]
        assert {part[5] for part in peer.tokens()} >= {"NN", "MP", "MS", "SS"}


def test_humble_has_no_hashes(tmp_path, domain_id, simulator_ports):
    variables = {"ROS_DISTRO": "humble"}
    with System(tmp_path, domain_id, [CAMERA], parameters=PARAMETERS, variables=variables) as system:
        system.peer.wait_for_topics([CAMERA.topic], check=system.assert_alive)
        tokens = [part for part in system.peer.tokens() if part[5] != "NN" and part[8] == "rfly_bridge"]
        assert {part[11] for part in tokens} == {"TypeHashNotSupported"}
        got = []
        key = f"{domain_id}{CAMERA.topic}/sensor_msgs::msg::dds_::Image_/TypeHashNotSupported"
        subscriber = system.peer.session.declare_subscriber(key, got.append)
        system.peer.wait_for(lambda: got, "an image of the key of Humble", 60.0)
        subscriber.undeclare()


@pytest.mark.parametrize("shared_memory", [True, False])
def test_images_come_in_shared_memory_to_readers_that_take_it_and_whole_to_all(
    tmp_path, domain_id, simulator_ports, shared_memory
):
    # Zenoh locks it in memory, of which a user without privileges has 8 MB in many distributions.
    parameters = {**PARAMETERS, "zenoh.shared_memory_mb": 4}
    with Programs(tmp_path, domain_id, [CAMERA], parameters=parameters) as programs:
        peer = ZenohPeer(domain_id, shared_memory=shared_memory)
        images = peer.subscribe(CAMERA.topic, IMAGE)
        peer.wait_for(lambda: len(images.samples) >= 10, "images", 60.0)
        truth = Truth(programs.truth_file, programs.truth_frames)
        frames = truth.frames[CAMERA.seq]
        for sample in images.samples:
            stamp = sample.message.header.stamp
            expected = true_image(CAMERA, frames[stamp.sec * 10**9 + stamp.nanosec].payload())
            assert np.array_equal(pixels(sample.message), expected)
        if shared_memory:
            # The first one teaches how much room its head needs; it is copied, but into shared memory, too.
            assert images.shared >= len(images.samples) - 1
        else:
            assert images.shared == 0
        peer.close()


def test_without_room_in_shared_memory_images_go_through_sockets_and_are_counted(tmp_path, domain_id, simulator_ports):
    parameters = {**PARAMETERS, "zenoh.shared_memory_mb": 2}
    with System(tmp_path, domain_id, [CAMERA], parameters=parameters) as system:
        kept = []  # a reader that gives nothing back
        images = system.peer.subscribe(CAMERA.topic, IMAGE)
        key = system.peer.key(CAMERA.topic, IMAGE)
        keeper = system.peer.session.declare_subscriber(key, kept.append)
        recording = Recording(system)
        recording.subscribe(DIAGNOSTICS)

        def unshared():
            recording.harvest()
            messages = recording.messages("/diagnostics")
            return messages and Report(messages[-1]).find(f"topic {CAMERA.topic}").get("not_in_shared_memory", 0) >= 5

        system.peer.wait_for(unshared, "images that found no room", 60.0)
        assert len(kept) >= 7
        count = len(images.samples)
        system.peer.wait_for(lambda: len(images.samples) >= count + 5, "further images", 60.0)
        stamps = [s.message.header.stamp.sec * 10**9 + s.message.header.stamp.nanosec for s in images.samples]
        assert len(set(stamps)) == len(stamps) and stamps == sorted(stamps)
        keeper.undeclare()


def test_a_late_reader_of_a_latched_topic_gets_the_last_message_once(tmp_path, domain_id, simulator_ports):
    with System(tmp_path, domain_id, [CAMERA], parameters=PARAMETERS) as system:
        system.peer.wait_for_topics(["/tf_static"], check=system.assert_alive)
        for _ in range(2):
            late = system.peer.subscribe("/tf_static", "tf2_msgs/msg/TFMessage", transient_local=True, depth=1)
            system.peer.wait_for(lambda late=late: late.samples, "the latched message", 30.0)
            assert late.messages[0].transforms
        volatile = system.peer.subscribe("/tf_static", "tf2_msgs/msg/TFMessage")
        images = system.peer.subscribe(CAMERA.topic, IMAGE)
        system.peer.wait_for(lambda: len(images.samples) >= 5, "images", 60.0)
        assert not volatile.samples and len(late.samples) == 1


def test_services_answer_each_request_with_its_number(tmp_path, domain_id, simulator_ports):
    with System(tmp_path, domain_id, [CAMERA], parameters=PARAMETERS) as system:
        client = Client(system.peer, "/rfly_bridge/get_parameters", GET).wait()
        names = ["diagnostics.period_s", "time.mode", "no.such"]
        numbers = {client.send({"names": [name]}): name for name in names * 5}
        answers = {number: client.receive(number) for number in reversed(numbers)}
        for number, name in numbers.items():
            values = [(value.type, value.double_value, value.string_value) for value in answers[number].values]
            wanted = {"diagnostics.period_s": [(3, 0.2, "")], "time.mode": [(4, 0.0, "sim")]}
            assert values == wanted.get(name, []), name

        replies = list(system.peer.session.get(f"{domain_id}/rfly_bridge/get_parameters/**", timeout=5.0))
        assert not [reply for reply in replies if reply.ok], "a query without a request is not answered"


def test_the_client_of_the_sdk_is_answered(tmp_path, domain_id, simulator_ports):
    with System(tmp_path, domain_id, [CAMERA], parameters=PARAMETERS) as system:
        Client(system.peer, "/rfly_bridge/list_parameters", "rcl_interfaces/srv/ListParameters").wait()
        client = ROS2ServiceClient(
            "/rfly_bridge/get_parameter_types",
            "rcl_interfaces/srv/GetParameterTypes",
            request_definition="string[] names\n",
            response_definition="uint8[] types\n",
            domain_id=domain_id,
            type_hash=rihs("rcl_interfaces/srv/GetParameterTypes"),
        )
        answer = client.call(names=["diagnostics.period_s", "time.mode"])
        assert list(answer.types) == [3, 4]
        client.close()


def test_tokens_of_the_bridge_are_as_the_sdk_writes_them(tmp_path, domain_id, simulator_ports):
    from zenoh_ros2_sdk.entity import EndpointEntity, EntityKind, NodeEntity

    with System(tmp_path, domain_id, [CAMERA], parameters=PARAMETERS) as system:
        system.peer.wait_for_topics([CAMERA.topic, "/tf"], check=system.assert_alive)
        kinds = {kind.value: kind for kind in EntityKind}
        for part in system.peer.tokens():
            if part[5] == "NN" or part[8] != "rfly_bridge":
                continue
            node = NodeEntity(domain_id=domain_id, session_id=part[2], node_id=int(part[3]), node_name="rfly_bridge", namespace="/")
            name = part[9].replace("%", "/")
            ros_type = demangle_type(part[10])
            entity = EndpointEntity(
                node=node, entity_id=int(part[4]), kind=kinds[part[5]], name=name, dds_type_name=part[10],
                type_hash=rihs(ros_type), qos=part[12], gid=bytes(16),
            )  # fmt: skip
            assert endpoint_liveliness_keyexpr(entity) == "/".join(part)


def test_endpoints_of_many_vehicles_belong_to_several_nodes(tmp_path, domain_id, simulator_ports):
    options = ["--vehicles", "4", "--multicast", "--state-rate", "10"]
    with System(tmp_path, domain_id, [CAMERA], emulator=options, parameters={"vehicles": [1, 2, 3, 4]}) as system:
        system.peer.wait_for_topics(["/mavros4/state", "/diagnostics"], check=system.assert_alive)
        ours = [part for part in system.peer.tokens() if part[8].startswith("rfly_bridge")]
        nodes = {part[3]: part[8] for part in ours if part[5] == "NN"}
        endpoints = Counter(part[3] for part in ours if part[5] != "NN")
        assert endpoints.total() > 500, "one node is not enough"
        assert max(endpoints.values()) <= 400
        assert sorted(nodes.values()) == [f"rfly_bridge{end}" for end in ("", *(f"_{n}" for n in range(2, len(nodes) + 1)))]
        assert endpoints.keys() == nodes.keys(), "each node is announced"


def test_a_session_that_is_killed_leaves_the_graph_and_a_router_that_returns_heals_it(tmp_path, domain_id, simulator_ports):
    from peer import on_zenoh

    with System(tmp_path, domain_id, [CAMERA], parameters=PARAMETERS) as system:
        system.peer.wait_for_topics([CAMERA.topic], check=system.assert_alive)
        on_zenoh.router().kill()
        on_zenoh.router.cache_clear()
        on_zenoh.router()
        late = ZenohPeer(domain_id)
        images = late.subscribe(CAMERA.topic, IMAGE)
        late.wait_for(lambda: len(images.samples) >= 3, "images through the new router", 60.0)
        system.bridge.kill()
        late.wait_for(lambda: not late.tokens("MP"), "the end of the killed bridge's topics", 60.0)
        system.bridge.start()
        late.wait_for_topics(["/diagnostics"], check=system.assert_alive)
        late.close()


assert zenoh
