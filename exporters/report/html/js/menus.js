// What opens over the page (keys, columns) closes with Escape, which gives the focus back, and with a press elsewhere.
import { existing } from "./dom.js";

const kMenus = "details.columns[open], details.explorer-help[open]";

/** @returns {NodeListOf<HTMLDetailsElement>} */
function open_menus() {
  return document.querySelectorAll(kMenus);
}

export function start_menus() {
  document.addEventListener("pointerdown", event => {
    for (const menu of open_menus())
      if (!(event.target instanceof Node && menu.contains(event.target))) menu.open = false;
  });
  document.addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    for (const menu of open_menus()) {
      menu.open = false;
      existing("summary", menu).focus();
      event.preventDefault();  // this Escape is used up
    }
  });
}
