// Connects the panels and the 3D view to the topics.
import { choices, keep } from "./choices.js";
import { Connection } from "./connection.js";
import { OLD_MS, Warnings, ageText, breakable, element, findings, rows, shortName, table } from "./panels.js";
import { Pictures } from "./pictures.js";
import { Plot } from "./plot.js";
import { Recorder } from "./record.js";
import { Frames, Scene, baseOf, vector, vehicleOf } from "./scene.js";
import { Vehicle } from "./vehicle.js";

const get = (id) => document.getElementById(id);
const connection = new Connection(new URLSearchParams(location.search).get("at") ?? location.host);
const frames = new Frames();
const scene = new Scene(get("scene"), frames);
const warnings = new Warnings(get("warnings"), get("worst"));
const log = (...entry) => warnings.log(...entry);
const pictures = new Pictures(connection, get("pictures"), get("add"));
const recorder = new Recorder(connection, get("record"), log);
const plot = new Plot(connection, get("series"), get("plot"));
const vehicles = new Map(); // prefix -> Vehicle
const layers = new Map(); // topic -> label with a checkbox
const MAX_NAMES = 4;
const COLOURS = 6;

const cssColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const markOf = (name) => {
  const index = frames.vehicles().indexOf(name);
  return index < 0 ? "" : `--v${index % COLOURS}`;
};
/** The vehicle that a topic belongs to (its prefix in TF); null if it is unknown. */
function ownerOf(topic) {
  const parts = topic.split("/");
  const sensor = parts.find((part) => /^sensor\d+$/.test(part));
  const frame = sensor && [...frames.parents.keys()].find((frame) => frame.split("/").at(-1) === `${sensor}_link`);
  if (frame) return vehicleOf(frame);
  const names = frames.vehicles();
  const named = names.find((name) => name && parts.includes(name));
  const prefix = [...vehicles.values()].find((vehicle) => topic.startsWith(`${vehicle.prefix}/`));
  return named ?? (prefix?.frame === undefined ? (names.length === 1 ? names[0] : null) : vehicleOf(prefix.frame));
}
scene.ownerOf = ownerOf;
/** The name of the vehicle of a topic, if there are several. */
const groupOf = (topic) => (frames.vehicles().length > 1 ? ownerOf(topic) ?? "" : "");
const colourOf = (topic) => (frames.vehicles().length > 1 && markOf(ownerOf(topic)) ? `var(${markOf(ownerOf(topic))})` : "transparent");

// State of the bridge and of the simulator

let sources = { at: null, period: 1000, rows: [], findings: [] };
connection.on("/diagnostics", (message, at) => {
  const all = rows(message);
  sources = { at, period: sources.at === null ? 1000 : at - sources.at, rows: all, findings: findings(message) };
  table(document.querySelector("#sensors tbody"), all);
  warnings.diagnostics(all, sources.findings);
  recorder.diagnostics(all.find(({ name }) => name === "recording")?.values);
  showState();
});
connection.on("/rosout", (entry, at) => {
  if (entry.level >= 30) log(entry.level >= 40 ? 2 : 1, entry.name, entry.msg, at);
});
connection.addEventListener("status", ({ detail }) => log(1, "view", detail));
connection.addEventListener("opened", () => {
  // Discards what the previous connection has shown.
  [scene.clouds, scene.paths, scene.boxes, frames.parents].forEach((map) => map.clear());
  sources = { at: null, period: 1000, rows: [], findings: [] };
  document.title = `${connection.info.name} · rfly_bridge`;
  control();
});
connection.addEventListener("closed", () => { cancelGoal(); control(); });
connection.addEventListener("services", () => recorder.update());

function control() {
  get("controls").textContent = "drag to rotate, scroll or pinch to zoom, right button or two fingers to move"
    + (connection.control && vehicles.size ? ", click to send a vehicle there" : "");
  vehicles.forEach((vehicle) => vehicle.control(connection.control, connection.isOpen));
  recorder.update();
  showState();
}

/** CSS class and text of the pill, text of the notice below it, and whether all that is drawn is old. */
function state() {
  const now = performance.now();
  const [first] = sources.findings.filter((finding) => finding.level < 3);
  const cause = first ? ` ${first.message[0].toUpperCase()}${first.message.slice(1)}. → ${first.remedy}` : "";
  if (!connection.isOpen) {
    if (!connection.closedAt || sources.at === null && !vehicles.size && !connection.channels.size) return ["wait", "connecting", `No answer from ${connection.host} yet.`];
    return ["bad", `bridge gone · ${ageText(now - connection.closedAt)}`,
      `No connection to the bridge at ${connection.host}: all values are old. The page connects again by itself.`, true];
  }
  if (sources.at === null) return ["wait", "connected", ""];
  const age = now - sources.at;
  if (age > OLD_MS + 2 * sources.period) return ["warn", `no news · ${ageText(age)}`, "The bridge is connected but sends nothing."];
  const expected = sources.rows.filter((row) => row.isSource && row.state !== "idle");
  const silent = expected.filter((row) => row.state !== "up");
  if (!expected.length) return ["wait", "connected", ""];
  if (!silent.length) return ["good", "live", ""];
  const names = silent.slice(0, MAX_NAMES).map(({ name }) => name).join(", ") + (silent.length > MAX_NAMES ? ` and ${silent.length - MAX_NAMES} more` : "");
  if (silent.length < expected.length) return ["warn", `${expected.length - silent.length} of ${expected.length} sources live`, `Awaited: ${names}.${cause}`];
  const never = silent.every((row) => row.state === "waiting");
  return ["warn", never ? "waiting for the simulator" : "the simulator is silent", `Nothing arrives from the simulator. Awaited: ${names}.${cause}`, true];
}

