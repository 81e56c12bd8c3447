// Finds kernels, ranges, calls, copies and operators by name. What does not match fades; N goes to the next match.
import { count_text, plural } from "./count_text.js";
import { announce, button, existing, later, make } from "./dom.js";
import { merged_count } from "./range_sums.js";
import { time_text } from "./time_text.js";

const kMostResults = 12;

export class Matches {
  /** @param {Detail} detail @param {string[]} words */
  constructor(detail, words) {
    this.detail = detail;
    /** @type {FoundPin[] | null} */
    this.found = null;
    /** @param {string} text */
    const fits = text => words.every(word => text.includes(word));
    this.names = new Set(detail.names.map((name, id) => fits(name.toLowerCase()) ? id : -1).filter(id => id >= 0));
    this.kernels = new Set(detail.kernels.map((kernel, id) => this.names.has(kernel.name) || this.names.has(kernel.short) ? id : -1).filter(id => id >= 0));
  }

  /** @param {number} lane @param {number} what */
  has_slice(lane, what) {
    return this.detail.kernel_of(lane, what) ? this.kernels.has(what) : this.names.has(this.detail.name_id(lane, what));
  }

  /** @param {LaneSlices} data @param {number} index */
  has_operator(data, index) {
    return data.operator !== undefined && data.operator[index] >= 0 && this.names.has(this.detail.operators[data.operator[index]]);
  }

  // Every match in the windows, in the order of time.
  all() {
    if (this.found) return this.found;
    /** @type {FoundPin[]} */
    const found = [];
    this.detail.windows.forEach((_, window) => {
      for (const [lane, data] of this.detail.window_lanes(window))
        for (let index = 0; index < data.what.length; ++index)
          if (this.has_slice(lane, data.what[index]) || this.has_operator(data, index)) found.push({ lane, window, index, start: data.start[index] });
    });
    this.found = found.sort((a, b) => a.start - b.start);
    return found;
  }

  // By name: how often and how long. Kernels are counted over the whole capture, all else where every slice is listed.
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
    for (const pin of this.all()) {
      const { lane, index } = pin, data = this.detail.slices_of(pin), what = data.what[index];
      const kernel = Boolean(this.detail.kernel_of(lane, what));
      if (kernel && !this.detail.timeline_only) continue;  // counted above
      const kind = kernel ? "kernel" : { ranges: "range", api: "call", gpu: "copy" }[this.detail.lanes[lane].kind];
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
    this.input = make("input", {
      type: "search", class: "search", placeholder: "Search  /", "aria-label": "Search kernels, ranges and calls", "aria-controls": "search-results",
      autocomplete: "off", spellcheck: "false",
    });
    this.results = make("div", { class: "search-results", id: "search-results", hidden: true });
    this.element = make("div", { class: "search-box" }, this.input, this.results);
    this.input.addEventListener("input", later(80, () => this.look_for(this.input.value)));
    this.input.addEventListener("keydown", event => this.typed(event));
    this.element.addEventListener("focusout", event => {
      if (!(event.relatedTarget instanceof Node && this.element.contains(event.relatedTarget))) this.results.hidden = true;
    });
    this.input.addEventListener("focus", () => this.results.hidden = this.results.childElementCount === 0);
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
      const name = this.explorer.detail.names[entry.name], row = button("", name, () => this.choose(entry));
      const how_much = entry.merged ? "merged with neighbours" : count_text(entry.calls) + " \u00d7, " + time_text(entry.ns);
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
    this.go(1, entry);
    this.results.hidden = true;
    existing(".explorer canvas[tabindex]").focus({ preventScroll: true });
  }

  // To the next match after the pinned slice (or the left edge), of one name where one was chosen.
  /** @param {number} by @param {{ name: number }} [entry] */
  go(by, entry) {
    const { matches, pin, detail, view } = this.explorer;
    if (!matches) return;
    const all = entry ? matches.all().filter(each => detail.name_id(each.lane, detail.slices_of(each).what[each.index]) === entry.name) : matches.all();
    if (all.length === 0) return this.go_to_bucket(entry);
    const here = pin ? this.explorer.slice(pin).start : view.from;
    /** @param {Pin} each */
    const same = each => pin !== null && each.lane === pin.lane && each.index === pin.index && each.window === pin.window;
    const at = all.findIndex(same), later_one = all.findIndex(each => each.start >= here);
    const next = at >= 0 ? at + by : by > 0 ? later_one : later_one - 1;
    const { lane, window, index } = all[(next + all.length) % all.length];
    this.explorer.pin_slice({ lane, window, index }, true);
  }

  // A kernel that no window lists still has a bucket.
  /** @param {{ name: number }} [entry] */
  go_to_bucket(entry) {
    const { detail, matches } = this.explorer, { kernels } = detail.overview, wide = detail.overview.bucket_ns * (kernels.scale || 1);
    let bucket = 0;
    for (let i = 0; i < kernels.kernel.length; ++i) {
      bucket += kernels.bucket[i];
      if (!matches || !matches.kernels.has(kernels.kernel[i]) || (entry && detail.kernels[kernels.kernel[i]].short !== entry.name)) continue;
      return this.explorer.show(bucket * wide, (bucket + 1) * wide);
    }
  }
}
