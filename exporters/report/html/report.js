(function () {
  "use strict";
  var root = document.documentElement;

  function button(text, label, act) {
    var made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    if (label) made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  }

  // Theme: the system's, until somebody chooses.
  function dark() {
    var chosen = root.getAttribute("data-theme");
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }
  function remember(theme) {
    try { localStorage.setItem("nl-stage-theme", theme); } catch (denied) { /* a file may have no storage */ }
  }
  try {
    var stored = localStorage.getItem("nl-stage-theme");
    if (stored === "dark" || stored === "light") root.setAttribute("data-theme", stored);
  } catch (denied) { /* likewise */ }
  var toggle = button("", "", function () {
    root.setAttribute("data-theme", dark() ? "light" : "dark");
    remember(root.getAttribute("data-theme"));
    name_toggle();
  });
  function name_toggle() {
    toggle.textContent = dark() ? "Light" : "Dark";
    toggle.setAttribute("aria-label", "Change to the " + (dark() ? "light" : "dark") + " theme");
  }
  toggle.id = "theme";
  name_toggle();
  document.querySelector("nav").appendChild(toggle);

  // Tables: numbers by data-v, text by itself; what has no value stays last.
  function value_of(row, column, numeric) {
    var cell = row.cells[column];
    if (!cell) return null;
    if (numeric) return cell.hasAttribute("data-v") ? Number(cell.getAttribute("data-v")) : null;
    var shown = cell.textContent.trim();
    return shown === "\u2014" || shown === "" ? null : shown.toLowerCase();
  }
  function sort(table, column, head) {
    var numeric = head.classList.contains("n");
    var down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") !== "descending" : numeric;
    var body = table.tBodies[0];
    var rows = Array.prototype.map.call(body.rows, function (row, index) {
      return { row: row, value: value_of(row, column, numeric), index: index };
    });
    rows.sort(function (a, b) {
      if (a.value === null || b.value === null) return a.value === b.value ? a.index - b.index : a.value === null ? 1 : -1;
      var order = a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
      return (down ? -order : order) || a.index - b.index;
    });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell) { cell.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    var sorted = document.createDocumentFragment();
    rows.forEach(function (entry) { sorted.appendChild(entry.row); });
    body.appendChild(sorted);
  }
  function filter(table) {
    var box = document.createElement("div"), input = document.createElement("input"), count = document.createElement("span");
    box.className = "filter";
    input.type = "search";
    input.placeholder = "Filter";
    input.setAttribute("aria-label", "Filter the rows: " + table.parentNode.getAttribute("aria-label"));
    count.setAttribute("aria-live", "polite");
    input.addEventListener("input", function () {
      var words = input.value.toLowerCase().split(/\s+/), rows = table.tBodies[0].rows, shown = 0;
      Array.prototype.forEach.call(rows, function (row) {
        var line = row.textContent.toLowerCase();
        row.hidden = !words.every(function (word) { return line.indexOf(word) >= 0; });
        if (!row.hidden) ++shown;
      });
      count.textContent = input.value ? shown + " of " + rows.length : "";
    });
    box.appendChild(input);
    box.appendChild(count);
    table.parentNode.parentNode.insertBefore(box, table.parentNode);
  }
  Array.prototype.forEach.call(document.querySelectorAll("table.sortable"), function (table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, column) {
      var title = head.textContent;
      head.textContent = "";
      head.appendChild(button(title, "", function () { sort(table, column, head); }));
    });
    if (table.hasAttribute("data-filter") && table.tBodies[0].rows.length > 8) filter(table);
  });

  // Tips: an SVG's titles come late and never on a touch screen.
  var tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.appendChild(tip);
  Array.prototype.forEach.call(document.querySelectorAll("svg title"), function (title) {
    title.parentNode.setAttribute("data-tip", title.textContent);
    title.parentNode.removeChild(title);
  });
  document.addEventListener("pointerover", function (event) {
    var owner = event.target.closest ? event.target.closest("[data-tip]") : null;
    tip.hidden = !owner;
    if (!owner) return;
    tip.textContent = owner.getAttribute("data-tip");
    var x = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8), y = event.clientY + 16;
    if (y + tip.offsetHeight > innerHeight) y = event.clientY - tip.offsetHeight - 10;
    tip.style.left = Math.max(4, x) + "px";
    tip.style.top = Math.max(4, y) + "px";
  });
  addEventListener("scroll", function () { tip.hidden = true; }, { passive: true });

  // Timeline: places are percentages, so a wider picture is a closer look.
  Array.prototype.forEach.call(document.querySelectorAll(".zoom"), function (box) {
    var picture = box.querySelector("svg"), factor = 1;
    function zoom(by, at) {
      var before = picture.getBoundingClientRect().width, where = at === undefined ? box.clientWidth / 2 : at;
      var point = (box.scrollLeft + where) / before;
      factor = by === 0 ? 1 : Math.min(64, Math.max(1, factor * by));
      picture.style.width = factor * 100 + "%";
      box.scrollLeft = point * picture.getBoundingClientRect().width - where;
      state.textContent = factor === 1 ? "" : "\u00d7 " + Math.round(factor * 10) / 10;
    }
    var bar = document.createElement("div"), state = document.createElement("span");
    bar.className = "zoombar";
    bar.appendChild(button("+", "Zoom in", function () { zoom(2); }));
    bar.appendChild(button("\u2212", "Zoom out", function () { zoom(0.5); }));
    bar.appendChild(button("Whole", "Show the whole picture", function () { zoom(0); }));
    bar.appendChild(state);
    box.parentNode.parentNode.insertBefore(bar, box.parentNode);
    box.addEventListener("keydown", function (event) {
      if (event.key === "+" || event.key === "=") zoom(2);
      else if (event.key === "-") zoom(0.5);
      else if (event.key === "0") zoom(0);
      else return;
      event.preventDefault();
    });
    box.addEventListener("wheel", function (event) {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.25 : 0.8, event.clientX - box.getBoundingClientRect().left);
    }, { passive: false });
  });

  // Paper: what is folded in is needed there.
  var folded = [];
  addEventListener("beforeprint", function () {
    folded = Array.prototype.filter.call(document.querySelectorAll("details[data-print], details.card"), function (part) { return !part.open; });
    folded.forEach(function (part) { part.open = true; });
  });
  addEventListener("afterprint", function () { folded.forEach(function (part) { part.open = false; }); });
})();
