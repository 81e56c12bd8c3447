// The strip over the whole capture: how busy the GPUs are, which stage runs when, and the part of it that is in view.
import { brush_surface } from "#surface";
import { draw_time_axis, fitted_context, kAxisHeight, pixel_ratio } from "./canvas.js";
import { make, make_svg } from "./dom.js";

const kStripHeight = 40, kStageBand = 8;

export class OverviewStrip {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.axis = make_svg("g", { class: "axis-lines", transform: "translate(0," + (kAxisHeight - 2) + ")" });
    this.base = make_svg("text", { class: "axis-base", x: 0, y: 10 });
    this.svg = make_svg("svg", { class: "strip-front", "aria-hidden": "true" });
    this.element = make("div", { class: "strip" }, make_svg("svg", { class: "strip-axis", "aria-hidden": "true", height: kAxisHeight }, this.axis, this.base),
                        make("div", { class: "strip-body" }, this.canvas, this.svg));
    this.show_view = brush_surface(this.svg, (from, to) => this.chosen(from, to));
    this.drawn_for = "";
  }

  // A click keeps the zoom and moves the middle.
  /** @param {number} from @param {number} to */
  chosen(from, to) {
    const { explorer } = this, { span } = explorer.detail, half = (explorer.view.to - explorer.view.from) / 2;
    if (from === to) explorer.move(from * span - half, from * span + half);
    else explorer.set_view(from * span, to * span);
  }

  draw() {
    const { detail, palette, view } = this.explorer, width = this.element.clientWidth, height = kStripHeight + kStageBand;
    const key = width + " " + pixel_ratio() + " " + palette.plain.bg;
    if (key !== this.drawn_for) {
      this.drawn_for = key;
      const context = fitted_context(this.canvas, width, height);
      this.draw_stages(context, width);
      this.draw_busy(context, width);
      this.base.textContent = draw_time_axis(this.axis, { from: 0, to: detail.span }, detail.start_ns, width, Math.max(4, width / 110)).base;
      this.svg.setAttribute("height", String(height));
    }
    this.show_view(width, height, view.from / detail.span, view.to / detail.span);
  }

  /** @param {CanvasRenderingContext2D} context @param {number} width */
  draw_busy(context, width) {
    const { overview } = this.explorer.detail, { palette } = this.explorer, each = kStripHeight / Math.max(1, overview.busy.length);
    overview.busy.forEach((busy, device) => {
      const foot = kStripHeight - 1 - (overview.busy.length - 1 - device) * each, high = each - 2;
      context.fillStyle = palette.plain.compute;
      for (let x = 0; x < width; ++x) context.fillRect(x, foot, 1, -high * share_of_pixel(busy, overview, this.explorer.detail.span, x, width));
      context.fillStyle = palette.plain.line;
      context.fillRect(0, foot, width, 1);
    });
  }

  // A stage inside another (a step in a decode) is drawn over it: the shorter ones last.
  /** @param {CanvasRenderingContext2D} context @param {number} width */
  draw_stages(context, width) {
    const { steps, span } = this.explorer.detail, order = [...steps.wall.keys()].sort((a, b) => steps.wall[b] - steps.wall[a]);
    for (const i of order) {
      const left = steps.start[i] / span * width, wide = Math.max(0.6, steps.wall[i] / span * width);
      context.globalAlpha = steps.warmup[i] ? 0.45 : 1;
      context.fillStyle = this.explorer.palette.stage(steps.stage[i]);
      context.fillRect(left, kStripHeight + 1, Math.max(0.5, wide - (wide > 3 ? 1 : 0)), kStageBand - 2);
    }
    context.globalAlpha = 1;
  }
}

// How much of a pixel's time was busy. Buckets are as wide as a pixel or a few of them are in one.
/** @param {ArrayLike<number>} busy @param {Overview} overview @param {number} span @param {number} x @param {number} width */
function share_of_pixel(busy, overview, span, x, width) {
  const from = x / width * span, to = (x + 1) / width * span, size = overview.bucket_ns;
  let sum = 0;
  for (let bucket = Math.floor(from / size); bucket * size < to && bucket < busy.length; ++bucket)
    sum += busy[bucket] * (Math.min(to, (bucket + 1) * size) - Math.max(from, bucket * size)) / size;
  return Math.min(1, sum / (to - from));
}
