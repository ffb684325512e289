// The panels of sources and warnings, and what all panels share.
export function element(tag, attributes = {}, ...children) {
  const node = Object.assign(document.createElement(tag), attributes);
  node.append(...children);
  return node;
}

const LEVELS = [["good", "ok"], ["warn", "warning"], ["bad", "error"], ["wait", "no data"]];
const level = (n) => LEVELS[n] ?? LEVELS[3];

/** Values without news for this long are shown as old. */
export const OLD_MS = 3000;

export function ageText(ms) {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** A text whose long names may be broken after `/` and `_`. */
export const breakable = (text) => element("span", {}, ...text.split(/(?<=[/_])/).flatMap((part) => [part, element("wbr")]));

/** The last two parts of the name of a topic. */
export const shortName = (topic) => topic.split("/").slice(-2).join("/");

const number = (text, digits) => (text === undefined || !Number.isFinite(Number(text)) ? "" : Number(text).toFixed(digits));
const HZ = /,? ?\b[\d.]+ Hz\b( requested)?/g;

/**
 * The rows of the table of sources, from /diagnostics. If the rate is too low, the table shows the rate that the bridge has
 * compared with the requested one, so that table and message agree. The rest of a message is among the warnings.
 */
export function rows(message) {
  return message.status.map((status) => {
    const values = new Map(status.values.map(({ key, value }) => [key, value]));
    const drops = [...values].filter(([key]) => key.startsWith("drop_")).reduce((sum, [, value]) => sum + (Number(value) || 0), 0);
    const rate = values.has("below_asked") ? parseFloat(values.get("below_asked")) : values.get("rate_hz");
    const [state] = values.has("below_asked") ? ["too slow"] : status.message.replace(HZ, "").split(";");
    return {
      name: status.name.replace(/^[^:]*: /, ""), level: status.level, state: values.get("state"), message: status.message, isSource: values.has("frames"),
      values, rate: number(rate, 1), text: state || "ok",
      cells: [number(rate, 1), number(values.get("asked_hz"), 1), number(values.get("latency_p50_ms"), 1), values.has("frames") ? String(drops) : ""],
    };
  });
}

// Codes of findings that are notes, not warnings.
const NOTES = ["hosts", "fleet-script", "ros-localhost", "vehicle-not-served", "asked-by-unicast"];

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
    finding.name = `${finding.subjects[0]}${others > 0 ? ` and ${others} more` : ""}`;
  }
  return [...byCode.values()];
}

export function table(body, all) {
  const shown = all.filter((row) => row.isSource).sort((a, b) => b.level - a.level);
  body.replaceChildren(...shown.map((row) => element("tr", {},
    element("td", { textContent: row.name }),
    ...row.cells.map((textContent) => element("td", { className: "n", textContent })),
    element("td", { className: row.state === "idle" ? "wait" : level(row.level)[0], title: row.message, textContent: row.text }))));
}

/** The list of warnings: findings of the doctor, statuses that are not OK, and the newest log messages. */
export class Warnings {
  constructor(list, worst) { Object.assign(this, { list, worst, logged: [], found: [] }); }
  log(level, name, message, at = performance.now()) {
    this.logged.unshift({ level, name, message, time: new Date(performance.timeOrigin + at).toLocaleTimeString() });
    this.logged.length = Math.min(this.logged.length, 50);
    this.show();
  }
  diagnostics(all, findings) {
    const explained = new Set(["doctor", ...findings.flatMap(({ subjects }) => subjects)]);
    const grouped = new Map(); // statuses that say the same are one entry
    for (const row of all.filter(({ level, name }) => level > 0 && !explained.has(name))) {
      const key = `${row.level} ${row.message}`;
      grouped.set(key, [...(grouped.get(key) ?? []), row]);
    }
    const statuses = [...grouped.values()].map(([first, ...others]) => ({ ...first, name: others.length ? `${first.name} and ${others.length} more` : first.name,
      title: [first, ...others].map(({ name }) => name).join(", ") }));
    this.found = [...findings, ...statuses].sort((a, b) => (b.level % 3) - (a.level % 3));
    const count = this.found.filter((row) => row.level < 3).length;
    [this.worst.className, this.worst.textContent] = count ? [`pill ${level(this.found[0].level)[0]}`, `${count} to check`] : ["pill good", "all OK"];
    this.show();
  }
  show() {
    const all = [...this.found, ...this.logged];
    if (!all.length) all.push({ level: 0, name: "", message: "no warnings" });
    this.list.replaceChildren(...all.map((row) => element("li", { title: row.title ?? "" },
      element("b", { textContent: row.name }), " ", element("span", { className: level(row.level)[0], textContent: row.message }), " ",
      element("small", { textContent: row.code ?? row.time ?? "" }),
      ...(row.remedy ? [element("p", { className: "remedy", textContent: `→ ${row.remedy}` })] : []))));
  }
}
