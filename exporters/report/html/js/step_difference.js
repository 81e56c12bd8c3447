// Where the time went that one step took more than another: by budget bin, and by kernel where both are listed slice by slice.
import { make } from "./dom.js";
import { range_sums, step_bins } from "./range_sums.js";
import { step_number } from "./steps.js";
import { time_text } from "./time_text.js";

const kMostDifferences = 5;

/**
 * @param {[number, string][]} names @param {(key: number) => number | undefined} before
 * @param {(key: number) => number | undefined} after
 */
export function largest_differences(names, before, after) {
  /** @type {[title: string, ns: number][]} */
  const all = names.map(([key, title]) => [title, (after(key) || 0) - (before(key) || 0)]);
  return all.filter(([, ns]) => ns !== 0).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, kMostDifferences);
}

/** @param {number} ns */
export function signed_time(ns) {
  return (ns < 0 ? "\u2212" : "+") + time_text(Math.abs(ns));
}

/** @param {Explorer} explorer */
export function bin_differences(explorer) {
  const { detail, step, other_step, page_data } = explorer, one = step_bins(detail, step), two = step_bins(detail, other_step);
  return one && two ? largest_differences(page_data.bins.map((bin, i) => [i, bin.title]), i => one[i], i => two[i]) : [];
}

/** @param {Explorer} explorer */
export function kernel_differences(explorer) {
  const { detail, step, other_step } = explorer, { start, wall } = detail.steps;
  const [one, two] = [step, other_step].map(i => range_sums(detail, start[i], start[i] + wall[i]));
  if (!one.exact || !two.exact) return [];
  /** @type {[number, string][]} */
  const names = [...new Set([...one.kernels.keys(), ...two.kernels.keys()])].map(name => [name, detail.names[name]]);
  return largest_differences(names, name => one.kernels.get(name)?.ns, name => two.kernels.get(name)?.ns);
}

// A paragraph, or nothing where no two steps are laid over each other.
/** @param {Explorer} explorer */
export function step_difference(explorer) {
  if (!explorer.overlaid) return null;
  const { wall } = explorer.detail.steps, parts = [bin_differences(explorer), kernel_differences(explorer)];
  const lists = ["Budget", "Kernels"].map((title, i) => parts[i].length === 0 ? null : make("p", { class: "small" }, make("b", {}, title + ": "),
                                                                                    parts[i].map(([name, ns]) => name + " " + signed_time(ns)).join(", ") + "."));
  const title = "Step " + step_number(explorer.other_step) + " against step " + step_number(explorer.step) + ": " + signed_time(wall[explorer.other_step] - wall[explorer.step]);
  return make("div", { class: "step-difference" }, make("h4", {}, title), ...lists);
}
