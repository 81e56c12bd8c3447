// Tips: an SVG's titles come late and never on a touch screen. The same box explains terms of the glossary.
const tip_box = make("div", { class: "tip", role: "tooltip", id: "tip", hidden: true });
document.body.append(tip_box);

function show_tip(text, x, y) {
  tip_box.hidden = !text;
  if (!text) return;
  tip_box.textContent = text;
  let top = y + 16;
  if (top + tip_box.offsetHeight > innerHeight) top = y - tip_box.offsetHeight - 10;
  tip_box.style.left = Math.max(4, Math.min(x + 12, innerWidth - tip_box.offsetWidth - 8)) + "px";
  tip_box.style.top = Math.max(4, top) + "px";
}

function hide_tip() {
  tip_box.hidden = true;
}

function tip_owner(event) {
  return event.target.closest ? event.target.closest("[data-tip]") : null;
}

// Of the term that has the focus, wherever the page was scrolled to for it; else there is none.
function show_focused_tip() {
  const owner = document.activeElement, box = owner.getBoundingClientRect();
  show_tip(owner.classList.contains("term") && owner.getAttribute("data-tip"), box.left - 12, box.bottom - 10);
}

function start_tips() {
  for (const title of document.querySelectorAll("svg title")) {
    title.parentNode.setAttribute("data-tip", title.textContent);
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
  addEventListener("scroll", () => tip_box.hidden || show_focused_tip(), { passive: true });
}
