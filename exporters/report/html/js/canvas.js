import { draw_axis, linear_scale } from "#surface";
import { axis_labels } from "./time_text.js";

const kPaperRatio = 3;  // 300 dots an inch
export const kAxisHeight = 32;  // a line for the moment that labels count from, and one for the labels

export function pixel_ratio() {
  return Math.max(document.documentElement.classList.contains("printing") ? kPaperRatio : 1, devicePixelRatio || 1);
}

// A canvas as sharp as the screen or the paper, sized anew when its box is.
/** @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
export function fitted_context(canvas, width, height) {
  const ratio = pixel_ratio();
  const wide = Math.round(width * ratio), high = Math.round(height * ratio);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.height = height + "px";
  }
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser draws on no canvas");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.textBaseline = "middle";
  context.font = "11px " + getComputedStyle(document.body).fontFamily;
  return context;
}

// Labelled in the capture's time, which the data's starts `start_ns` into.
/** @param {SVGElement} group @param {TimeRange} view @param {number} start_ns @param {number} width @param {number} ticks_wanted */
export function draw_time_axis(group, view, start_ns, width, ticks_wanted) {
  const from = view.from + start_ns, to = view.to + start_ns, scale = linear_scale([from, to], [0, width]), ticks = scale.ticks(ticks_wanted);
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : to - from;
  const labels = axis_labels(from, to, step), edge = 24;  // a label that would be cut off is left out
  draw_axis(group, "top", scale, ticks.filter(tick => scale(tick) > edge && scale(tick) < width - edge), labels.of);
  return { scale, ticks, base: labels.base };
}
