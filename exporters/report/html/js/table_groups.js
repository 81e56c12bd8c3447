// Rows under a head for each kind, layer or operator, with the sums of the columns that can be added (data-sum).
function group_rows(tools, grouping) {
  const body = tools.table.tBodies[0];
  for (const head of body.querySelectorAll("tr.group")) head.remove();
  if (!grouping) return body.append(...tools.rows);
  const groups = new Map();
  for (const row of tools.rows) {
    const values = (row.getAttribute("data-" + grouping) || "").split("|").filter(Boolean), key = values.length > 1 ? "several " + grouping + "s" : values[0] || "no " + grouping;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  const sorted = [...groups].map(([key, rows]) => ({ key, rows, sums: column_sums(tools, rows.filter(row => !row.hidden)) }));
  const weight = tools.heads.findIndex(head => head.hasAttribute("data-sum"));
  sorted.sort((a, b) => (b.sums[weight] || 0) - (a.sums[weight] || 0));
  body.append(...sorted.flatMap(({ key, rows, sums }) => [group_head(tools, key, rows, sums), ...rows]));
}

function column_sums(tools, rows) {
  return tools.heads.map((head, column) => {
    if (!head.hasAttribute("data-sum")) return null;
    return rows.reduce((sum, row) => sum + (Number(row.cells[column] && row.cells[column].getAttribute("data-v")) || 0), 0);
  });
}

// Sums are written as the cells of their column are: a time, a share, or a number.
function sum_text(column, rows, sum) {
  const sample = rows.map(row => row.cells[column]).find(cell => cell && cell.hasAttribute("data-v")), text = sample ? sample.textContent.trim() : "";
  if (/ (ns|\u00b5s|ms|s)$/.test(text)) return time_text(sum);
  return /%$/.test(text) ? share_text(sum, 1) : count_text(Number(sum.toFixed(2)));
}

function group_head(tools, key, rows, sums) {
  const shown = rows.filter(row => !row.hidden).length, fold = button(key + " (" + shown + ")", "", () => {
    const open = fold.getAttribute("aria-expanded") !== "true";
    fold.setAttribute("aria-expanded", open);
    for (const row of rows) row.classList.toggle("folded", !open);
  }, { "aria-expanded": "true" });
  const cells = tools.heads.map((_, i) => i === 0 ? make("th", { scope: "rowgroup" }, fold) : make("td", { class: "n" }, sums[i] === null ? "" : sum_text(i, rows, sums[i])));
  const made = make("tr", { class: "group" }, ...cells);
  for (const row of rows) row.classList.remove("folded");
  made.hidden = shown === 0;
  return made;
}
