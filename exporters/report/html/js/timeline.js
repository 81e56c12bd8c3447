// The lanes of the timeline: a canvas with titles beside it (above the lanes on a phone), its axis, pointing and choosing.
import { zoom_surface } from "#surface";
import { written_range } from "./address.js";
import { draw_time_axis, fitted_context, kAxisHeight } from "./canvas.js";
import { plural } from "./count_text.js";
import { button, make, make_svg } from "./dom.js";
import { kNarrowestView_ns } from "./explorer.js";
import { LaneArrangement } from "./lane_arrangement.js";
import { LaneDrawing } from "./lane_drawing.js";
import { busiest_entries, has_anything, kMostLanes, kTitleHeight, lane_entries, lane_layout } from "./lane_layout.js";
import { LaneTitles } from "./lane_titles.js";
import { launch_pairs } from "./launches.js";
import { timeline_pointing } from "./pointing.js";
import { step_at, step_number } from "./steps.js";
import { time_text } from "./time_text.js";

const kNarrowPage = 640, kMoreHeight = 26;
const kWideStep = 4;  // times the view: what is wider is around it

export class Timeline {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.entries = lane_entries(explorer.detail);
    this.arrangement = new LaneArrangement(this.entries);
    this.limit = kMostLanes;
    this.narrow = false;
    this.more = false;
    this.with_empty = false;
    /** @type {LaneEntry[]} */
    this.empty = [];
    /** @type {LaneLayout} */
    this.layout = { items: [], height: 0, pinned_height: 0 };
    this.scrolled = 0;
    this.axis = make_svg("g", { class: "axis-lines", transform: "translate(0," + (kAxisHeight - 1) + ")" });
    this.base = make_svg("text", { class: "axis-base", x: 4, y: 10 });
    this.ruler = make_svg("svg", { class: "ruler", height: kAxisHeight, "aria-hidden": "true" }, this.axis, this.base);
    this.titles = new LaneTitles(explorer.detail.lanes, this.arrangement, () => this.rearranged());
    this.canvas = make("canvas", {
      tabindex: 0, role: "application", "aria-roledescription": "timeline", "aria-describedby": "explorer-keys", "aria-label": this.spoken_label() });
    this.element = make("div", { class: "lanes-box" }, this.titles.element, make("div", { class: "lanes-main" }, this.ruler, this.canvas));
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

  rearranged() {
    this.arrange();
    this.explorer.tell("lanes");
  }

  // What is in view, with the steps that it touches: lanes that have nothing there take no room, and do not jump while one looks around in a step.
  scope() {
    const { detail, view } = this.explorer, { start, wall } = detail.steps, inner = step_at(detail.steps, (view.from + view.to) / 2);
    let { from, to } = view;
    for (let i = 0; i < start.length; ++i) {
      const touches = start[i] < view.to && start[i] + wall[i] > view.from;
      if (!touches || (i !== inner && wall[i] > kWideStep * (view.to - view.from))) continue;
      from = Math.min(from, start[i]);
      to = Math.max(to, start[i] + wall[i]);
    }
    return { from, to };
  }

  find_empty() {
    const { from, to } = this.scope(), { detail } = this.explorer;
    return this.arrangement.arranged().filter(entry => !entry.pinned && !has_anything(detail, entry, from, to));
  }

  // Once the view rests: lanes come and go with what is in them.
  look_for_empty() {
    const found = this.find_empty(), before = this.empty.map(entry => entry.lane).join();
    if (found.map(entry => entry.lane).join() === before) return;
    this.empty = found;
    this.arrange();
  }

  // Places every lane; again when the page becomes narrow, lanes are added, moved or folded, or a step is overlaid.
  arrange() {
    const { explorer } = this, empty = new Set(this.with_empty ? [] : this.empty.map(entry => entry.lane));
    const entries = this.arrangement.arranged().filter(entry => entry.pinned || !empty.has(entry.lane)), shown = busiest_entries(explorer.detail, entries, this.limit);
    this.narrow = innerWidth < kNarrowPage;
    this.layout = lane_layout(explorer.detail, shown, this.narrow, explorer.overlaid);
    this.scrolled = 0;
    this.titles.show(this.layout.items, item => item.overlaid ? "the same in step " + step_number(explorer.other_step) : item.title, this.narrow, kAxisHeight, kTitleHeight);
    this.more = entries.length > shown.length || this.empty.length > 0;
    if (this.more) this.titles.element.append(this.more_buttons(entries.length > shown.length));
    this.element.classList.toggle("narrow", this.narrow);
    this.keep_pinned();
    explorer.redraw();
  }

