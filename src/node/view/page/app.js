// Puts the page together: which topics are shown where.
import { Link } from "./link.js";
import { Frames, Scene, quaternion, vector } from "./scene.js";
import { Picture, Vehicle, Warnings, element, findings, rows, table } from "./panels.js";

const get = (id) => document.getElementById(id);
const link = new Link(new URLSearchParams(location.search).get("at") ?? location.host);
const frames = new Frames();
const scene = new Scene(get("scene"), frames);
const warnings = new Warnings(get("warnings"), get("worst"));
const pictures = [];
const vehicles = new Map();
const layers = new Map();

const state = get("link");
link.addEventListener("opened", () => {
  [state.className, state.textContent] = ["pill good", "live"];
  document.title = `${link.info.name} · rfly_bridge`;
  vehicles.forEach((vehicle) => vehicle.control(link.control));
  get("hint").textContent = `drag to turn, scroll or pinch to zoom${link.control ? "; click: the vehicle flies there" : ""}`;
});
link.addEventListener("closed", () => { [state.className, state.textContent] = ["pill bad", "no connection"]; });
link.addEventListener("status", ({ detail }) => warnings.say(1, "view", detail));

const take = (message) => frames.take(message);
link.on("/tf", take);
link.on("/tf_static", take);
link.on("/diagnostics", (message) => {
  const all = rows(message);
  table(document.querySelector("#sensors tbody"), all);
  warnings.diagnostics(all, findings(message));
});
link.on("/rosout", (log) => {
  if (log.level >= 30) warnings.say(log.level >= 40 ? 2 : 1, log.name, log.msg);
});

const boxes = (topic) => (message) => {
  const pose = frames.pose(message.header.frame_id);
  if (!pose) return;
  scene.boxes.set(topic, message.detections.map(({ bbox, id }) => ({
    at: vector(bbox.center.position), turn: quaternion(bbox.center.orientation), size: vector(bbox.size), name: id })));
};
// What can be shown in 3D: type, whether a topic is shown at first, what to do with it, where it is kept.
const SHOWN = [
  ["sensor_msgs/msg/PointCloud2", (topic, n) => topic.endsWith("vehicle_lidar") || n === 0, (topic) => (m) => scene.cloud(topic, m), scene.clouds],
  ["nav_msgs/msg/Path", (topic) => topic.endsWith("ground_truth/path"), (topic) => (m) => scene.paths.set(topic, m.poses.map((p) => vector(p.pose.position))), scene.paths],
  ["vision_msgs/msg/Detection3DArray", (topic) => topic.includes("/scene/"), boxes, scene.boxes],
];

function layer(topic, on, make, kept) {
  const box = element("input", { type: "checkbox", checked: on });
  let end = null;
  const set = () => {
    end?.();
    end = box.checked ? link.on(topic, make(topic)) : null;
    if (!box.checked) kept.delete(topic);
  };
  box.onchange = set;
  set();
  layers.set(topic, element("label", {}, box, ` ${topic.split("/").slice(-2).join("/")}`));
}

link.addEventListener("channels", () => {
  const images = link.ofType("sensor_msgs/msg/Image");
  if (!pictures.length && images.length) {
    const first = (pattern) => images.find((topic) => pattern.test(topic));
    const chosen = new Set([first(/img_rgb$/) ?? images[0], first(/img_depth$/), first(/Segmentation$/), first(/Infrared$/), ...images]);
    for (const topic of [...chosen].filter(Boolean).slice(0, 4)) pictures.push(new Picture(link, topic));
    get("pictures").replaceChildren(...pictures.map((picture) => picture.root));
  }
  pictures.forEach((picture) => picture.offer(images));
  for (const [type, first, make, kept] of SHOWN) {
    const topics = link.ofType(type);
    const preferred = topics.some((topic) => topic.endsWith("vehicle_lidar"));
    [...kept.keys()].filter((topic) => !link.channels.has(topic)).forEach((topic) => kept.delete(topic));
    topics.forEach((topic, n) => {
      if (!layers.has(topic)) layer(topic, first(topic, preferred ? 1 : n), make, kept);
    });
  }
  const there = [...layers].filter(([topic]) => link.channels.has(topic));
  get("layers").replaceChildren(...there.map(([, element]) => element));
  for (const topic of link.ofType("mavros_msgs/msg/State")) {
    const prefix = topic.replace(/\/state$/, "");
    if (vehicles.has(prefix)) continue;
    const vehicle = new Vehicle(link, prefix, (...what) => warnings.say(...what));
    vehicles.set(prefix, vehicle);
    vehicle.control(link.control);
    get("vehicles").append(vehicle.root);
  }
});

scene.onClick = (point) => {
  const vehicle = [...vehicles.values()][0];
  const pose = frames.pose("base_link");
  if (!point || !vehicle || !pose || !link.control) return;
  scene.goal = [point[0], point[1], pose.at[2]];
  vehicle.fly(point[0] - pose.at[0], point[1] - pose.at[1]);
};

setInterval(() => {
  pictures.forEach((picture) => picture.second());
  vehicles.forEach((vehicle) => vehicle.second());
}, 1000);

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
function frame() {
  const pose = frames.pose("base_link");
  if (pose) scene.centre = scene.centre.map((v, i) => v + (pose.at[i] - v) * 0.1);
  scene.draw({ back: style("--panel"), grid: style("--grid"), box: style("--box"), path: style("--path"), text: style("--text"), vehicle: style("--text"), faint: style("--soft") });
  setTimeout(() => requestAnimationFrame(frame), 60);
}
frame();
window.rfly = { link, scene, frames, vehicles }; // for the console
