// Times are nanoseconds. Durations read as in the report's tables: "812 ns", "7.04 µs", "4.249 ms", "2.688 s".
/** @param {number} ns */
export function time_text(ns) {
  const size = Math.abs(ns);
  if (size < 1e3) return Math.round(ns) + " ns";
  if (size < 1e6) return (ns / 1e3).toFixed(2) + " \u00b5s";
  if (size < 1e9) return (ns / 1e6).toFixed(3) + " ms";
  return (ns / 1e9).toFixed(3) + " s";
}

// A moment, to the nanosecond where the nanoseconds are seen.
/** @param {number} ns */
export function moment_text(ns) {
  return (ns / 1e9).toFixed(6) + " s";
}

/** @param {number} part @param {number} whole */
export function share_text(part, whole) {
  if (!(whole > 0)) return "\u2014";
  const percent = 100 * part / whole;
  return (percent > 0 && percent < 0.1 ? "< 0.1" : percent.toFixed(percent < 10 ? 1 : 0)) + " %";
}

/** @type {[size: number, unit: string][]} */
const axis_units = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];

const kFinestOfSeconds = 1e6;  // "12.345 s" is short enough to read at every tick

// Labels of an axis whose ticks are `step` apart: whole times where those are short, else counted from a round moment, which stands above
// them. {base: "12.345 s", of(tick): "+250 µs"}
/** @param {number} from @param {number} to @param {number} step @returns {{ base: string, of: (tick: number) => string }} */
export function axis_labels(from, to, step) {
  const fine = axis_units.find(([size]) => step >= size) || axis_units[3], whole = 1000 * fine[0];
  const base = step >= kFinestOfSeconds ? 0 : Math.floor(from / whole) * whole;
  const [size, unit] = axis_units.find(([each]) => to - base >= each) || fine;
  const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  /** @param {number} ns */
  const text = ns => (ns / size).toFixed(digits) + " " + unit;
  return base > 0 ? { base: time_at(base), of: tick => "+" + text(tick - base) } : { base: "", of: text };
}

// 12345000000 → "12.345 s": no more digits than it has.
/** @param {number} ns */
function time_at(ns) {
  return Number((ns / 1e9).toFixed(9)) + " s";
}
