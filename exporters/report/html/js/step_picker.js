// Chooses a step to look at, and a second one to lay over it.
import { announce, button, make } from "./dom.js";
import { first_stage, measured_steps, median_step, numbered_step, slowest_step, step_number, step_title } from "./steps.js";
import { time_text } from "./time_text.js";

export class StepPicker {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.stage = Math.max(0, first_stage(explorer.detail));
    const { detail } = explorer;
    /** @type {HTMLSelectElement} */
    this.stages = make("select", { "aria-label": "Stage", change: () => this.choose_stage(Number(this.stages.value)) },
                       ...detail.stages.map((_, i) => make("option", { value: i }, detail.stage_name(i))));
    this.stages.value = String(this.stage);
    this.number = this.number_box("Step number", value => this.pick(value));
    this.other = this.number_box("Overlay with step number", value => this.overlay(value));
    this.element = make("div", { class: "step-picker", role: "group", "aria-label": "Steps" }, make("label", {}, "Step of ", this.stages),
      button("Median", "Median step", () => this.pick(median_step(detail, this.stage))),
      button("Slowest", "Slowest step", () => this.pick(slowest_step(detail, this.stage))),
      button("First", "First measured step", () => this.pick(measured_steps(detail, this.stage)[0])),
      button("\u2039", "Step before", () => this.next(-1)), this.number, button("\u203a", "Step after", () => this.next(1)),
      make("label", {}, "overlay ", this.other),
      button("Slowest over median", "Overlay the slowest step on the median step", () => this.compare()));
    this.line = make("p", { class: "step-line small" });
    explorer.on("steps", () => this.show());
    this.show();
  }

  // Numbers are places in the list of all steps, counted from one; the page's address counts them from zero.
  /** @param {string} label @param {(step: number) => void} act */
  number_box(label, act) {
    const box = make("input", { type: "number", min: 1, max: this.explorer.detail.steps.start.length, "aria-label": label, placeholder: "#" });
    box.addEventListener("change", () => act(box.value === "" ? -1 : numbered_step(Number(box.value))));
    return box;
  }

  /** @param {number} stage */
  choose_stage(stage) {
    this.stage = stage;
    this.stages.value = String(stage);
    this.explorer.tell("stage");
  }

  /** @param {number} step */
  known(step) {
    return Number.isInteger(step) && step >= 0 && step < this.explorer.detail.steps.start.length;
  }

  /** @param {number} step */
  pick(step) {
    const { explorer } = this, { steps } = explorer.detail;
    explorer.step = this.known(step) ? step : -1;
    if (explorer.step < 0) explorer.other_step = -1;
    explorer.tell("steps");
    if (explorer.step < 0) return;
    if (steps.stage[step] !== this.stage) this.choose_stage(steps.stage[step]);
    const longest = Math.max(steps.wall[step], explorer.overlaid ? steps.wall[explorer.other_step] : 0);
    explorer.select(steps.start[step], steps.start[step] + steps.wall[step]);
    explorer.show(steps.start[step], steps.start[step] + longest);
    announce(step_title(explorer.detail, step) + ", " + time_text(steps.wall[step]));
  }

  /** @param {number} step */
  overlay(step) {
    if (this.explorer.step < 0 && this.known(step)) this.explorer.step = median_step(this.explorer.detail, this.explorer.detail.steps.stage[step]);
    this.explorer.other_step = this.known(step) ? step : -1;
    this.pick(this.explorer.step);
  }

  compare() {
    this.explorer.step = median_step(this.explorer.detail, this.stage);
    this.overlay(slowest_step(this.explorer.detail, this.stage));
  }

  // Of the same stage.
  /** @param {number} by */
  next(by) {
    const same = [...this.explorer.detail.steps.stage.keys()].filter(i => this.explorer.detail.steps.stage[i] === this.stage);
    const at = same.indexOf(this.explorer.step);
    this.pick(at < 0 ? same[0] : same[Math.min(same.length - 1, Math.max(0, at + by))]);
  }

  show() {
    const { detail, step, other_step, overlaid } = this.explorer, { wall } = detail.steps;
    this.number.value = step >= 0 ? String(step_number(step)) : "";
    this.other.value = other_step >= 0 ? String(step_number(other_step)) : "";
    this.line.hidden = step < 0;
    if (step < 0) return this.line.replaceChildren();
    const one = "Step " + step_number(step) + ": " + step_title(detail, step) + ", " + time_text(wall[step]), more = overlaid ? wall[other_step] - wall[step] : 0;
    this.line.textContent = overlaid
      ? one + ". Below each lane step " + step_number(other_step) + ": " + step_title(detail, other_step) + ", " + time_text(wall[other_step]) + " (" + (more < 0 ? "\u2212" : "+") + time_text(Math.abs(more)) + ")."
      : one + ".";
  }
}
