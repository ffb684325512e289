"""Makes a data set of a bag (record.ros): EuRoC (ASL) layout in OUT/mav0, TUM RGB-D layout in OUT/rgbd<N> (docs/dataset.md)."""

import argparse
import re
from pathlib import Path

import cv2  # pip install rosbags numpy opencv-python-headless
import numpy as np
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore

KINDS = {'sensor_msgs/msg/Imu': 'imu', 'sensor_msgs/msg/PointCloud2': 'lidar', 'sensor_msgs/msg/Image': 'cam'}
FIELDS = dict(zip(range(1, 9), 'i1 u1 i2 u2 i4 u4 f4 f8'.split()))  # datatypes of PointField
PIXELS = {'32FC1': ['<f4'], '16UC1': ['<u2'], 'mono8': ['u1'], 'bgr8': ['u1', 3], 'rgb8': ['u1', 3]}
STAMP, TUM = '#timestamp [ns],', '# timestamp '
POSE = STAMP + 'p_RS_R_x [m],p_RS_R_y [m],p_RS_R_z [m],q_RS_w [],q_RS_x [],q_RS_y [],q_RS_z []'
STATE = POSE + ',v_RS_R_x [m s^-1],v_y,v_z,b_w_RS_S_x [rad s^-1],b_w_y,b_w_z,b_a_RS_S_x [m s^-2],b_a_y,b_a_z'
INERTIAL = STAMP + 'w_RS_S_x [rad s^-1],w_y,w_z,a_RS_S_x [m s^-2],a_y,a_z'
nanoseconds = lambda m: m.header.stamp.sec * 10**9 + m.header.stamp.nanosec  # noqa: E731
numbers = lambda *vectors: [getattr(v, axis) for v in vectors for axis in 'xyz']  # noqa: E731


def mul(a, b):
    """Products of quaternions, N x 4, w first."""
    (w, x, y, z), (i, j, k, n) = a.T, b.T
    return np.stack([w*i - x*j - y*k - z*n, w*j + x*i + y*n - z*k, w*k - x*n + y*i + z*j, w*n + x*k - y*j + z*i], 1)


def turn(q, v):
    """Vectors, N x 3, turned by quaternions."""
    return mul(mul(q, np.insert(v, 0, 0.0, 1)), q * [1, -1, -1, -1])[:, 1:]


def save(path, head, stamps, *columns):
    """Writes a table of EuRoC or TUM: stamps, and numbers or names."""
    path.parent.mkdir(parents=True, exist_ok=True)
    stamps = [f'{n // 10**9}.{n % 10**9:09}' for n in stamps] if head.startswith(TUM) else list(stamps)
    rows = np.hstack([np.array(c, object).reshape(len(stamps), -1 if stamps else 1) for c in (stamps, *columns)])
    np.savetxt(path, rows, '%s', ' ' if head.startswith(TUM) else ',', header=head, comments='')


def pcd(cloud):
    """A cloud with all of its fields as a PCD file."""
    names, kinds, offsets = zip(*((f.name, FIELDS[f.datatype], f.offset) for f in cloud.fields))
    points = np.frombuffer(cloud.data, np.dtype({'names': names, 'formats': kinds, 'offsets': offsets, 'itemsize': cloud.point_step}))
    rows = zip(('FIELDS', 'SIZE', 'TYPE', 'COUNT'), (names, [k[1] for k in kinds], [k[0].upper() for k in kinds], '1' * len(names)))
    head = 'VERSION 0.7\n' + ''.join(f'{key} {" ".join(row)}\n' for key, row in rows) + f'WIDTH {cloud.width}\nHEIGHT {cloud.height}\n'
    head += f'VIEWPOINT 0 0 0 1 0 0 0\nPOINTS {len(points)}\nDATA binary\n'
    return head.encode() + points.astype(list(zip(names, kinds))).tobytes()


