// Connects the panels and the 3D view to the topics.
import { Connection } from "./connection.js";
import { Frames, Scene, quaternion, vector } from "./scene.js";
import { Picture, Vehicle, Warnings, element, findings, rows, table } from "./panels.js";

const get = (id) => document.getElementById(id);
const connection = new Connection(new URLSearchParams(location.search).get("at") ?? location.host);
const frames = new Frames();
const scene = new Scene(get("scene"), frames);
const warnings = new Warnings(get("warnings"), get("worst"));
const pictures = [];
const vehicles = new Map();
const layers = new Map();

const status = get("connection");
connection.addEventListener("opened", () => {
  [status.className, status.textContent] = ["pill good", "connected"];
  document.title = `${connection.info.name} · rfly_bridge`;
  vehicles.forEach((vehicle) => vehicle.control(connection.control));
  get("controls").textContent = `drag to rotate, scroll or pinch to zoom${connection.control ? ", click to send the vehicle there" : ""}`;
});
connection.addEventListener("closed", () => { [status.className, status.textContent] = ["pill bad", "disconnected"]; });
connection.addEventListener("status", ({ detail }) => warnings.log(1, "view", detail));

for (const topic of ["/tf", "/tf_static"]) connection.on(topic, (message) => frames.add(message));
connection.on("/diagnostics", (message) => {
  const all = rows(message);
  table(document.querySelector("#sensors tbody"), all);
  warnings.diagnostics(all, findings(message));
});
connection.on("/rosout", (log) => {
  if (log.level >= 30) warnings.log(log.level >= 40 ? 2 : 1, log.name, log.msg);
});

const boxes = (topic) => (message) => {
  const pose = frames.pose(message.header.frame_id);
  if (!pose) return;
  scene.boxes.set(topic, message.detections.map(({ bbox, id }) => ({
    position: vector(bbox.center.position), rotation: quaternion(bbox.center.orientation), size: vector(bbox.size), name: id })));
};
// Layers of the 3D view: type, whether a topic is shown at first, maker of the callback for messages, map from topic to drawing.
const LAYER_TYPES = [
  ["sensor_msgs/msg/PointCloud2", (topic, n) => topic.endsWith("vehicle_lidar") || n === 0, (topic) => (m) => scene.cloud(topic, m), scene.clouds],
  ["nav_msgs/msg/Path", (topic) => topic.endsWith("ground_truth/path"), (topic) => (m) => scene.paths.set(topic, m.poses.map((p) => vector(p.pose.position))), scene.paths],
  ["vision_msgs/msg/Detection3DArray", (topic) => topic.includes("/scene/"), boxes, scene.boxes],
];

function addLayer(topic, checked, makeCallback, drawn) {
  const box = element("input", { type: "checkbox", checked });
  let unsubscribe = null;
  const update = () => {
    unsubscribe?.();
    unsubscribe = box.checked ? connection.on(topic, makeCallback(topic)) : null;
    if (!box.checked) drawn.delete(topic);
  };
  box.onchange = update;
  update();
  layers.set(topic, element("label", {}, box, ` ${topic.split("/").slice(-2).join("/")}`));
}

connection.addEventListener("channels", () => {
  const images = connection.topicsOfType("sensor_msgs/msg/Image");
  if (!pictures.length && images.length) {
    const first = (pattern) => images.find((topic) => pattern.test(topic));
    const chosen = new Set([first(/img_rgb$/) ?? images[0], first(/img_depth$/), first(/Segmentation$/), first(/Infrared$/), ...images]);
    for (const topic of [...chosen].filter(Boolean).slice(0, 4)) pictures.push(new Picture(connection, topic));
    get("pictures").replaceChildren(...pictures.map((picture) => picture.root));
  }
  pictures.forEach((picture) => picture.setTopics(images));
  for (const [type, isShown, makeCallback, drawn] of LAYER_TYPES) {
    const topics = connection.topicsOfType(type);
    const preferred = topics.some((topic) => topic.endsWith("vehicle_lidar"));
    [...drawn.keys()].filter((topic) => !connection.channels.has(topic)).forEach((topic) => drawn.delete(topic));
    topics.forEach((topic, n) => {
      if (!layers.has(topic)) addLayer(topic, isShown(topic, preferred ? 1 : n), makeCallback, drawn);
    });
  }
  const present = [...layers].filter(([topic]) => connection.channels.has(topic));
  get("layers").replaceChildren(...present.map(([, element]) => element));
  for (const topic of connection.topicsOfType("mavros_msgs/msg/State")) {
    const prefix = topic.replace(/\/state$/, "");
    if (vehicles.has(prefix)) continue;
    const vehicle = new Vehicle(connection, prefix, (...entry) => warnings.log(...entry));
    vehicles.set(prefix, vehicle);
    vehicle.control(connection.control);
    get("vehicles").append(vehicle.root);
  }
});

scene.onClick = (point) => {
  const vehicle = [...vehicles.values()][0];
  const pose = frames.pose("base_link");
  if (!point || !vehicle || !pose || !connection.control) return;
  scene.goal = [point[0], point[1], pose.position[2]];
  vehicle.fly(point[0] - pose.position[0], point[1] - pose.position[1]);
};

setInterval(() => {
  pictures.forEach((picture) => picture.showRate());
  vehicles.forEach((vehicle) => vehicle.showTelemetry());
}, 1000);

const cssColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
function frame() {
  const pose = frames.pose("base_link");
  if (pose) scene.centre = scene.centre.map((v, i) => v + (pose.position[i] - v) * 0.1);
  scene.draw({ back: cssColour("--panel"), grid: cssColour("--grid"), box: cssColour("--box"), path: cssColour("--path"), text: cssColour("--text"), vehicle: cssColour("--text"), faint: cssColour("--soft") });
  setTimeout(() => requestAnimationFrame(frame), 60);
}
frame();
window.rfly = { connection, scene, frames, vehicles }; // for the console
