"""Whether a depth camera and a lidar agree about where things are, through TF and camera_info."""

from __future__ import annotations

from contextlib import suppress

from geometry import apply, compare_with_depth
from images import metres, xyz
from recording import Recording
from topics import info_topic, main_topic

from sensors import COMPRESSED, RAW, Sensor

RANGE = 60.0
DEPTH = (0.2, RANGE, 0.001)
SWEEP = (RANGE, 0.0, -180.0, 180.0, -50.0, 30.0)
CAMERA = Sensor(0, 2, RAW, width=320, height=240, rate=10, params=DEPTH)
LIDAR = Sensor(1, 20, COMPRESSED, width=360, height=40, rate=10, position=(0.0, 0.0, -0.3), params=SWEEP)


def agreement(recording: Recording, camera: Sensor, lidar: Sensor, since: int) -> tuple[int, int]:
    """How many points of the lidar, carried into the camera through TF, were compared with its image, and how many lie where
    that says; of frames from a stamp on."""
    clouds, images, infos = (recording.by_stamp(t) for t in (main_topic(lidar), main_topic(camera), info_topic(camera)))
    compared = agreeing = 0
    for stamp in sorted(set(clouds) & set(images) & set(infos)):
        if stamp < since:
            continue
        image, cloud = images[stamp], clouds[stamp]
        with suppress(KeyError):
            transform = recording.transforms.lookup(image.header.frame_id, cloud.header.frame_id, stamp)
            result = compare_with_depth(
                apply(transform, xyz(cloud)), metres(image), infos[stamp], depth_step=0.001, point_step=RANGE / 32767
            )
            compared += result.compared
            agreeing += result.agreeing
    return compared, agreeing


def assert_they_agree(recording: Recording, camera: Sensor, lidar: Sensor, since: int = 0) -> None:
    """All frames from a stamp on do, with some that are still to come."""
    recording.collect_more(15, [main_topic(camera), main_topic(lidar), info_topic(camera)])
    recording.collect_transforms()
    compared, agreeing = agreement(recording, camera, lidar, since)
    assert compared > 1000
    assert agreeing / compared > 0.98, f"{agreeing} of {compared} points agree"
