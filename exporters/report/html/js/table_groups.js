// Rows under a head for each kind, layer or operator, with the sums of the columns that can be added (data-sum).
import { count_text } from "./count_text.js";
import { button, make } from "./dom.js";
import { share_text, time_text } from "./time_text.js";

/** @param {TableTools} tools @param {string} grouping */
export function group_rows(tools, grouping) {
  const body = tools.table.tBodies[0];
  for (const head of body.querySelectorAll("tr.group")) head.remove();
  if (!grouping) return body.append(...tools.rows);
  const sorted = [...grouped(tools.rows, grouping)].map(([key, rows]) => ({ key, rows, sums: column_sums(tools, rows.filter(row => !row.hidden)) }));
  const weight = tools.heads.findIndex(head => head.hasAttribute("data-sum"));
  sorted.sort((a, b) => (b.sums[weight] || 0) - (a.sums[weight] || 0));
  body.append(...sorted.flatMap(({ key, rows, sums }) => [group_head(tools, key, rows, sums), ...rows]));
}

// By what a row belongs to; one that belongs to several stands in a group for those.
/** @param {HTMLTableRowElement[]} rows @param {string} grouping */
export function grouped(rows, grouping) {
  /** @type {Map<string, HTMLTableRowElement[]>} */
  const groups = new Map();
  for (const row of rows) {
    const values = (row.getAttribute("data-" + grouping) || "").split("|").filter(Boolean);
    const key = values.length > 1 ? "several " + grouping + "s" : values[0] || "no " + grouping, same = groups.get(key) || [];
    same.push(row);
    groups.set(key, same);
  }
  return groups;
}

/** @param {Pick<TableTools, "heads">} tools @param {HTMLTableRowElement[]} rows */
export function column_sums(tools, rows) {
  return tools.heads.map((head, column) => {
    if (!head.hasAttribute("data-sum")) return null;
    return rows.reduce((sum, row) => sum + (Number(row.cells[column] && row.cells[column].getAttribute("data-v")) || 0), 0);
  });
}

// Sums are written as the cells of their column are: a time, a share, or a number.
/** @param {number} column @param {HTMLTableRowElement[]} rows @param {number} sum */
export function sum_text(column, rows, sum) {
  const sample = rows.map(row => row.cells[column]).find(cell => cell && cell.hasAttribute("data-v")), text = (sample?.textContent || "").trim();
  if (/ (ns|\u00b5s|ms|s)$/.test(text)) return time_text(sum);
  return /%$/.test(text) ? share_text(sum, 1) : count_text(Number(sum.toFixed(2)));
}

/** @param {TableTools} tools @param {string} key @param {HTMLTableRowElement[]} rows @param {(number | null)[]} sums */
function group_head(tools, key, rows, sums) {
  const shown = rows.filter(row => !row.hidden).length, fold = button(key + " (" + shown + ")", "", () => {
    const open = fold.getAttribute("aria-expanded") !== "true";
    fold.setAttribute("aria-expanded", String(open));
    for (const row of rows) row.classList.toggle("folded", !open);
  }, { "aria-expanded": "true" });
  /** @param {number} column */
  const sum_of = column => {
    const sum = sums[column];
    return sum === null ? "" : sum_text(column, rows, sum);
  };
  const cells = tools.heads.map((_, i) => i === 0 ? make("th", { scope: "rowgroup" }, fold) : make("td", { class: "n" }, sum_of(i)));
  const made = make("tr", { class: "group" }, ...cells);
  for (const row of rows) row.classList.remove("folded");
  made.hidden = shown === 0;
  return made;
}
