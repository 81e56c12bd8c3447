// The keyboard does all that the mouse does. Letters as in Perfetto; arrows go from slice to slice.
import { first_ending_after } from "./detail.js";
import { announce, typing } from "./dom.js";
import { go_to_kind } from "./kind_steps.js";

export const kKeysText = "W and S zoom, A and D move, / searches, N and Shift N go through the matches, left and right go to the next slice, " +
  "up and down to the next lane, full stop and comma to the next slice of the same kind and the one before, F fits the pinned slice, M selects its time, 0 shows the whole capture, H the median step, Escape clears the search, then the pin, then the range.";

/** @param {Explorer} explorer @param {Timeline} timeline @param {Search} search @param {HTMLElement} place @param {() => void} go_home */
export function start_keys(explorer, timeline, search, place, go_home) {
  const { canvas } = timeline;
  let over = false;
  timeline.element.addEventListener("pointerenter", () => over = true);
  timeline.element.addEventListener("pointerleave", () => over = false);
  /** @type {{ [key: string]: () => unknown }} */
  const acts = {
    w: () => explorer.zoom(0.5), s: () => explorer.zoom(2), a: () => explorer.pan(-0.25), d: () => explorer.pan(0.25),
    "+": () => explorer.zoom(0.5), "=": () => explorer.zoom(0.5), "-": () => explorer.zoom(2),
    0: () => explorer.move(0, explorer.detail.span),
    n: () => search.go(1), N: () => search.go(-1),
    f: () => fit(explorer), m: () => mark(explorer), h: go_home,
    ".": () => go_to_kind(explorer, 1), ",": () => go_to_kind(explorer, -1),
  };
  // What was done last goes first.
  const clear = () => search.query ? search.look_for("") : explorer.pin ? explorer.pin_slice(null) : explorer.select(0, 0);
  /** @type {{ [key: string]: () => unknown }} */
  const on_canvas = {
    ArrowRight: () => next_slice(explorer, timeline, 1), ArrowLeft: () => next_slice(explorer, timeline, -1),
    ArrowDown: () => next_lane(explorer, timeline, 1), ArrowUp: () => next_lane(explorer, timeline, -1),
  };
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (event.key === "/") {
      event.preventDefault();
      return search.open();
    }
    if (event.key === "Escape" && !event.defaultPrevented && (place.contains(document.activeElement) || document.activeElement === document.body)) return clear();
    const here = document.activeElement === canvas, act = acts[event.key] || (here && on_canvas[event.key]);
    if (!act || !(here || (over && document.activeElement === document.body))) return;
    event.preventDefault();
    act();
  });
}

/** @param {Explorer} explorer */
function fit(explorer) {
  if (explorer.pin) {
    const { start, duration } = explorer.slice(explorer.pin);
    explorer.show(start, start + duration);
  } else if (explorer.selection) {
    explorer.show(explorer.selection.from, explorer.selection.to);
  }
}

/** @param {Explorer} explorer */
export function mark(explorer) {
  const { from, to } = explorer.view;
  if (!explorer.pin) return explorer.select(from, to);
  const { start, duration } = explorer.slice(explorer.pin);
  explorer.select(start, start + duration);
}

// The first slice in view where none is pinned.
/** @param {Explorer} explorer @param {Timeline} timeline @param {number} by */
function next_slice(explorer, timeline, by) {
  const { pin, detail } = explorer;
  if (!pin) return pin_nearest(explorer, timeline.layout.items.find(item => item.kind === "gpu") || timeline.layout.items[0]);
  const data = detail.slices_of(pin), row = data.rows.find(indices => indices.includes(pin.index));
  const next = row ? row[row.indexOf(pin.index) + by] : undefined;
  if (next !== undefined) explorer.pin_slice({ ...pin, index: next }, true);
  else announce(by > 0 ? "Last slice of this window" : "First slice of this window");
}

/** @param {Explorer} explorer @param {Timeline} timeline @param {number} by */
function next_lane(explorer, timeline, by) {
  const items = timeline.layout.items.filter(item => !item.overlaid);
  const { pin } = explorer, at = pin ? items.findIndex(item => item.lane === pin.lane) : -1;
  const middle = pin ? explorer.slice(pin).start : undefined;
  for (let i = at + by; i >= 0 && i < items.length; i += by)
    if (pin_nearest(explorer, items[i], middle)) return;
}

/** @param {Explorer} explorer @param {LaneItem | undefined} item @param {number} [moment] */
function pin_nearest(explorer, item, moment) {
  const { detail, view } = explorer, time = moment === undefined ? view.from : moment;
  if (!item) return false;
  for (const [window, data] of detail.lists_of(item.lane, view.from, view.to)) {
    if (data.rows.length === 0) continue;
    const row = data.rows[0], at = Math.min(row.length - 1, first_ending_after(data, row, time));
    explorer.pin_slice({ lane: item.lane, window, index: row[at] }, true);
    return true;
  }
  return false;
}
