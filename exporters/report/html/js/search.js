// Finds kernels, ranges, calls, copies, operators, idle time by its bin, and functions of the sampled stacks, by name. What does not match fades; N goes to the next match.
import { count_text, plural } from "./count_text.js";
import { announce, button, existing, later, make } from "./dom.js";
import { merged_count } from "./range_sums.js";
import { time_text } from "./time_text.js";

const kMostResults = 12;
const kKindTexts = { ranges: "range", api: "call", gpu: "copy", bins: "idle time", samples: "function" };

export class Matches {
  /** @param {Detail} detail @param {string[]} words */
  constructor(detail, words) {
    this.detail = detail;
    /** @type {FoundPin[] | null} */
    this.found = null;
    /** @param {string} text */
    const fits = text => words.every(word => text.includes(word));
    this.names = new Set(detail.names.map((name, id) => fits(name.toLowerCase()) ? id : -1).filter(id => id >= 0));
    this.functions = new Set(detail.stacks.functions.map(({ name, file }, id) => fits((detail.names[name] + " " + detail.names[file]).toLowerCase()) ? id : -1).filter(id => id >= 0));
    /** @type {Set<number>} */
    this.stacks = new Set();
    if (this.functions.size > 0) for (const id of this.functions) for (const stack of detail.stacks.by_function()[id].stacks) this.stacks.add(stack);
    this.kernels = new Set(detail.kernels.map((kernel, id) => this.names.has(kernel.name) || this.names.has(kernel.short) ? id : -1).filter(id => id >= 0));
  }

  /** @param {number} lane @param {number} what */
  has_slice(lane, what) {
    if (this.detail.is_sampled(lane)) return this.functions.has(what);
    if (this.detail.lanes[lane].kind === "bins" && !this.detail.is_idle(what)) return false;  // streams say what runs
    return this.detail.kernel_of(lane, what) ? this.kernels.has(what) : this.names.has(this.detail.name_id(lane, what));
  }

  /** @param {LaneSlices} data @param {number} index */
  has_operator(data, index) {
    return data.operator !== undefined && data.operator[index] >= 0 && this.names.has(this.detail.operators[data.operator[index]]);
  }

  // Of samples one that has the function anywhere in its stack is enough.
  /** @param {number} lane @param {LaneSlices} data @param {number} index */
  has(lane, data, index) {
    if (this.detail.is_sampled(lane)) return this.stacks.size > 0 && this.has_stack(lane, index, this.stacks);
    return this.has_slice(lane, data.what[index]) || this.has_operator(data, index);
  }

  /** @param {number} lane @param {number} index @param {Set<number>} stacks */
  has_stack(lane, index, stacks) {
    const { first, count, stack } = this.detail.stacks.slices(this.detail.lanes[lane].place || 0);
    for (let i = first[index]; i < first[index] + count[index]; ++i) if (stacks.has(stack[i])) return true;
    return false;
  }

  // Whether a slice is one of what the list of results names.
  /** @param {FoundName} entry @param {Pin} pin */
  is(entry, pin) {
    const { detail } = this, data = detail.slices_of(pin);
    if (entry.kind === "function") return detail.is_sampled(pin.lane) && this.has_stack(pin.lane, pin.index, detail.stacks.by_function()[entry.function ?? 0].stacks);
    if (detail.is_sampled(pin.lane)) return false;
    if (entry.kind === "operator") return data.operator !== undefined && data.operator[pin.index] >= 0 && detail.operators[data.operator[pin.index]] === entry.name;
    return detail.name_id(pin.lane, data.what[pin.index]) === entry.name;
  }

  // Every match in the windows and in the samples, in the order of time.
  all() {
    if (this.found) return this.found;
    /** @type {FoundPin[]} */
    const found = [];
    this.detail.windows.forEach((_, window) => {
      for (const [lane, data] of this.detail.window_lanes(window))
        for (let index = 0; index < data.what.length; ++index)
          if (this.has(lane, data, index)) found.push({ lane, window, index, start: data.start[index] });
    });
    if (this.stacks.size > 0) this.detail.lanes.forEach((_, lane) => {
      if (!this.detail.is_sampled(lane)) return;
      const { start } = this.detail.samples_of(lane);
      for (let index = 0; index < start.length; ++index)
        if (this.has_stack(lane, index, this.stacks)) found.push({ lane, window: -1, index, start: start[index] });
    });
    this.found = found.sort((a, b) => a.start - b.start);
    return found;
  }

