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

function start_tips() {
  for (const title of document.querySelectorAll("svg title")) {
    title.parentNode.setAttribute("data-tip", title.textContent);
    title.remove();
  }
  document.addEventListener("pointerover", event => {
    const owner = tip_owner(event);
    show_tip(owner && owner.getAttribute("data-tip"), event.clientX, event.clientY);
  });
  document.addEventListener("focusin", event => {
    const owner = tip_owner(event);
    if (!owner || !owner.classList.contains("term")) return;
    const box = owner.getBoundingClientRect();
    show_tip(owner.getAttribute("data-tip"), box.left - 12, box.bottom - 10);
  });
  document.addEventListener("focusout", hide_tip);
  document.addEventListener("keydown", event => {
    if (event.key === "Escape") hide_tip();
  });
  addEventListener("scroll", hide_tip, { passive: true });
}
