// The 3D view: a canvas on which points, lines and labels are drawn in the frame `map`, without a library.
const DEG = Math.PI / 180;
const NEAR = 0.3;

const rotate = ([x, y, z, w], [a, b, c]) => {
  const [i, j, k] = [2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)];
  return [a + w * i + y * k - z * j, b + w * j + z * i - x * k, c + w * k + x * j - y * i];
};
const multiply = ([ax, ay, az, aw], [bx, by, bz, bw]) => [
  aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
  aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz];
const vector = (v) => [v.x, v.y, v.z];
const quaternion = (q) => [q.x, q.y, q.z, q.w];

/** The frames of /tf and /tf_static. */
export class Frames {
  constructor() { this.parents = new Map(); }
  add(message) {
    for (const t of message.transforms) {
      this.parents.set(t.child_frame_id, {
        parent: t.header.frame_id, position: vector(t.transform.translation), rotation: quaternion(t.transform.rotation) });
    }
  }
  /** Pose of a frame in `root`; null if it is unknown. */
  pose(frame, root = "map") {
    let [position, rotation] = [[0, 0, 0], [0, 0, 0, 1]];
    for (let steps = 0; frame !== root; steps += 1) {
      const edge = this.parents.get(frame);
      if (!edge || steps > 30) return null;
      position = rotate(edge.rotation, position).map((v, i) => v + edge.position[i]);
      rotation = multiply(edge.rotation, rotation);
      frame = edge.parent;
    }
    return { position, rotation };
  }
}

export class Scene {
  constructor(canvas, frames) {
    this.canvas = canvas;
    this.frames = frames;
    this.clouds = new Map();
    this.paths = new Map();
    this.boxes = new Map();
    this.showFrames = true;
    this.centre = [0, 0, 0];
    this.yaw = 215 * DEG;
    this.pitch = 33 * DEG;
    this.distance = 24;
    this.goal = null;
    this.addPointerControls();
  }

