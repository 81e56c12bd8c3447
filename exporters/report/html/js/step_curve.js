// Step time against position: a point for each step on a canvas (there may be twenty thousand), the median of each position as a
// line. A click or Enter picks the step; arrows go from point to point.
import { draw_axis, linear_scale } from "#surface";
import { fitted_context } from "./canvas.js";
import { count_text } from "./count_text.js";
import { announce, make, make_svg } from "./dom.js";
import { outlier_steps, step_title } from "./steps.js";
import { axis_labels, time_text } from "./time_text.js";
import { hide_tip, show_tip } from "./tips.js";

export const kChart = { height: 130, left: 62, right: 12, top: 10, foot: 34 };  // pixels, of both charts of steps

/** @param {StepCharts} charts @param {number[]} steps @param {number} width */
export function draw_step_curve(charts, steps, width) {
  const { detail, palette, step: chosen } = charts.explorer, { position, wall } = detail.steps, height = kChart.height + 30;
  const frame = curve_frame(charts);
  const low = Math.min(...steps.map(i => position[i])), high = Math.max(...steps.map(i => position[i])), far = new Set(outlier_steps(detail, detail.steps.stage[steps[0]]));
  const top = Math.max(...steps.filter(i => !far.has(i)).map(i => wall[i])) * 1.15;  // an outlier stands at the upper edge
  const x = linear_scale([low, high], [kChart.left, width - kChart.right]), y = linear_scale([0, top], [height - kChart.foot, kChart.top]);
  const context = fitted_context(frame.canvas, width, height);
  /** @param {number} i @returns {[x: number, y: number]} */
  const place = i => [x(position[i]), y(Math.min(wall[i], top))];
  /** @param {number} i */
  const dot = i => {
    const [left, down] = place(i);
    context.fillRect(left - 1.5, down - 1.5, 3, 3);
  };
  context.globalAlpha = steps.length > 500 ? 0.4 : 0.8;
  context.fillStyle = palette.stage(detail.steps.stage[steps[0]]);  // they are of one stage
  steps.filter(i => wall[i] <= top).forEach(dot);
  context.fillStyle = palette.plain.starved;
  steps.filter(i => wall[i] > top).forEach(dot);
  context.globalAlpha = 1;
  draw_medians(context, palette, steps, position, wall, x, y);
  if (steps.includes(chosen)) ring(context, palette, ...place(chosen));
  frame.svg.setAttribute("height", String(height));
  frame.foot.setAttribute("transform", "translate(0," + (height - kChart.foot) + ")");
  draw_axis(frame.foot, "bottom", x, x.ticks(Math.max(2, width / 90)).filter(Number.isInteger), tick => count_text(tick + 1));
  const marks = y.ticks(4);
  draw_axis(frame.side, "left", y, marks, axis_labels(0, top, marks[1] - marks[0]).of);
  frame.nearest = (left, down) => steps.reduce((best, i) => distance_to(place(i), left, down) < distance_to(place(best), left, down) ? i : best, steps[0]);
  frame.steps = [...steps].sort((a, b) => position[a] - position[b] || a - b);
}

/** @param {[x: number, y: number]} point @param {number} left @param {number} down */
function distance_to([x, y], left, down) {
  return Math.hypot(x - left, y - down);
}

/** @param {number[]} values @param {number} share */
function quantile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.floor((sorted.length - 1) * share)];
}

/** @param {CanvasRenderingContext2D} context @param {Palette} palette @param {number} left @param {number} down */
function ring(context, palette, left, down) {
  context.strokeStyle = palette.plain.text;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(left, down, 6, 0, 2 * Math.PI);
  context.stroke();
}

/**
 * @param {CanvasRenderingContext2D} context @param {Palette} palette @param {number[]} steps @param {number[]} position
 * @param {number[]} wall @param {Scale} x @param {Scale} y
 */
function draw_medians(context, palette, steps, position, wall, x, y) {
  /** @type {Map<number, number[]>} */
  const by_position = new Map();
  for (const i of steps) by_position.set(position[i], [...by_position.get(position[i]) || [], wall[i]]);
  context.strokeStyle = palette.plain.text;
  context.lineWidth = 1.5;
  context.beginPath();
  for (const [place, walls] of [...by_position].sort((a, b) => a[0] - b[0])) context.lineTo(x(place), y(quantile(walls, 0.5)));
  context.stroke();
}

// Made once; drawn again for another stage or width.
/** @param {StepCharts} charts */
function curve_frame(charts) {
  if (charts.frame) return charts.frame;
  const canvas = make("canvas", { tabindex: 0, role: "application", "aria-roledescription": "scatter plot",
                                  "aria-label": "Step time against position; left and right go from step to step, Enter shows the step" });
  const foot = make_svg("g", { class: "axis-lines" }), side = make_svg("g", { class: "axis-lines", transform: "translate(" + kChart.left + ",0)" });
  const svg = make_svg("svg", { class: "step-curve-axes", "aria-hidden": "true" }, foot, side);
  /** @type {CurveFrame} */
  const frame = charts.frame = { canvas, svg, foot, side, steps: [], nearest: () => -1 };
  charts.curve.replaceChildren(canvas, svg);
  const { detail } = charts.explorer;
  /** @param {number} step */
  const say = step => step_title(detail, step) + ": " + time_text(detail.steps.wall[step]);
  let at = 0;
  canvas.addEventListener("click", event => charts.picker.pick(frame.nearest(event.offsetX, event.offsetY)));
  canvas.addEventListener("pointermove", event => show_tip(say(frame.nearest(event.offsetX, event.offsetY)), event.clientX, event.clientY));
  canvas.addEventListener("pointerleave", hide_tip);
  canvas.addEventListener("keydown", event => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (event.key === "Enter") charts.picker.pick(frame.steps[at]);
    if (!by) return;
    event.preventDefault();
    at = Math.min(frame.steps.length - 1, Math.max(0, at + by));
    announce(say(frame.steps[at]));
  });
  return frame;
}
