// Tips: an SVG's titles come late and never on a touch screen. The same box explains terms of the glossary.
import { existing, make } from "./dom.js";

function tip_box() {
  return existing("#tip");
}

/** @param {string | null | false | undefined} text @param {number} x @param {number} y */
export function show_tip(text, x, y) {
  const box = tip_box();
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  let top = y + 16;
  if (top + box.offsetHeight > innerHeight) top = y - box.offsetHeight - 10;
  box.style.left = Math.max(4, Math.min(x + 12, innerWidth - box.offsetWidth - 8)) + "px";
  box.style.top = Math.max(4, top) + "px";
}

export function hide_tip() {
  tip_box().hidden = true;
}

/** @param {Event} event */
function tip_owner(event) {
  return event.target instanceof Element ? event.target.closest("[data-tip]") : null;
}

// Of the term that has the focus, wherever the page was scrolled to for it; else there is none.
function show_focused_tip() {
  const owner = document.activeElement || document.body, box = owner.getBoundingClientRect();
  show_tip(owner.classList.contains("term") && owner.getAttribute("data-tip"), box.left - 12, box.bottom - 10);
}

export function start_tips() {
  document.body.append(make("div", { class: "tip", role: "tooltip", id: "tip", hidden: true }));
  for (const title of document.querySelectorAll("svg title")) {
    title.parentElement?.setAttribute("data-tip", title.textContent || "");
    title.remove();
  }
  document.addEventListener("pointerover", event => {
    const owner = tip_owner(event);
    show_tip(owner && owner.getAttribute("data-tip"), event.clientX, event.clientY);
  });
  document.addEventListener("focusin", show_focused_tip);
  document.addEventListener("focusout", hide_tip);
  document.addEventListener("keydown", event => {
    if (event.key === "Escape") hide_tip();
  });
  addEventListener("scroll", () => tip_box().hidden || show_focused_tip(), { passive: true });
}
