"""Renderers on several computers: a member of the multicast group sees what the bridge draws, in the vendor's packets."""

from __future__ import annotations

import queue
import socket
import struct
import threading
import time
from contextlib import suppress

import pytest
from backend import HAS_SIMULATION, NO_SIMULATION, environment
from peer import Peer
from peer.publisher import Publication
from peer.services import Client
from processes import Process, binary
from test_model import golden, member
from test_scene import LABEL, SCALED, pose

pytestmark = pytest.mark.skipif(not HAS_SIMULATION, reason=NO_SIMULATION)

FREE, CONSOLE = 1234567890, 1234567897


class Group:
    """A renderer of another computer: it only hears the group, at all times, as the buffer of a socket is small."""

    def __init__(self):
        self._datagrams: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._socket = member(20009)
        self._socket.settimeout(0.2)
        self._ended = False
        self._thread = threading.Thread(target=self._receive)
        self._thread.start()

    def _receive(self) -> None:
        while not self._ended:
            with suppress(TimeoutError):
                self._datagrams.put(self._socket.recv(65536))

    def next(self, length: int, timeout: float = 60.0) -> bytes:
        """The next datagram of this length."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            with suppress(queue.Empty):
                datagram = self._datagrams.get(timeout=1)
                if len(datagram) == length:
                    return datagram
        raise AssertionError(f"no datagram of {length} bytes came to the group")

    def close(self) -> None:
        """Leaves the group."""
        self._ended = True
        self._thread.join()
        self._socket.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory, domain_id, simulator_ports):
    """A bridge that flies a point mass, for the renderers of all computers."""
    words = ["scene.network:=true", "vehicles:=[1]", "vehicle1.model:=point_mass", "vehicle1.start:=[2.0, 1.0, 3.0]", "scene.first_id:=4"]
    peer, group = Peer(domain_id), Group()
    window = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    window.bind(("127.0.0.1", 20010))
    command = [binary("rfly_bridge", "RFLY_BRIDGE"), "--ros-args", *(part for word in words for part in ("-p", word))]
    log = tmp_path_factory.mktemp("renderers") / "bridge.log"
    bridge = Process("rfly_bridge", command, log, environment(domain_id)).start()
    yield group, window, peer
    peer.close()
    window.close()
    group.close()
    assert bridge.stop() == 0, bridge.tail()


def call(peer: Peer, name: str, kind: str, /, **fields):
    """Calls a service once."""
    return Client(peer, name, kind).wait().call(**fields)


def own(peer: Peer, name: str, kind: str, /, **fields):
    """Calls a service of the bridge's own."""
    answer = call(peer, f"/rflysim/scene/{name}", f"rfly_bridge_msgs/srv/{kind}", **fields)
    assert answer.success, answer
    return answer


def test_a_point_mass_is_drawn_by_the_renderers_of_all_computers(running):
    group, *_ = running
    # As the vendor's point mass with its broadcast: 104 bytes.
    assert len(golden("ue4_send_other", "vehicleapi_broadcast")) == 104
    drawn = struct.unpack("<3i8f3f3f4x3dd", group.next(104))
    assert drawn[:3] == (FREE, 1, 3)
    assert drawn[17:20] == (1.0, 2.0, -3.0), "north, east, down"


def test_objects_labels_attachments_and_commands_reach_them(running):
    group, window, peer = running
    at = {"header": {"frame_id": "map"}, "pose": pose(1, 2, 3)}
    resource = {"uri": "rflysim://150?scale=1,2,3"}
    spawned = call(peer, "/rfly_bridge/spawn_entity", "simulation_interfaces/srv/SpawnEntity", name="ring", entity_resource=resource, initial_pose=at)
    assert spawned.result.result == 1, spawned
    tag, number, kind, _, north, east, down, *_ = SCALED.unpack(group.next(52))
    assert (tag, number, kind, north, east, down) == (FREE, 4, 150, 2, 1, -3)

    own(peer, "set_label", "SetLabel", entity="copter1", text="leader", row=-1)
    assert LABEL.unpack(group.next(152))[0] == 1234567899
    own(peer, "attach", "Attach", attachments=[{"entity": "ring", "carrier": "copter1", "kind": 3}])
    assert struct.unpack_from("<i", group.next(304)) == (1234567892,)

    own(peer, "command", "SceneCommand", command="RflyChangeMapbyName Grasslands", window=-1)
    assert group.next(96) == golden("ue4_send", "cmd_net")
    # Longer than the network's own form: the one of a window.
    text = "RflyShowTextTime " + "x" * 100 + " 5"
    own(peer, "command", "SceneCommand", command=text, window=-1)
    assert group.next(256) == struct.pack("<i252s", FREE, text.encode())

    states = Publication(peer, "/rflysim/scene/set_states", "rfly_bridge_msgs/msg/EntityStates").wait()
    states.publish(ids=[7], vehicle_types=[3], poses=[pose(1, 0, 0)])
    assert struct.unpack_from("<i20H", group.next(1324))[:2] == (FREE, 7)

    window.setblocking(False)
    with suppress(BlockingIOError):
        raise AssertionError(f"the window got {window.recv(65536).hex()}, and would draw it twice")


def test_a_command_for_one_window_goes_to_that(running):
    _, window, peer = running
    window.settimeout(30)
    own(peer, "command", "SceneCommand", command="stat fps", window=0)
    assert window.recv(65536)[4:].rstrip(b"\0") == b"stat fps"
