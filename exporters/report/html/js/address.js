// State in the page's address, so that a link shows what one saw: #v=FROM,TO (view), t=FROM,TO (chosen; alone it moves the view
// too), pin=LANE,START, all in nanoseconds of the capture, as the report's text says them; step=N, with=M (counted from one), q=TEXT; fold=, top=, order= (lanes, see
// lane_arrangement.js); of tables NAME.sort and more, see table_tools.js. With none of the first five the timeline is where it opens.
// A plain #finding-2 is an anchor, as ever; beside state it is at=finding-2.
import { numbered_step, step_number } from "./steps.js";

/** @param {string} hash */
export function state_of(hash) {
  const text = hash.slice(1);
  return text.includes("=") ? new URLSearchParams(text) : null;
}

export function address_state() {
  return state_of(location.hash);
}

const kSeen = { seen: true };  // an entry of the history that back and forward lead to, not a link that was just followed

/** @param {URLSearchParams} state @param {boolean} [pushed] */
function set_address(state, pushed) {
  const text = state.toString().replace(/%2C/g, ",").replace(/%3A/g, ":");
  if (text === "" && !address_state()) return;
  const url = text ? "#" + text : location.pathname + location.search;
  pushed ? history.pushState(kSeen, "", url) : history.replaceState(kSeen, "", url);
}

// The entries of others stay. `pushed`: back leads to what was before.
/** @param {{ [key: string]: string | number | null }} changes @param {boolean} [pushed] */
export function write_address(changes, pushed) {
  const state = address_state() || new URLSearchParams();
  for (const [key, value] of Object.entries(changes))
    value === null || value === "" ? state.delete(key) : state.set(key, String(value));
  set_address(state, pushed);
}

const kTimelineKeys = ["t", "v", "pin", "step", "with"];

/** @param {string} hash */
export function timeline_part(hash) {
  const state = state_of(hash);
  return state ? kTimelineKeys.map(key => state.get(key)).join(";") : "";
}

// A link to a place in the page says nothing of tables and timeline, and one to a moment nothing of tables: those stay as they are.
// The state after one address was changed to another; null where nothing is kept.
/** @param {string} old_hash @param {string} new_hash @param {boolean} link_followed */
export function kept_state(old_hash, new_hash, link_followed) {
  const before = [...state_of(old_hash) || []], after = state_of(new_hash), anchor = after ? "" : new_hash.slice(1);
  let kept = before.filter(([key]) => key !== "at");
  if (after) kept = link_followed ? before.filter(([key]) => key.includes(".")) : [];
  else if (!anchor) kept = [];
  if (kept.length === 0) return null;
  const state = after || new URLSearchParams();
  for (const [key, value] of kept)
    if (!state.has(key)) state.set(key, value);
  if (anchor) state.set("at", anchor);
  return state;
}

// To what an address names beside its state; a row comes out of a filter or a folded group.
export function go_to_anchor() {
  const state = address_state(), id = state ? state.get("at") : location.hash.slice(1), target = id ? document.getElementById(id) : null;
  for (const marked of document.querySelectorAll(".at")) marked.classList.remove("at");
  if (!target) return;
  target.hidden = false;
  target.classList.remove("folded");
  target.classList.add("at");
  target.scrollIntoView({ block: "start" });
}

// Before all others listen: they read the address as it becomes.
export function start_address() {
  let clicked = false;
  history.replaceState(kSeen, "");
  document.addEventListener("click", event => {
    clicked = event.target instanceof Element && event.target.closest("a[href^='#']") !== null;
    setTimeout(() => clicked = false, 1000);  // its change of the address comes at once
  }, true);
  addEventListener("hashchange", event => {
    if (history.state && history.state.seen) return;  // back or forward: the browser scrolls
    const kept = kept_state(new URL(event.oldURL).hash, location.hash, clicked);
    kept ? set_address(kept) : history.replaceState(kSeen, "");
    clicked = false;
    setTimeout(go_to_anchor);  // once the tables are as the address says
  });
}

