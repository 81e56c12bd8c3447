// The system's theme, until the user chooses one.
import { button, existing } from "./dom.js";

/** @type {(() => void)[]} */
const listeners = [];

/** @param {() => void} act */
export function on_theme_change(act) {
  listeners.push(act);
}

// Colours are read and canvases drawn anew.
export function tell_theme_change() {
  for (const act of listeners) act();
}

function dark_theme() {
  const chosen = document.documentElement.getAttribute("data-theme");
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function stored_theme() {
  try {
    return localStorage.getItem("nl-stage-theme");
  } catch (denied) {
    return null;  // a file may have no storage
  }
}

/** @param {string} theme */
function store_theme(theme) {
  try {
    localStorage.setItem("nl-stage-theme", theme);
  } catch (denied) {
    // The choice holds until the page is closed.
  }
}

export function start_theme() {
  const stored = stored_theme();
  if (stored === "dark" || stored === "light") document.documentElement.setAttribute("data-theme", stored);
  const toggle = button("", "", () => {
    const theme = dark_theme() ? "light" : "dark";
    document.documentElement.setAttribute("data-theme", theme);
    store_theme(theme);
    changed();
  }, { id: "theme" });
  function changed() {
    toggle.textContent = dark_theme() ? "Light" : "Dark";
    toggle.setAttribute("aria-label", "Change to the " + (dark_theme() ? "light" : "dark") + " theme");
    tell_theme_change();
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  existing("nav").append(toggle);
  changed();
}
