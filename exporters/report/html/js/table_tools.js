// Tools of the large tables (data-table): which columns, which stage, grouped by what, as CSV. State is in the address:
// table=NAME, group=, stage=, cols= (those hidden), filter=.
const kGroupings = { kind: "kind", layer: "layer", operator: "operator" };

class TableTools {
  constructor(table) {
    this.table = table;
    this.name = table.getAttribute("data-table") || "";
    this.state = { filter: "", stage: "", group: "", hidden: new Set() };
    this.rows = [...table.tBodies[0].rows];
    this.heads = [...table.tHead.rows[0].cells];
    this.count = make("span", { "aria-live": "polite" });
    this.element = make("div", { class: "filter" }, ...this.controls(), this.count);
    this.heads.forEach((head, i) => head.hasAttribute("data-hidden") && this.state.hidden.add(this.key_of(i)));
    if (this.state.hidden.size > 0) this.show_columns();
  }

  controls() {
    const label = this.table.parentNode.getAttribute("aria-label"), out = [];
    this.filter_input = make("input", { type: "search", placeholder: "Filter", "aria-label": "Filter the rows: " + label, input: () => this.change({ filter: this.filter_input.value }) });
    out.push(this.filter_input);
    const stages = this.values("data-stage", /\s+/);
    if (stages.length > 1) out.push(this.stage_choice = this.choice("Stage", "all stages", stages, stage => this.change({ stage })));
    const groupings = Object.keys(kGroupings).filter(key => this.values("data-" + key, /\|/).length > 1);
    if (groupings.length > 0) out.push(this.group_choice = this.choice("Group by", "no groups", groupings, group => this.change({ group })));
    if (this.name) out.push(this.column_chooser(label), button("CSV", "Download the rows shown as CSV: " + label, () => save_file(this.name + ".csv", "text/csv", this.csv())));
    return out;
  }

  values(attribute, separator) {
    return [...new Set(this.rows.flatMap(row => (row.getAttribute(attribute) || "").split(separator)))].filter(Boolean);
  }

  choice(label, none, values, act) {
    const made = make("select", { "aria-label": label, change: () => act(made.value) }, make("option", { value: "" }, none), ...values.map(value => make("option", { value }, value)));
    return made;
  }

  key_of(column) {
    return this.heads[column].getAttribute("data-key") || String(column);
  }

  column_chooser(label) {
    this.boxes = this.heads.slice(1).map((head, i) => make("input", { type: "checkbox", change: event => this.set_column(this.key_of(i + 1), event.target.checked) }));
    const lines = this.boxes.map((box, i) => make("label", {}, box, " " + this.heads[i + 1].textContent));
    return make("details", { class: "columns" }, make("summary", { "aria-label": "Columns: " + label }, "Columns"), make("div", {}, ...lines));
  }

  set_column(key, shown) {
    shown ? this.state.hidden.delete(key) : this.state.hidden.add(key);
    this.show_columns();
    this.write();
  }

  show_columns() {
    const hidden = this.heads.map((_, i) => this.state.hidden.has(this.key_of(i)));
    (this.boxes || []).forEach((box, i) => box.checked = !hidden[i + 1]);
    for (const row of this.table.rows)
      if (!row.classList.contains("group")) [...row.cells].forEach((cell, i) => cell.hidden = hidden[i]);
    for (const row of this.table.querySelectorAll("tr.group")) [...row.cells].forEach((cell, i) => cell.hidden = hidden[i]);
  }

  change(changes) {
    Object.assign(this.state, changes);
    this.apply();
    this.write();
  }

  apply() {
    const { filter, stage, group } = this.state, words = filter.toLowerCase().split(/\s+/);
    for (const row of this.rows) {
      const line = row.textContent.toLowerCase(), stages = (row.getAttribute("data-stage") || "").split(/\s+/);
      row.hidden = !words.every(word => line.includes(word)) || (stage !== "" && !stages.includes(stage));
    }
    this.count.textContent = filter || stage ? this.rows.filter(row => !row.hidden).length + " of " + this.rows.length : "";
    group_rows(this, group);
    this.show_columns();
  }

  // Called by the sorter too: groups keep together, each sorted within.
  sorted() {
    this.rows = [...this.table.tBodies[0].rows].filter(row => !row.classList.contains("group"));
    if (!this.state.group) return;
    group_rows(this, this.state.group);
    this.show_columns();
  }

  csv() {
    const shown = this.heads.map((_, i) => i).filter(i => !this.state.hidden.has(this.key_of(i))), quoted = text => /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
    const full_name = cell => (cell.querySelector("details.name > code") || cell).textContent.trim();
    const value = cell => !cell ? "" : cell.hasAttribute("data-v") ? cell.getAttribute("data-v") : full_name(cell).replace(/^\u2014$/, "");
    const lines = this.rows.filter(row => !row.hidden).map(row => shown.map(i => quoted(value(row.cells[i]))).join(","));
    return [shown.map(i => quoted(this.heads[i].textContent)).join(","), ...lines].join("\n") + "\n";
  }

  write() {
    if (!this.name) return;
    const { filter, stage, group, hidden } = this.state, plain = !filter && !stage && !group && hidden.size === 0;
    write_address({ table: plain ? null : this.name, filter, stage, group, cols: [...hidden].join() });
  }

  read(state) {
    if (!state || !this.name || state.get("table") !== this.name) return;
    const hidden = new Set((state.get("cols") || "").split(",").filter(Boolean));
    Object.assign(this.state, { filter: state.get("filter") || "", stage: state.get("stage") || "", group: kGroupings[state.get("group")] || "", hidden });
    this.filter_input.value = this.state.filter;
    if (this.stage_choice) this.stage_choice.value = this.state.stage;
    if (this.group_choice) this.group_choice.value = this.state.group;
    this.apply();
  }
}