  // By name: how often and how long. Kernels, operators and samples are counted over the whole capture, all else where every slice is listed.
  by_name() {
    /** @type {Map<string, FoundName>} */
    const out = new Map();
    /** @param {number} name @param {string} kind @param {number} ns @param {number} calls @param {boolean} merged */
    const add = (name, kind, ns, calls, merged) => {
      const key = kind + name, entry = out.get(key) || { name, kind, ns: 0, calls: 0, merged: false };
      entry.merged = entry.merged || merged;
      entry.ns += ns;
      entry.calls += calls;
      out.set(key, entry);
    };
    const { kernels } = this.detail.overview;
    kernels.kernel.forEach((kernel, i) => this.kernels.has(kernel) && add(this.detail.kernels[kernel].short, "kernel", kernels.ns[i], kernels.calls[i], false));
    const { operators } = this.detail.overview;
    operators.operator.forEach((each, i) => this.names.has(this.detail.operators[each]) && add(this.detail.operators[each], "operator", operators.ns[i], operators.calls[i], false));
    for (const id of this.functions) {
      const { samples } = this.detail.stacks.by_function()[id];
      if (samples > 0) out.set("function" + id, { name: this.detail.stacks.functions[id].name, function: id, kind: "function", ns: samples * this.detail.sample_period_ns * this.detail.stacks.data.every, calls: samples, merged: false });
    }
    for (const pin of this.all()) {
      const { lane, index } = pin, data = this.detail.slices_of(pin), what = data.what[index];
      if (this.detail.is_sampled(lane) || !this.has_slice(lane, what)) continue;  // counted above
      const kernel = Boolean(this.detail.kernel_of(lane, what));
      if (kernel && !this.detail.timeline_only) continue;  // counted above
      const kind = kernel ? "kernel" : kKindTexts[this.detail.lanes[lane].kind];
      add(this.detail.name_id(lane, what), kind, data.duration[index], 1, merged_count(data, index) > 1);
    }
    return [...out.values()].sort((a, b) => b.ns - a.ns);
  }
}