class DataSet:
    """Images and clouds, written as they are read; frames, true states, calibrations and the rows of the tables."""

    def __init__(self, bag, out, wanted, scale):
        self.out, self.scale, self.sensors, self.infos, self.tree, self.truth = out, scale, {}, {}, {}, {}
        store, names = get_typestore(Stores.ROS2_JAZZY), {c.topic for c in bag.connections}
        for connection, _, raw in bag.messages():
            topic, kind, poses = connection.topic, connection.msgtype, []
            if topic.endswith(('/tf', '/tf_static')):
                m = store.deserialize_cdr(raw, kind)
                poses = [(self.tree, x, x.transform.translation, x.transform.rotation, []) for x in m.transforms]
            elif topic.endswith('/camera_info'):
                self.infos[topic.rpartition('/')[0]] = store.deserialize_cdr(raw, kind)
            elif topic.endswith('/ground_truth/odom') and re.search(wanted, topic):
                m = store.deserialize_cdr(raw, kind)
                poses = [(self.truth, m, m.pose.pose.position, m.pose.pose.orientation, numbers(m.twist.twist.linear))]
            elif kind in KINDS and re.search(wanted, topic) and topic + '_float' not in names:  # of depth one encoding
                self.take(topic, KINDS[kind], store.deserialize_cdr(raw, kind))
            for edges, m, t, q, velocity in poses:
                edge = edges.setdefault(m.child_frame_id, (m.header.frame_id, topic != '/tf_static', {}))
                edge[2][nanoseconds(m)] = [*numbers(t), q.w, *numbers(q), *velocity]

    def take(self, topic, kind, m):
        """Takes a sample of an IMU, a cloud or an image."""
        stamp, encoding, number = nanoseconds(m), getattr(m, 'encoding', ''), re.search(r'(?:sensor|copter)(\d+)/', topic)
        kind = 'depth' if encoding in ('32FC1', '16UC1') else kind
        directory = self.out / 'mav0' / (kind + (number[1] if number else '0' if kind == 'imu' else topic.replace('/', '_')))
        s = self.sensors.setdefault(topic, {'kind': kind, 'dir': directory, 'frame': m.header.frame_id, 'rows': {}, 'far': 0})
        if kind == 'imu':
            return s['rows'].update({stamp: numbers(m.angular_velocity, m.linear_acceleration)})
        if kind == 'lidar':
            s['rows'][stamp], data = [f'{stamp}.pcd'], pcd(m)
        elif encoding not in PIXELS:
            raise SystemExit(f'{topic}: {encoding} has no place in these layouts; leave the topic out with --topics')
        else:
            dtype, *channels = PIXELS[encoding]
            image = m.data.view(dtype).reshape(m.height, m.width, *channels)[..., :: -1 if encoding == 'rgb8' else 1]
            if kind == 'depth':
                counts = np.rint(np.nan_to_num(image * (self.scale / (1 if dtype == '<f4' else 1000)), posinf=0.0))
                s['far'] += int((counts > 65535).sum())
                image = np.where(counts > 65535, 0, counts).astype(np.uint16)
            s['rows'][stamp], data = [f'{stamp}.png'], cv2.imencode('.png', image, [cv2.IMWRITE_PNG_COMPRESSION, 1])[1]
        (s['dir'] / 'data').mkdir(parents=True, exist_ok=True)
        (s['dir'] / 'data' / s['rows'][stamp][0]).write_bytes(data)

    def poses(self, frame, stamps, root=None):
        """The stamps at which the bag has all of it exactly, and positions and quaternions of a frame in the map or `root` then."""
        tree, edges = self.tree | self.truth, []  # the truth in place of what TF may have of an estimate
        while frame in tree and frame != root:
            edges.append(tree[frame])
            frame = tree[frame][0]
        stamps = [s for s in stamps if root in (None, frame) and all(s in found for _, moves, found in edges if moves)]
        t, q = np.zeros((len(stamps), 3)), np.tile([1.0, 0, 0, 0], (len(stamps), 1))
        for _, moves, found in edges:
            edge = np.array([found[s if moves else max(found)][:7] for s in stamps]).reshape(-1, 7)
            t, q = edge[:, :3] + turn(edge[:, 3:], t), mul(edge[:, 3:], q)
        return stamps, t, q

    def write(self):
        """Writes tables and calibrations in EuRoC's layout, and TUM's layout of depth with a colour camera in its frame."""
        body, (_, _, states) = next(iter(self.truth.items()))
        rows, file = np.array([states[n] for n in sorted(states)]), self.out / 'mav0/state_groundtruth_estimate0/data.csv'
        save(file, STATE, sorted(states), rows[:, :7], turn(rows[:, 3:7], rows[:, 7:]), np.zeros((len(rows), 6)))
        for topic, s in sorted(self.sensors.items()):
            stamps, info = sorted(s['rows']), self.infos.get(topic.rpartition('/')[0])
            s['truth'], (_, t, q) = self.poses(s['frame'], stamps), self.poses(s['frame'], stamps, body)
            save(s['dir'] / 'data.csv', INERTIAL if s['kind'] == 'imu' else STAMP + 'filename', stamps, [s['rows'][n] for n in stamps])
            save(s['dir'] / 'poses.csv', POSE, *s['truth'])
            about = {'sensor_type': s['kind'], 'comment': topic, **({'depth_scale': self.scale} if s['kind'] == 'depth' else {})}
            if len(q):  # not of a sensor that stands in the map
                place = np.vstack([np.hstack([turn(np.tile(q[0], (3, 1)), np.eye(3)).T, t[:1].T]), [0, 0, 0, 1]]).round(12)
                about['T_BS'] = f'{{rows: 4, cols: 4, data: {place.ravel().tolist()}}}'
            if info:
                lens = info.distortion_model.replace('plumb_bob', 'radial-tangential')
                about |= {'resolution': [info.width, info.height], 'camera_model': 'pinhole', 'intrinsics': info.k[[0, 4, 2, 5]].tolist()}
                about |= {'distortion_model': lens, 'distortion_coefficients': info.d[:4].tolist()}
            (s['dir'] / 'sensor.yaml').write_text(''.join(f'{key}: {value}\n' for key, value in about.items()))
            far = f', {s["far"]} pixels too far for 16 bits' * bool(s['far'])
            print(f'{s["dir"]}: {len(stamps)} of {topic}, {len(s["truth"][0])} with a true pose{far}')
        cameras = {s['frame']: s for s in self.sensors.values() if s['kind'] == 'cam'}
        for s in (s for s in self.sensors.values() if s['kind'] == 'depth' and s['frame'] in cameras):
            tum, (there, t, q) = self.out / s['dir'].name.replace('depth', 'rgbd'), s['truth']
            save(tum / 'groundtruth.txt', TUM + 'tx ty tz qx qy qz qw', there, t, q[:, [1, 2, 3, 0]])
            for name, source in (('rgb', cameras[s['frame']]), ('depth', s)):
                (tum / name).symlink_to(f'../mav0/{source["dir"].name}/data')
                save(tum / f'{name}.txt', TUM + 'filename', source['rows'], [f'{name}/{row[0]}' for row in source['rows'].values()])


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('bag', type=Path)
    parser.add_argument('out', type=Path, help='a new directory')
    parser.add_argument('--topics', default=r'/sensor\d+/|/imu$|/ground_truth/odom$', help='sensors, and the truth of one vehicle')
    parser.add_argument('--depth-scale', type=float, default=5000.0, help='counts per m of depth in 16-bit PNG (5000, as TUM)')
    arguments = parser.parse_args()
    arguments.out.mkdir()
    with Reader(arguments.bag) as bag:
        data = DataSet(bag, arguments.out, arguments.topics, arguments.depth_scale)
    data.write() if data.truth else parser.error('the bag has no ground_truth/odom: see true_state.enabled, record.regex, --topics')
