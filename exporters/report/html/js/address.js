// State in the page's address, so that a link shows what one saw: #v=FROM,TO (view), t=FROM,TO (chosen; alone it moves the view
// too), pin=LANE,START, all in nanoseconds of the capture, as the report's text says them; step=N, with=M, q=TEXT; of tables NAME.sort and more, see table_tools.js.
// A plain #finding-2 is an anchor, as ever; beside state it is at=finding-2.
function state_of(hash) {
  const text = hash.slice(1);
  return text.includes("=") ? new URLSearchParams(text) : null;
}

function address_state() {
  return state_of(location.hash);
}

const kSeen = { seen: true };  // an entry of the history that back and forward lead to, not a link that was just followed

function set_address(state, pushed) {
  const text = state.toString().replace(/%2C/g, ",").replace(/%3A/g, ":");
  if (text === "" && !address_state()) return;
  const url = text ? "#" + text : location.pathname + location.search;
  pushed ? history.pushState(kSeen, "", url) : history.replaceState(kSeen, "", url);
}

// The entries of others stay. `pushed`: back leads to what was before.
function write_address(changes, pushed) {
  const state = address_state() || new URLSearchParams();
  for (const [key, value] of Object.entries(changes))
    value === null || value === "" ? state.delete(key) : state.set(key, value);
  set_address(state, pushed);
}

const kTimelineKeys = ["t", "v", "pin", "step", "with"];

function timeline_part(hash) {
  const state = state_of(hash);
  return state ? kTimelineKeys.map(key => state.get(key)).join(";") : "";
}

// A link to a place in the page says nothing of tables and timeline, and one to a moment nothing of tables: those stay as they are.
function keep_state(old_hash, link_followed) {
  const before = state_of(old_hash), after = address_state(), anchor = after ? "" : location.hash.slice(1);
  const kept = after ? link_followed ? [...before || []].filter(([key]) => key.includes(".")) : [] : anchor && before ? [...before].filter(([key]) => key !== "at") : [];
  const state = after || new URLSearchParams();
  for (const [key, value] of kept)
    if (!state.has(key)) state.set(key, value);
  if (kept.length > 0 && anchor) state.set("at", anchor);
  kept.length > 0 ? set_address(state) : history.replaceState(kSeen, "");
}

// To what an address names beside its state; a row comes out of a filter or a folded group.
function go_to_anchor() {
  const state = address_state(), id = state ? state.get("at") : location.hash.slice(1), target = id ? document.getElementById(id) : null;
  for (const marked of document.querySelectorAll(".at")) marked.classList.remove("at");
  if (!target) return;
  target.hidden = false;
  target.classList.remove("folded");
  target.classList.add("at");
  target.scrollIntoView({ block: "start" });
}

// Before all others listen: they read the address as it becomes.
function start_address() {
  let clicked = false;
  history.replaceState(kSeen, "");
  document.addEventListener("click", event => {
    clicked = Boolean(event.target.closest && event.target.closest("a[href^='#']"));
    setTimeout(() => clicked = false, 1000);  // its change of the address comes at once
  }, true);
  addEventListener("hashchange", event => {
    if (history.state && history.state.seen) return;  // back or forward: the browser scrolls
    keep_state(new URL(event.oldURL).hash, clicked);
    clicked = false;
    setTimeout(go_to_anchor);  // once the tables are as the address says
  });
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
    addEventListener("hashchange", event => this.read(timeline_part(new URL(event.oldURL).hash) !== timeline_part(location.hash)));
  }

  write() {
    const { view, detail, selection, pin, step, other_step } = this.explorer, whole = view.from === 0 && view.to === detail.span, before = timeline_part(location.hash);
    write_address({
      v: whole ? null : written_range(view, detail.start_ns), t: written_range(selection, detail.start_ns),
      pin: pin ? pin.lane + "," + (this.explorer.slice(pin).start + detail.start_ns) : null,
      step: step >= 0 ? step : null, with: other_step >= 0 ? other_step : null, q: this.search.query || null,
    });
    if (timeline_part(location.hash) !== before) write_address({ at: null });  // the reader went on
  }

  // `moved`: to another part of the timeline, which comes into sight. Undefined: the page was just opened.
  read(moved) {
    const state = address_state();
    if (!state || moved === false) return;
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
    const about_timeline = ["t", "v", "pin", "step"].some(key => state.has(key)), about_tables = [...state.keys()].some(key => key.includes("."));
    if (about_timeline && !state.has("at") && (moved || !about_tables)) this.element.scrollIntoView({ block: "start" });
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
