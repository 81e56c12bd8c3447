// The system's theme, until somebody chooses.
const theme_listeners = [];

function dark_theme() {
  const chosen = root.getAttribute("data-theme");
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function stored_theme() {
  try {
    return localStorage.getItem("nl-stage-theme");
  } catch (denied) {
    return null;  // a file may have no storage
  }
}

function store_theme(theme) {
  try {
    localStorage.setItem("nl-stage-theme", theme);
  } catch (denied) { /* likewise */ }
}

function start_theme() {
  const stored = stored_theme();
  if (stored === "dark" || stored === "light") root.setAttribute("data-theme", stored);
  const toggle = button("", "", () => {
    const theme = dark_theme() ? "light" : "dark";
    root.setAttribute("data-theme", theme);
    store_theme(theme);
    changed();
  }, { id: "theme" });
  function changed() {
    toggle.textContent = dark_theme() ? "Light" : "Dark";
    toggle.setAttribute("aria-label", "Change to the " + (dark_theme() ? "light" : "dark") + " theme");
    for (const listener of theme_listeners) listener();
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  document.querySelector("nav").append(toggle);
  changed();
}
