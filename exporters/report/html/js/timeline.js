// "python main thread 973: CUDA calls" → what it is first, because the end is cut off; a GPU's streams differ at the beginning.
import { zoom_surface } from "#surface";
import { written_range } from "./address.js";
import { draw_time_axis, fitted_context } from "./canvas.js";
import { plural } from "./count_text.js";
import { button, make, make_svg } from "./dom.js";
import { kNarrowestView_ns } from "./explorer.js";
import { LaneDrawing } from "./lane_drawing.js";
import { busiest_entries, kMostLanes, kTitleHeight, lane_entries, lane_layout } from "./lane_layout.js";
import { launch_pairs } from "./launches.js";
import { timeline_pointing } from "./pointing.js";
import { step_number } from "./steps.js";
import { time_text } from "./time_text.js";

/** @param {LaneItem} item @param {string} text */
function title_parts(item, text) {
  const colon = item.kind === "gpu" || item.overlaid ? -1 : text.indexOf(": ");
  return colon < 0 ? [text] : [make("b", {}, text.slice(colon + 2)), " " + text.slice(0, colon)];
}

// The lanes of the explorer: a canvas with titles beside it (above the lanes on a phone), its axis, pointing and choosing.
const kAxisHeight = 22, kNarrowPage = 640;

export class Timeline {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.entries = lane_entries(explorer.detail);
    this.limit = kMostLanes;
    this.narrow = false;
    this.more = false;
    /** @type {LaneLayout} */
    this.layout = { items: [], height: 0 };
    this.axis = make_svg("g", { class: "axis-lines", transform: "translate(0," + (kAxisHeight - 1) + ")" });
    this.base = make_svg("text", { class: "axis-base", x: 4, y: 11 });
    this.ruler = make_svg("svg", { class: "ruler", height: kAxisHeight, "aria-hidden": "true" }, this.axis, this.base);
    this.titles = make("div", { class: "lane-titles" });
    this.canvas = make("canvas", {
      tabindex: 0, role: "application", "aria-roledescription": "timeline", "aria-describedby": "explorer-keys", "aria-label": this.spoken_label() });
    this.element = make("div", { class: "lanes-box" }, this.titles, make("div", { class: "lanes-main" }, this.ruler, this.canvas));
    this.tell_view = zoom_surface(this.canvas, explorer.detail.span, kNarrowestView_ns, event => this.own_gesture(event),
                                  (from, to) => explorer.set_view(from, to));
    this.listen();
    this.arrange();
  }

  spoken_label() {
    return "Timeline: " + plural(this.entries.length, "lane") + " over " + time_text(this.explorer.detail.span);
  }

  // One finger and a plain wheel scroll the page, until the timeline is clicked; Shift and drag chooses a range.
  /** @param {any} event */
  own_gesture(event) {
    const active = document.activeElement === this.canvas;
    if (event.type === "wheel") return (active || event.ctrlKey || event.metaKey) && !event.shiftKey && Math.abs(event.deltaY) >= Math.abs(event.deltaX);
    if (event.type === "touchstart") return active || event.touches.length > 1;
    return !event.button && !event.shiftKey;
  }

  // Places every lane; again when the page becomes narrow, lanes are added or a step is overlaid.
  arrange() {
    const { explorer } = this;
    this.narrow = innerWidth < kNarrowPage;
    this.layout = lane_layout(explorer.detail, busiest_entries(explorer.detail, this.entries, this.limit), this.narrow, explorer.overlaid);
    this.titles.replaceChildren(...this.layout.items.map(item => this.title_of(item)));
    this.more = this.entries.length > this.layout.items.filter(item => !item.overlaid).length;
    if (this.more) this.titles.append(this.more_button());
    this.element.classList.toggle("narrow", this.narrow);
    explorer.redraw();
  }

  /** @param {LaneItem} item */
  title_of(item) {
    const text = item.overlaid ? "the same in step " + step_number(this.explorer.other_step) : item.title;
    const made = make("span", { title: text, class: item.height < 30 ? "one-line" : "" }, ...title_parts(item, text)), top = this.narrow && !item.overlaid ? item.top - kTitleHeight : item.top;
    made.style.top = kAxisHeight + top + "px";
    made.style.height = (this.narrow ? kTitleHeight : item.height) + "px";
    made.hidden = this.narrow && item.overlaid;
    return made;
  }

  more_button() {
    const made = button("Show all " + this.entries.length + " lanes", "", () => {
      this.limit = Infinity;
      this.arrange();
    }, { class: "more-lanes" });
    made.style.top = kAxisHeight + this.layout.height + "px";
    return made;
  }

  draw() {
    const { explorer } = this, width = this.canvas.clientWidth, { view } = explorer, more = this.more ? 26 : 0;
    if (width <= 0) return;
    const context = fitted_context(this.canvas, width, this.layout.height + more), axis = draw_time_axis(this.axis, view, explorer.detail.start_ns, width, Math.max(4, width / 110));
    this.base.textContent = axis.base;
    this.draw_grid(context, axis);
    this.draw_selection(context, axis.scale);
    const titles = explorer.page_data.bins.map(bin => bin.title);
    const drawings = [0, explorer.overlay_shift].map(shift => new LaneDrawing(context, explorer.detail, explorer.palette, view, width, shift, explorer.matches, titles));
    for (const item of this.layout.items) drawings[item.overlaid ? 1 : 0].lane(item);
    this.draw_marks(context, drawings);
    this.tell_view(view.from, view.to);
  }

  /** @param {CanvasRenderingContext2D} context @param {{ scale: Scale, ticks: number[] }} axis */
  draw_grid(context, axis) {
    context.fillStyle = this.explorer.palette.plain.line;
    for (const item of this.layout.items) context.fillRect(0, item.top + item.height, this.canvas.clientWidth, 1);
    for (const tick of axis.ticks) context.fillRect(Math.round(axis.scale(tick)), 0, 1, this.layout.height);
  }

  /** @param {CanvasRenderingContext2D} context @param {LaneDrawing[]} drawings */
  draw_marks(context, drawings) {
    const { pin } = this.explorer;
    if (!pin) return;
    const item = this.item_of(pin), { start, duration, data } = this.explorer.slice(pin);
    if (!item) return;
    const depth = Math.max(0, data.rows.findIndex(row => row.includes(pin.index))), left = drawings[0].x(start), wide = Math.max(3, duration * drawings[0].scale);
    context.strokeStyle = this.explorer.palette.plain.text;
    context.lineWidth = 2;
    context.strokeRect(left - 1, item.top + depth * item.row_height - 1, wide + 1.5, item.row_height + 1);
    this.draw_launch_line(context, drawings[0], pin);
  }

  // From the call to the kernel that it launched.
  /** @param {CanvasRenderingContext2D} context @param {LaneDrawing} drawing @param {Pin} pin */
  draw_launch_line(context, drawing, pin) {
    for (const [call, kernel] of launch_pairs(this.explorer, pin)) {
      const upper = this.item_of(call), lower = this.item_of(kernel);
      if (!upper || !lower) continue;
      const from = this.explorer.slice(call), to = this.explorer.slice(kernel);
      context.beginPath();
      context.lineWidth = 1.2;
      context.moveTo(drawing.x(from.start + from.duration), upper.top + upper.row_height - 1);
      const y1 = upper.top + upper.row_height, y2 = lower.top, x1 = drawing.x(from.start + from.duration), x2 = drawing.x(to.start);
      context.bezierCurveTo(x1, (y1 + y2) / 2, x2, (y1 + y2) / 2, x2, y2);
      context.stroke();
    }
  }

  // Behind the slices, which keep their colours.
  /** @param {CanvasRenderingContext2D} context @param {Scale} scale */
  draw_selection(context, scale) {
    if (!this.explorer.selection) return;
    const { selection, detail } = this.explorer, left = scale(selection.from + detail.start_ns), right = scale(selection.to + detail.start_ns), { accent } = this.explorer.palette.plain;
    context.globalAlpha = 0.14;
    context.fillStyle = accent;
    context.fillRect(left, 0, right - left, this.layout.height);
    context.globalAlpha = 1;
    for (const x of [left, right]) context.fillRect(Math.round(x), 0, 1, this.layout.height);
  }

  /** @param {Pin} pin */
  item_of({ lane }) {
    return this.layout.items.find(item => item.lane === lane && !item.overlaid);
  }

  listen() {
    timeline_pointing(this);
    this.explorer.on("draw", () => this.draw());
    this.explorer.on("view", () => this.canvas.dataset.view = written_range(this.explorer.view, 0) || "");
    this.explorer.on("steps", () => this.arrange());
    new ResizeObserver(() => innerWidth < kNarrowPage !== this.narrow ? this.arrange() : this.explorer.redraw()).observe(this.canvas);
  }
}
