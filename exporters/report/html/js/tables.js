// Finds the tables of the page and gives each its tools.
import { address_state, go_to_anchor } from "./address.js";
import { button } from "./dom.js";
import { forget_last_change, TableTools } from "./table_tools.js";

const kFewRows = 8;

// Each table has a name of its own in the address: that of its data, else that of its section.
/** @param {HTMLTableElement} table @param {Set<string>} taken */
function name_of_table(table, taken) {
  const section = table.closest("section[id]"), base = table.getAttribute("data-table") || (section ? section.id : "table");
  let name = base;
  for (let number = 2; taken.has(name); ++number) name = base + "-" + number;
  taken.add(name);
  return name;
}

/** @param {HTMLTableElement} table @param {string} name */
function start_table(table, name) {
  const rows = table.tBodies[0].rows.length, hides = table.querySelector("th[data-hidden]") !== null;
  const large = table.hasAttribute("data-filter") && (rows > kFewRows || hides);  // a few rows are seen at once
  const tools = new TableTools(table, name, large);
  tools.heads.forEach((head, column) => {
    const title = head.textContent || "";
    head.replaceChildren(button(title, "", () => tools.sort_by(column)));
  });
  if (tools.element) table.parentElement?.before(tools.element);
  return tools;
}

export function start_tables() {
  /** @type {NodeListOf<HTMLTableElement>} */
  const found = document.querySelectorAll("table.sortable");
  /** @type {Set<string>} */
  const taken = new Set();
  const tools = [...found].map(table => start_table(table, name_of_table(table, taken)));
  const read = () => tools.forEach(each => each.read(address_state()));
  addEventListener("hashchange", read);
  addEventListener("popstate", forget_last_change);
  read();
  go_to_anchor();
}
