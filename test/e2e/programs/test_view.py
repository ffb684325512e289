"""The page in a real browser, and the same port for clients of the Foxglove protocol (docs/view.md)."""

from __future__ import annotations

import struct
import subprocess
import sys
import xml.etree.ElementTree as xml
from contextlib import ExitStack
from io import BytesIO
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
import trimesh
import websocket
from backend import BACKEND, MIDDLEWARE, ON_DDS, SEES_READERS_LEAVE, environment
from browser import Browser, wait_for
from foxglove import Client
from geometry import rigid, rotation_from_euler
from page import answers, free_tcp_port, get
from peer import Peer
from peer.graph import announce_node
from peer.publisher import Publication
from processes import ROOT, Process, binary
from programs import Programs

from sensors import COMPRESSED, with_defaults

SENSORS = [with_defaults(0, 1, COMPRESSED), with_defaults(1, 2, COMPRESSED), with_defaults(2, 20, COMPRESSED)]
IMAGE, CLOUD = SENSORS[0].topic, SENSORS[2].topic
ORIGIN = "http://allowed.example"
WATCHING = ["assets", "connectionGraph", "parameters"]
MESH = "package://rfly_bridge/meshes/quadrotor.stl"


class Viewed(NamedTuple):
    """Where the page is."""

    port: int
    control: bool
    in_bridge: bool


# The program is of the stand-alone build: rclrs gives it no raw messages.
FORMS = ["watch", "control", *(["program"] if BACKEND == "dds" else [])]


@pytest.fixture(scope="module", params=FORMS)
def viewed(request, tmp_path_factory, domain_id, simulator_ports):
    """Emulator and bridge with a page, without and with control; or a bridge without one, and `rfly_bridge view` beside it."""
    view = Viewed(free_tcp_port(), control=request.param != "watch", in_bridge=request.param != "program")
    directory = tmp_path_factory.mktemp("view")
    own = {"view.port": view.port, "view.control": view.control, "view.origins": [ORIGIN]}
    with Programs(
        directory,
        domain_id,
        SENSORS,
        parameters=own if view.in_bridge else None,
        keep_frames=False,
        emulator=["--grounded"],
    ):
        if view.in_bridge:
            wait_for(lambda: answers(view.port), "the port")
            yield view
            return
        options = ["--port", str(view.port), "--control", "--origin", ORIGIN]
        program = Process(
            "view", [binary("rfly_bridge", "RFLY_BRIDGE"), "view", *options], directory / "view.log", environment(domain_id)
        )
        program.start()
        try:
            wait_for(lambda: answers(view.port), "the port")
            yield view
        finally:
            assert program.stop() == 0, program.tail()


def view_status(client: Client, number: int = 900) -> dict[str, str]:
    """The status `view` of /diagnostics."""
    client.subscribe("/diagnostics", number)
    message = client.decode("/diagnostics", client.sample(number))
    client.send({"op": "unsubscribe", "subscriptionIds": [number]})
    status = next(status for status in message.status if status.name.endswith(": view"))
    return {value.key: value.value for value in status.values}


def test_messages_are_the_cdr_that_others_decode(viewed):
    with Client(viewed.port) as client, Client(viewed.port, "foxglove.websocket.v1") as older:
        for number, topic in enumerate((IMAGE, CLOUD, "/tf_static")):
            client.subscribe(topic, number)
            older.subscribe(topic, number)
            message = client.decode(topic, client.sample(number))
            assert older.decode(topic, older.sample(number)).__msgtype__ == message.__msgtype__
        image = client.decode(IMAGE, client.sample(0))
        assert (image.height, image.width) == SENSORS[0].shape
        assert len(image.data) == image.height * image.step and image.data.std() > 10
        cloud = client.decode(CLOUD, client.sample(1))
        assert len(cloud.data) == cloud.width * cloud.height * cloud.point_step > 1000
        assert any(t.child_frame_id == "sensor2_link" for t in client.decode("/tf_static", latched(viewed.port)).transforms)


def latched(port: int) -> bytes:
    """What a late client gets of /tf_static."""
    with Client(port) as late:
        late.subscribe("/tf_static", 7)
        return late.sample(7)


