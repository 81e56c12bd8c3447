// What is known of the pinned slice, with links to what it belongs to.
import { count_text, plural } from "./count_text.js";
import { announce, button, copy_text, make } from "./dom.js";
import { is_idle_pin } from "./idle.js";
import { say_idle } from "./idle_facts.js";
import { go_to_kind } from "./kind_steps.js";
import { launch_pairs } from "./launches.js";
import { kKernelKinds } from "./palette.js";
import { merged_count } from "./range_sums.js";
import { step_at } from "./steps.js";
import { moment_text, time_text } from "./time_text.js";

export class SlicePanel {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.kernels = new Map(explorer.page_data.kernels.map(kernel => [kernel.name, kernel]));
    this.element = make("section", { class: "slice-panel", "aria-label": "Pinned slice", tabindex: -1 });
    explorer.on("pin", () => this.show());
    this.show();
  }

  show() {
    const { pin } = this.explorer;
    this.element.hidden = !pin;
    if (!pin) return this.element.replaceChildren();
    const facts = this.facts(pin), title = this.title(pin);
    const copied = () => copy_text([title, ...facts.map(([name, , text]) => name + ": " + text)].join("\n"));
    this.element.replaceChildren(
      make("div", { class: "panel-head" }, make("h3", {}, title), button("\u2039", "The one before of its kind", () => go_to_kind(this.explorer, -1), { class: "kind-before", "data-tip": "Before it, of its kind: ," }),
           button("\u203a", "The next of its kind", () => go_to_kind(this.explorer, 1), { class: "kind-next", "data-tip": "Next of its kind: ." }), button("Copy", "Copy what is known of this slice", copied, { class: "copy" }),
           button("\u00d7", "Unpin", () => this.explorer.pin_slice(null))),
      make("dl", { class: "slice-facts" }, ...facts.flatMap(([name, shown]) => [make("dt", {}, name), make("dd", {}, ...[shown].flat())])));
    announce(title + ", " + facts.slice(0, 2).map(([name, , text]) => name + " " + text).join(", "));
  }

  /** @param {Pin} pin */
  title(pin) {
    return this.explorer.detail.name_of(pin.lane, this.explorer.slice(pin).what) || "(no name)";
  }

  // [name, what is shown, the same as text]
  /** @param {Pin} pin */
  facts(pin) {
    const { detail } = this.explorer, { start, duration, what, data } = this.explorer.slice(pin), kernel = detail.kernel_of(pin.lane, what);
    /** @type {Fact[]} */
    const out = [];
    /** @type {Say} */
    const say = (name, text, shown) => {
      if (text) out.push([name, shown || text, text]);
    };
    const merged = merged_count(data, pin.index);
    say(merged > 1 ? "Extent" : "Duration", time_text(duration));
    if (merged > 1) say("Merged", "the longest of " + plural(merged, "slice") + " that run.json merges, gaps included");
    say("Start", moment_text(start + detail.start_ns) + this.in_step(start));
    if (is_idle_pin(detail, pin)) say_idle(this.explorer, pin, say, each => this.go(each));
    if (detail.is_sampled(pin.lane)) this.say_sampled(say, pin);
    say("Lane", detail.lanes[pin.lane].title);
    for (const [call, launched] of launch_pairs(this.explorer, pin).slice(0, 8)) this.say_launch(say, pin, call, launched);
    if (kernel) this.say_kernel(say, kernel);
    this.say_name(say, "Operator", data.operator ? detail.operators[data.operator[pin.index]] : undefined);
    this.say_name(say, "Layer", data.layer ? detail.layers[data.layer[pin.index]] : undefined);
    if (data.site && data.site[pin.index] >= 0) this.say_site(say, data.site[pin.index]);
    if (kernel) this.say_measured(say, detail.names[kernel.name]);
    const { trace_file } = this.explorer.page_data;
    say("In the trace", trace_file && trace_file + " at " + moment_text(trace_time(this.explorer, start)));
    return out;
  }

  // Of a slice without an operator or a layer the name is undefined.
  /** @param {Say} say @param {string} title @param {number | undefined} name */
  say_name(say, title, name) {
    if (name !== undefined) say(title, this.explorer.detail.names[name], make("code", {}, this.explorer.detail.names[name]));
  }

  // The stacks of a stretch of samples, the most frequent one in full.
  /** @param {Say} say @param {Pin} pin */
  say_sampled(say, pin) {
    const { stacks, lanes } = this.explorer.detail, data = stacks.slices(lanes[pin.lane].place || 0), from = data.first[pin.index], count = data.count[pin.index];
    /** @type {Map<number, number>} */
    const seen = new Map();
    for (let i = from; i < from + count; ++i) seen.set(data.stack[i], (seen.get(data.stack[i]) || 0) + 1);
    const [[stack, samples]] = [...seen].sort((a, b) => b[1] - a[1]), lines = stacks.lines_of(stack), { what } = this.explorer.slice(pin);
    say("Samples", plural(count, "sample") + ", one about every " + time_text(stacks.period_ns) + (stacks.thinned_text ? "; listed: " + stacks.thinned_text : ""));
    say("In all", plural(stacks.by_function()[what].samples, "sample") + " have " + stacks.function_text(what) + " in their stack");
    say(seen.size > 1 ? "Stack of " + count_text(samples) + " of them" : "Stack", lines.join(" < "), make("ol", { class: "plain stack" }, ...lines.map(line => make("li", {}, make("code", {}, line)))));
  }

  // A sample tells the line of a call only where no other call lies between.
  /** @param {Say} say @param {number} site */
  say_site(say, site) {
    const { detail } = this.explorer, place = detail.names[detail.sites[site]], nearby = detail.sites_nearby[site];
    const note = nearby ? " (nearest sample, up to " + time_text(detail.sample_period_ns) + " away)" : "";
    say(nearby ? "Python nearby" : "Python", place + note, [make("code", {}, place), note]);
  }

  /** @param {number} start */
  in_step(start) {
    const { steps } = this.explorer.detail, step = step_at(steps, start);
    return step < 0 ? "" : ", " + time_text(start - steps.start[step]) + " into " + this.explorer.detail.stage_name(steps.stage[step]) + " " + (steps.position[step] + 1);
  }

  /** @param {Say} say @param {Pin} pin @param {Pin} call @param {Pin} launched */
  say_launch(say, pin, call, launched) {
    const other = pin.lane === call.lane && pin.index === call.index ? launched : call, { detail } = this.explorer;
    const from = this.explorer.slice(call), to = this.explorer.slice(launched), wait = to.start - from.start;
    const name = detail.name_of(other.lane, this.explorer.slice(other).what);
    const text = name + (other === call ? ", " + time_text(wait) + " before the start" : ", starts " + time_text(wait) + " after the call");
    say(other === call ? "Launched by" : "Launches", text, [button(name, "Go to " + name, () => this.go(other), { class: "link" }), text.slice(name.length)]);
  }

  /** @param {Pin} pin */
  go(pin) {
    this.explorer.pin_slice(pin, true);
    this.element.focus({ preventScroll: true });
  }

  /** @param {Say} say @param {Kernel} kernel */
  say_kernel(say, kernel) {
    const full = this.explorer.detail.names[kernel.name];
    say("Kind", kKernelKinds[kernel.kind] || kernel.kind);
    if (kernel.grid) say("Grid", kernel.grid.join(" \u00d7 "));
    if (kernel.block) say("Block", kernel.block.join(" \u00d7 "));
    if (kernel.registers > 0) say("Registers", count_text(kernel.registers) + " a thread");
    if (kernel.shared_bytes > 0) say("Shared memory", count_text(kernel.shared_bytes) + " bytes");
    say("Full name", full, make("code", { class: "full-name" }, full));
  }

  /** @param {Say} say @param {string} name */
  say_measured(say, name) {
    const known = this.kernels.get(name);
    if (!known) return;
    for (const counter of known.counters || []) say(counter.title, counter.value);
    say("Match", known.proof);
    say("Counters", known.note);
    const links = [[known.id, "Row in the table of kernels"], [known.roofline, "Point in the roofline"]];
    const present = links.filter(([id]) => document.getElementById(id));
    if (present.length > 0) say("See", present.map(([, text]) => text).join(", "), present.flatMap(([id, text], i) => [i ? ", " : "", make("a", { href: "#" + id }, text)]));
  }
}

/** @param {Explorer} explorer @param {number} moment */
export function trace_time(explorer, moment) {
  return moment + explorer.detail.start_ns;
}
