// Two pictures of a stage's steps: how long they took, and how that grows with their position.
import { draw_axis, linear_scale } from "#surface";
import { count_text, plural } from "./count_text.js";
import { button, make, make_svg } from "./dom.js";
import { draw_step_curve, kChart } from "./step_curve.js";
import { by_wall, measured_steps, outlier_steps, step_number } from "./steps.js";
import { on_theme_change } from "./theme.js";
import { axis_labels, time_text } from "./time_text.js";

const kMostColumns = 40, kMostOutliers = 8;

export class StepCharts {
  /** @param {Explorer} explorer @param {StepPicker} picker */
  constructor(explorer, picker) {
    this.explorer = explorer;
    this.picker = picker;
    /** @type {CurveFrame | null} */
    this.frame = null;
    this.histogram = make_svg("svg", { class: "step-chart", role: "group", "aria-label": "Histogram of the steps' times" });
    this.outliers = make("p", { class: "outliers small" });
    this.curve = make("div", { class: "step-curve" });
    this.caption = make("h4");
    this.curve_box = make("div", {}, make("h4", {}, "Step time against position"), this.curve);
    this.histogram_box = make("div", {}, this.caption, this.histogram, this.outliers);
    this.element = make("div", { class: "step-charts" }, this.histogram_box, this.curve_box);
    explorer.on("stage", () => this.show());
    explorer.on("steps", () => this.show());
    on_theme_change(() => this.show());
    new ResizeObserver(() => this.show()).observe(this.element);
  }

  show() {
    const { detail } = this.explorer, { stage } = this.picker, steps = measured_steps(detail, stage), width = this.histogram_box.clientWidth;
    this.element.hidden = steps.length < 3;
    if (steps.length < 3 || width < 60) return;
    const outliers = outlier_steps(detail, stage);
    const thinned = detail.steps.in_all > detail.steps.start.length ? ", of all " + count_text(detail.steps.in_all) + " steps evenly thinned" : "";
    this.caption.textContent = plural(steps.length, "measured " + detail.stage_name(stage)) + thinned;
    this.draw_histogram(steps, outliers, width);
    this.list_outliers(outliers);
    const positions = new Set(steps.map(step => detail.steps.position[step]));
    this.curve_box.hidden = positions.size < 3;
    if (positions.size >= 3) draw_step_curve(this, steps, this.curve.clientWidth || width);
  }

  // Outliers stand in the last column, so that the others can be told apart.
  /** @param {number[]} steps @param {number[]} outliers @param {number} width */
  draw_histogram(steps, outliers, width) {
    const { detail } = this.explorer, { wall } = detail.steps, far = new Set(outliers), near = by_wall(detail, steps.filter(step => !far.has(step)));
    const low = wall[near[0]], high = Math.max(wall[near[near.length - 1]], low * 1.001 + 1);
    const scale = linear_scale([low, high], [kChart.left, width - kChart.right - (far.size ? 60 : 0)]);
    const count = Math.max(5, Math.min(kMostColumns, Math.ceil(Math.sqrt(near.length) * 1.5)));
    /** @type {number[][]} */
    const columns = Array.from({ length: count }, () => []);
    for (const step of near) columns[Math.min(count - 1, Math.floor((wall[step] - low) / (high - low) * count))].push(step);
    const most = Math.max(...columns.map(column => column.length), far.size);
    const rise = linear_scale([0, most], [kChart.height - kChart.foot, kChart.top]), wide = (scale(high) - scale(low)) / count;
    const bars = columns.flatMap((column, i) => column.length > 0 ? [this.bar(column, scale(low) + i * wide, wide, rise)] : []);
    if (far.size > 0) bars.push(this.bar(outliers, width - kChart.right - 26, 26, rise, "far"));
    this.histogram.setAttribute("height", String(kChart.height));
    const foot = make_svg("g", { class: "axis-lines", transform: "translate(0," + (kChart.height - kChart.foot) + ")" });
    const side = make_svg("g", { class: "axis-lines", transform: "translate(" + kChart.left + ",0)" });
    this.histogram.replaceChildren(...bars, foot, side);
    const ticks = scale.ticks(Math.max(2, width / 120));
    draw_axis(foot, "bottom", scale, ticks, axis_labels(0, high, ticks[1] - ticks[0]).of);
    draw_axis(side, "left", rise, rise.ticks(3).filter(Number.isInteger), count_text);
    if (far.size > 0) this.histogram.append(make_svg("text", { class: "axis", x: width - kChart.right - 13, y: kChart.height - kChart.foot + 18, "text-anchor": "middle" }, "far"));
  }

  /** @param {number[]} column @param {number} left @param {number} wide @param {Scale} rise @param {string} [kind] */
  bar(column, left, wide, rise, kind) {
    const { wall } = this.explorer.detail.steps, slowest = column.reduce((a, b) => wall[b] > wall[a] ? b : a), fastest = column.reduce((a, b) => wall[b] < wall[a] ? b : a);
    const label = plural(column.length, "step") + " of " + time_text(wall[fastest]) + " to " + time_text(wall[slowest]) + ". Click: step " + step_number(slowest);
    const top = Math.min(rise(column.length), rise(0) - 2), pick = () => this.picker.pick(slowest), chosen = column.includes(this.explorer.step);
    return make_svg("rect", {
      class: "step-bar" + (kind ? " " + kind : "") + (chosen ? " chosen" : ""), x: left + 0.5, width: Math.max(1, wide - 1), y: top, height: rise(0) - top, tabindex: 0, role: "button",
      "aria-label": label, "data-tip": label, click: pick,
      /** @param {KeyboardEvent} event */
      keydown: event => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        pick();
      },
    });
  }

  /** @param {number[]} outliers */
  list_outliers(outliers) {
    const { wall } = this.explorer.detail.steps, buttons = outliers.slice(0, kMostOutliers).flatMap(
      step => [button("step " + step_number(step) + ", " + time_text(wall[step]), "Go to step " + step_number(step), () => this.picker.pick(step), { class: "link" }), " "]);
    this.outliers.replaceChildren(outliers.length > 0 ? plural(outliers.length, "outlier") + ": " : "No outliers.", ...buttons,
                                  outliers.length > kMostOutliers ? "and " + (outliers.length - kMostOutliers) + " more" : "");
  }
}
