"""What `ros2 node list`, `ros2 topic list` and `ros2 topic info` would see."""

from __future__ import annotations

import re

import pytest
from backend import BACKEND, ON_DDS
from recording import Recording
from system import System
from topics import DIAGNOSTICS, IMU, TF, main_topic, topics_of

from sensors import COMPRESSED, RAW, with_defaults

SENSORS = [with_defaults(0, 1, RAW), with_defaults(1, 1, COMPRESSED), with_defaults(2, 20, COMPRESSED)]
GRAPH = "ros_discovery_info"
pytestmark = ON_DDS


@pytest.fixture(scope="module")
def seen(tmp_path_factory, domain_id, simulator_ports):
    """Offers, graph information and diagnostics with nobody subscribed, then with one subscriber."""
    parameters = {"transport_mode": "file", "diagnostics.period_s": 0.2, "qos.image.reliability": "best_effort"}
    remaps = {"/rflysim/sensor2/vehicle_lidar": "/points"}
    directory = tmp_path_factory.mktemp("graph")
    with System(directory, domain_id, SENSORS, parameters=parameters, remaps=remaps) as system:
        recording = Recording(system)
        recording.subscribe({**DIAGNOSTICS, GRAPH: "rmw_dds_common/msg/ParticipantEntitiesInfo"})
        expected = {
            **TF,
            **IMU,
            **topics_of(SENSORS[0]),
            **topics_of(SENSORS[1]),
            "/points": "sensor_msgs/msg/PointCloud2",
        }
        system.peer.wait_for_topics(expected)
        recording.collect(1, [GRAPH])
        recording.offers = {offer.topic: offer for offer in system.peer.offers()}
        yield system, recording, expected


def test_every_topic_is_there_under_its_remapped_name(seen):
    _, recording, expected = seen
    assert {t: recording.offers[t].type for t in expected} == expected
    assert "/rflysim/sensor2/vehicle_lidar" not in recording.offers


def test_the_node_owns_every_writer(seen):
    system, recording, expected = seen

    def complete():
        recording.harvest()
        # It is told anew with every writer, and with every node.
        nodes = recording.messages(GRAPH)[-1].node_entities_info_seq
        gids = {bytes(gid.data)[:16] for gid in nodes[0].writer_gid_seq} if nodes else set()
        return len(nodes) >= 2 and {recording.offers[t].writer for t in expected} <= gids

    system.peer.wait_for(complete, "every writer in the graph information")
    nodes = recording.messages(GRAPH)[-1].node_entities_info_seq
    # The second has the parameters of the autopilot, as with mavros.
    assert [(n.node_namespace, n.node_name) for n in nodes] == [("/", "rfly_bridge"), ("/mavros", "param")]
    assert recording.offers[GRAPH].transient_local and recording.offers[GRAPH].reliable


def test_a_qos_parameter_changes_the_offer(seen):
    _, recording, _ = seen
    assert not recording.offers[main_topic(SENSORS[0])].reliable
    assert recording.offers["/points"].reliable


def test_every_endpoint_announces_the_hash_of_its_type(seen):
    """rmw_cyclonedds_cpp of Jazzy warns of an endpoint without USER_DATA, once in each process."""
    system, _, _ = seen
    if BACKEND != "dds":
        pytest.skip("in a workspace the middleware says it")
    wrong = {name: data for name, data in system.peer.user_data() if not re.search(r"(^|;)typehash=RIHS01_\w{64};$", data)}
    assert wrong == {}
    # As ROS 2 itself has it: share/rmw_dds_common/msg/ParticipantEntitiesInfo.json of Jazzy.
    expected = "typehash=RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e;"
    assert (GRAPH, expected) in system.peer.user_data()