  /** @param {boolean} limited */
  more_buttons(limited) {
    const made = make("div", { class: "more-lanes" }), names = this.empty.map(entry => entry.title).join("\n");
    if (limited) made.append(button("Show all " + this.entries.length + " lanes", "", () => {
      this.limit = Infinity;
      this.with_empty = true;
      this.arrange();
    }, { class: "all-lanes" }));
    else made.append(button((this.with_empty ? "Hide " : "Show ") + plural(this.empty.length, "empty lane"), "", () => {
      this.with_empty = !this.with_empty;
      this.arrange();
    }, { class: "empty-lanes link", "data-tip": "Nothing in view:\n" + names }));
    made.style.top = kAxisHeight + this.layout.height + "px";
    return made;
  }

  // Pinned lanes stay in sight while the others scroll.
  keep_pinned() {
    const by = this.element.scrollTop - this.scrolled;
    this.scrolled = this.element.scrollTop;
    if (by === 0 || this.layout.pinned_height === 0) return;
    this.layout.items.forEach((item, i) => {
      if (!item.pinned) return;
      item.top += by;
      const title = this.titles.element.children[i];
      if (title instanceof HTMLElement) title.style.top = parseFloat(title.style.top) + by + "px";
    });
    this.explorer.redraw();
  }

  draw() {
    const { explorer } = this, width = this.canvas.clientWidth, { view } = explorer, more = this.more ? kMoreHeight : 0;
    if (width <= 0) return;
    const context = fitted_context(this.canvas, width, this.layout.height + more), axis = draw_time_axis(this.axis, view, explorer.detail.start_ns, width, Math.max(4, width / 110));
    this.base.textContent = axis.base;
    this.draw_grid(context, axis);
    this.draw_selection(context, axis.scale);
    const titles = explorer.page_data.bins.map(bin => bin.title);
    const drawings = [0, explorer.overlay_shift].map(shift => new LaneDrawing(context, explorer.detail, explorer.palette, view, width, shift, explorer.matches, titles));
    for (const item of this.layout.items) item.pinned || drawings[item.overlaid ? 1 : 0].lane(item);
    this.draw_pinned(context, drawings, axis, width);
    this.draw_marks(context, drawings);
    this.tell_view(view.from, view.to);
  }

  // Over what has scrolled below them.
  /** @param {CanvasRenderingContext2D} context @param {LaneDrawing[]} drawings @param {{ scale: Scale, ticks: number[] }} axis @param {number} width */
  draw_pinned(context, drawings, axis, width) {
    const items = this.layout.items.filter(item => item.pinned), high = this.layout.pinned_height, { palette } = this.explorer;
    if (items.length === 0) return;
    context.fillStyle = palette.plain.bg;
    context.fillRect(0, this.scrolled, width, high);
    this.draw_grid(context, axis, items);
    this.draw_selection(context, axis.scale, this.scrolled, high);
    for (const item of items) drawings[item.overlaid ? 1 : 0].lane(item);
    context.fillStyle = palette.plain.accent;
    context.fillRect(0, this.scrolled + high - 2, width, 1);
  }

  /** @param {CanvasRenderingContext2D} context @param {{ scale: Scale, ticks: number[] }} axis @param {LaneItem[]} [items] */
  draw_grid(context, axis, items) {
    const shown = items || this.layout.items, top = items ? this.scrolled : 0, high = items ? this.layout.pinned_height : this.layout.height;
    context.fillStyle = this.explorer.palette.plain.line;
    for (const item of shown) context.fillRect(0, item.top + item.height, this.canvas.clientWidth, 1);
    for (const tick of axis.ticks) context.fillRect(Math.round(axis.scale(tick)), top, 1, high);
  }

  /** @param {CanvasRenderingContext2D} context @param {LaneDrawing[]} drawings */
  draw_marks(context, drawings) {
    const { pin } = this.explorer;
    if (!pin) return;
    const item = this.item_of(pin), { start, duration, data } = this.explorer.slice(pin);
    if (!item) return;
    const depth = item.folded ? 0 : Math.max(0, data.rows.findIndex(row => row.includes(pin.index))), left = drawings[0].x(start), wide = Math.max(3, duration * drawings[0].scale);
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
  /** @param {CanvasRenderingContext2D} context @param {Scale} scale @param {number} [top] @param {number} [high] */
  draw_selection(context, scale, top = 0, high = this.layout.height) {
    if (!this.explorer.selection) return;
    const { selection, detail } = this.explorer, left = scale(selection.from + detail.start_ns), right = scale(selection.to + detail.start_ns), { accent } = this.explorer.palette.plain;
    context.globalAlpha = 0.14;
    context.fillStyle = accent;
    context.fillRect(left, top, right - left, high);
    context.globalAlpha = 1;
    for (const x of [left, right]) context.fillRect(Math.round(x), top, 1, high);
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
    this.explorer.on("pause", () => this.look_for_empty());
    this.element.addEventListener("scroll", () => this.keep_pinned(), { passive: true });
    new ResizeObserver(() => innerWidth < kNarrowPage !== this.narrow ? this.arrange() : this.explorer.redraw()).observe(this.canvas);
  }
}
