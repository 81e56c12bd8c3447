// From a slice to the next or the one before of its kind, in its lane: of a kernel, a call, a range or a function the same name; of idle time
// the same gap in another window, or where that does not come again the same bin.
import { announce } from "./dom.js";
import { idle_stretch, is_idle_pin, recurrence_of } from "./idle.js";

/** @param {Explorer} explorer @param {Pin} pin @returns {(other: Pin) => boolean} */
function same_kind(explorer, pin) {
  const { detail } = explorer, { what } = explorer.slice(pin), name = detail.name_id(pin.lane, what);
  if (!is_idle_pin(detail, pin)) return other => detail.name_id(other.lane, detail.slices_of(other).what[other.index]) === name;
  /** @param {Pin} each */
  const row_of = each => recurrence_of(detail, idle_stretch(detail, each))?.row ?? -1;
  const row = row_of(pin);
  return other => detail.slices_of(other).what[other.index] === what && (row < 0 || row_of(other) === row);
}

/** @param {Explorer} explorer @param {number} by @returns {Pin | null} */
export function next_of_kind(explorer, by) {
  const { pin, detail } = explorer;
  if (!pin) return null;
  const lists = detail.lists_of(pin.lane, 0, detail.span), fits = same_kind(explorer, pin), at = lists.findIndex(([window]) => window === pin.window);
  for (let list = at; list >= 0 && list < lists.length; list += by) {
    const [window, data] = lists[list];
    const first = list === at ? pin.index + by : by > 0 ? 0 : data.start.length - 1;
    for (let index = first; index >= 0 && index < data.start.length; index += by)
      if (fits({ lane: pin.lane, window, index })) return { lane: pin.lane, window, index };
  }
  return null;
}

/** @param {Explorer} explorer @param {number} by */
export function go_to_kind(explorer, by) {
  const next = next_of_kind(explorer, by);
  if (next) explorer.pin_slice(next, true);
  else if (explorer.pin) announce(by > 0 ? "The last of its kind that is listed" : "The first of its kind that is listed");
}
