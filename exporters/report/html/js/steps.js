// Steps: every time a stage ran. Which of them are measured, median, slowest, unusual.
/** @param {Detail} detail @param {number} stage */
export function measured_steps(detail, stage) {
  const { steps } = detail, all = [...steps.stage.keys()].filter(i => steps.stage[i] === stage), measured = all.filter(i => !steps.warmup[i]);
  return measured.length > 0 ? measured : all;
}

/** @param {Detail} detail @param {number[]} indices */
export function by_wall(detail, indices) {
  return [...indices].sort((a, b) => detail.steps.wall[a] - detail.steps.wall[b] || a - b);
}

// The step whose time is the median: of an even number the lower of the two in the middle.
/** @param {Detail} detail @param {number} stage */
export function median_step(detail, stage) {
  const sorted = by_wall(detail, measured_steps(detail, stage));
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

/** @param {Detail} detail @param {number} stage */
export function slowest_step(detail, stage) {
  const sorted = by_wall(detail, measured_steps(detail, stage));
  return sorted[sorted.length - 1];
}

// Tukey's far fences: beyond three times the middle half's width above it. Slowest first.
/** @param {Detail} detail @param {number} stage */
export function outlier_steps(detail, stage) {
  const sorted = by_wall(detail, measured_steps(detail, stage));
  /** @param {number} share */
  const at = share => detail.steps.wall[sorted[Math.floor((sorted.length - 1) * share)]];
  if (sorted.length < 8) return [];
  const fence = at(0.75) + 3 * (at(0.75) - at(0.25));
  return sorted.filter(i => detail.steps.wall[i] > fence).reverse();
}

// The stage to look at first: of those that take at least half as long as the longest the one with most steps. Of a generation these are
// its decode steps, not the sampling inside them.
/** @param {Detail} detail */
export function busiest_stage(detail) {
  const seen = detail.stages.map((_, stage) => measured_steps(detail, stage)), totals = seen.map(steps => steps.reduce((sum, i) => sum + detail.steps.wall[i], 0));
  const counts = seen.map((steps, stage) => 2 * totals[stage] >= Math.max(...totals) ? steps.length : 0);
  return counts.indexOf(Math.max(...counts));
}

// A place in the list of all steps as people and the page's address have it: from one, as iterations and windows are counted. And back.
/** @param {number} step */
export const step_number = step => step + 1;
/** @param {number} number */
export const numbered_step = number => number - 1;
// The unit of what the program does, where it has steps; else the busiest.
/** @param {Detail} detail */
export function first_stage(detail) {
  return detail.unit >= 0 && detail.steps.stage.includes(detail.unit) ? detail.unit : busiest_stage(detail);
}

// Counted from one, as the report counts iterations.
/** @param {Detail} detail @param {number} step */
export function step_title(detail, step) {
  const { steps } = detail, iteration = steps.iteration[step];
  return detail.stage_name(steps.stage[step]) + " " + (steps.position[step] + 1) + (iteration >= 0 ? " of iteration " + (iteration + 1) : "") +
    (steps.warmup[step] ? " (warm-up)" : "");
}

// The step that runs at a moment: the innermost, which starts last.
/** @param {Steps} steps @param {number} moment */
export function step_at(steps, moment) {
  let found = -1;
  for (let i = 0; i < steps.start.length; ++i)
    if (steps.start[i] <= moment && moment < steps.start[i] + steps.wall[i] && (found < 0 || steps.start[i] >= steps.start[found])) found = i;
  return found;
}
