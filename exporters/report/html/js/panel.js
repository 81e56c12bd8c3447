// What is known of the pinned slice, with links to what it belongs to.
class SlicePanel {
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
      make("div", { class: "panel-head" }, make("h3", {}, title), button("Copy", "Copy what is known of this slice", copied, { class: "copy" }),
           button("\u00d7", "Unpin", () => this.explorer.pin_slice(null))),
      make("dl", { class: "slice-facts" }, ...facts.flatMap(([name, shown]) => [make("dt", {}, name), make("dd", {}, ...[shown].flat())])));
    announce(title + ", " + facts.slice(0, 2).map(([name, , text]) => name + " " + text).join(", "));
  }

  title({ lane, window, index }) {
    return this.explorer.detail.name_of(lane, this.explorer.slice({ lane, window, index }).what) || "(no name)";
  }

  // [name, what is shown, the same as text]
  facts(pin) {
    const { detail } = this.explorer, { start, duration, what, data } = this.explorer.slice(pin), kernel = detail.kernel_of(pin.lane, what);
    const out = [], say = (name, text, shown) => text && out.push([name, shown || text, text]);
    const merged = merged_count(data, pin.index);
    say(merged > 1 ? "Extent" : "Duration", time_text(duration));
    if (merged > 1) say("Merged", "the longest of " + plural(merged, "slice") + " that run.json merges, gaps included");
    say("Start", moment_text(start + detail.start_ns) + this.in_step(start));
    say("Lane", detail.lanes[pin.lane].title);
    for (const [call, launched] of launch_pairs(this.explorer, pin).slice(0, 8)) this.say_launch(say, pin, call, launched);
    if (kernel) this.say_kernel(say, kernel);
    for (const [title, column, names] of [["Operator", data.operator, detail.operators], ["Layer", data.layer, detail.layers]])
      if (column && column[pin.index] >= 0) say(title, detail.names[names[column[pin.index]]], make("code", {}, detail.names[names[column[pin.index]]]));
    if (data.site && data.site[pin.index] >= 0) this.say_site(say, data.site[pin.index]);
    if (kernel) this.say_measured(say, detail.names[kernel.name]);
    const { trace_file } = this.explorer.page_data;
    say("In the trace", trace_file && trace_file + " at " + moment_text(trace_time(this.explorer, start)));
    return out;
  }

  // A sample tells the line of a call only where no other call lies between.
  say_site(say, site) {
    const { detail } = this.explorer, place = detail.names[detail.sites[site]], nearby = (detail.sites_nearby || [])[site];
    const note = nearby ? " (nearest sample, up to " + time_text(detail.sample_period_ns) + " away)" : "";
    say(nearby ? "Python nearby" : "Python", place + note, [make("code", {}, place), note]);
  }

  in_step(start) {
    const { steps } = this.explorer.detail, step = step_at(steps, start);
    return step < 0 ? "" : ", " + time_text(start - steps.start[step]) + " into " + this.explorer.detail.stage_name(steps.stage[step]) + " " + (steps.position[step] + 1);
  }

  say_launch(say, pin, call, launched) {
    const other = pin.lane === call.lane && pin.index === call.index ? launched : call, { detail } = this.explorer;
    const from = this.explorer.slice(call), to = this.explorer.slice(launched), wait = to.start - from.start;
    const name = detail.name_of(other.lane, this.explorer.slice(other).what);
    const text = name + (other === call ? ", " + time_text(wait) + " before the start" : ", starts " + time_text(wait) + " after the call");
    say(other === call ? "Launched by" : "Launches", text, [button(name, "Go to " + name, () => this.go(other), { class: "link" }), text.slice(name.length)]);
  }

  go(pin) {
    this.explorer.pin_slice(pin, true);
    this.element.focus({ preventScroll: true });
  }

  say_kernel(say, kernel) {
    const full = this.explorer.detail.names[kernel.name], shape = sizes => sizes.join(" \u00d7 ");
    say("Kind", kKernelKinds[kernel.kind] || kernel.kind);
    if (kernel.grid) say("Grid", shape(kernel.grid));
    if (kernel.block) say("Block", shape(kernel.block));
    if (kernel.registers > 0) say("Registers", count_text(kernel.registers) + " a thread");
    if (kernel.shared_bytes > 0) say("Shared memory", count_text(kernel.shared_bytes) + " bytes");
    say("Full name", full, make("code", { class: "full-name" }, full));
  }

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

// The step that runs at a moment: the innermost, which starts last.
function step_at(steps, moment) {
  let found = -1;
  for (let i = 0; i < steps.start.length; ++i)
    if (steps.start[i] <= moment && moment < steps.start[i] + steps.wall[i] && (found < 0 || steps.start[i] >= steps.start[found])) found = i;
  return found;
}

function trace_time(explorer, moment) {
  return moment + explorer.detail.start_ns;
}
