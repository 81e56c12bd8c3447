// State in the page's address, so that a link shows what one saw: #v=FROM,TO (view), t=FROM,TO (chosen; alone it moves the view
// too), pin=LANE,START, all in nanoseconds of the capture, as the report's text says them; step=N, with=M, q=TEXT; for tables see table_tools.js. A plain #finding-2 is an anchor, as ever.
function address_state() {
  const text = location.hash.slice(1);
  return text.includes("=") ? new URLSearchParams(text) : null;
}

// The entries of others stay.
function write_address(changes) {
  const state = address_state() || new URLSearchParams();
  for (const [key, value] of Object.entries(changes))
    value === null || value === "" ? state.delete(key) : state.set(key, value);
  const text = state.toString().replace(/%2C/g, ",").replace(/%3A/g, ":");
  if (text === "" && !address_state()) return;
  history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
}

function range_of(text, start_ns) {
  const [from, to] = (text || "").split(",").map(Number);
  return Number.isFinite(from) && Number.isFinite(to) && to > from ? { from: from - start_ns, to: to - start_ns } : null;
}

function written_range(range, start_ns) {
  return range ? Math.round(range.from + start_ns) + "," + Math.round(range.to + start_ns) : null;
}

class ExplorerAddress {
  constructor(explorer, picker, search, element) {
    Object.assign(this, { explorer, picker, search, element });
    explorer.on("pause", () => this.write());
    addEventListener("hashchange", () => this.read(true));
  }

  write() {
    const { view, detail, selection, pin, step, other_step } = this.explorer, whole = view.from === 0 && view.to === detail.span;
    write_address({
      v: whole ? null : written_range(view, detail.start_ns), t: written_range(selection, detail.start_ns),
      pin: pin ? pin.lane + "," + (this.explorer.slice(pin).start + detail.start_ns) : null,
      step: step >= 0 ? step : null, with: other_step >= 0 ? other_step : null, q: this.search.query || null,
    });
  }

  // `followed`: a link was, so the timeline comes into sight.
  read(followed) {
    const state = address_state();
    if (!state) return;
    const { start_ns } = this.explorer.detail, chosen = range_of(state.get("t"), start_ns), view = range_of(state.get("v"), start_ns);
    const step = state.has("step") ? Number(state.get("step")) : -1;
    if (state.has("q") && state.get("q") !== this.search.query) this.search.look_for(state.get("q"));
    if (step >= 0) {
      this.explorer.other_step = state.has("with") && this.picker.known(Number(state.get("with"))) ? Number(state.get("with")) : -1;
      this.picker.pick(step);
    }
    if (chosen) this.explorer.select(chosen.from, chosen.to);
    if (view) this.explorer.move(view.from, view.to);
    else if (chosen) this.explorer.show(chosen.from, chosen.to);
    this.read_pin(state.get("pin"));
    const about_timeline = ["t", "v", "pin", "step"].some(key => state.has(key));
    if (about_timeline && (followed || !state.has("table"))) this.element.scrollIntoView({ block: "start" });
  }

  read_pin(text) {
    const { detail } = this.explorer, [lane, moment] = (text || "").split(",").map(Number), start = moment - detail.start_ns;
    if (!text || !detail.lanes[lane]) return;
    for (const window of detail.windows_in(start, start + 1)) {
      const data = detail.window_lanes(window).get(lane), index = data ? data.start.indexOf(start) : -1;
      if (index >= 0) return this.explorer.pin_slice({ lane, window, index }, !location.hash.includes("v="));
    }
  }
}
