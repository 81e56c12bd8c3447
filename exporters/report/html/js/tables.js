// Tables sort by their heads: numbers by data-v, text by itself; what has no value stays last.
function sort_value(row, column, numeric) {
  const cell = row.cells[column];
  if (!cell) return null;
  if (numeric) return cell.hasAttribute("data-v") ? Number(cell.getAttribute("data-v")) : null;
  const shown = cell.textContent.trim();
  return shown === "\u2014" || shown === "" ? null : shown.toLowerCase();
}

function by_value(down) {
  return (a, b) => {
    if (a.value === null || b.value === null) return a.value === b.value ? a.index - b.index : a.value === null ? 1 : -1;
    const order = a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
    return (down ? -order : order) || a.index - b.index;
  };
}

function sort_table(table, column, head) {
  const numeric = head.classList.contains("n"), before = head.getAttribute("aria-sort");
  const down = before ? before !== "descending" : numeric;
  const rows = [...table.tBodies[0].rows].map((row, index) => ({ row, index, value: sort_value(row, column, numeric) }));
  rows.sort(by_value(down));
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  table.tBodies[0].append(...rows.map(entry => entry.row));
}

function filter_box(table) {
  const count = make("span", { "aria-live": "polite" });
  const input = make("input", {
    type: "search", placeholder: "Filter", "aria-label": "Filter the rows: " + table.parentNode.getAttribute("aria-label"),
    input() {
      const words = input.value.toLowerCase().split(/\s+/), rows = [...table.tBodies[0].rows];
      for (const row of rows) {
        const line = row.textContent.toLowerCase();
        row.hidden = !words.every(word => line.includes(word));
      }
      count.textContent = input.value ? rows.filter(row => !row.hidden).length + " of " + rows.length : "";
    },
  });
  return make("div", { class: "filter" }, input, count);
}

function start_tables() {
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const title = head.textContent;
      head.replaceChildren(button(title, "", () => sort_table(table, column, head)));
    });
    if (table.hasAttribute("data-filter") && table.tBodies[0].rows.length > 8)
      table.parentNode.parentNode.insertBefore(filter_box(table), table.parentNode);
  }
}
