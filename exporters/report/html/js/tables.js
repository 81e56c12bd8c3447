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

// The rows as they came where no column is chosen.
function sorted_rows(rows, heads, column, down) {
  for (const cell of heads) cell.removeAttribute("aria-sort");
  if (column < 0) return [...rows];
  heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  const numeric = heads[column].classList.contains("n");
  return rows.map((row, index) => ({ row, index, value: sort_value(row, column, numeric) })).sort(by_value(down)).map(entry => entry.row);
}

const kFewRows = 8;

// Each table has a name of its own in the address: that of its data, else that of its section.
function name_of_table(table, taken) {
  const section = table.closest("section[id]"), base = table.getAttribute("data-table") || (section ? section.id : "table");
  let name = base;
  for (let number = 2; taken.has(name); ++number) name = base + "-" + number;
  taken.add(name);
  return name;
}

function start_table(table, name) {
  const rows = table.tBodies[0].rows.length, large = table.hasAttribute("data-table") || (table.hasAttribute("data-filter") && rows > kFewRows);
  const tools = new TableTools(table, name, large);
  tools.heads.forEach((head, column) => {
    const title = head.textContent;
    head.replaceChildren(button(title, "", () => tools.sort_by(column)));
  });
  if (large) table.parentNode.parentNode.insertBefore(tools.element, table.parentNode);
  return tools;
}

function start_tables() {
  const taken = new Set(), tools = [...document.querySelectorAll("table.sortable")].map(table => start_table(table, name_of_table(table, taken)));
  const read = () => tools.forEach(each => each.read(address_state()));
  addEventListener("hashchange", read);
  read();
  go_to_anchor();
}