function showState() {
  const [kind, text, line, isStill] = state();
  const [status, notice] = [get("connection"), get("notice")];
  [status.className, status.textContent] = [`pill ${kind}`, text];
  notice.hidden = !line;
  if (notice.textContent !== line) notice.textContent = line;
  document.body.classList.toggle("gone", kind === "bad");
  document.body.classList.toggle("still", isStill === true);
  const age = sources.at === null ? 0 : performance.now() - sources.at;
  const isOld = age > OLD_MS + 2 * sources.period;
  get("sensors-panel").classList.toggle("old", isOld);
  get("sensors-age").textContent = isOld ? `${ageText(age)} old` : "";
  if (isOld) [get("worst").className, get("worst").textContent] = ["pill wait", `${ageText(age)} old`];
}

/** The rate of an image topic: that of its source in the table. */
function rateOf(topic) {
  const sensor = topic.split("/").find((part) => /^sensor\d+$/.test(part));
  const row = sensor && sources.rows.find(({ name, isSource }) => isSource && name.split(" ")[0] === sensor);
  return row?.rate ? `${row.rate} Hz` : "";
}

// Layers of the 3D view

for (const topic of ["/tf", "/tf_static"]) connection.on(topic, (message) => frames.add(message));
// Type, whether a topic is shown at first, callback for messages, map from topic to drawing.
const LAYER_TYPES = [
  ["sensor_msgs/msg/PointCloud2", (topic, n) => topic.endsWith("vehicle_lidar") || n === 0, (topic, m) => scene.cloud(topic, m), scene.clouds],
  ["nav_msgs/msg/Path", (topic) => topic.endsWith("ground_truth/path"),
    (topic, m) => scene.paths.set(topic, m.poses.map((p) => vector(p.pose.position))), scene.paths],
  ["vision_msgs/msg/Detection3DArray", (topic) => topic.includes("/scene/"), (topic, m) => scene.setBoxes(topic, m), scene.boxes],
];

/** A checkbox; the user's choice is kept. */
function layer(name, shown, text, title, changed) {
  const box = element("input", { type: "checkbox", checked: choices.layers?.[name] ?? shown });
  box.onchange = () => {
    keep("layers", { ...choices.layers, [name]: box.checked });
    changed(box.checked);
  };
  changed(box.checked);
  return element("label", { title }, box, breakable(text));
}

function addLayer(topic, shown, show, drawn) {
  let unsubscribe = null;
  layers.set(topic, layer(topic, shown, shortName(topic), topic, (checked) => {
    unsubscribe?.();
    unsubscribe = checked ? connection.on(topic, (message) => show(topic, message)) : null;
    if (!checked) drawn.delete(topic);
  }));
}

const frameLayers = new Map(); // vehicle -> label
let shownLayers = "";
/** Shows the checkboxes by vehicle, and the followed vehicle. */
function showLayers() {
  const names = frames.vehicles();
  for (const name of names) {
    if (frameLayers.has(name)) continue;
    frameLayers.set(name, layer(`TF ${name}`, true, "TF", `frames of ${name || "the vehicle"}`, (checked) => {
      scene.hiddenFrames[checked ? "delete" : "add"](name);
    }));
  }
  const present = [...layers].filter(([topic]) => connection.channels.has(topic)).map(([topic, label]) => [ownerOf(topic), topic, label]);
  const key = JSON.stringify([names, present.map(([owner, topic]) => [owner, topic])]);
  if (key === shownLayers) return;
  shownLayers = key;
  const group = (name, mark, ...labels) => {
    const node = element("span", { className: "group" }, ...(name ? [element("b", { textContent: name })] : []), ...labels);
    if (mark) node.style.setProperty("--mark", `var(${mark})`);
    return node;
  };
  const isShared = (owner) => !names.includes(owner);
  const shared = present.filter(([owner]) => isShared(owner)).map(([, , label]) => label);
  const groups = names.map((name) => group(names.length > 1 ? name : "", names.length > 1 && markOf(name),
    ...present.filter(([owner]) => owner === name).map(([, , label]) => label), frameLayers.get(name)));
  get("layers").replaceChildren(...groups, ...(shared.length ? [group(names.length > 1 ? "all" : "", "", ...shared)] : []));
  const follow = get("follow");
  follow.replaceChildren(...names.map((name) => element("option", { value: `=${name}`, textContent: `follow ${name || "vehicle"}` })),
    element("option", { value: "", textContent: "follow nothing" }));
  showFollowed();
  for (const vehicle of vehicles.values()) {
    if (vehicle.frame === undefined) continue;
    const name = vehicleOf(vehicle.frame);
    vehicle.name.textContent = names.length > 1 ? name : vehicle.prefix;
    vehicle.root.style.setProperty("--mark", names.length > 1 && markOf(name) ? `var(${markOf(name)})` : "transparent");
  }
  pictures.update(pictures.topics, groupOf, colourOf);
}
const showFollowed = () => { get("follow").value = scene.followed === undefined ? "" : `=${scene.followed}`; };
get("follow").onchange = ({ target: { value } }) => {
  scene.follow = value ? value.slice(1) : false;
  keep("camera", scene.view);
};
scene.view = choices.camera;
scene.onView = () => { showFollowed(); keep("camera", scene.view); };

