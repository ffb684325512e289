"""Reports of the renderer: boxes in space and in images agree with images, depth, camera_info and TF; collisions are latched;
a camera that changes is told with the first frame that shows it."""

from __future__ import annotations

import socket
import struct

import cv2
import numpy as np
import pytest
from geometry import inverse, nanoseconds, rigid, rotation_from_quaternion
from images import metres
from recording import Recording
from system import System
from test_parameters import Parameters
from topics import TF, info_topic, main_topic, topics_of

from sensors import COMPRESSED, RAW, Sensor

FAR = 80.0
# The walker, the boxes and the vehicles are seen from the vehicle's nose; the depth camera looks from the same place with
# another size and field of view.
CAMERA = Sensor(0, 1, COMPRESSED, width=320, height=240, rate=10, fov=100.0)
DEPTH = Sensor(1, 2, RAW, width=240, height=180, rate=10, fov=100.0, params=(0.1, FAR, 0.002))
NAMES = [*(f"Box_{i}" for i in range(9)), "Walker_0", "Building_0"]
SCENE = {
    "/rflysim/scene/vehicles": "vision_msgs/msg/Detection3DArray",
    "/rflysim/scene/objects": "vision_msgs/msg/Detection3DArray",
    "/rflysim/scene/markers": "visualization_msgs/msg/MarkerArray",
    "/rflysim/scene/cameras": "rfly_bridge_msgs/msg/CameraReport",
    "/rflysim/scene/vehicle_reports": "rfly_bridge_msgs/msg/VehicleReport",
    "/rflysim/collisions": "rfly_bridge_msgs/msg/Collision",
}
BOXES = "/rflysim/sensor0/boxes"
REPORT_PORT = 20006


@pytest.fixture(scope="module")
def running(tmp_path_factory, domain_id, simulator_ports):
    """A vehicle that stands still in the air, with a camera that has boxes."""
    options = {
        "transport_mode": "file",
        "time.mode": "sim",
        "sensor0.boxes": True,
        "reports.objects": NAMES,
        "request.timeout_s": 2.0,
    }
    directory = tmp_path_factory.mktemp("reports")
    still = ["--hover"]
    with System(directory, domain_id, [CAMERA, DEPTH], parameters=options, emulator=still) as system:
        recording = Recording(system)
        topics = {**TF, **topics_of(CAMERA), **topics_of(DEPTH), **SCENE, BOXES: "vision_msgs/msg/Detection2DArray"}
        recording.subscribe(topics)
        recording.wait_for("/rflysim/scene/objects", lambda m: len(m.detections) == len(NAMES))
        recording.collect_more(5, [BOXES, main_topic(DEPTH), info_topic(CAMERA)])
        yield system, recording


def corners(detection) -> np.ndarray:
    """The corners of a box in `map`."""
    c, s = detection.bbox.center, detection.bbox.size
    q = c.orientation
    pose = rigid(rotation_from_quaternion(q.x, q.y, q.z, q.w), [c.position.x, c.position.y, c.position.z])
    half = np.array([s.x, s.y, s.z]) / 2
    own = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    return own @ pose[:3, :3].T + pose[:3, 3]


def described(recording) -> dict:
    """The newest box of everything that is described."""
    recording.harvest()
    lists = (recording.messages(f"/rflysim/scene/{kind}")[-1].detections for kind in ("vehicles", "objects"))
    return {d.id: d for several in lists for d in several}


def test_described_objects_are_where_the_depth_image_has_them(running):
    _, recording = running
    recording.harvest()
    recording.collect_transforms()
    objects = described(recording)
    assert set(objects) == {*NAMES, "1"}
    infos, images = (recording.by_stamp(t) for t in (info_topic(DEPTH), main_topic(DEPTH)))
    stamp = max(set(infos) & set(images))
    image, info = metres(images[stamp]), infos[stamp]
    camera = recording.transforms.lookup("map", infos[stamp].header.frame_id, stamp)
    k = np.asarray(info.k).reshape(3, 3)
    v, u = np.mgrid[0 : info.height, 0 : info.width]
    with np.errstate(invalid="ignore"):
        rays = np.stack([(u - k[0, 2]) / k[0, 0], (v - k[1, 2]) / k[1, 1], np.ones_like(u, float)], axis=-1)
        points = (rays * image[..., None]).reshape(-1, 3)
    points = points[np.isfinite(points).all(axis=1)] @ camera[:3, :3].T + camera[:3, 3]
    seen = 0
    for name, thing in objects.items():
        if not name.startswith("Box_"):
            continue
        box = corners(thing)
        low, high = box.min(axis=0), box.max(axis=0)
        near = ((points > low - 0.05) & (points < high + 0.05)).all(axis=1)
        # Above the ground, all points in the box are on its surface.
        inside = points[near & (points[:, 2] > 0.1)]
        if len(inside) < 50:
            continue
        seen += 1
        depth_in_box = np.minimum(inside - low, high - inside).min(axis=1)
        assert np.abs(depth_in_box).max() < 0.06, name
    assert seen >= 2


