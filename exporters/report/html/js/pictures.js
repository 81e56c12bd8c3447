// Drawn pictures whose places are percentages: a wider picture is a closer look.
import { button, make } from "./dom.js";
import { tell_theme_change } from "./theme.js";

/** @type {{ [key: string]: number }} */
const kKeyFactors = { "+": 2, "=": 2, "-": 0.5, "0": 0 };

/** @param {HTMLElement} box */
function zoomable(box) {
  const picture = box.querySelector("svg"), frame = box.parentElement, state = make("span");
  if (!picture || !frame) return;
  let factor = 1;
  /** @param {number} by @param {number} [at] */
  const zoom = (by, at) => {
    const before = picture.getBoundingClientRect().width, where = at === undefined ? box.clientWidth / 2 : at;
    const point = (box.scrollLeft + where) / before;
    factor = by === 0 ? 1 : Math.min(64, Math.max(1, factor * by));
    picture.style.width = factor * 100 + "%";
    box.scrollLeft = point * picture.getBoundingClientRect().width - where;
    state.textContent = factor === 1 ? "" : "\u00d7 " + Math.round(factor * 10) / 10;
  };
  const bar = make("div", { class: "zoombar" }, button("+", "Zoom in", () => zoom(2)),
                   button("\u2212", "Zoom out", () => zoom(0.5)), button("Whole", "Show the whole picture", () => zoom(0)), state);
  frame.before(bar);
  box.addEventListener("keydown", event => {
    const by = kKeyFactors[event.key];
    if (by === undefined) return;
    zoom(by);
    event.preventDefault();
  });
  box.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.25 : 0.8, event.clientX - box.getBoundingClientRect().left);
  }, { passive: false });
}

// On paper what is folded in is needed too, and canvases are drawn anew: as wide as the paper, sharper, and in light colours.
function start_printing() {
  /** @type {HTMLDetailsElement[]} */
  let folded = [];
  /** @type {string | null} */
  let theme = null;
  addEventListener("beforeprint", () => {
    /** @type {NodeListOf<HTMLDetailsElement>} */
    const parts = document.querySelectorAll("details[data-print], details.card");
    folded = [...parts].filter(part => !part.open);
    for (const part of folded) part.open = true;
    theme = document.documentElement.getAttribute("data-theme");
    document.documentElement.setAttribute("data-theme", "light");
    document.documentElement.classList.add("printing");
    tell_theme_change();
  });
  addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
    theme ? document.documentElement.setAttribute("data-theme", theme) : document.documentElement.removeAttribute("data-theme");
    document.documentElement.classList.remove("printing");
    tell_theme_change();
  });
}

export function start_pictures() {
  /** @type {NodeListOf<HTMLElement>} */
  const boxes = document.querySelectorAll(".zoom");
  boxes.forEach(zoomable);
  start_printing();
}
