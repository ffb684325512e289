// The panels beside the 3D view: pictures, vehicles, sources, warnings.
export function element(tag, attributes = {}, ...children) {
  const node = Object.assign(document.createElement(tag), attributes);
  node.append(...children);
  return node;
}

const LEVELS = [["good", "ok"], ["warn", "warning"], ["bad", "error"], ["wait", "no data"]];
const level = (n) => LEVELS[n] ?? LEVELS[3];

/** Shows the images of one topic, which the user selects. */
export class Picture {
  constructor(connection, topic) {
    this.connection = connection;
    this.image = element("img", { alt: topic });
    this.choice = element("select", { ariaLabel: "topic of the picture", onchange: () => this.show(this.choice.value) });
    this.rate = element("span", { className: "rate" });
    this.root = element("div", { className: "panel picture" }, element("div", { className: "bar" }, this.choice, this.rate), this.image);
    this.count = 0;
    this.show(topic);
  }
  setTopics(topics) {
    if (this.choice.length === topics.length) return;
    this.choice.replaceChildren(...topics.map((topic) => element("option", { value: topic, textContent: topic.split("/").slice(-2).join("/"), title: topic })));
    this.choice.value = this.topic;
  }
  show(topic) {
    this.unsubscribe?.();
    this.topic = this.image.alt = topic;
    this.unsubscribe = this.connection.on(topic, (blob) => {
      const previous = this.image.src;
      this.image.src = URL.createObjectURL(blob);
      if (previous) URL.revokeObjectURL(previous);
      this.count += 1;
    });
  }
  showRate() {
    this.rate.textContent = `${this.count} fps`;
    this.count = 0;
  }
}

/** State and buttons of one vehicle. */
export class Vehicle {
  constructor(connection, prefix, log) {
    Object.assign(this, { connection, prefix, log });
    this.armed = element("span", { className: "pill wait", textContent: "?" });
    this.mode = element("span");
    this.text = element("span", { className: "quiet" });
    this.buttons = element("span");
    this.root = element("div", { className: "vehicle" }, element("b", { textContent: prefix }), this.armed, this.mode, this.text, this.buttons);
    connection.on(`${prefix}/state`, (state) => {
      this.armed.textContent = !state.connected ? "not connected" : state.armed ? "armed" : "disarmed";
      this.armed.className = `pill ${!state.connected ? "bad" : state.armed ? "good" : "wait"}`;
      this.mode.textContent = state.mode;
    });
    connection.on(`${prefix}/battery`, ({ percentage }) => { this.battery = percentage; });
    connection.on(`${prefix}/local_position/velocity_local`, ({ twist: { linear: v } }) => { this.speed = Math.hypot(v.x, v.y, v.z); });
    connection.on(`${prefix}/local_position/pose`, (pose) => { this.height = pose.pose.position.z; });
    connection.on(`${prefix}/altitude`, ({ amsl }) => { this.amsl = amsl; });
    connection.on(`${prefix}/global_position/global`, (globalPosition) => { this.globalPosition = globalPosition; });
  }
  showTelemetry() {
    const parts = [];
    if (this.height !== undefined) parts.push(`${this.height.toFixed(1)} m`);
    if (this.speed !== undefined) parts.push(`${this.speed.toFixed(1)} m/s`);
    if (this.battery > 0) parts.push(`${Math.round(this.battery * 100)} %`);
    this.text.textContent = parts.join(" · ");
  }
  /** Shows the buttons if the bridge accepts commands. */
  control(allowed) {
    const arm = (value) => this.call("cmd/arming", { value });
    const mode = (custom_mode) => this.call("set_mode", { base_mode: 0, custom_mode });
    const buttons = {
      Arm: () => arm(true), Disarm: () => arm(false),
      "Take off": async () => (await mode("AUTO.TAKEOFF")) && arm(true),
      Hold: () => mode("AUTO.LOITER"), Land: () => mode("AUTO.LAND"), Return: () => mode("AUTO.RTL"),
    };
    this.buttons.replaceChildren(...(allowed ? Object.entries(buttons) : []).map(([textContent, onclick]) => element("button", { textContent, onclick })));
  }
  async call(service, request) {
    try {
      const response = await this.connection.call(`${this.prefix}/${service}`, request);
      const done = response.success ?? response.mode_sent;
      this.log(done ? 0 : 1, `${this.prefix}/${service}`, done ? "done" : "refused");
      return done;
    } catch (error) {
      this.log(2, `${this.prefix}/${service}`, error.message);
      return false;
    }
  }
  /** Flies the vehicle by an offset in m, at its current height. */
  fly(east, north) {
    if (!this.globalPosition || !Number.isFinite(this.amsl)) return this.log(1, this.prefix, "its position is not known yet");
    const { latitude, longitude } = this.globalPosition;
    const metre = 180 / (Math.PI * 6378137);
    return this.call("cmd/command_int", {
      frame: 0, command: 192, current: 0, autocontinue: 0, param1: -1, param2: 1, param3: 0, param4: Math.atan2(east, north),
      x: Math.round((latitude + north * metre) * 1e7),
      y: Math.round((longitude + (east * metre) / Math.cos((latitude * Math.PI) / 180)) * 1e7),
      z: this.amsl,
    });
  }
}