def test_boxes_in_the_image_are_the_projected_boxes_of_the_scene(running):
    _, recording = running
    recording.collect_more(3, [BOXES, info_topic(CAMERA)])
    recording.collect_transforms()
    objects, compared = described(recording), 0
    infos = recording.by_stamp(info_topic(CAMERA))
    for stamp, message in recording.by_stamp(BOXES).items():
        if stamp not in infos:
            continue
        info = infos[stamp]
        assert message.header.frame_id == info.header.frame_id
        optical = inverse(recording.transforms.lookup("map", info.header.frame_id, stamp))
        found = {d.id: d for d in message.detections}
        assert "1" not in found, "the vehicle that carries the camera"
        for name, thing in objects.items():
            points = corners(thing)
            ahead = points @ optical[:3, :3].T + optical[:3, 3]
            if (ahead[:, 2] < 0.1).any():
                continue
            rotation, _ = cv2.Rodrigues(optical[:3, :3])
            k = np.asarray(info.k).reshape(3, 3)
            pixels = cv2.projectPoints(points, rotation, optical[:3, 3], k, np.asarray(info.d))[0].reshape(-1, 2)
            low = np.maximum(pixels.min(axis=0), 0)
            high = np.minimum(pixels.max(axis=0), [info.width - 1, info.height - 1])
            if (low >= high).any():
                assert name not in found, f"{name} is outside of the image"
            elif name in found:
                box = found[name].bbox
                centre = np.array([box.center.position.x, box.center.position.y])
                size = np.array([box.size_x, box.size_y])
                assert np.abs(centre - size / 2 - low).max() < 0.05, name
                assert np.abs(centre + size / 2 - high).max() < 0.05, name
                compared += 1
    assert compared >= 10


def test_the_score_of_a_box_is_what_depth_leaves_of_it(running):
    _, recording = running
    recording.harvest()
    newest = recording.messages(BOXES)[-1]
    scores = {d.id: d.results[0].hypothesis.score for d in newest.detections}
    assert all(0 < score <= 1 for score in scores.values())
    objects = described(recording)
    stamp = nanoseconds(newest.header.stamp)
    images, infos = recording.by_stamp(main_topic(DEPTH)), recording.by_stamp(info_topic(DEPTH))
    stamp = stamp if stamp in images else max(images)
    depth, info = metres(images[stamp]), infos[stamp]
    optical = inverse(recording.transforms.lookup("map", info.header.frame_id, stamp))
    hidden = clear = 0
    for name, thing in objects.items():
        points = corners(thing) @ optical[:3, :3].T + optical[:3, 3]
        if name == "1" or (points[:, 2] < 0.1).any():
            continue
        # Rays through the middle of the box's faces that look at the camera.
        k = np.asarray(info.k).reshape(3, 3)
        centre = points.mean(axis=0)
        pixel = (k @ (centre / centre[2]))[:2].round().astype(int)
        if not (0 <= pixel[0] < info.width and 0 <= pixel[1] < info.height):
            continue
        measured = depth[pixel[1], pixel[0]]
        nearest = points[:, 2].min()
        if measured < nearest - 1.0:
            # Something stands before its middle.
            assert scores.get(name, 0.0) < 0.95, name
            hidden += 1
        elif np.isfinite(measured) and measured < points[:, 2].max() + 0.1:
            assert scores[name] > 0.2, name
            clear += 1
    assert clear >= 1
    assert hidden + clear >= 3


def test_cameras_and_vehicles_report_what_tf_and_camera_info_say(running):
    _, recording = running
    report = recording.wait_for("/rflysim/scene/cameras", lambda m: m.sensor == CAMERA.seq)
    assert (report.width, report.height, report.type_id) == (CAMERA.width, CAMERA.height, CAMERA.type)
    assert report.fov_deg == pytest.approx(CAMERA.fov)
    link = recording.transforms.lookup("map", "sensor0_link", max(recording.by_stamp(info_topic(CAMERA))))
    p, q = report.pose.position, report.pose.orientation
    assert np.abs(np.array([p.x, p.y, p.z]) - link[:3, 3]).max() < 1e-4
    assert np.abs(rotation_from_quaternion(q.x, q.y, q.z, q.w) - link[:3, :3]).max() < 1e-4
    vehicle = recording.wait_for("/rflysim/scene/vehicle_reports", lambda m: m.vehicle == 1)
    body = recording.transforms.lookup("map", "base_link", max(recording.by_stamp(info_topic(CAMERA))))
    p = vehicle.pose.position
    assert np.abs(np.array([p.x, p.y, p.z]) - body[:3, 3]).max() < 1e-4
    assert vehicle.clearance[5] == pytest.approx(body[2, 3], abs=0.01), "the ground below it"


