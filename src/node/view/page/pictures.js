// The pictures: each shows the images of one topic. Only topics that are shown are streamed.
import { choices, keep } from "./choices.js";
import { OLD_MS, ageText, breakable, element, shortName } from "./panels.js";

const AT_FIRST = 4;
/** More pictures than this get the whole width. */
const MAX_BESIDE = 6;

/** Fills a select: options `first` (`[value, text]`), the topics in one group per vehicle, options `others`. */
function fill(select, first, topics, groupOf, others = []) {
  const key = JSON.stringify([first, topics.map((topic) => [topic, groupOf(topic)]), others]);
  if (select.dataset.key === key) return;
  select.dataset.key = key;
  const option = ([value, textContent]) => element("option", { value, textContent, title: value });
  const groups = new Map();
  for (const topic of topics) groups.set(groupOf(topic), [...(groups.get(groupOf(topic)) ?? []), option([topic, shortName(topic)])]);
  const all = [...groups].flatMap(([label, options]) => (label ? [element("optgroup", { label }, ...options)] : options));
  select.replaceChildren(...first.map(option), ...all, ...others.map(option));
}

/** The topics without `img_depth_float`, which has the same images as `img_depth`. */
const cameras = (topics) => topics.filter((topic) => !topic.endsWith("_float"));

class Picture {
  constructor(connection, topic, isLarge, changed) {
    Object.assign(this, { connection });
    this.image = element("img", { hidden: true });
    this.empty = element("p", { className: "empty" });
    this.age = element("span", { className: "age", hidden: true });
    this.choice = element("select", { ariaLabel: "topic of the picture", onchange: () => { this.show(this.choice.value); changed(); } });
    this.owner = element("b");
    this.rate = element("span", { className: "rate" });
    this.enlarge = element("button", { className: "enlarge", onclick: () => { this.setLarge(!this.isLarge); changed(); this.root.scrollIntoView({ block: "nearest" }); } });
    this.remove = element("button", { className: "remove", textContent: "×", title: "remove" });
    this.root = element("div", { className: "panel picture" },
      element("div", { className: "bar" }, this.choice, element("span", { className: "tail" }, element("span", { className: "source" }, this.owner, this.rate), this.enlarge, this.remove)),
      element("div", { className: "frame" }, this.image, this.empty, this.age));
    this.setLarge(isLarge);
    this.show(topic);
  }
  setLarge(isLarge) {
    this.isLarge = isLarge;
    this.root.classList.toggle("large", isLarge);
    [this.enlarge.textContent, this.enlarge.title] = isLarge ? ["⤡", "as before"] : ["⤢", "enlarge"];
  }
  say(text) {
    this.image.hidden = true;
    this.empty.hidden = false;
    this.empty.replaceChildren(breakable(text));
  }
  setTopics(topics, groupOf, colourOf) {
    fill(this.choice, topics.includes(this.topic) ? [] : [[this.topic, shortName(this.topic)]], topics, groupOf);
    this.choice.value = this.topic;
    this.owner.textContent = groupOf(this.topic);
    this.root.style.setProperty("--mark", colourOf(this.topic));
  }
  show(topic) {
    this.close();
    this.topic = this.image.alt = this.choice.title = topic;
    this.at = null;
    this.say(`no image yet of ${topic}`);
    this.unsubscribe = this.connection.on(topic, (blob, at) => {
      // The picture before stays until this one is loaded.
      const next = element("img", { alt: topic, decoding: "sync", src: URL.createObjectURL(blob) });
      next.onload = next.onerror = ({ type }) => {
        URL.revokeObjectURL(next.src);
        if (this.topic !== topic) return;
        if (type === "error") return this.say("this image cannot be shown");
        this.image.replaceWith(next);
        [this.image, this.empty.hidden, this.at] = [next, true, at];
      };
    });
  }
  close() {
    this.unsubscribe?.();
    this.image.removeAttribute("src");
  }
  showAge(rateOf) {
    const age = this.at === null ? 0 : performance.now() - this.at;
    const isOld = age > OLD_MS;
    this.root.classList.toggle("old", isOld);
    this.age.hidden = !isOld;
    if (isOld) this.age.textContent = `${ageText(age)} old`;
    this.rate.textContent = isOld ? "" : rateOf(this.topic);
  }
}

export class Pictures {
  constructor(connection, root, add) {
    Object.assign(this, { connection, root, add, pictures: [], topics: [] });
    add.onchange = () => {
      const hidden = this.hidden();
      for (const topic of add.value === "*" ? cameras(hidden) : hidden.filter((topic) => topic === add.value)) this.append(topic);
      this.changed();
    };
    this.chosen = Array.isArray(choices.pictures) ? choices.pictures.map(String) : null;
    this.chosen?.forEach((topic) => this.append(topic));
  }
  hidden() { return this.topics.filter((topic) => !this.pictures.some((picture) => picture.topic === topic)); }
  append(topic) {
    const picture = new Picture(this.connection, topic, choices.large?.includes?.(topic) === true, () => this.changed());
    picture.remove.onclick = () => {
      this.discard(picture);
      this.changed();
    };
    this.pictures.push(picture);
    this.root.append(picture.root);
    this.resize();
  }
  discard(picture) {
    picture.close();
    picture.root.remove();
    this.pictures = this.pictures.filter((other) => other !== picture);
    this.resize();
  }
  resize() {
    const isWide = this.pictures.length > MAX_BESIDE || this.pictures.some(({ isLarge }) => isLarge);
    document.querySelector("main").classList.toggle("wide", isWide);
  }
  changed() {
    this.chosen = this.pictures.map((picture) => picture.topic);
    keep("pictures", this.chosen);
    keep("large", this.pictures.filter(({ isLarge }) => isLarge).map(({ topic }) => topic));
    this.resize();
    this.update(this.topics, this.groupOf, this.colourOf);
  }
  /** Takes the topics of images, and the vehicle and the colour of each. Until the user chooses, one of each kind is shown. */
  update(topics, groupOf, colourOf) {
    Object.assign(this, { topics, groupOf, colourOf });
    if (!this.chosen) {
      const first = (pattern) => topics.find((topic) => pattern.test(topic));
      const all = [first(/img_rgb$/) ?? topics[0], first(/img_depth$/), first(/Segmentation$/), first(/Infrared$/),
        ...cameras(topics), ...topics];
      const wanted = [...new Set(all.filter(Boolean))].slice(0, AT_FIRST);
      if (wanted.length && wanted.join() !== this.pictures.map((picture) => picture.topic).join()) {
        this.pictures.forEach((picture) => this.discard(picture));
        wanted.forEach((topic) => this.append(topic));
      }
    }
    this.pictures.forEach((picture) => picture.setTopics(topics, groupOf, colourOf));
    const hidden = this.hidden();
    const others = cameras(hidden);
    const text = !topics.length ? "no topic has images yet" : hidden.length ? "+ add a picture" : "all pictures are shown";
    fill(this.add, [["", text]], hidden, groupOf, others.length > 1 ? [["*", `all ${others.length} others`]] : []);
    this.add.disabled = !hidden.length;
    this.add.value = "";
  }
  showAges(rateOf) { this.pictures.forEach((picture) => picture.showAge(rateOf)); }
}
