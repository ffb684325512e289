// The plot of two values over the last minute, each with a scale of its own.
import { choices, keep } from "./choices.js";
import { numericFields } from "./cdr.js";
import { OLD_MS, ageText, element } from "./panels.js";

const WINDOW_MS = 60_000;
/** Minimum interval of points. */
const STEP_MS = 50;
const BULK = /\/(Image|CompressedImage|PointCloud2|CustomMsg|TFMessage|Path|LaserScan|\w+Array)$/;
const AT_FIRST = [[/\/local_position\/pose$/, "pose.position.z"], [/\/local_position\/velocity_local$/, "twist.linear.x"]];

class Series {
  constructor(plot, index) {
    Object.assign(this, { plot, index, points: [], topic: "", field: "" });
    this.topics = element("select", { ariaLabel: "topic of the plot", onchange: () => this.choose(this.topics.value, "") });
    this.fields = element("select", { ariaLabel: "value of the plot", onchange: () => this.choose(this.topic, this.fields.value) });
    this.value = element("span", { className: "n" });
    this.root = element("div", { className: `series s${index}` }, element("i"), this.topics, this.fields, this.value);
    this.list();
  }
  choose(topic, field) {
    this.show(topic, field);
    keep("plot", this.plot.series.map((series) => [series.topic, series.field]));
  }
  show(topic, field) {
    this.unsubscribe?.();
    this.unsubscribe = null;
    const fields = this.plot.fieldsOf(topic);
    Object.assign(this, { topic, field: field || (fields[0] ?? ""), points: [] });
    this.list();
    if (!topic) return;
    const path = this.field.split(".");
    this.unsubscribe = this.plot.connection.on(topic, (message, at) => {
      if (at - (this.points.at(-1)?.[0] ?? -Infinity) < STEP_MS) return;
      const value = Number(path.reduce((part, name) => part?.[name], message));
      this.points.push([at, value]);
      while (this.points[0][0] < at - WINDOW_MS) this.points.shift();
    });
  }
  /** Lists the topics, and the values of the chosen one. */
  list() {
    const fill = (select, values, chosen, label) => {
      const all = chosen && !values.includes(chosen) ? [chosen, ...values] : values;
      const key = all.join();
      if (select.dataset.key !== key) {
        select.dataset.key = key;
        select.replaceChildren(...all.map((value) => element("option", { value, textContent: label(value), title: value })));
      }
      select.value = chosen;
      select.title = chosen;
    };
    fill(this.topics, ["", ...this.plot.topics], this.topic, (topic) => topic.replace(/^\/rflysim\//, "") || "choose a topic");
    fill(this.fields, this.plot.fieldsOf(this.topic), this.field, (field) => field);
    this.fields.hidden = !this.topic;
  }
}

export class Plot {
  constructor(connection, root, canvas) {
    Object.assign(this, { connection, canvas, topics: [] });
    this.series = [0, 1].map((index) => new Series(this, index));
    root.append(...this.series.map((series) => series.root));
    const chosen = Array.isArray(choices.plot) ? choices.plot : [];
    this.isChosen = chosen.length > 0;
    chosen.slice(0, 2).forEach(([topic, field], i) => this.series[i].show(String(topic), String(field)));
  }
  fieldsOf(topic) {
    const channel = this.connection.channels.get(topic);
    return channel && channel.encoding === "cdr" ? numericFields(channel.schema, channel.schemaName) : [];
  }
  /** Updates the list of topics. */
  update() {
    const channels = [...this.connection.channels.values()].filter(({ schemaName }) => !BULK.test(schemaName));
    this.topics = channels.filter(({ topic }) => this.fieldsOf(topic).length).map(({ topic }) => topic).sort();
    if (!this.isChosen && !this.series[0].topic) {
      AT_FIRST.forEach(([pattern, field], i) => {
        const topic = this.topics.find((topic) => pattern.test(topic));
        if (topic) this.series[i].show(topic, field);
      });
    }
    this.series.forEach((series) => series.list());
  }
  draw(colours) {
    const { canvas } = this;
    const scale = Math.min(2, window.devicePixelRatio || 1);
    const [width, height] = [Math.round(canvas.clientWidth * scale), Math.round(canvas.clientHeight * scale)];
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const c = canvas.getContext("2d");
    c.clearRect(0, 0, width, height);
    c.font = `${11 * scale}px system-ui, sans-serif`;
    const [top, bottom] = [16 * scale, height - 16 * scale];
    const now = performance.now();
    const x = (at) => width * (1 - (now - at) / WINDOW_MS);
    c.lineWidth = scale;
    for (let s = 0; s <= 60; s += 10) {
      c.fillStyle = colours.grid;
      c.fillRect(Math.round(x(now - s * 1000)), top, scale, bottom - top);
      c.fillStyle = colours.faint;
      c.textAlign = s === 0 ? "right" : s === 60 ? "left" : "center";
      c.fillText(s === 0 ? "now" : `-${s} s`, x(now - s * 1000), height - 3 * scale);
    }
    this.series.forEach(({ points, value, field, topic }, i) => {
      const finite = points.filter(([at, y]) => at > now - WINDOW_MS && Number.isFinite(y));
      const [at, last] = points.at(-1) ?? [now, NaN];
      const isOld = now - at > OLD_MS;
      value.textContent = !points.length ? (topic && field ? "no data yet" : "") : Number(last.toPrecision(5)) + (isOld ? ` (${ageText(now - at)} old)` : "");
      value.classList.toggle("old", isOld);
      if (!finite.length) return;
      const values = finite.map(([, y]) => y);
      let [low, high] = [Math.min(...values), Math.max(...values)];
      const margin = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
      [low, high] = [low - margin, high + margin];
      c.strokeStyle = c.fillStyle = colours.series[i];
      c.lineWidth = 1.5 * scale;
      c.beginPath();
      let before = -Infinity;
      for (const [at, y] of finite) {
        // No line across a time without values.
        c[at - before > OLD_MS ? "moveTo" : "lineTo"](x(at), bottom - ((y - low) / (high - low)) * (bottom - top));
        before = at;
      }
      c.stroke();
      c.textAlign = i ? "right" : "left";
      const text = (n) => String(Number(n.toPrecision(4)));
      c.fillText(text(high), i ? width - 2 : 2, 11 * scale);
      c.fillText(text(low), i ? width - 2 : 2, bottom - 3 * scale);
    });
  }
}
