// The button that records topics (`record.ros`), with time and size.
import { ageText, element } from "./panels.js";

const MEGA = 1e6;

/** Two digits. */
const two = (n) => String(n).padStart(2, "0");

export class Recorder {
  constructor(connection, root, log) {
    Object.assign(this, { connection, log, status: null });
    this.button = element("button", { onclick: () => this.press() });
    this.text = element("span", { className: "quiet" });
    root.append(this.button, this.text);
    this.root = root;
    this.update();
  }
  /** The service that sets parameters of the bridge: the node that serves this page, or `/rfly_bridge` for `rfly_bridge view`. */
  get service() {
    const nodes = [this.connection.info?.name, "/rfly_bridge"].filter(Boolean).map((name) => `/${name.replace(/^\//, "")}/set_parameters`);
    return nodes.find((name) => this.connection.services.has(name) && !name.includes("rfly_bridge_view"));
  }
  /** Takes the status `recording` of /diagnostics. */
  diagnostics(values) {
    this.status = values;
    this.update();
  }
  update() {
    const value = (name) => this.status?.get(name);
    const path = value("record.ros");
    this.isRecording = path !== undefined;
    if (this.connection.isOpen) {
      this.root.hidden = !this.status || !(this.isRecording || (this.connection.control && this.service));
      this.button.hidden = !this.connection.control;
    }
    this.button.disabled = !this.connection.isOpen || this.isPending === true;
    this.button.textContent = this.isRecording ? "■ Stop" : "● Record";
    this.button.classList.toggle("recording", this.isRecording);
    this.button.title = this.isRecording ? path : "records the topics of the bridge into record.directory";
    const seconds = Math.floor(Number(value("record.ros seconds")));
    const dropped = Number(value("record.ros dropped"));
    this.text.textContent = !this.isRecording ? "" : [
      `${Math.floor(seconds / 60)}:${two(seconds % 60)}`, `${(Number(value("record.ros bytes")) / MEGA).toFixed(1)} MB`,
      ...(dropped ? [`${dropped} dropped`] : []),
      ...(this.connection.isOpen ? [] : [`${ageText(performance.now() - this.connection.closedAt)} old`]),
    ].join(" · ");
  }
  async press() {
    const now = new Date();
    const [date, time] = [[now.getFullYear(), now.getMonth() + 1, now.getDate()], [now.getHours(), now.getMinutes(), now.getSeconds()]];
    const name = this.isRecording ? "" : `view-${date.map(two).join("")}-${time.map(two).join("")}`;
    this.isPending = true;
    this.update();
    try {
      const parameters = [{ name: "record.ros", value: { type: 4, string_value: name } }];
      const { results } = await this.connection.call(this.service, { parameters });
      if (!results[0].successful) this.log(2, "record.ros", results[0].reason);
    } catch (error) {
      this.log(2, "record.ros", error.message);
    }
    this.isPending = false;
    this.update();
  }
}
