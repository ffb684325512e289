// The pictures: each shows the images of one topic. Only topics that are shown are streamed.
import { choices, keep } from "./choices.js";
import { OLD_MS, ageText, element } from "./panels.js";

const AT_FIRST = 4;

class Picture {
  constructor(connection, topic, changed) {
    this.connection = connection;
    this.image = element("img", { hidden: true });
    this.image.onerror = () => this.say("this image cannot be shown");
    this.empty = element("p", { className: "empty" });
    this.age = element("span", { className: "age", hidden: true });
    this.choice = element("select", { ariaLabel: "topic of the picture", onchange: () => { this.show(this.choice.value); changed(); } });
    this.rate = element("span", { className: "rate" });
    this.enlarge = element("button", { className: "enlarge", textContent: "⤢", title: "enlarge", onclick: () => this.toggleLarge() });
    this.remove = element("button", { className: "remove", textContent: "×", title: "remove" });
    this.root = element("div", { className: "panel picture" },
      element("div", { className: "bar" }, this.choice, this.rate, element("span", { className: "buttons" }, this.enlarge, this.remove)),
      element("div", { className: "frame" }, this.image, this.empty, this.age));
    this.show(topic);
  }
  toggleLarge() {
    const isLarge = this.root.classList.toggle("large");
    this.enlarge.title = isLarge ? "as before" : "enlarge";
    document.querySelector("main").classList.toggle("large", document.querySelector(".picture.large") !== null);
    this.root.scrollIntoView({ block: "nearest" });
  }
  say(text) {
    this.image.hidden = true;
    [this.empty.hidden, this.empty.textContent] = [false, text];
  }
  setTopics(topics, nameOf, colourOf) {
    const all = topics.includes(this.topic) ? topics : [this.topic, ...topics];
    const labels = all.map((topic) => [topic, nameOf(topic)]);
    const shown = labels.flat().join("\n");
    if (this.labels !== shown) {
      this.labels = shown;
      this.choice.replaceChildren(...labels.map(([value, textContent]) => element("option", { value, textContent, title: value })));
    }
    this.choice.value = this.topic;
    this.root.style.setProperty("--mark", colourOf(this.topic));
  }
  show(topic) {
    this.close();
    this.topic = this.image.alt = this.choice.title = topic;
    this.at = null;
    this.say(`no image yet of ${topic}`);
    this.unsubscribe = this.connection.on(topic, (blob) => {
      const previous = this.image.src;
      this.image.src = URL.createObjectURL(blob);
      if (previous) URL.revokeObjectURL(previous);
      [this.image.hidden, this.empty.hidden] = [false, true];
      this.at = performance.now();
    });
  }
  close() {
    this.unsubscribe?.();
    if (this.image.src) URL.revokeObjectURL(this.image.src);
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
      for (const topic of add.value === "*" ? hidden : hidden.filter((topic) => topic === add.value)) this.append(topic);
      this.changed();
    };
    this.chosen = Array.isArray(choices.pictures) ? choices.pictures.map(String) : null;
    this.chosen?.forEach((topic) => this.append(topic));
  }
  hidden() { return this.topics.filter((topic) => !this.pictures.some((picture) => picture.topic === topic)); }
  append(topic) {
    const picture = new Picture(this.connection, topic, () => this.changed());
    picture.remove.onclick = () => {
      if (picture.root.classList.contains("large")) picture.toggleLarge();
      this.discard(picture);
      this.changed();
    };
    this.pictures.push(picture);
    this.root.append(picture.root);
  }
  discard(picture) {
    picture.close();
    picture.root.remove();
    this.pictures = this.pictures.filter((other) => other !== picture);
  }
  changed() {
    this.chosen = this.pictures.map((picture) => picture.topic);
    keep("pictures", this.chosen);
    this.update(this.topics, this.nameOf, this.colourOf);
  }
  /** Takes the topics of images, and how to name and colour them. Until the user chooses, one of each kind is shown. */
  update(topics, nameOf, colourOf) {
    Object.assign(this, { topics, nameOf, colourOf });
    if (!this.chosen) {
      const first = (pattern) => topics.find((topic) => pattern.test(topic));
      const all = [first(/img_rgb$/) ?? topics[0], first(/img_depth$/), first(/Segmentation$/), first(/Infrared$/),
        ...topics.filter((topic) => !topic.endsWith("_float")), ...topics];
      const wanted = [...new Set(all.filter(Boolean))].slice(0, AT_FIRST);
      if (wanted.length && wanted.join() !== this.pictures.map((picture) => picture.topic).join()) {
        this.pictures.forEach((picture) => this.discard(picture));
        wanted.forEach((topic) => this.append(topic));
      }
    }
    this.pictures.forEach((picture) => picture.setTopics(topics, nameOf, colourOf));
    const hidden = this.hidden();
    const options = [["", topics.length ? "+ add a picture" : "no topic has images yet"], ...hidden.map((topic) => [topic, nameOf(topic)])];
    if (hidden.length > 1) options.push(["*", `all ${hidden.length} others`]);
    this.add.disabled = !hidden.length;
    if (topics.length && !hidden.length) options[0][1] = "all pictures are shown";
    const shown = options.flat().join("\n");
    if (this.options !== shown) {
      this.options = shown;
      this.add.replaceChildren(...options.map(([value, textContent]) => element("option", { value, textContent })));
    }
    this.add.value = "";
  }
  showAges(rateOf) { this.pictures.forEach((picture) => picture.showAge(rateOf)); }
}