connection.addEventListener("channels", () => {
  for (const [type, isShown, show, drawn] of LAYER_TYPES) {
    const topics = connection.topicsOfType(type);
    const preferred = topics.some((topic) => topic.endsWith("vehicle_lidar"));
    [...drawn.keys()].filter((topic) => !connection.channels.has(topic)).forEach((topic) => drawn.delete(topic));
    topics.forEach((topic, n) => {
      if (!layers.has(topic)) addLayer(topic, isShown(topic, preferred ? 1 : n), show, drawn);
    });
  }
  for (const topic of connection.topicsOfType("mavros_msgs/msg/State")) {
    const prefix = topic.replace(/\/state$/, "");
    if (vehicles.has(prefix)) continue;
    const vehicle = new Vehicle(connection, prefix, log);
    vehicle.pressed = cancelGoal; // Another command cancels the confirmation.
    vehicles.set(prefix, vehicle);
    get("vehicles").append(vehicle.root);
  }
  pictures.update(connection.topicsOfType("sensor_msgs/msg/Image"), groupOf, colourOf);
  plot.update();
  shownLayers = "";
  showLayers();
  control();
});

// A click into the 3D view sends a vehicle there, after a confirmation.

const goal = { point: null };
function cancelGoal() {
  goal.point = scene.goal = null;
  get("goal").hidden = true;
}
/** The selected vehicle, and its current pose. */
function flier() {
  const vehicle = vehicles.get(get("flier").value);
  return { vehicle, pose: vehicle?.frame && frames.pose(vehicle.frame) };
}
function showGoal() {
  const { pose } = flier();
  get("goal").hidden = !goal.point;
  if (!goal.point) return;
  scene.goal = [goal.point[0], goal.point[1], pose ? pose.position[2] : 0];
  const [east, north, height] = scene.goal.map((v) => v.toFixed(1));
  get("goal-text").textContent = pose ? `to x ${east} m, y ${north} m at its height of ${height} m?` : "its place is not known yet";
  get("send").disabled = !pose || !connection.isOpen;
}
scene.onClick = (point) => {
  if (!point || !vehicles.size || !connection.control || !connection.isOpen) return;
  goal.point = point;
  const chosen = get("flier").value;
  get("flier").replaceChildren(...[...vehicles.values()].map((vehicle) => element("option", { value: vehicle.prefix, textContent: vehicle.name.textContent })));
  const followed = [...vehicles.values()].find(({ frame }) => frame === baseOf(scene.followed ?? ""));
  get("flier").value = vehicles.has(chosen) ? chosen : (followed ?? [...vehicles.values()][0]).prefix;
  showGoal();
};
get("flier").onchange = showGoal;
get("cancel").onclick = cancelGoal;
get("send").onclick = () => {
  const { vehicle, pose } = flier();
  const { point } = goal;
  if (!point || !pose || !connection.isOpen) return;
  get("goal").hidden = true;
  goal.point = null; // The mark stays where the vehicle is sent.
  vehicle.fly(point[0] - pose.position[0], point[1] - pose.position[1]);
};

// Drawing

setInterval(() => {
  pictures.showAges(rateOf);
  vehicles.forEach((vehicle) => vehicle.showTelemetry());
  recorder.update();
  showLayers();
  showGoal();
  showState();
}, 500);

function frame() {
  const followed = scene.followed;
  const pose = followed === undefined ? null : frames.pose(baseOf(followed));
  if (pose) scene.centre = scene.centre.map((v, i) => v + (pose.position[i] - v) * 0.1);
  const [text, grid, faint, path] = ["--text", "--grid", "--soft", "--path"].map(cssColour);
  scene.draw({ back: cssColour("--panel"), grid, box: cssColour("--box"), path, text, faint, vehicle: (name) => cssColour(markOf(name)) });
  plot.draw({ grid, faint, series: [cssColour("--v0"), cssColour("--v1")] });
  setTimeout(() => requestAnimationFrame(frame), 60);
}
frame();
window.rfly = { connection, scene, frames, vehicles, plot, pictures }; // for the console
