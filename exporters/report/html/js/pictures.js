// Drawn pictures whose places are percentages: a wider picture is a closer look.
function zoomable(box) {
  const picture = box.querySelector("svg"), state = make("span");
  let factor = 1;
  function zoom(by, at) {
    const before = picture.getBoundingClientRect().width, where = at === undefined ? box.clientWidth / 2 : at;
    const point = (box.scrollLeft + where) / before;
    factor = by === 0 ? 1 : Math.min(64, Math.max(1, factor * by));
    picture.style.width = factor * 100 + "%";
    box.scrollLeft = point * picture.getBoundingClientRect().width - where;
    state.textContent = factor === 1 ? "" : "\u00d7 " + Math.round(factor * 10) / 10;
  }
  const bar = make("div", { class: "zoombar" }, button("+", "Zoom in", () => zoom(2)),
                   button("\u2212", "Zoom out", () => zoom(0.5)), button("Whole", "Show the whole picture", () => zoom(0)), state);
  box.parentNode.parentNode.insertBefore(bar, box.parentNode);
  box.addEventListener("keydown", event => {
    const by = { "+": 2, "=": 2, "-": 0.5, "0": 0 }[event.key];
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
  let folded = [], theme = null;
  const draw_anew = () => {
    for (const listener of theme_listeners) listener();
  };
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details[data-print], details.card")].filter(part => !part.open);
    for (const part of folded) part.open = true;
    theme = root.getAttribute("data-theme");
    root.setAttribute("data-theme", "light");
    root.classList.add("printing");
    draw_anew();
  });
  addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
    theme ? root.setAttribute("data-theme", theme) : root.removeAttribute("data-theme");
    root.classList.remove("printing");
    draw_anew();
  });
}

function start_pictures() {
  for (const box of document.querySelectorAll(".zoom")) zoomable(box);
  start_printing();
}