def test_a_topic_is_subscribed_to_while_somebody_reads_it(viewed):
    def subscribers(client: Client) -> int:
        client.subscribe("/diagnostics", 900)
        message = client.decode("/diagnostics", client.sample(900))
        client.send({"op": "unsubscribe", "subscriptionIds": [900]})
        converted = next(s for s in message.status if "sensor0 img_rgb" in s.name and any(v.key == "converted" for v in s.values))
        return int(next(v.value for v in converted.values if v.key == "converted"))

    with Client(viewed.port) as client:
        before = subscribers(client)
        client.subscribe(IMAGE, 1)
        client.sample(1)
        client.send({"op": "unsubscribe", "subscriptionIds": [1]})
        wait_for(lambda: (a := subscribers(client)) > before and a == subscribers(client), "images to be left alone")


@pytest.mark.parametrize("clients", [1, 5, 20])
def test_a_client_that_stops_reading_drops_and_delays_nobody(viewed, clients):
    with ExitStack() as stack:
        stopped, *readers = [stack.enter_context(Client(viewed.port)) for _ in range(clients + 1)]
        for client in (stopped, *readers):
            client.subscribe(IMAGE, 1)
        # The stopped one reads nothing from here on; all others get the newest images.
        for client in readers:
            stamps = [struct.unpack_from("<iI", client.sample(1), 4) for _ in range(20)]
            assert stamps == sorted(set(stamps))
        if not viewed.in_bridge:
            return  # Only a bridge counts clients in /diagnostics.
        reader = readers[0]

        def dropped() -> bool:
            [reader.sample(1) for _ in range(5)]
            return int(view_status(reader)["dropped for slow clients"]) > 0

        wait_for(dropped, "drops for the stopped client")
        assert int(view_status(reader)["clients"]) == clients + 1


