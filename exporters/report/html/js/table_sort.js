// Tables sort by their heads: numbers by data-v, text by itself; what has no value stays last.
/** @param {HTMLTableRowElement} row @param {number} column @param {boolean} numeric */
function sort_value(row, column, numeric) {
  const cell = row.cells[column];
  if (!cell) return null;
  if (numeric) return cell.hasAttribute("data-v") ? Number(cell.getAttribute("data-v")) : null;
  const shown = (cell.textContent || "").trim();
  return shown === "\u2014" || shown === "" ? null : shown.toLowerCase();
}

/** @param {boolean} down */
function by_value(down) {
  /** @param {SortedRow} a @param {SortedRow} b */
  return (a, b) => {
    if (a.value === null || b.value === null) return a.value === b.value ? a.index - b.index : a.value === null ? 1 : -1;
    const order = a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
    return (down ? -order : order) || a.index - b.index;
  };
}

// The rows as they came where no column is chosen.
/** @param {HTMLTableRowElement[]} rows @param {HTMLTableCellElement[]} heads @param {number} column @param {boolean} down */
export function sorted_rows(rows, heads, column, down) {
  for (const cell of heads) cell.removeAttribute("aria-sort");
  if (column < 0) return [...rows];
  heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  const numeric = heads[column].classList.contains("n");
  return rows.map((row, index) => ({ row, index, value: sort_value(row, column, numeric) })).sort(by_value(down)).map(entry => entry.row);
}