const number = (values, ...names) => {
  const found = names.map((name) => values.get(name)).find((value) => value !== undefined);
  return found === undefined || found === "NaN" ? "" : String(Number(Number(found).toPrecision(3)));
};

/** The rows of the table of sources, from /diagnostics. */
export function rows(message) {
  return message.status.map((status) => {
    const values = new Map(status.values.map(({ key, value }) => [key, value]));
    const drops = [...values].filter(([key]) => key.startsWith("drop_")).reduce((sum, [, value]) => sum + (Number(value) || 0), 0);
    const idle = values.get("state") === "idle";
    return {
      name: status.name.replace(/^[^:]*: /, ""), level: status.level, idle, message: status.message, isSource: values.has("frames"),
      cells: [number(values, "rate_hz"), number(values, "asked_hz"), number(values, "latency_p50_ms"), values.has("frames") ? String(drops) : ""],
    };
  });
}

// Codes of findings that are notes, not warnings.
const NOTES = ["wsl", "ros-localhost", "vehicle-not-served", "asked-by-unicast"];

/** The findings of the doctor in /diagnostics with their remedies: one entry per code. */
export function findings(message) {
  const doctor = message.status.find(({ name }) => name.endsWith(": doctor"));
  const byCode = new Map();
  for (const { key, value } of doctor?.values ?? []) {
    const [code, ...subject] = key.split(" ");
    const [text, remedy] = value.split("; do: ");
    if (!remedy) continue;
    if (!byCode.has(code)) byCode.set(code, { code, level: NOTES.includes(code) ? 3 : 1, message: text, remedy, subjects: [] });
    byCode.get(code).subjects.push(subject.join(" "));
  }
  for (const finding of byCode.values()) {
    const others = finding.subjects.length - 1;
    finding.name = `${finding.subjects[0]}${others > 0 ? ` and ${others} more` : ""} (${finding.code})`;
  }
  return [...byCode.values()];
}

export function table(body, all) {
  const shown = all.filter((row) => row.isSource).sort((a, b) => b.level - a.level);
  body.replaceChildren(...shown.map((row) => element("tr", {},
    element("td", { textContent: row.name }),
    ...row.cells.map((textContent) => element("td", { className: "n", textContent })),
    element("td", { className: row.idle ? "wait" : level(row.level)[0], title: row.message, textContent: row.message }))));
}

/** The list of warnings: findings of the doctor, statuses that are not OK, and the newest log messages. */
export class Warnings {
  constructor(list, worst) { Object.assign(this, { list, worst, logged: [], statuses: [], findings: [] }); }
  log(level, name, message) {
    this.logged.unshift({ level, name, message, time: new Date().toLocaleTimeString() });
    this.logged.length = Math.min(this.logged.length, 50);
    this.show();
  }
  diagnostics(all, findings) {
    this.findings = findings;
    const explained = new Set(["doctor", ...findings.flatMap(({ subjects }) => subjects)]);
    this.statuses = all.filter((row) => row.level > 0 && !explained.has(row.name));
    const worst = Math.max(0, ...all.filter((row) => row.level < 3).map((row) => row.level));
    const count = this.statuses.length + findings.filter((finding) => finding.level < 3).length;
    [this.worst.className, this.worst.textContent] = [`pill ${level(worst)[0]}`, worst ? `${count} to check` : "all OK"];
    this.show();
  }
  show() {
    const all = [...[...this.findings, ...this.statuses].sort((a, b) => (b.level % 3) - (a.level % 3)), ...this.logged];
    if (!all.length) all.push({ level: 0, name: "", message: "no warnings" });
    this.list.replaceChildren(...all.map((row) => element("li", {},
      element("span", { className: level(row.level)[0], textContent: row.message }), " ", element("small", { textContent: `${row.name} ${row.time ?? ""}` }),
      ...(row.remedy ? [element("p", { className: "remedy", textContent: `→ ${row.remedy}` })] : []))));
  }
}
