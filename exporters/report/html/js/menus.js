// What opens over the page (keys, columns) closes with Escape, which gives the focus back, and with a press elsewhere.
const kMenus = "details.columns[open], details.explorer-help[open]";

function start_menus() {
  document.addEventListener("pointerdown", event => {
    for (const menu of document.querySelectorAll(kMenus))
      if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll(kMenus)) {
      menu.open = false;
      menu.querySelector("summary").focus();
      event.preventDefault();  // this Escape is used up
    }
  });
}
