// What the user has chosen, kept in the browser: layers, pictures, values of the plot, camera of the 3D view.
const KEY = "rfly_bridge.view";

function load() {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY));
    return stored && typeof stored === "object" ? stored : {};
  } catch {
    return {}; // no storage, or not ours
  }
}

export const choices = load();

export function keep(name, value) {
  choices[name] = value;
  try {
    localStorage.setItem(KEY, JSON.stringify(choices));
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}