def test_markers_are_the_boxes(running):
    _, recording = running
    markers = recording.wait_for("/rflysim/scene/markers", lambda m: len(m.markers) == 2 * (len(NAMES) + 1)).markers
    boxes = {f"objects/{d.id}": d for d in described(recording).values() if d.id != "1"}
    cubes = [m for m in markers if m.type == 1 and m.ns.startswith("objects/")]
    assert {m.ns for m in cubes} == set(boxes)
    for marker in cubes:
        size = boxes[marker.ns].bbox.size
        assert (marker.scale.x, marker.scale.y, marker.scale.z) == (size.x, size.y, size.z)
        assert marker.header.frame_id == "map"


def test_a_collision_is_latched_for_late_readers(running):
    system, recording = running
    topic = "/rflysim/collisions"
    first = recording.wait_for(topic, lambda m: True)
    assert first.kind == 0
    offer = recording.offers[topic]
    assert offer.transient_local and offer.reliable
    # As CopterSim sends it; the reports of the emulator, once a second, say that nothing collides, but of this kind of
    # collision only the same datagram says that it is over.
    crash = struct.pack("<iii", 1234567890, 1, 7)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(crash, ("127.0.0.1", REPORT_PORT))
    hit = recording.wait_for(topic, lambda m: m.kind == 3)
    assert (hit.vehicle, hit.other, hit.count) == (1, 7, 1)
    free = recording.wait_for(topic, lambda m: m.kind == 0 and m.count == 1)
    assert nanoseconds(free.header.stamp) >= nanoseconds(hit.header.stamp)


def test_depth_camera_info_and_tf_of_each_frame_around_a_change_agree(running):
    """The ground is a plane: every depth image gives its height and attitude, if focal length and mount are those with which
    it was rendered."""
    system, recording = running
    parameters = Parameters(system.peer)
    recording.harvest()
    begin = max(recording.by_stamp(main_topic(DEPTH)))
    for fov, pitch in [(60.0, -35.0), (80.0, -50.0), (110.0, -40.0)]:
        result = parameters.set(atomically=True, sensor1__fov_deg=fov, sensor1__orientation_deg=[0.0, pitch, 0.0])
        assert result.successful, result.reason
        recording.collect_more(12, [main_topic(DEPTH)])
    recording.collect_more(2, [main_topic(DEPTH), info_topic(DEPTH)])
    images, infos = recording.by_stamp(main_topic(DEPTH)), recording.by_stamp(info_topic(DEPTH))
    # A mount in /tf_static has the stamp of the first frame that shows it.
    mounts = []
    for sample in recording.samples["/tf_static"]:
        for t in sample.message.transforms:
            if t.child_frame_id == "sensor1_link":
                r = t.transform.rotation
                mounts.append((nanoseconds(t.header.stamp), rotation_from_quaternion(r.x, r.y, r.z, r.w)))
    optical = np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]], float)
    pitches, checked = set(), 0
    for stamp in sorted(set(images) & set(infos)):
        if stamp <= begin:
            continue
        k = np.asarray(infos[stamp].k).reshape(3, 3)
        rotation = [m for at, m in mounts if at <= stamp][-1]
        image = metres(images[stamp])
        # Rows near the lower edge see the ground 2 m below, without anything in between.
        v, u = np.mgrid[image.shape[0] - 12 : image.shape[0], 0 : image.shape[1] : 16]
        z = image[v, u]
        rays = np.stack([(u - k[0, 2]) / k[0, 0], (v - k[1, 2]) / k[1, 1], np.ones_like(z)], axis=-1)
        level = (rays * z[..., None]).reshape(-1, 3) @ optical.T @ rotation.T
        level = level[np.isfinite(level).all(axis=1)]
        if len(level) < 20:
            continue
        spread = level[:, 2].max() - level[:, 2].min()
        assert spread < 0.05, f"{stamp}: the ground is {level[:, 2].min():.3f} to {level[:, 2].max():.3f} m"
        assert abs(np.median(level[:, 2]) + 2.0) < 0.05
        pitches.add(round(float(np.degrees(np.arcsin(-rotation[2, 0])))))
        checked += 1
    assert checked >= 24
    # Frames from before the first change may come after it was asked for.
    assert pitches - {0} == {35, 40, 50}
