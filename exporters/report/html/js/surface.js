// Scales, axes, zoom and brush, by d3. Unit tests in node have testing/surface.js in its place.
import { axisBottom, axisLeft, axisTop, brushX, d3_event, scaleLinear, select, zoom, zoomIdentity } from "./d3.js";

/** @param {[number, number]} domain @param {[number, number]} range @returns {Scale} */
export function linear_scale(domain, range) {
  return scaleLinear().domain(domain).range(range);
}

/**
 * @param {SVGElement} group @param {"top" | "left" | "bottom"} side @param {Scale} scale @param {number[]} ticks
 * @param {(tick: number) => string} label
 */
export function draw_axis(group, side, scale, ticks, label) {
  const axis = (side === "top" ? axisTop : side === "left" ? axisLeft : axisBottom)(scale);
  select(group).call(axis.tickValues(ticks).tickFormat(label).tickSizeOuter(0));
}

// Drag, wheel and pinch on an element. `allowed(event)` says which gestures are its own, `moved(from, to)` gets the new view.
// The answer is a function that tells the surface a view that came from elsewhere.
/**
 * @param {HTMLElement} element @param {number} whole @param {number} narrowest @param {(event: any) => boolean} allowed
 * @param {(from: number, to: number) => void} moved @returns {(from: number, to: number) => void}
 */
export function zoom_surface(element, whole, narrowest, allowed, moved) {
  const gestures = zoom().filter((/** @type {any} */ passed) => allowed(d3_event(passed))).on("zoom", (/** @type {any} */ passed) => {
    const event = d3_event(passed);
    if (!event.sourceEvent) return;
    const width = element.clientWidth, { x, k } = event.transform;
    moved(-x / k / width * whole, (width - x) / k / width * whole);
  });
  select(element).call(gestures).on("dblclick.zoom", null);
  element.style.touchAction = "";
  return (from, to) => {
    const width = Math.max(1, element.clientWidth), k = whole / (to - from);
    gestures.extent([[0, 0], [width, 1]]).translateExtent([[0, 0], [width, 1]]).scaleExtent([1, whole / narrowest]);
    Object.assign(element, { __zoom: zoomIdentity.translate(-from / whole * width * k, 0).scale(k) });  // where d3 keeps it
  };
}

// A brush over the whole width of a drawing. `chosen(from, to)` gets shares of the width; a click without a drag has from = to.
/**
 * @param {SVGSVGElement} svg @param {(from: number, to: number) => void} chosen
 * @returns {(width: number, height: number, from: number, to: number) => void}
 */
export function brush_surface(svg, chosen) {
  const group = select(svg).append("g").attr("class", "brush"), brush = brushX();
  let width = 1;
  let pressed_at = 0;
  brush.on("start", (/** @type {any} */ passed) => {
    const event = d3_event(passed);
    if (event.sourceEvent && event.selection) pressed_at = event.selection[0];
  });
  brush.on("brush end", (/** @type {any} */ passed) => {
    const event = d3_event(passed);
    if (!event.sourceEvent) return;
    if (event.selection && event.selection[1] - event.selection[0] > 1) chosen(event.selection[0] / width, event.selection[1] / width);
    else if (event.type === "end") chosen(pressed_at / width, pressed_at / width);
  });
  return (new_width, height, from, to) => {
    if (new_width !== width) {
      width = new_width;
      group.call(brush.extent([[0, 0], [width, height]]));
    }
    const wide = Math.max(4, (to - from) * width), left = Math.max(0, Math.min(from * width, width - wide));
    group.call(brush.move, [left, left + wide]);
  };
}
