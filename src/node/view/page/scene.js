// The 3D view: a canvas on which points, lines and labels are drawn in the frame `map`, without a library.
import { OLD_MS, ageText } from "./panels.js";

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

/** Whether a frame is that of a vehicle's body. */
const isBase = (frame) => /(^|\/)base_link$/.test(frame);
/** The prefix of a frame: the name of its vehicle, "" without one. */
const vehicleOf = (frame) => frame.split("/").slice(0, -1).join("/");
const baseOf = (vehicle) => (vehicle ? `${vehicle}/base_link` : "base_link");
/** Converts pose `b`, which is relative to pose `a`, to the frame of `a`. */
const compose = (a, b) => ({
  position: rotate(a.rotation, b.position).map((v, i) => v + a.position[i]), rotation: multiply(a.rotation, b.rotation) });
const invert = ({ position, rotation: [x, y, z, w] }) => {
  const rotation = [-x, -y, -z, w];
  return { position: rotate(rotation, position).map((v) => -v), rotation };
};

/** The frames of /tf and /tf_static. */
export class Frames {
  constructor() { this.parents = new Map(); }
  add(message) {
    for (const t of message.transforms) {
      this.parents.set(t.child_frame_id, {
        at: performance.now(), parent: t.header.frame_id, position: vector(t.transform.translation), rotation: quaternion(t.transform.rotation) });
    }
  }
  /** The prefixes of vehicles' frames: "" of a single one. */
  vehicles() {
    const names = [...this.parents.keys()].filter(isBase).map(vehicleOf);
    return [...new Set(names)].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
  }
  /** Pose of a frame in `root`; null if it is unknown. */
  pose(frame, root = "map") {
    let [position, rotation] = [[0, 0, 0], [0, 0, 0, 1]];
    for (let steps = 0; frame !== root; steps += 1) {
      const edge = this.parents.get(frame);
      if (!edge || steps > 30) return null;
      ({ position, rotation } = compose(edge, { position, rotation }));
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
    this.hiddenFrames = new Set(); // vehicles whose frames are not drawn
    this.ownerOf = () => null; // vehicle of a topic
    this.centre = [0, 0, 0];
    this.yaw = 215 * DEG;
    this.pitch = 33 * DEG;
    this.distance = 24;
    this.follow = null; // vehicle at the centre; null: the first; false: none
    this.goal = null;
    this.ramps = new Map();
    this.addPointerControls();
  }

  /** The camera as the user has chosen it. */
  get view() {
    const { yaw, pitch, distance, centre, follow } = this;
    return { yaw, pitch, distance, centre, follow };
  }
  set view(view) {
    const isNumber = (n) => typeof n === "number" && Number.isFinite(n);
    if (![view?.yaw, view?.pitch, view?.distance].every(isNumber)) return;
    Object.assign(this, { yaw: view.yaw, pitch: view.pitch, distance: view.distance });
    if (view.follow === false || typeof view.follow === "string") this.follow = view.follow;
    if (Array.isArray(view.centre) && view.centre.length === 3 && view.centre.every(isNumber)) this.centre = view.centre;
  }
  /** The vehicle at the centre; undefined without one. */
  get followed() {
    const names = this.frames.vehicles();
    return this.follow === false ? undefined : names.includes(this.follow) ? this.follow : names[0];
  }
  /** Moves the centre with the pointer, in the plane of the ground. */
  pan(dx, dy) {
    const metres = this.distance / (this.canvas.clientHeight * 0.9);
    const [cy, sy] = [Math.cos(this.yaw), Math.sin(this.yaw)];
    const [right, away] = [-dx * metres, dy * metres / Math.max(0.3, Math.sin(Math.abs(this.pitch)))];
    this.follow = false;
    this.centre = [this.centre[0] - sy * right - cy * away, this.centre[1] + cy * right - sy * away, this.centre[2]];
  }

  addPointerControls() {
    const pointers = new Map();
    const changed = () => this.onView?.();
    this.canvas.addEventListener("contextmenu", (event) => event.preventDefault());
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
        this.pan(dx / 2, dy / 2);
      } else if (event.buttons & 6 || event.shiftKey) {
        this.pan(dx, dy);
      } else {
        this.yaw -= dx * 0.008;
        this.pitch = Math.min(89 * DEG, Math.max(-5 * DEG, this.pitch + dy * 0.006));
      }
      this.dragged += Math.abs(dx) + Math.abs(dy);
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    const end = (event) => {
      if (!pointers.delete(event.pointerId)) return;
      if (this.dragged >= 5) changed();
      else if (event.type === "pointerup" && event.button === 0) this.onClick?.(this.ground(event));
    };
    this.canvas.addEventListener("pointerup", end);
    this.canvas.addEventListener("pointercancel", end);
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * 0.001));
      changed();
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

  /**
   * Sets the boxes of a topic. A vehicle moves between two descriptions of its box, so the box is kept relative to the vehicle's
   * frame. A frame with a number gets the box of this number, a frame without prefix the nearest box that no other frame has.
   */
  setBoxes(topic, message) {
    const pose = this.frames.pose(message.header.frame_id);
    if (!pose) return;
    const bases = this.frames.vehicles().map(baseOf).map((frame) => ({ frame, pose: this.frames.pose(frame) })).filter((base) => base.pose);
    const boxes = message.detections.map(({ bbox, id, results }) => {
      const inMap = (p) => compose(pose, { position: vector(p.position), rotation: quaternion(p.orientation) });
      const described = results[0]?.hypothesis.class_id === "vehicle" ? inMap(results[0].pose.pose) : null;
      return { ...inMap(bbox.center), size: vector(bbox.size), name: id, described };
    });
    const distance = (box, base) => Math.hypot(...box.described.position.map((v, i) => v - base.pose.position[i]));
    for (const base of bases) {
      const free = boxes.filter((box) => box.described && !box.frame);
      const numbered = free.find((box) => vehicleOf(base.frame).match(/\d+$/)?.[0] === box.name);
      const [nearest] = vehicleOf(base.frame) ? [] : free.sort((a, b) => distance(a, base) - distance(b, base));
      const box = numbered ?? nearest;
      if (box) Object.assign(box, { frame: base.frame, offset: compose(invert(box.described), box) });
    }
    this.boxes.set(topic, boxes);
  }
  /** Where a box is now. */
  placeOf(box) {
    const pose = box.frame && this.frames.pose(box.frame);
    return pose ? compose(pose, box.offset) : box;
  }

  draw(colours) {
    const { canvas } = this;
    const names = this.frames.vehicles();
    const colourOf = (name, otherwise) => (names.length > 1 && names.includes(name) ? colours.vehicle(name) : otherwise);
    const now = performance.now();
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
    for (const [topic, points] of this.clouds) {
      const own = colourOf(this.ownerOf(topic));
      const heights = own ? this.ramp(own) : this.heightColours;
      for (let i = 0; i < points.length; i += 3) {
        const [dx, dy, dz] = [points[i] - eye[0], points[i + 1] - eye[1], points[i + 2] - eye[2]];
        const z = dx * forward[0] + dy * forward[1] + dz * forward[2];
        if (z < NEAR) continue;
        const x = Math.round(width / 2 + ((dx * rx + dy * ry) * focal) / z);
        const y = Math.round(height / 2 - ((dx * ux + dy * uy + dz * uz) * focal) / z);
        if (x < 0 || y < 0 || x + size >= width || y + size >= height) continue;
        const colour = heights[Math.max(0, Math.min(255, Math.round((points[i + 2] + 1) * 20)))];
        for (let v = 0; v < size; v += 1) pixels.fill(colour, (y + v) * width + x, (y + v) * width + x + size);
      }
    }
    c.putImageData(image, 0, 0);

    for (const boxes of this.boxes.values()) {
      for (const box of boxes) {
        const { size: s, name, frame } = box;
        const { position, rotation } = this.placeOf(box);
        const colour = colourOf(frame && vehicleOf(frame), colours.box);
        const corner = (i) => rotate(rotation, [0, 1, 2].map((k) => ((i >> k) & 1 ? 0.5 : -0.5) * s[k])).map((v, k) => v + position[k]);
        stroke(colour, 1.5, () => {
          for (let i = 0; i < 8; i += 1) for (const k of [1, 2, 4]) if (!(i & k)) line(corner(i), corner(i | k));
        });
        label([position[0], position[1], position[2] + s[2] / 2], name, colour);
      }
    }
    for (const [topic, path] of this.paths) {
      stroke(colourOf(this.ownerOf(topic), colours.path), 2, () => { for (let i = 1; i < path.length; i += 1) line(path[i - 1], path[i]); });
    }
    for (const frame of this.frames.parents.keys()) {
      const isVehicle = isBase(frame);
      const isHidden = this.hiddenFrames.has(vehicleOf(frame));
      if (!isVehicle && (isHidden || !frame.endsWith("_link"))) continue;
      const pose = this.frames.pose(frame);
      if (!pose) continue;
      const age = now - this.frames.parents.get(frame).at;
      const isOld = isVehicle && age > OLD_MS;
      const body = isOld ? colours.faint : colourOf(vehicleOf(frame), colours.text);
      const toMap = (v) => rotate(pose.rotation, v).map((n, i) => n + pose.position[i]);
      const length = isVehicle ? 1 : 0.3;
      if (!isHidden) ["#f25555", "#4cc765", "#5b8cff"].forEach((colour, i) => {
        stroke(colour, isVehicle ? 2.5 : 1.2, () => line(pose.position, toMap([0, 1, 2].map((k) => (k === i ? length : 0)))));
      });
      if (!isVehicle) continue;
      stroke(body, 3, () => {
        line(toMap([0.45, 0.45, 0]), toMap([-0.45, -0.45, 0]));
        line(toMap([0.45, -0.45, 0]), toMap([-0.45, 0.45, 0]));
      });
      stroke(body, 1.5, () => {
        for (const [x, y] of [[1, 1], [1, -1], [-1, 1], [-1, -1]]) {
          const rim = (n) => toMap([0.45 * x + 0.25 * Math.cos(n * 45 * DEG), 0.45 * y + 0.25 * Math.sin(n * 45 * DEG), 0.05]);
          for (let n = 0; n < 8; n += 1) line(rim(n), rim(n + 1));
        }
      });
      stroke(colours.faint, 1, () => line(pose.position, [pose.position[0], pose.position[1], 0]));
      label([pose.position[0], pose.position[1], pose.position[2] + 0.5], (vehicleOf(frame) || "vehicle") + (isOld ? `, ${ageText(age)} old` : ""), body);
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

  /** Colour scale of heights in shades of one colour (#rrggbb), as pixel values. */
  ramp(colour) {
    if (!this.ramps.has(colour)) {
      const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
      this.ramps.set(colour, Uint32Array.from({ length: 256 }, (_, i) => {
        const part = 0.45 + 0.55 * Math.min(1, i / 128);
        return (255 << 24 | b * part << 16 | g * part << 8 | r * part) >>> 0;
      }));
    }
    return this.ramps.get(colour);
  }

  /** Colour scale of heights, as pixel values. */
  heightColours = Uint32Array.from({ length: 256 }, (_, i) => {
    const hue = 4 - (i / 255) * 4;
    const channel = (at) => Math.round(Math.min(1, Math.max(0, 2 - Math.abs(hue - at))) * 200 + 45);
    return (255 << 24 | channel(4) << 16 | channel(2) << 8 | channel(0)) >>> 0;
  });
}

export { vector, vehicleOf, baseOf };
