// Tools of the tables: sorted by what, and of large ones which columns, which stage, grouped by what, as CSV. State is in the address:
// NAME.sort= (a column's key, after a minus from the largest down), NAME.group=, NAME.stage=, NAME.filter=, NAME.cols= (those shown or
// hidden other than at first).
import { write_address } from "./address.js";
import { button, make, save_file } from "./dom.js";
import { group_rows } from "./table_groups.js";
import { sorted_rows } from "./table_sort.js";

const kGroupings = { kind: "kind", layer: "layer", operator: "operator" };

let last_changed = "";  // typing on in one filter is one step of the history

export function forget_last_change() {
  last_changed = "";
}

export class TableTools {
  /** @param {HTMLTableElement} table @param {string} name @param {boolean} large */
  constructor(table, name, large) {
    this.table = table;
    this.name = name;
    this.rows = this.first_rows = [...table.tBodies[0].rows];
    this.heads = [...table.rows[0].cells];
    /** @type {HTMLInputElement[]} */
    this.boxes = [];
    /** @type {HTMLElement | null} */
    this.column_title = null;
    /** @type {HTMLInputElement | null} */
    this.filter_input = null;
    /** @type {HTMLSelectElement | null} */
    this.stage_choice = null;
    /** @type {HTMLSelectElement | null} */
    this.group_choice = null;
    this.first_hidden = new Set(this.heads.map((head, i) => head.hasAttribute("data-hidden") ? this.key_of(i) : "").filter(Boolean));
    /** @type {TableState} */
    this.state = { sort: "", filter: "", stage: "", group: "", hidden: new Set(this.first_hidden) };
    this.count = make("span", { "aria-live": "polite" });
    this.element = large ? make("div", { class: "filter" }, ...this.controls(), this.count) : null;
    if (this.state.hidden.size > 0) this.show_columns();
  }

  controls() {
    const label = this.table.parentElement?.getAttribute("aria-label") || "";
    /** @type {HTMLInputElement} */
    const filter = make("input", { type: "search", placeholder: "Filter", "aria-label": "Filter the rows: " + label, input: () => this.change({ filter: filter.value }) });
    this.filter_input = filter;
    /** @type {HTMLElement[]} */
    const out = [filter];
    const stages = this.values("data-stage", /\|/);
    if (stages.length > 1) out.push(this.stage_choice = this.choice("Stage", "all stages", stages, stage => this.change({ stage })));
    const groupings = Object.keys(kGroupings).filter(key => this.values("data-" + key, /\|/).length > 1);
    if (groupings.length > 0) out.push(this.group_choice = this.choice("Group by", "no groups", groupings, group => this.change({ group })));
    if (this.table.hasAttribute("data-table")) out.push(this.column_chooser(label), button("CSV", "Download the rows shown as CSV: " + label, () => save_file(this.name + ".csv", "text/csv", this.csv())));
    return out;
  }

  /** @param {string} attribute @param {RegExp} separator */
  values(attribute, separator) {
    return [...new Set(this.rows.flatMap(row => (row.getAttribute(attribute) || "").split(separator)))].filter(Boolean);
  }

  /** @param {string} label @param {string} none @param {string[]} values @param {(value: string) => void} act */
  choice(label, none, values, act) {
    /** @type {HTMLSelectElement} */
    const made = make("select", { "aria-label": label, change: () => act(made.value) }, make("option", { value: "" }, none), ...values.map(value => make("option", { value }, value)));
    return made;
  }

  /** @param {number} column */
  key_of(column) {
    return this.heads[column].getAttribute("data-key") || String(column);
  }

  /** @param {string} label */
  column_chooser(label) {
    this.boxes = this.heads.slice(1).map((_, i) => make("input", { type: "checkbox", change: event => this.set_column(this.key_of(i + 1), event.target.checked) }));
    const lines = this.boxes.map((box, i) => make("label", {}, box, " " + this.heads[i + 1].textContent));
    this.column_title = make("summary", { title: "Columns: " + label }, "Columns");
    return make("details", { class: "columns" }, this.column_title, make("div", {}, ...lines));
  }

  /** @param {string} key @param {boolean} shown */
  set_column(key, shown) {
    shown ? this.state.hidden.delete(key) : this.state.hidden.add(key);
    this.show_columns();
    this.write("cols");
  }

  show_columns() {
    const hidden = this.heads.map((_, i) => this.state.hidden.has(this.key_of(i)));
    this.boxes.forEach((box, i) => box.checked = !hidden[i + 1]);
    const left = hidden.filter(Boolean).length;
    if (this.column_title) this.column_title.textContent = "Columns" + (left > 0 ? " (" + (hidden.length - left) + " of " + hidden.length + ")" : "");
    for (const row of this.table.rows) [...row.cells].forEach((cell, i) => cell.hidden = hidden[i]);
  }

