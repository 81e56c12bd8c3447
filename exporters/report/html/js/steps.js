// Steps: every time a stage ran. Which of them are measured, median, slowest, unusual.
function measured_steps(detail, stage) {
  const { steps } = detail, all = [...steps.stage.keys()].filter(i => steps.stage[i] === stage), measured = all.filter(i => !steps.warmup[i]);
  return measured.length > 0 ? measured : all;
}

function by_wall(detail, indices) {
  return [...indices].sort((a, b) => detail.steps.wall[a] - detail.steps.wall[b] || a - b);
}

// The step whose time is the median: of an even number the lower of the two in the middle.
function median_step(detail, stage) {
  const sorted = by_wall(detail, measured_steps(detail, stage));
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

function slowest_step(detail, stage) {
  return by_wall(detail, measured_steps(detail, stage)).pop();
}

// Tukey's far fences: beyond three times the middle half's width above it. Slowest first.
function outlier_steps(detail, stage) {
  const sorted = by_wall(detail, measured_steps(detail, stage)), at = share => detail.steps.wall[sorted[Math.floor((sorted.length - 1) * share)]];
  if (sorted.length < 8) return [];
  const fence = at(0.75) + 3 * (at(0.75) - at(0.25));
  return sorted.filter(i => detail.steps.wall[i] > fence).reverse();
}

// The stage with most steps is the one that is looked at: of a generation, its decode steps.
function busiest_stage(detail) {
  const counts = detail.stages.map((_, stage) => detail.steps.stage.filter(each => each === stage).length);
  return counts.indexOf(Math.max(...counts));
}

// Counted from one, as the report counts iterations.
function step_title(detail, step) {
  const { steps } = detail, iteration = steps.iteration[step];
  return detail.stage_name(steps.stage[step]) + " " + (steps.position[step] + 1) + (iteration >= 0 ? " of iteration " + (iteration + 1) : "") +
    (steps.warmup[step] ? " (warm-up)" : "");
}
