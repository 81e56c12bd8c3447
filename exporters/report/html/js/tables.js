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
  const down = before ? before !== "descending" : numeric, all = [...table.tBodies[0].rows].filter(row => !row.classList.contains("group"));
  const rows = all.map((row, index) => ({ row, index, value: sort_value(row, column, numeric) }));
  rows.sort(by_value(down));
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  table.tBodies[0].append(...rows.map(entry => entry.row));
}

const kFewRows = 8;

function start_table(table) {
  const rows = table.tBodies[0].rows.length;
  const tools = table.hasAttribute("data-table") || (table.hasAttribute("data-filter") && rows > kFewRows) ? new TableTools(table) : null;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const title = head.textContent;
    head.replaceChildren(button(title, "", () => {
      sort_table(table, column, head);
      if (tools) tools.sorted();
    }));
  });
  if (tools) table.parentNode.parentNode.insertBefore(tools.element, table.parentNode);
  return tools;
}

function start_tables() {
  const tools = [...document.querySelectorAll("table.sortable")].map(start_table).filter(Boolean);
  const read = () => tools.forEach(each => each.read(address_state()));
  addEventListener("hashchange", read);
  read();
}
