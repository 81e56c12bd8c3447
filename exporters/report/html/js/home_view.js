// Where the timeline opens: on the median step of the run's unit, chosen and with a margin around it; on the whole where there are no steps.
import { with_margin } from "./explorer.js";
import { first_stage, median_step } from "./steps.js";

export class HomeView {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    const { detail } = explorer, { steps } = detail;
    this.explorer = explorer;
    this.step = steps.start.length > 0 ? median_step(detail, Math.max(0, first_stage(detail))) : -1;
  }

  go() {
    const { explorer, step } = this, { start, wall } = explorer.detail.steps;
    explorer.step = step;
    explorer.other_step = -1;
    explorer.pin = null;
    explorer.selection = null;
    if (step >= 0) explorer.selection = { from: start[step], to: start[step] + wall[step] };
    const { from, to } = step >= 0 ? with_margin(start[step], start[step] + wall[step]) : { from: 0, to: explorer.detail.span };
    explorer.set_view(from, to);
    for (const topic of /** @type {const} */ (["selection", "pin", "steps"])) explorer.tell(topic);
  }

  // The address says nothing of what is here.
  here() {
    const { explorer, step } = this, { start, wall } = explorer.detail.steps, { view, selection, pin } = explorer;
    if (pin || explorer.step !== step || explorer.other_step >= 0) return false;
    const chosen = step < 0 ? selection === null : selection !== null && selection.from === start[step] && selection.to === start[step] + wall[step];
    if (!chosen) return false;
    if (step < 0) return view.from === 0 && view.to === explorer.detail.span;
    const { from, to } = with_margin(start[step], start[step] + wall[step]), span = Math.min(explorer.detail.span, to - from);
    const left = Math.min(Math.max(0, from), explorer.detail.span - span);
    return Math.abs(view.from - left) < 1 && Math.abs(view.to - left - span) < 1;
  }
}