  /** @param {Partial<TableState>} changes */
  change(changes) {
    Object.assign(this.state, changes);
    this.apply();
    this.write(Object.keys(changes)[0]);
  }

  // Numbers from the largest down first; the same head again turns the order round.
  /** @param {number} column */
  sort_by(column) {
    const key = this.key_of(column), down = this.state.sort === key || (this.state.sort !== "-" + key && this.heads[column].classList.contains("n"));
    this.change({ sort: (down ? "-" : "") + key });
  }

  apply() {
    const { sort, filter, stage, group } = this.state, words = filter.toLowerCase().split(/\s+/);
    this.rows = sorted_rows(this.first_rows, this.heads, this.heads.findIndex((_, i) => this.key_of(i) === sort.replace(/^-/, "")), sort.startsWith("-"));
    for (const row of this.rows) {
      const line = (row.textContent || "").toLowerCase(), stages = (row.getAttribute("data-stage") || "").split("|");
      row.hidden = !words.every(word => line.includes(word)) || (stage !== "" && !stages.includes(stage));
    }
    this.count.textContent = filter || stage ? this.rows.filter(row => !row.hidden).length + " of " + this.rows.length : "";
    group_rows(this, group);
    this.show_columns();
  }

  // Of the numbers in a column, which are not rounded and in one unit: its cells' texts may be in several.
  /** @param {number} column */
  unit_of(column) {
    const sample = this.first_rows.map(row => row.cells[column]).find(cell => cell && cell.hasAttribute("data-v"));
    const [, written, unit] = sample && /^\D?([\d.,]+)\s?(\S+)$/.exec((sample.textContent || "").trim()) || [];
    if (!sample || !unit || /^[\d.,]+$/.test(unit)) return "";
    if (/^(ns|\u00b5s|ms|s)$/.test(unit)) return "ns";
    const shown = Number(written.replace(/,/g, "")), value = Math.abs(Number(sample.getAttribute("data-v")));
    if (unit === "%") return Math.abs(value * 100 - shown) < 0.6 ? "fraction" : "%";  // the text is rounded
    return Math.abs(value - shown) < 1 ? unit : unit.replace(/^[kMGTP]i?(?=[A-Z])/, "");
  }

  /** @param {number} column */
  head_text(column) {
    const unit = this.unit_of(column), title = this.heads[column].textContent;
    return title + (unit ? " (" + unit + ")" : "");
  }

  csv() {
    const shown = this.heads.map((_, i) => i).filter(i => !this.state.hidden.has(this.key_of(i)));
    /** @param {string} text */
    const quoted = text => /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
    /** @param {Element} cell */
    const full_name = cell => ((cell.querySelector("details.name > code") || cell).textContent || "").trim();
    /** @param {Element | undefined} cell */
    const value = cell => !cell ? "" : cell.getAttribute("data-v") ?? full_name(cell).replace(/^\u2014$/, "");
    const lines = this.rows.filter(row => !row.hidden).map(row => shown.map(i => quoted(value(row.cells[i]))).join(","));
    return [shown.map(i => quoted(this.head_text(i))).join(","), ...lines].join("\n") + "\n";
  }

  // {NAME.sort: …}, empty where it is as at first.
  written() {
    const { sort, filter, stage, group, hidden } = this.state, keys = this.heads.map((_, i) => this.key_of(i));
    const cols = keys.filter(key => hidden.has(key) !== this.first_hidden.has(key)).join();
    return Object.fromEntries(Object.entries({ sort, filter, stage, group, cols }).map(([key, value]) => [this.name + "." + key, value]));
  }

  /** @param {string} what */
  write(what) {
    const changed = this.name + "." + what;
    write_address(this.written(), what !== "filter" || changed !== last_changed);
    last_changed = changed;
  }

  // Takes the state from the address. What the address does not say, or this table does not have, is as at first.
  /** @param {URLSearchParams | null} state */
  read(state) {
    /** @param {string} key */
    const get = key => state && state.get(this.name + "." + key) || "";
    /** @param {HTMLSelectElement | null} choice @param {string} value */
    const among = (choice, value) => choice && [...choice.options].some(option => option.value === value) ? value : "";
    const cols = new Set(get("cols").split(",")), keys = this.heads.map((_, i) => this.key_of(i)), sort = get("sort");
    const before = JSON.stringify(this.written());
    Object.assign(this.state, {
      sort: keys.includes(sort.replace(/^-/, "")) ? sort : "", filter: this.filter_input ? get("filter") : "", stage: among(this.stage_choice, get("stage")),
      group: among(this.group_choice, get("group")), hidden: new Set(keys.filter(key => this.first_hidden.has(key) !== cols.has(key))) });
    if (JSON.stringify(this.written()) === before) return;
    if (this.filter_input) this.filter_input.value = this.state.filter;
    if (this.stage_choice) this.stage_choice.value = this.state.stage;
    if (this.group_choice) this.group_choice.value = this.state.group;
    this.apply();
  }
}
