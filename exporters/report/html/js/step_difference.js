// Where the time went that one step took more than another: by budget bin, and by kernel where both are listed slice by slice.
const kMostDifferences = 5;

function largest_differences(names, before, after) {
  const all = names.map(([key, title]) => [title, (after(key) || 0) - (before(key) || 0)]).filter(([, ns]) => ns !== 0);
  return all.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, kMostDifferences);
}

function signed_time(ns) {
  return (ns < 0 ? "\u2212" : "+") + time_text(Math.abs(ns));
}

function bin_differences(explorer) {
  const { detail, step, other_step, page_data } = explorer, one = step_bins(detail, step), two = step_bins(detail, other_step);
  return one && two ? largest_differences(page_data.bins.map((bin, i) => [i, bin.title]), i => one[i], i => two[i]) : [];
}

function kernel_differences(explorer) {
  const { detail, step, other_step } = explorer, { start, wall } = detail.steps;
  const [one, two] = [step, other_step].map(i => range_sums(detail, start[i], start[i] + wall[i]));
  if (!one.exact || !two.exact) return [];
  const names = [...new Set([...one.kernels.keys(), ...two.kernels.keys()])].map(name => [name, detail.names[name]]);
  return largest_differences(names, name => one.kernels.get(name)?.ns, name => two.kernels.get(name)?.ns);
}

// A paragraph, or nothing where no two steps are laid over each other.
function step_difference(explorer) {
  if (!explorer.overlaid) return null;
  const { wall } = explorer.detail.steps, parts = [bin_differences(explorer), kernel_differences(explorer)];
  const lists = ["Budget", "Kernels"].map((title, i) => parts[i].length === 0 ? null : make("p", { class: "small" }, make("b", {}, title + ": "),
                                                                                    parts[i].map(([name, ns]) => name + " " + signed_time(ns)).join(", ") + "."));
  const title = "Step " + explorer.other_step + " against step " + explorer.step + ": " + signed_time(wall[explorer.other_step] - wall[explorer.step]);
  return make("div", { class: "step-difference" }, make("h4", {}, title), ...lists);
}
