"""Saves pairs of RGB and depth with the true pose of the camera, in the layout of TUM RGB-D:

    rgb/STAMP.png  depth/STAMP.png (16 bit, mm)  poses.txt: stamp tx ty tz qx qy qz qw of the optical frame in `map` (ENU, m)

    python3 examples/python/save_rgbd.py --out data --count 100 [--start]

Needs OpenCV (`pip install opencv-python-headless`).
"""

import argparse
from pathlib import Path

import cv2
import numpy as np

import rfly_bridge

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--start", action="store_true", help="starts the bridge and its emulator, whose vehicle flies a lap")
parser.add_argument("--port", type=int, default=8765, help="view.port of the bridge")
parser.add_argument("--rgb", default="sensor0/img_rgb")
parser.add_argument("--depth", default="sensor1/img_depth")
parser.add_argument("--out", type=Path, default=Path("rgbd"))
parser.add_argument("--count", type=int, default=100)


def multiply(a, b):
    """The rotation b, then a; quaternions are x, y, z, w."""
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vector, a[3] * b[3] - a[:3] @ b[:3])


def join(a, b):
    """Pose b in the frame of pose a; a pose is a position and a quaternion."""
    turned = multiply(multiply(a[1], np.append(b[0], 0.0)), a[1] * [-1, -1, -1, 1])[:3]
    return a[0] + turned, multiply(a[1], b[1])


def values(position, rotation):
    return np.array([position.x, position.y, position.z]), np.array([rotation.x, rotation.y, rotation.z, rotation.w])


def mount(sim, frame, parent):
    """The pose of a sensor's frame in that of the vehicle, from /tf_static."""
    edges = {edge.child_frame_id: edge for message in sim.history("/tf_static") for edge in message.transforms}
    pose = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
    while frame != parent:
        transform = edges[frame].transform
        pose = join(values(transform.translation, transform.rotation), pose)
        frame = edges[frame].header.frame_id
    return pose


def pose_at(odometry, stamp_ns):
    """The pose of the vehicle between two messages; None if there are not two, at most 0.1 s apart."""
    stamps = np.array([m.header.stamp.sec * 1_000_000_000 + m.header.stamp.nanosec for m in odometry])
    after = int(np.searchsorted(stamps, stamp_ns))
    if after in (0, len(stamps)) or stamps[after] - stamps[after - 1] > 100_000_000:
        return None
    (p, q), (p2, q2) = (values(m.pose.pose.position, m.pose.pose.orientation) for m in odometry[after - 1 : after + 1])
    share = (stamp_ns - stamps[after - 1]) / (stamps[after] - stamps[after - 1])
    mean = q + share * (q2 * np.sign(q @ q2) - q)
    return p + share * (p2 - p), mean / np.linalg.norm(mean)


def main():
    args = parser.parse_args()
    with rfly_bridge.start(emulator=[]) if args.start else rfly_bridge.connect(args.port) as sim:
        save(sim, args)


def save(sim, args):
    for folder in ("rgb", "depth"):
        (args.out / folder).mkdir(parents=True, exist_ok=True)
    sim.latest("ground_truth/odom")
    saved, camera = 0, None
    with open(args.out / "poses.txt", "w") as poses:
        for rgb, depth in sim.sets(args.rgb, args.depth):
            sim.latest("ground_truth/odom", after=rgb.stamp)
            odometry = sim.history("ground_truth/odom")
            body = pose_at(odometry, rgb.stamp_ns)
            if body is None:
                continue
            camera = camera or mount(sim, rgb.frame, odometry[0].child_frame_id)
            position, rotation = join(body, camera)
            name = f"{rgb.stamp_ns // 1_000_000_000}.{rgb.stamp_ns % 1_000_000_000:09d}"
            cv2.imwrite(str(args.out / "rgb" / f"{name}.png"), rgb.data if rgb.encoding == "bgr8" else rgb.data[..., ::-1])
            cv2.imwrite(str(args.out / "depth" / f"{name}.png"), depth.data)
            print(name, *(f"{value:.6f}" for value in (*position, *rotation)), file=poses)
            saved += 1
            if saved == args.count:
                break
    print(f"{saved} pairs in {args.out}")


if __name__ == "__main__":
    main()