export class Search {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.query = "";
    /** @type {FoundName | null} */
    this.chosen = null;
    this.input = make("input", {
      type: "search", class: "search", placeholder: "Search  /", "aria-label": "Search kernels, operators, ranges, calls and functions", "aria-controls": "search-results",
      autocomplete: "off", spellcheck: "false",
    });
    this.results = make("div", { class: "search-results", id: "search-results", hidden: true });
    this.count = make("span", { class: "search-count muted", role: "status" });
    this.steps = make("span", { class: "search-steps", hidden: true }, button("\u2039", "The match before", () => this.go(-1)), this.count, button("\u203a", "The next match", () => this.go(1)));
    this.element = make("div", { class: "search-box" }, this.input, this.steps, this.results);
    explorer.on("pin", () => this.show_count());
    explorer.on("query", () => this.show_count());
    this.input.addEventListener("input", later(80, () => this.look_for(this.input.value)));
    this.input.addEventListener("keydown", event => this.typed(event));
    this.element.addEventListener("focusout", event => {
      if (!(event.relatedTarget instanceof Node && this.element.contains(event.relatedTarget))) this.results.hidden = true;
    });
    this.input.addEventListener("focus", () => this.results.hidden = this.results.childElementCount === 0);
  }

  // "3 of 50": which of the matches that are listed slice by slice is pinned.
  show_count() {
    const { matches, pin } = this.explorer;
    this.steps.hidden = !matches;
    if (!matches) return;
    const all = this.listed(), at = pin ? all.findIndex(each => same_slice(each, pin)) : -1;
    this.count.textContent = at >= 0 ? count_text(at + 1) + " of " + count_text(all.length) : count_text(all.length);
  }

  // The matches that next and previous go through: of one name, where one was chosen.
  listed() {
    const { matches } = this.explorer, { chosen } = this;
    if (!matches) return [];
    return chosen ? matches.all().filter(each => matches.is(chosen, each)) : matches.all();
  }

  open() {
    this.input.scrollIntoView({ block: "nearest" });
    this.input.focus();
    this.input.select();
  }

  /** @param {KeyboardEvent} event */
  typed(event) {
    if (event.key === "Enter") {
      if (this.input.value !== this.query) this.look_for(this.input.value);
      this.go(event.shiftKey ? -1 : 1);
      this.results.hidden = true;  // it would cover what was found
    } else if (event.key === "Escape") {
      this.input.value = "";
      this.look_for("");
      existing(".explorer canvas[tabindex]").focus();
    } else if (event.key === "ArrowDown" && !this.results.hidden) {
      this.results.querySelector("button")?.focus();
      event.preventDefault();
    }
  }

  /** @param {string} text */
  look_for(text) {
    this.query = text;
    this.chosen = null;
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    this.explorer.matches = words.length > 0 ? new Matches(this.explorer.detail, words) : null;
    if (this.input.value !== text) this.input.value = text;
    this.list();
    this.explorer.tell("query");
  }

  list() {
    const names = this.explorer.matches ? this.explorer.matches.by_name() : [];
    /** @type {HTMLElement[]} */
    const rows = names.slice(0, kMostResults).map(entry => {
      const { detail } = this.explorer, name = entry.function === undefined ? detail.names[entry.name] : detail.stacks.function_text(entry.function), row = button("", name, () => this.choose(entry));
      const how_much = entry.merged ? "merged with neighbours" : entry.function !== undefined ? plural(entry.calls, "sample") + ", about " + time_text(entry.ns) : count_text(entry.calls) + " \u00d7, " + time_text(entry.ns);
      row.append(make("span", { class: "result-name" }, name), make("span", { class: "muted" }, entry.kind + ", " + how_much));
      return row;
    });
    if (this.explorer.matches && names.length === 0) rows.push(make("p", { class: "muted" }, "No name matches."));
    if (names.length > kMostResults) rows.push(make("p", { class: "muted" }, "and " + plural(names.length - kMostResults, "name") + " more"));
    this.results.replaceChildren(...rows);
    this.results.hidden = rows.length === 0 || document.activeElement !== this.input;
    if (this.explorer.matches) announce(plural(names.length, "name") + " found");
  }

  /** @param {FoundName} entry */
  choose(entry) {
    this.chosen = entry;
    this.go(1);
    this.show_count();
    this.results.hidden = true;
    existing(".explorer canvas[tabindex]").focus({ preventScroll: true });
  }

  // To the next match after the pinned slice (or the left edge), of one name where one was chosen.
  /** @param {number} by */
  go(by) {
    const { matches, pin, view } = this.explorer;
    if (!matches) return;
    const all = this.listed();
    if (all.length === 0) return this.go_to_bucket();
    const here = pin ? this.explorer.slice(pin).start : view.from;
    const at = pin ? all.findIndex(each => same_slice(each, pin)) : -1, later_one = all.findIndex(each => each.start >= here);
    const next = at >= 0 ? at + by : by > 0 ? Math.max(0, later_one) : later_one - 1;
    const { lane, window, index } = all[(next + all.length) % all.length];
    this.explorer.pin_slice({ lane, window, index }, true);
  }

  // A kernel that no window lists still has a bucket.
  go_to_bucket() {
    const { chosen } = this, { detail, matches } = this.explorer, { kernels } = detail.overview, wide = detail.overview.bucket_ns * (kernels.scale || 1);
    let bucket = 0;
    for (let i = 0; i < kernels.kernel.length; ++i) {
      bucket += kernels.bucket[i];
      if (!matches || !matches.kernels.has(kernels.kernel[i]) || (chosen && detail.kernels[kernels.kernel[i]].short !== chosen.name)) continue;
      return this.explorer.show(bucket * wide, (bucket + 1) * wide);
    }
  }
}

/** @param {Pin} one @param {Pin} other */
function same_slice(one, other) {
  return one.lane === other.lane && one.index === other.index && one.window === other.window;
}