  addPointerControls() {
    const pointers = new Map();
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
      this.dragged = 0;
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const [dx, dy] = [event.clientX - before[0], event.clientY - before[1]];
      const others = [...pointers].filter(([id]) => id !== event.pointerId);
      if (others.length) {
        const [, other] = others[0];
        const span = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
        this.zoom(span(before) / span([event.clientX, event.clientY]));
      } else {
        this.yaw -= dx * 0.008;
        this.pitch = Math.min(89 * DEG, Math.max(-5 * DEG, this.pitch + dy * 0.006));
      }
      this.dragged += Math.abs(dx) + Math.abs(dy);
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    const end = (event) => {
      if (pointers.delete(event.pointerId) && event.type === "pointerup" && this.dragged < 5) this.onClick?.(this.ground(event));
    };
    this.canvas.addEventListener("pointerup", end);
    this.canvas.addEventListener("pointercancel", end);
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * 0.001));
    }, { passive: false });
  }

  zoom(factor) { this.distance = Math.min(400, Math.max(3, this.distance * factor)); }

  /** Axes and position (`eye`) of the camera. */
  camera() {
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    const forward = [-cy * cp, -sy * cp, -sp];
    const eye = this.centre.map((v, i) => v - forward[i] * this.distance);
    return { right: [-sy, cy, 0], up: [-cy * sp, -sy * sp, cp], forward, eye };
  }

  /** The point of the plane z = 0 at the pointer; null if there is none. */
  ground(event) {
    const box = this.canvas.getBoundingClientRect();
    const { right, up, forward, eye } = this.camera();
    const focal = box.height * 0.9;
    const [u, v] = [event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2];
    const ray = forward.map((f, i) => f * focal + right[i] * u - up[i] * v);
    const t = -eye[2] / ray[2];
    return t > 0 && t * focal < 2000 ? [eye[0] + ray[0] * t, eye[1] + ray[1] * t, 0] : null;
  }

  cloud(topic, message) {
    const offset = Object.fromEntries(message.fields.map((field) => [field.name, field.offset]));
    const pose = this.frames.pose(message.header.frame_id);
    if (!pose || offset.x === undefined) return;
    const { data, point_step: step } = message;
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const count = Math.floor(data.byteLength / step);
    const stride = Math.max(1, Math.ceil(count / 12000));
    const points = [];
    for (let i = 0; i < count; i += stride) {
      const at = i * step;
      const point = [view.getFloat32(at + offset.x, true), view.getFloat32(at + offset.y, true), view.getFloat32(at + offset.z, true)];
      if (!Number.isFinite(point[0])) continue;
      const rotated = rotate(pose.rotation, point);
      points.push(rotated[0] + pose.position[0], rotated[1] + pose.position[1], rotated[2] + pose.position[2]);
    }
    this.clouds.set(topic, Float32Array.from(points));
  }

  draw(colours) {
    const { canvas } = this;
    const scale = Math.min(2, window.devicePixelRatio || 1);
    const [width, height] = [Math.round(canvas.clientWidth * scale), Math.round(canvas.clientHeight * scale)];
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const c = canvas.getContext("2d", { alpha: false });
    const { right, up, forward, eye } = this.camera();
    const focal = height * 0.9;
    const toCamera = (p) => {
      const d = [p[0] - eye[0], p[1] - eye[1], p[2] - eye[2]];
      const dot = (a) => a[0] * d[0] + a[1] * d[1] + a[2] * d[2];
      return [dot(right), dot(up), dot(forward)];
    };
    const project = ([x, y, z]) => [width / 2 + (x * focal) / z, height / 2 - (y * focal) / z];
    const line = (a, b) => {
      let [p, q] = [toCamera(a), toCamera(b)];
      if (p[2] < NEAR && q[2] < NEAR) return;
      const clip = (out, ins) => ins.map((v, i) => v + ((out[i] - v) * (ins[2] - NEAR)) / (ins[2] - out[2]));
      if (p[2] < NEAR) p = clip(p, q);
      if (q[2] < NEAR) q = clip(q, p);
      c.moveTo(...project(p));
      c.lineTo(...project(q));
    };
    const stroke = (colour, thick, body) => {
      c.strokeStyle = colour;
      c.lineWidth = thick * scale;
      c.beginPath();
      body();
      c.stroke();
    };
    const label = (position, text, colour) => {
      const p = toCamera(position);
      if (p[2] < NEAR) return;
      const [x, y] = project(p);
      c.fillStyle = colour;
      c.font = `${11 * scale}px system-ui, sans-serif`;
      c.fillText(text, x + 5 * scale, y - 5 * scale);
    };

    c.fillStyle = colours.back;
    c.fillRect(0, 0, width, height);
    const [gx, gy] = [Math.round(this.centre[0] / 5) * 5, Math.round(this.centre[1] / 5) * 5];
    stroke(colours.grid, 1, () => {
      for (let i = -50; i <= 50; i += 5) {
        line([gx + i, gy - 50, 0], [gx + i, gy + 50, 0]);
        line([gx - 50, gy + i, 0], [gx + 50, gy + i, 0]);
      }
    });

    // Points, coloured by height, are written directly into the pixels, for speed.
    const image = c.getImageData(0, 0, width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const size = Math.max(1, Math.round(1.6 * scale));
    const [rx, ry, ux, uy, uz] = [right[0], right[1], up[0], up[1], up[2]];
    for (const points of this.clouds.values()) {
      for (let i = 0; i < points.length; i += 3) {
        const [dx, dy, dz] = [points[i] - eye[0], points[i + 1] - eye[1], points[i + 2] - eye[2]];
        const z = dx * forward[0] + dy * forward[1] + dz * forward[2];
        if (z < NEAR) continue;
        const x = Math.round(width / 2 + ((dx * rx + dy * ry) * focal) / z);
        const y = Math.round(height / 2 - ((dx * ux + dy * uy + dz * uz) * focal) / z);
        if (x < 0 || y < 0 || x + size >= width || y + size >= height) continue;
        const colour = this.heightColours[Math.max(0, Math.min(255, Math.round((points[i + 2] + 1) * 20)))];
        for (let v = 0; v < size; v += 1) pixels.fill(colour, (y + v) * width + x, (y + v) * width + x + size);
      }
    }
    c.putImageData(image, 0, 0);

    for (const boxes of this.boxes.values()) {
      for (const { position, rotation, size: s, name } of boxes) {
        const corner = (i) => rotate(rotation, [0, 1, 2].map((k) => ((i >> k) & 1 ? 0.5 : -0.5) * s[k])).map((v, k) => v + position[k]);
        stroke(colours.box, 1.5, () => {
          for (let i = 0; i < 8; i += 1) for (const k of [1, 2, 4]) if (!(i & k)) line(corner(i), corner(i | k));
        });
        label([position[0], position[1], position[2] + s[2] / 2], name, colours.box);
      }
    }
    for (const path of this.paths.values()) {
      stroke(colours.path, 2, () => { for (let i = 1; i < path.length; i += 1) line(path[i - 1], path[i]); });
    }
    for (const frame of this.frames.parents.keys()) {
      const isVehicle = frame.endsWith("base_link");
      if (!isVehicle && !(this.showFrames && frame.endsWith("_link"))) continue;
      const pose = this.frames.pose(frame);
      if (!pose) continue;
      const toMap = (v) => rotate(pose.rotation, v).map((n, i) => n + pose.position[i]);
      const length = isVehicle ? 1 : 0.3;
      ["#f25555", "#4cc765", "#5b8cff"].forEach((colour, i) => {
        stroke(colour, isVehicle ? 2.5 : 1.2, () => line(pose.position, toMap([0, 1, 2].map((k) => (k === i ? length : 0)))));
      });
      if (!isVehicle) continue;
      stroke(colours.vehicle, 3, () => {
        line(toMap([0.45, 0.45, 0]), toMap([-0.45, -0.45, 0]));
        line(toMap([0.45, -0.45, 0]), toMap([-0.45, 0.45, 0]));
      });
      stroke(colours.vehicle, 1.5, () => {
        for (const [x, y] of [[1, 1], [1, -1], [-1, 1], [-1, -1]]) {
          const rim = (n) => toMap([0.45 * x + 0.25 * Math.cos(n * 45 * DEG), 0.45 * y + 0.25 * Math.sin(n * 45 * DEG), 0.05]);
          for (let n = 0; n < 8; n += 1) line(rim(n), rim(n + 1));
        }
      });
      stroke(colours.faint, 1, () => line(pose.position, [pose.position[0], pose.position[1], 0]));
      label(pose.position, frame, colours.text);
    }
    if (this.goal) {
      const [x, y, z] = this.goal;
      stroke(colours.path, 2, () => {
        line([x, y, 0], [x, y, z]);
        line([x - 0.5, y, z], [x + 0.5, y, z]);
        line([x, y - 0.5, z], [x, y + 0.5, z]);
      });
    }
  }

  /** Colour scale of heights, as pixel values. */
  heightColours = Uint32Array.from({ length: 256 }, (_, i) => {
    const hue = 4 - (i / 255) * 4;
    const channel = (at) => Math.round(Math.min(1, Math.max(0, 2 - Math.abs(hue - at))) * 200 + 45);
    return (255 << 24 | channel(4) << 16 | channel(2) << 8 | channel(0)) >>> 0;
  });
}

export { rotate, vector, quaternion };