@pytest.mark.parametrize("path", ["/", "/app.js"])
def test_other_hosts_and_origins_are_refused(viewed, path):
    port = viewed.port
    assert get(port, path)[0] == 200
    assert get(port, path, Host=f"localhost:{port}", Origin=f"http://localhost:{port}")[0] == 200
    assert get(port, path, Origin=ORIGIN)[0] == 200
    for headers in ({"Host": "evil.example"}, {"Host": f"evil.example:{port}"}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
        status, body = get(port, path, **headers)
        assert status == 403 and b"page" not in body and len(body) < 200, (headers, body)


def test_other_origins_get_no_socket(viewed):
    for origin in ("http://evil.example", "http://127.0.0.1", "null"):
        with pytest.raises(websocket.WebSocketBadStatusException, match="403"):
            Client(viewed.port, origin=origin)
    with Client(viewed.port, origin=ORIGIN) as client:
        client.until(lambda: IMAGE in client.channels, "channels")
    with pytest.raises(websocket.WebSocketBadStatusException, match="400"):
        Client(viewed.port, "some.other.protocol")


def test_the_server_is_reached_from_this_host_only(viewed):
    with open("/proc/net/tcp") as table:
        listening = [row.split()[1] for row in table if row.split()[3] == "0A"]
    assert [at for at in listening if at.endswith(f":{viewed.port:04X}")] == [f"0100007F:{viewed.port:04X}"]


def test_commands_need_control(viewed):
    port, control, in_bridge = viewed
    with Client(port) as client:
        client.until(lambda: client.info, "serverInfo")
        commanding = ["services", *(["clientPublish"] if in_bridge else [])] if control else []
        assert client.info["capabilities"] == WATCHING + commanding
        if control:
            loiter = {"base_mode": 0, "custom_mode": "AUTO.LOITER"}
            # Until the vehicle is connected the answer is no.
            wait_for(lambda: client.call("/mavros/set_mode", loiter)["response"]["mode_sent"], "the mode")
            answer = client.call("/mavros/set_mode", {"no_such_field": 1})
            assert answer["op"] == "serviceCallFailure" and "no_such_field" in answer["message"]
        else:
            client.until(lambda: IMAGE in client.channels, "channels")
            client.socket.send_binary(struct.pack("<BIII", 2, 0, 1, 4) + b"json{}")
            assert "view.control" in client.answer()["message"]
            assert not client.services


def test_parameters_are_read_and_set(viewed):
    with Client(viewed.port) as client:

        def ask(op: str, **request: object) -> dict:
            client.send({"op": op, "id": "mine", **request})
            answer = client.answer()
            assert answer["op"] == "status" or answer["id"] == "mine"
            return answer

        def values(answer: dict) -> dict:
            return {parameter["name"]: parameter["value"] for parameter in answer["parameters"]}

        node = "/rfly_bridge"
        wait_for(lambda: f"{node}.sensor0.fov_deg" in values(ask("getParameters", parameterNames=[])), "the node")
        everything = values(ask("getParameters", parameterNames=[]))
        assert everything[f"{node}.simulator_address"] == "127.0.0.1" and everything[f"{node}.window"] == 0
        own = viewed.port if viewed.in_bridge else 0
        assert everything[f"{node}.view.port"] == own and len(everything) > 100
        fov = f"{node}.sensor0.fov_deg"
        before = ask("getParameters", parameterNames=[fov])["parameters"]
        assert before == [{"name": fov, "value": 90.0, "type": "float64"}]
        assert ask("getParameters", parameterNames=[f"{node}.no_such", fov])["parameters"] == before
        # A whole number for a parameter that has fractions, as JSON writes it.
        answer = ask("setParameters", parameters=[{"name": fov, "value": 60}])
        if not viewed.control:
            assert "view.control" in answer["message"]
            return
        assert values(answer) == {fov: 60.0}
        assert "fov_deg" in ask("setParameters", parameters=[{"name": fov, "value": -5}])["message"]
        assert "no such" in ask("setParameters", parameters=[{"name": f"{node}.no_such", "value": 1}])["message"]
        assert values(ask("setParameters", parameters=[{"name": fov, "value": 90.0}])) == {fov: 90.0}


@ON_DDS
def test_the_graph_is_told_by_its_nodes_to_those_who_ask_and_then_what_changes(viewed, domain_id):
    bridge, watcher = "/rfly_bridge", "/lab/watcher"
    peer = Peer(domain_id)
    with Client(viewed.port) as client, Client(viewed.port) as other:
        published, subscribed, services = client.graph.values()
        client.send({"op": "subscribeConnectionGraph"})
        client.until(lambda: published.get(IMAGE) == {bridge}, "the publisher of an image")
        client.until(lambda: services.get(f"{bridge}/get_parameters") == {bridge}, "a service")
        complete = len(client.updates)
        # Somebody of whom discovery knows no more than the endpoints; rcl does not tell of such.
        topic = "/lab/answer"
        reader = peer.subscribe(IMAGE, "sensor_msgs/msg/Image")
        publication = Publication(peer, topic, "std_msgs/msg/String")
        if BACKEND == "dds":
            unnamed = f"participant {peer.participant.guid.bytes[:12].hex()}"
            client.until(lambda: unnamed in subscribed.get(IMAGE, ()), "a subscription of nobody")
            assert published[topic] == {unnamed}
        # The same with a node.
        told = announce_node(peer, "/lab", "watcher", readers=[reader._reader], writers=[publication._writer])
        client.until(lambda: published.get(topic) == {watcher}, "its name")
        client.until(lambda: watcher in subscribed[IMAGE], "its subscription")
        if not viewed.in_bridge:
            client.subscribe(IMAGE, 1)
            client.until(lambda: subscribed[IMAGE] == {watcher, "/rfly_bridge_view"}, "what is read for this client")
            client.send({"op": "unsubscribe", "subscriptionIds": [1]})
        if SEES_READERS_LEAVE:
            peer.unsubscribe(reader)
            client.until(lambda: not subscribed.get(IMAGE), "the end of all subscriptions")
        for update in client.updates[complete:]:
            assert update["advertisedServices"] == [] and update["removedServices"] == []
            assert IMAGE not in {entry["name"] for entry in update["publishedTopics"]}, "only what has changed"
        client.send({"op": "unsubscribeConnectionGraph"})
        before = len(client.updates)
        assert not other.updates, "nobody is told who did not ask"
        other.send({"op": "subscribeConnectionGraph"})
        other.until(lambda: watcher in other.graph["publishedTopics"].get(topic, ()), "the same graph")
        publication._writer = told._writer = reader = None
        peer.close()
        other.until(lambda: topic not in other.graph["publishedTopics"], "the end of the topic")
        assert topic in other.updates[-1]["removedTopics"]
        client.send({"op": "getParameters", "parameterNames": [f"{bridge}.window"], "id": "mine"})
        client.answer()
        assert len(client.updates) == before, "nor who asks no longer"


def test_topics_that_end_and_begin_are_told(viewed):
    if not viewed.control:
        pytest.skip("nothing can be set here")
    type_id, depth = "/rfly_bridge.sensor0.type_id", "/rflysim/sensor0/img_depth"
    with Client(viewed.port) as client:

        def become(value: int) -> None:
            client.send({"op": "setParameters", "id": "mine", "parameters": [{"name": type_id, "value": value}]})
            assert client.answer()["parameters"][0]["value"] == value

        client.subscribe(IMAGE, 1)
        client.sample(1)
        become(2)
        client.until(lambda: depth in client.channels and IMAGE not in client.channels, "another topic")
        client.subscribe(depth, 2)
        assert client.decode(depth, client.sample(2)).encoding == "16UC1"
        become(1)
        client.until(lambda: depth not in client.channels and IMAGE in client.channels, "the topic of before")
        client.subscribe(IMAGE, 3)
        assert client.decode(IMAGE, client.sample(3)).encoding == "bgr8"


def inside(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """By the solid angles of the triangles as seen from the points (van Oosterom and Strackee)."""
    a, b, c = (triangles[None, :, i] - points[:, None] for i in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    dot = lambda u, v: (u * v).sum(axis=2)  # noqa: E731
    angles = 2 * np.arctan2(dot(a, np.cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb)
    return angles.sum(axis=1) > 2 * np.pi


def test_the_mesh_that_the_description_names_is_given_away_and_nothing_else(viewed):
    with Client(viewed.port) as client:
        client.subscribe("/rflysim/robot_description", 1)
        robot = xml.fromstring(client.decode("/rflysim/robot_description", client.sample(1)).data)
        body = robot.find("link[@name='base_link']")
        names = [mesh.get("filename") for mesh in body.iterfind("visual/geometry/mesh")]
        # A bridge without a view does not know that a program beside it has the file.
        assert names == ([MESH] if viewed.in_bridge else [])
        found = client.fetch(MESH, 5)
        assert found["error"] is None
        mesh = trimesh.load_mesh(BytesIO(found["data"]), file_type="stl")
        assert mesh.is_watertight and mesh.is_winding_consistent and 0.001 < mesh.volume < 0.01
        assert np.allclose(mesh.bounds[0][:2], -mesh.bounds[1][:2], atol=1e-3) and np.abs(mesh.bounds).max() < 0.25
        # Who cannot read it sees boxes instead; nobody sees both.
        grey = [visual for visual in body.iterfind("visual") if visual.find("material").get("name") == "rfly_grey"]
        boxes = [visual for visual in grey if visual.find("geometry/box") is not None]
        assert len(boxes) == 5
        for box in boxes:
            xyz, rpy = ([float(v) for v in box.find("origin").get(key).split()] for key in ("xyz", "rpy"))
            pose = rigid(rotation_from_euler(*rpy), xyz)
            half = np.array([float(v) / 2 for v in box.find("geometry/box").get("size").split()])
            corners = np.array([half * sign for sign in product((-1, 1), repeat=3)]) @ pose[:3, :3].T + pose[:3, 3]
            assert inside(corners, mesh.triangles).all(), pose
        for uri in ("package://rfly_bridge/Cargo.toml", MESH.replace("meshes/", "meshes/../config/../meshes/"), "file:///etc/passwd", ""):
            refused = client.fetch(uri)
            assert refused["error"] == "there is no such asset" and refused["data"] == b"", uri


def test_the_mesh_is_what_its_script_makes(tmp_path):
    subprocess.run([sys.executable, ROOT / "scripts/mesh.py", tmp_path / "mesh.stl"], check=True)
    made, kept = (trimesh.load_mesh(path) for path in (tmp_path / "mesh.stl", ROOT / "meshes/quadrotor.stl"))
    assert np.allclose(made.triangles, kept.triangles, atol=1e-5)


def test_nonsense_is_answered_and_ends_nothing(viewed):
    with Client(viewed.port) as client:
        for text in ("", "{", "[]", '{"op": 5}', '{"op": "subscribe"}', '{"op": "fly"}'):
            client.socket.send(text)
            assert client.answer()["op"] == "status", text
        client.send({"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 4_000_000_000}]})
        assert "no such channel" in client.answer()["message"]
        for data in (b"", b"\x02", b"\x09abc", b"\x02" + b"\xff" * 12):
            client.socket.send_binary(data)
            assert client.answer()["op"] == "status", data
        client.subscribe(IMAGE, 1)
        client.sample(1)


def test_the_page_needs_nothing_else_and_is_small(viewed):
    page = get(viewed.port)[1].decode()
    files = sorted(path.name for path in (ROOT / "src/node/view/page").iterdir() if path.suffix != ".html")
    bodies = [get(viewed.port, f"/{name}")[1] for name in files]
    assert len(files) > 8 and all(bodies) and len(page) + sum(map(len, bodies)) < 300_000
    text = page + b"".join(body for name, body in zip(files, bodies) if not name.endswith(".svg")).decode()
    assert "https://" not in text and "http://" not in text
    assert get(viewed.port, "/../Cargo.toml")[0] == 404


READY = """window.rfly && rfly.frames.pose('base_link') && rfly.scene.clouds.size > 0
    && document.querySelectorAll('#sensors tbody tr').length >= 4
    && [...document.images].filter((image) => image.naturalWidth >= 160).length >= 2"""


@pytest.mark.parametrize(("width", "dark"), [(1440, True), (390, False)], ids=["desk dark", "phone light"])
def test_the_page_shows_pictures_lidar_and_sources(viewed, width, dark):
    port, control, _ = viewed
    with Browser(width, 1400, dark) as browser:
        browser.open(f"http://127.0.0.1:{port}/")
        browser.wait(READY)
        assert browser.run("document.body.scrollWidth <= innerWidth"), "nothing is cut off at the side"
        assert browser.run("getComputedStyle(document.body).backgroundColor") == ("rgb(15, 20, 24)" if dark else "rgb(238, 241, 243)")
        colour = browser.region(".picture:nth-child(1) img").astype(int)
        depth = browser.region(".picture:nth-child(2) img").astype(int)
        # A building fills the upper right.
        left, right = np.s_[: len(colour) // 6, : colour.shape[1] * 2 // 5], np.s_[: len(colour) // 6, colour.shape[1] * 3 // 5 :]
        sky = colour[left].reshape(-1, 3).mean(axis=0)
        assert sky[0] > sky[2] + 20, f"the sky is blue: {sky}"
        assert (depth[left].max(axis=2) < 40).mean() > 0.95, "no distance to the sky"
        assert (depth[right].max(axis=2) > 150).mean() > 0.95, "the building has a distance"
        ground, below = depth[len(depth) * 11 // 20 : len(depth) * 3 // 4], depth[-len(depth) // 10 :]
        assert (ground.max(axis=2) > 150).mean() > 0.95, "the ground has a distance"
        assert (below.max(axis=2) < 40).mean() > 0.95, "what is nearer than the sensor's range has none"
        browser.run("document.getElementById('scene').scrollIntoView()")
        scene = browser.region("#scene").astype(int)
        spread = scene.max(axis=2) - scene.min(axis=2)
        assert (spread > 100).sum() > 300, "points in colours of their height"
        assert browser.run("document.querySelectorAll('.vehicle button').length > 0") is control
        names = browser.run("[...document.querySelectorAll('#sensors tbody tr')].map((row) => row.cells[0].textContent)")
        assert any("img_rgb" in name for name in names), names
        told = "[...document.querySelectorAll('#warnings .remedy')].some((p) => p.textContent.includes('unset ROS_LOCALHOST_ONLY'))"
        if MIDDLEWARE == "dds":
            browser.wait(told)  # The doctor says so, and what to type.
        browser.wait("/^(dis)?armed$/.test(document.querySelector('.vehicle .pill').textContent)")
        assert browser.errors == []


def test_a_vehicle_is_flown_from_the_page(viewed):
    port, control, _ = viewed
    if not control:
        pytest.skip("needs control")
    with Browser() as browser:
        browser.open(f"http://127.0.0.1:{port}/")
        browser.wait(READY + " && [...rfly.vehicles.values()][0]?.globalPosition && rfly.connection.services.size > 0")
        press = "[...document.querySelectorAll('.vehicle button')].find((b) => b.textContent === {!r}).click() ?? true"
        browser.run(press.format("Take off"))
        browser.wait("rfly.frames.pose('base_link').position[2] > 2 && document.querySelector('.vehicle .pill').textContent === 'armed'")
        start = np.array(browser.run("rfly.frames.pose('base_link').position"))
        browser.run(f"rfly.scene.onClick([{start[0] + 8}, {start[1] + 3}, 0]), true")
        browser.wait("!document.getElementById('goal').hidden && !document.getElementById('send').disabled")
        browser.run("document.getElementById('send').click(), true")
        goal = start[:2] + [8, 3]
        wait_for(lambda: np.hypot(*(np.array(browser.run("rfly.frames.pose('base_link').position"))[:2] - goal)) < 1, "arrival")
        browser.run(press.format("Land"))
        browser.wait("document.querySelector('.vehicle .pill').textContent === 'disarmed'")
