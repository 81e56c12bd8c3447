// What lies under the pointer, and what a press does there: a click pins, Shift and drag (or a drag on the ruler) chooses a range.
import { plural } from "./count_text.js";
import { first_ending_after } from "./detail.js";
import { idle_tip } from "./idle_facts.js";
import { is_idle_pin } from "./idle.js";
import { bins_text, bucket_text } from "./lane_drawing.js";
import { merged_count } from "./range_sums.js";
import { moment_text, time_text } from "./time_text.js";
import { hide_tip, show_tip } from "./tips.js";

const kNear_px = 4, kNarrowestRange_px = 2;

/** @param {Timeline} timeline @param {number} x */
function time_at_pixel(timeline, x) {
  const { from, to } = timeline.explorer.view;
  return from + x / timeline.canvas.clientWidth * (to - from);
}

// Pinned lanes lie over the others, and come first.
/** @param {Timeline} timeline @param {number} y */
function item_at(timeline, y) {
  const { items, pinned_height } = timeline.layout, below_pinned = y >= timeline.scrolled + pinned_height;
  return items.find(item => y >= item.top - 1 && y < item.top + item.height + 1 && (item.pinned || below_pinned));
}

/** @param {Timeline} timeline @param {number} x @param {number} y @returns {Found | null} */
function found_at(timeline, x, y) {
  const item = item_at(timeline, y), { explorer } = timeline, { detail } = explorer;
  if (!item) return null;
  const time = time_at_pixel(timeline, x) + (item.overlaid ? explorer.overlay_shift : 0);
  const near = item.kind === "bins" || item.kind === "samples" ? 0 : kNear_px / timeline.canvas.clientWidth * (explorer.view.to - explorer.view.from);
  for (const [window, data] of detail.lists_of(item.lane, time, time + 1)) {
    const rows = item.folded ? data.rows : [data.rows[Math.floor((y - item.top) / item.row_height)]];
    const index = Math.max(-1, ...rows.map(row => row ? slice_at(data, row, time, near) : -1));
    if (index >= 0) return { item, time, pin: { lane: item.lane, window, index } };
  }
  return { item, time, bucket: Math.min(detail.overview.count - 1, Math.floor(time / detail.overview.bucket_ns)) };
}

// The slice at a moment, or the nearest within a few pixels: small ones can be hit too.
/** @param {LaneSlices} data @param {Int32Array} indices @param {number} time @param {number} near */
function slice_at(data, indices, time, near) {
  const at = first_ending_after(data, indices, time);
  /** @param {number} i */
  const distance = i => Math.max(0, data.start[i] - time, time - data.start[i] - data.duration[i]);
  const candidates = [at - 1, at].filter(place => place >= 0 && place < indices.length).map(place => indices[place]);
  candidates.sort((a, b) => distance(a) - distance(b));
  return candidates.length > 0 && distance(candidates[0]) <= near ? candidates[0] : -1;
}

/** @param {Explorer} explorer @param {Pin} pin */
function pin_text(explorer, pin) {
  const { detail } = explorer, { start, duration, what, data } = explorer.slice(pin), merged = merged_count(data, pin.index);
  const text = detail.name_of(pin.lane, what) + (merged > 1 ? " and " + plural(merged - 1, "shorter neighbour") : "") + ": " + time_text(duration) + " from " + moment_text(start + detail.start_ns);
  if (is_idle_pin(detail, pin)) return text + idle_tip(explorer, pin);
  if (!detail.is_sampled(pin.lane)) return text;
  const slices = detail.stacks.slices(detail.lanes[pin.lane].place || 0);
  return text + ", " + plural(slices.count[pin.index], "sample") + "\n" + detail.stacks.lines_of(slices.stack[slices.first[pin.index]]).join("\n");
}

/** @param {Explorer} explorer @param {Found} found */
function tip_text(explorer, found) {
  const { detail } = explorer, { item, time, pin } = found, bucket = found.bucket ?? -1;
  if (pin) return pin_text(explorer, pin);
  if (item.kind === "samples") return "No sample here: there is one about every " + time_text(detail.sample_period_ns);
  if (detail.window_around(time, time) >= 0) return "";
  const buckets = detail.lane_buckets.get(item.lane), text = item.kind === "bins" ? bins_text(detail, item.device, bucket) : buckets && buckets.busy[bucket] ? bucket_text(detail, item, buckets, bucket) : "";
  return text && "In " + time_text(detail.overview.bucket_ns) + ": " + text;
}

/** @param {Timeline} timeline */
export function timeline_pointing(timeline) {
  const { canvas, ruler, explorer } = timeline;
  /** @type {{ x: number, y: number } | null} */
  let pressed = null;
  /** @type {number | null} */
  let choosing = null;
  /** @param {MouseEvent} event */
  const place = event => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  /** @param {PointerEvent} event */
  const begin = event => {
    choosing = place(event).x;
    if (event.currentTarget instanceof Element) event.currentTarget.setPointerCapture(event.pointerId);
    event.preventDefault();
  };
  /** @param {MouseEvent} event */
  const choose = event => {
    if (choosing === null) return;
    const now = place(event).x, left = time_at_pixel(timeline, Math.min(choosing, now)), right = time_at_pixel(timeline, Math.max(choosing, now));
    Math.abs(now - choosing) < kNarrowestRange_px ? explorer.select(0, 0) : explorer.select(left, right);  // a press without a drag clears
  };
  /** @param {MouseEvent} event */
  const end = event => {
    choose(event);
    choosing = null;
  };
  canvas.addEventListener("pointerdown", event => {
    pressed = place(event);
    if (event.pointerType !== "touch") canvas.focus({ preventScroll: true });
    if (event.shiftKey) begin(event);
  });
  ruler.addEventListener("pointerdown", begin);
  for (const [type, act] of /** @type {const} */ ([["pointermove", choose], ["pointerup", end], ["pointercancel", () => choosing = null]])) {
    canvas.addEventListener(type, act);
    ruler.addEventListener(type, act);
  }
  canvas.addEventListener("click", event => {
    const { x, y } = place(event);
    if (event.shiftKey || !pressed || Math.hypot(x - pressed.x, y - pressed.y) > kNear_px) return;
    canvas.focus({ preventScroll: true });  // of a finger only now: one that moves scrolls the page until then
    const found = found_at(timeline, x, y);
    explorer.pin_slice(found && found.pin && !found.item.overlaid ? found.pin : null);
  });
  canvas.addEventListener("dblclick", event => {
    const { x, y } = place(event), found = found_at(timeline, x, y);
    if (!found || !found.pin) return;
    const { start, duration } = explorer.slice(found.pin);
    explorer.show(start, start + duration);
  });
  canvas.addEventListener("pointermove", event => {
    if (event.buttons) return hide_tip();
    const { x, y } = place(event), found = found_at(timeline, x, y);
    canvas.classList.toggle("over-slice", Boolean(found && found.pin));
    show_tip(found && tip_text(explorer, found), event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", hide_tip);
  canvas.addEventListener("wheel", event => {
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
    if (!sideways || event.ctrlKey) return;
    event.preventDefault();
    const by = sideways / canvas.clientWidth * (explorer.view.to - explorer.view.from);
    explorer.set_view(explorer.view.from + by, explorer.view.to + by);
  }, { passive: false });
}
