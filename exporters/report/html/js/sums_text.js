// The sums of a range as plain text, for a ticket or a mail, and what the parts of its bar are.
import { count_text, plural } from "./count_text.js";
import { moment_text, share_text, time_text } from "./time_text.js";

const kMostRows = 10;

// The bins of a range, the longest first, and what of it lies in no stage. Together they are `whole`, as all shares are.
/** @param {RangeSums} sums @param {Bin[]} bins @param {(bin: number) => boolean} is_idle @returns {BudgetPart[]} */
export function budget_parts(sums, bins, is_idle) {
  const parts = bins.map(({ title, colour }, i) => ({ title, colour, ns: sums.bins[i] || 0 })).filter(({ ns }) => ns > 0).sort((a, b) => b.ns - a.ns);
  if (parts.length === 0) return [];
  /** @param {number} all @param {number} ns @param {number} i */
  const add_busy = (all, ns, i) => all + (is_idle(i) ? 0 : ns || 0);
  const staged = parts.reduce((sum, { ns }) => sum + ns, 0), busy = Math.max(0, sums.busy - sums.bins.reduce(add_busy, 0)), idle = Math.max(0, sums.whole - staged - busy);
  if (busy > 0) parts.push({ title: "GPU busy outside of the stages", colour: "b-outside-busy", ns: busy });
  if (idle > 0) parts.push({ title: "GPU idle outside of the stages", colour: "b-outside", ns: idle });
  return parts;
}

// What 100 % are: one denominator for the bar, the sentence and the tables.
/** @param {RangeSums} sums */
export function whole_text(sums) {
  const span = sums.to - sums.from, gpus = Math.round(sums.whole / Math.max(1, span));
  return "Shares are of " + (gpus > 1 ? time_text(sums.whole) + ": the range, once for each of " + plural(gpus, "GPU") : "the range, " + time_text(span)) + ".";
}

/** @param {Map<number, Sum>} sums @param {number} whole @param {string[]} names */
function rows_text(sums, whole, names) {
  const rows = [...sums].filter(([name]) => names[name]).sort((a, b) => b[1].ns - a[1].ns);
  const lines = rows.slice(0, kMostRows).map(([name, { ns, calls }]) => "  " + time_text(ns) + "  " + share_text(ns, whole) + "  " + count_text(calls) + " \u00d7  " + names[name]);
  return rows.length > kMostRows ? [...lines, "  and " + count_text(rows.length - kMostRows) + " more"] : lines;
}

/** @param {RangeSums} sums @param {Detail} detail @param {string} title @param {string} busy */
export function sums_text(sums, detail, title, busy) {
  const budget = budget_parts(sums, detail.bins, bin => detail.is_idle(bin)).map(part => "  " + time_text(part.ns) + "  " + share_text(part.ns, sums.whole) + "  " + part.title);
  const kernels = rows_text(sums.kernels, sums.whole, detail.names), operators = rows_text(sums.operators, sums.whole, detail.names);
  const from = sums.from + detail.start_ns, to = sums.to + detail.start_ns;
  /** @param {string} head @param {string[]} lines */
  const part = (head, lines) => lines.length > 0 ? [head, ...lines] : [];
  return [title, moment_text(from) + " to " + moment_text(to) + ". " + whole_text(sums), busy, ...part("Budget", budget), ...part("Kernels and copies", kernels), ...part("Operators", operators)]
    .filter(Boolean).join("\n");
}
