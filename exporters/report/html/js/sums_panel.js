// The sums of what is chosen, or of what is in view where nothing is.
import { count_text, plural } from "./count_text.js";
import { announce, button, copy_text, make } from "./dom.js";
import { range_sums, step_bins } from "./range_sums.js";
import { step_difference } from "./step_difference.js";
import { budget_parts, sums_text, whole_text } from "./sums_text.js";
import { moment_text, share_text, time_text } from "./time_text.js";

const kMostSums = 10, kNoneHere = "None in this range.";

export class SumsPanel {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.element = make("section", { class: "sums-panel", "aria-label": "Sums of the time range" });
    this.shown = "";
    for (const topic of /** @type {const} */ (["view", "selection", "pin", "steps", "query", "lanes"])) explorer.on(topic, () => this.element.setAttribute("aria-busy", "true"));
    explorer.on("pause", () => {
      this.show();
      this.element.setAttribute("aria-busy", "false");
    });
  }

  show() {
    const { detail, selection, view } = this.explorer, range = selection || view;
    const key = [range.from, range.to, Boolean(selection), this.explorer.step, this.explorer.other_step].join();
    if (key === this.shown) return;
    this.shown = key;
    const sums = range_sums(detail, range.from, range.to), own = this.chosen_step(range);
    if (own && Math.abs(own.reduce((sum, ns) => sum + (ns || 0), 0) - sums.whole) < 1) sums.bins = own;  // else it is of some of the GPUs alone
    const parts = [this.head(sums, Boolean(selection)), this.note(sums), this.busy(sums)];
    const difference = step_difference(this.explorer);
    if (difference) parts.push(difference);
    parts.push(this.budget(sums), make("div", { class: "two" }, this.table("Kernels and copies", sums.kernels, sums.whole, sums.merged > 0 ? "Not known: slices are merged." : kNoneHere), this.operators(sums)));
    this.element.replaceChildren(...parts);
    if (selection) announce("Selected: " + time_text(sums.to - sums.from));
  }

  /** @param {TimeRange} range */
  chosen_step({ from, to }) {
    const { step, detail } = this.explorer, { start, wall } = detail.steps;
    return step >= 0 && start[step] === from && start[step] + wall[step] === to ? step_bins(detail, step) : null;
  }

  /** @param {RangeSums} sums @param {boolean} chosen */
  head(sums, chosen) {
    const title = (chosen ? "Selected: " : "In view: ") + time_text(sums.to - sums.from) + " from " + moment_text(sums.from + this.explorer.detail.start_ns);
    const copied = () => copy_text(sums_text(sums, this.explorer.detail, title, this.busy_text(sums)));
    return make("div", { class: "panel-head" }, make("h3", {}, title), button("Copy", "Copy these sums as text", copied, { class: "copy" }),
                chosen ? button("Clear", "Clear the selected range", () => this.explorer.select(0, 0)) : null);
  }

  gpus() {
    return this.explorer.detail.devices.filter(each => each.device !== undefined);
  }

  /** @param {RangeSums} sums */
  note(sums) {
    const { overview } = this.explorer.detail, gpus = this.gpus();
    const added = gpus.length > 1 ? " Added over " + gpus.map(each => each.title).join(" and ") + "." : "";
    if (this.explorer.detail.timeline_only) return make("p", { class: "muted small" }, this.timeline_note(sums));
    if (sums.exact) return make("p", { class: "muted small" }, "Exact: every slice of this range is in the page. " + whole_text(sums) + added);
    return make("p", { class: "muted small" }, "Approximate: by whole buckets of " + time_text(overview.bucket_ns * Math.max(overview.kernels.scale || 1, overview.operators.scale || 1)) + "; a kernel counts where it starts. " + whole_text(sums) + added);
  }

  // Kernels that run at once count each: then their sum is more than the GPU's busy time.
  /** @param {RangeSums} sums */
  busy_text(sums) {
    if (sums.merged > 0) return "";
    if (sums.busy === 0) return "No GPU works in this range.";
    const added = [...sums.kernels.values()].reduce((sum, { ns }) => sum + ns, 0), text = "GPU busy " + time_text(sums.busy) + ", " + share_text(sums.busy, sums.whole) + " of the range.";
    return text + (sums.exact && added > sums.busy ? " Kernels and copies overlap: they add up to " + time_text(added) + "." : "");
  }

  /** @param {RangeSums} sums */
  busy(sums) {
    const text = this.busy_text(sums);
    return text && make("p", { class: "sum-busy" }, text);
  }

  // run.json has one iteration, with neighbours of crowded lanes merged.
  /** @param {RangeSums} sums */
  timeline_note({ merged }) {
    const left_out = this.explorer.detail.slices_left_out || 0;
    const text = "From run.json alone, without the bundle's detail.json.gz. " + (merged > 0 ? plural(merged, "slice") + " of the GPU are merged here: their times by name are not known." : "Every slice here is listed by itself.");
    return text + (left_out > 0 ? " Of this iteration " + plural(left_out, "slice") + (left_out === 1 ? " is" : " are") + " left out." : "");
  }

  /** @param {RangeSums} sums */
  budget(sums) {
    const { detail } = this.explorer, parts = budget_parts(sums, this.explorer.page_data.bins, bin => detail.is_idle(bin));
    if (parts.length === 0 && detail.timeline_only) return make("p", { class: "muted" }, "The budget of a range needs detail.json.gz. The stages' budgets are in run.json.");
    if (parts.length === 0) return make("p", { class: "muted" }, "No stage runs in this range: it has no budget.");
    const bar = make("div", { class: "sum-bar", role: "img", "aria-label": "Budget of the range" }), list = make("ul", { class: "legend" });
    for (const { title, colour, ns } of parts) {
      const part = make("span", { class: colour, "data-tip": title + ": " + time_text(ns) });
      part.style.flexGrow = String(ns / sums.whole);
      bar.append(part);
      list.append(make("li", {}, make("span", { class: "key " + colour }), make("b", {}, share_text(ns, sums.whole)), " " + title + ", " + time_text(ns)));
    }
    return make("div", { class: "sum-budget", "data-whole": sums.whole }, bar, list);
  }

  /** @param {RangeSums} sums */
  operators(sums) {
    const { detail } = this.explorer, captured = detail.operators.some(name => detail.names[name]);
    return this.table("Operators", sums.operators, sums.whole, captured ? kNoneHere : detail.timeline_only ? "Not in the timeline of run.json." : "The trace has no operators.");
  }

  /** @param {string} title @param {Map<number, Sum>} sums @param {number} whole @param {string} none */
  table(title, sums, whole, none) {
    const rows = [...sums].filter(([name]) => this.explorer.detail.names[name]).sort((a, b) => b[1].ns - a[1].ns);
    if (rows.length === 0) return make("div", {}, make("h4", {}, title), make("p", { class: "muted" }, none));
    const body = rows.slice(0, kMostSums).map(([name, { ns, calls }]) => make("tr", {},
      make("th", { scope: "row", title: this.explorer.detail.names[name] }, make("code", {}, this.explorer.detail.names[name])), make("td", { class: "n" }, time_text(ns)),
      make("td", { class: "n" }, share_text(ns, whole)), make("td", { class: "n" }, count_text(calls))));
    const heads = ["Name", "Time", "Share", "Calls"].map((head, i) => make("th", { scope: "col", class: i ? "n" : "" }, head));
    const more = rows.length > kMostSums ? make("p", { class: "muted small" }, "and " + (rows.length - kMostSums) + " more") : null;
    return make("div", { class: "sum-table" }, make("h4", {}, title), make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body)), more);
  }
}
