// State and commands of one vehicle.
import { OLD_MS, ageText, element } from "./panels.js";

const METRE = 180 / (Math.PI * 6378137); // degrees of latitude

export class Vehicle {
  constructor(connection, prefix, log) {
    Object.assign(this, { connection, prefix, log, values: new Map(), pressed: () => {} });
    this.name = element("b", { textContent: prefix, title: prefix });
    this.armed = element("span", { className: "pill wait", textContent: "no data yet" });
    this.mode = element("span", { className: "mode" });
    this.text = element("span", { className: "values" });
    this.buttons = element("span", { className: "buttons" });
    this.root = element("div", { className: "vehicle" }, this.name, this.armed, this.mode, this.text, this.buttons);
    const keep = (topic, name, pick) => connection.on(`${prefix}/${topic}`, (message, at) => {
      this.values.set(name, { value: pick(message), at });
    });
    keep("state", "state", (state) => state);
    keep("local_position/pose", "height", (pose) => pose.pose.position.z);
    keep("local_position/velocity_local", "speed", ({ twist: { linear: v } }) => Math.hypot(v.x, v.y, v.z));
    keep("battery", "battery", ({ percentage }) => percentage);
    keep("altitude", "amsl", ({ amsl }) => amsl);
    keep("global_position/global", "global", (fix) => fix);
  }
  value(name) { return this.values.get(name)?.value; }
  get globalPosition() { return this.value("global"); }
  /** The frame of its positions. */
  get frame() { return this.globalPosition?.header.frame_id; }

  showTelemetry() {
    const now = performance.now();
    const age = (name) => now - (this.values.get(name)?.at ?? now);
    const state = this.value("state");
    if (state) {
      const isOld = age("state") > OLD_MS;
      this.armed.textContent = !state.connected ? "not connected" : state.armed ? "armed" : "disarmed";
      this.armed.className = `pill ${isOld ? "wait" : !state.connected ? "bad" : state.armed ? "good" : "wait"}`;
      this.mode.textContent = state.mode + (isOld ? ` (${ageText(age("state"))} old)` : "");
      this.mode.classList.toggle("old", isOld);
    }
    const texts = [
      ["height", (metres) => `${metres.toFixed(1)} m`], ["speed", (speed) => `${speed.toFixed(1)} m/s`],
      ["battery", (part) => (part > 0 ? `${Math.round(part * 100)} %` : "")],
    ];
    const parts = texts.filter(([name]) => this.values.has(name)).map(([name, text]) => {
      const isOld = age(name) > OLD_MS;
      const textContent = text(this.value(name)) + (isOld ? ` (${ageText(age(name))} old)` : "");
      return element("span", { className: isOld ? "old" : "", textContent });
    });
    this.text.replaceChildren(...parts.filter((part) => part.textContent));
  }

  /** Shows the buttons if the bridge accepts commands; disables them while it is gone. */
  control(allowed, connected) {
    if (allowed && !this.buttons.hasChildNodes()) {
      const arm = (value) => this.call("cmd/arming", { value });
      const mode = (custom_mode) => this.call("set_mode", { base_mode: 0, custom_mode });
      const commands = {
        Arm: () => arm(true), Disarm: () => arm(false),
        "Take off": async () => (await mode("AUTO.TAKEOFF")) && arm(true),
        Hold: () => mode("AUTO.LOITER"), Land: () => mode("AUTO.LAND"), Return: () => mode("AUTO.RTL"),
      };
      this.buttons.replaceChildren(...Object.entries(commands).map(([textContent, command]) => element("button", {
        textContent, onclick: () => { this.pressed(); command(); } })));
    }
    if (!allowed && connected) this.buttons.replaceChildren();
    for (const button of this.buttons.children) button.disabled = !connected;
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
    const amsl = this.value("amsl");
    if (!this.globalPosition || !Number.isFinite(amsl)) return this.log(1, this.prefix, "its position is not known yet");
    const { latitude, longitude } = this.globalPosition;
    return this.call("cmd/command_int", {
      frame: 0, command: 192, current: 0, autocontinue: 0, param1: -1, param2: 1, param3: 0, param4: Math.atan2(east, north),
      x: Math.round((latitude + north * METRE) * 1e7),
      y: Math.round((longitude + (east * METRE) / Math.cos((latitude * Math.PI) / 180)) * 1e7),
      z: amsl,
    });
  }
}