/** @param {string | null} text @param {number} start_ns */
export function range_of(text, start_ns) {
  const [from, to] = (text || "").split(",").map(Number);
  return Number.isFinite(from) && Number.isFinite(to) && to > from ? { from: from - start_ns, to: to - start_ns } : null;
}

/** @param {TimeRange | null} range @param {number} start_ns */
export function written_range(range, start_ns) {
  return range ? Math.round(range.from + start_ns) + "," + Math.round(range.to + start_ns) : null;
}

export class ExplorerAddress {
  /** @param {Explorer} explorer @param {HomeView} home @param {StepPicker} picker @param {Search} search @param {Timeline} timeline @param {HTMLElement} element */
  constructor(explorer, home, picker, search, timeline, element) {
    this.explorer = explorer;
    this.home = home;
    this.timeline = timeline;
    this.picker = picker;
    this.search = search;
    this.element = element;
    explorer.on("pause", () => this.write());
    addEventListener("hashchange", event => this.read(timeline_part(new URL(event.oldURL).hash) !== timeline_part(location.hash)));
  }

  write() {
    const { view, detail, selection, pin, step, other_step } = this.explorer, before = timeline_part(location.hash), here = this.home.here();
    write_address({
      v: here ? null : written_range(view, detail.start_ns), t: here ? null : written_range(selection, detail.start_ns),
      pin: pin ? pin.lane + "," + (this.explorer.slice(pin).start + detail.start_ns) : null,
      step: step >= 0 && !here ? step_number(step) : null, with: other_step >= 0 ? step_number(other_step) : null, q: this.search.query || null,
      ...this.timeline.arrangement.written(),
    });
    if (timeline_part(location.hash) !== before) write_address({ at: null });  // the reader went on
  }

  // `moved`: to another part of the timeline, which comes into sight. Undefined: the page was just opened.
  /** @param {boolean} [moved] */
  read(moved) {
    const state = address_state();
    this.timeline.arrangement.read(state);
    this.timeline.arrange();
    if (moved === false) return;
    if (!state || !kTimelineKeys.some(key => state.has(key))) this.home.go();
    else if (moved) this.forget();
    if (!state) return;
    const { start_ns } = this.explorer.detail, chosen = range_of(state.get("t"), start_ns), view = range_of(state.get("v"), start_ns);
    /** @param {string} key */
    const numbered = key => state.has(key) ? numbered_step(Number(state.get(key))) : -1;
    const step = numbered("step"), other = numbered("with");
    if (state.has("q") && state.get("q") !== this.search.query) this.search.look_for(state.get("q") || "");
    if (step >= 0) {
      this.explorer.other_step = this.picker.known(other) ? other : -1;
      this.picker.pick(step);
    }
    if (chosen) this.explorer.select(chosen.from, chosen.to);
    if (view) this.explorer.move(view.from, view.to);
    else if (chosen) this.explorer.show(chosen.from, chosen.to);
    this.read_pin(state.get("pin"));
    const about_timeline = ["t", "v", "pin", "step"].some(key => state.has(key)), about_tables = [...state.keys()].some(key => key.includes("."));
    if (about_timeline && !state.has("at") && (moved || !about_tables)) this.element.scrollIntoView({ block: "start" });
  }

  // What was chosen before, and is not in the address that was gone to.
  forget() {
    Object.assign(this.explorer, { step: -1, other_step: -1, selection: null, pin: null });
    for (const topic of /** @type {const} */ (["steps", "selection", "pin"])) this.explorer.tell(topic);
  }

  /** @param {string | null} text */
  read_pin(text) {
    const { detail } = this.explorer, [lane, moment] = (text || "").split(",").map(Number), start = moment - detail.start_ns;
    if (!text || !detail.lanes[lane]) return;
    for (const [window, data] of detail.lists_of(lane, start, start + 1)) {
      const index = data.start.indexOf(start);
      if (index >= 0) return this.explorer.pin_slice({ lane, window, index }, !location.hash.includes("v="));
    }
  }
}
