// What surface_d3.js does, as far as keys, wheel and clicks go: for a build without the d3 modules.
import { filled, make_svg } from "./dom.js";

export const surface_note = "This build has no d3 modules: no drag, pinch or brush. Keys, wheel, buttons and clicks on the strip move the timeline.";

// Steps of 1, 2 or 5 times a power of ten, about `count` of them.
/** @param {number} span @param {number} count */
function tick_step(span, count) {
  const rough = span / Math.max(1, count), power = Math.pow(10, Math.floor(Math.log10(rough)));
  return power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
}

/** @param {[number, number]} domain @param {[number, number]} range @returns {Scale} */
export function linear_scale([from, to], [left, right]) {
  /** @param {number} value */
  const scale = value => left + (value - from) / (to - from || 1) * (right - left);
  /** @param {number} count */
  const ticks = count => {
    const step = tick_step(to - from, count), out = [];
    for (let at = Math.ceil(from / step); at * step <= to; ++at) out.push(at * step);
    return out;
  };
  return Object.assign(scale, { ticks });
}

/**
 * @param {SVGElement} group @param {"top" | "left" | "bottom"} side @param {Scale} scale @param {number[]} ticks
 * @param {(tick: number) => string} label
 */
export function draw_axis(group, side, scale, ticks, label) {
  group.setAttribute("text-anchor", side === "left" ? "end" : "middle");
  group.replaceChildren(...ticks.map(tick => {
    const at = scale(tick), place = side === "left" ? [0, at] : [at, 0], away = side === "top" ? -6 : 6;
    return make_svg("g", { class: "tick", transform: "translate(" + place.join() + ")" },
                    make_svg("line", side === "left" ? { x2: -6, stroke: "currentColor" } : { y2: away, stroke: "currentColor" }),
                    make_svg("text", side === "left" ? { x: -9, dy: "0.32em" } : { y: side === "top" ? -9 : 18 }, label(tick)));
  }));
}

/**
 * @param {HTMLElement} element @param {number} whole @param {number} narrowest @param {(event: any) => boolean} allowed
 * @param {(from: number, to: number) => void} moved @returns {(from: number, to: number) => void}
 */
export function zoom_surface(element, whole, narrowest, allowed, moved) {
  let view = [0, whole];
  element.addEventListener("wheel", event => {
    if (!allowed(event)) return;
    event.preventDefault();
    const [from, to] = view, share = event.offsetX / element.clientWidth, at = from + share * (to - from);
    const span = Math.min(whole, Math.max(narrowest, (to - from) * Math.pow(2, event.deltaY * 0.002)));
    moved(at - share * span, at + (1 - share) * span);
  }, { passive: false });
  return (from, to) => {
    view = [from, to];
  };
}

/**
 * @param {SVGSVGElement} svg @param {(from: number, to: number) => void} chosen
 * @returns {(width: number, height: number, from: number, to: number) => void}
 */
export function brush_surface(svg, chosen) {
  const box = make_svg("rect", { class: "selection" });
  svg.append(box);
  svg.addEventListener("click", event => {
    const share = event.offsetX / svg.clientWidth;
    chosen(share, share);
  });
  return (width, height, from, to) => {
    const wide = Math.max(4, (to - from) * width);
    filled(box, { x: Math.max(0, Math.min(from * width, width - wide)), y: 0, width: wide, height }, []);
  };
}
