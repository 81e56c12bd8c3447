// The timeline one digs in: what is seen (view), chosen (selection), pinned, searched for, and which steps are compared.
// Parts listen for what changes; drawing waits for the next frame, sums and the address for a pause.
import { later, reduced_motion } from "./dom.js";
import { Palette } from "./palette.js";
import { on_theme_change } from "./theme.js";

export const kNarrowestView_ns = 40;
const kGlide_ms = 160, kPause_ms = 180;

export class Explorer {
  /** @param {Detail} detail @param {PageData} page_data */
  constructor(detail, page_data) {
    this.detail = detail;
    this.page_data = page_data;
    this.palette = new Palette(page_data);
    /** @type {TimeRange} */
    this.view = { from: 0, to: detail.span };
    /** @type {TimeRange | null} */
    this.selection = null;
    /** @type {Pin | null} */
    this.pin = null;
    /** @type {Matches | null} */
    this.matches = null;
    this.step = -1;
    this.other_step = -1;
    this.glide = {};
    /** @type {[Topic, () => void][]} */
    this.listeners = [];
    this.after_pause = later(kPause_ms, () => this.tell("pause"));
    this.frame = 0;
    on_theme_change(() => document.documentElement.classList.contains("printing") ? this.tell_drawing() : this.redraw());  // paper does not wait for a frame
  }

  /** @param {Topic} topic @param {() => void} act */
  on(topic, act) {
    this.listeners.push([topic, act]);
  }

  /** @param {Topic} topic */
  tell(topic) {
    for (const [name, act] of this.listeners)
      if (name === topic) act();
    if (topic === "pause") return;
    this.redraw();
    this.after_pause();
  }

  redraw() {
    if (!this.frame) this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.tell_drawing();
    });
  }

  tell_drawing() {
    for (const [name, act] of this.listeners)
      if (name === "draw") act();
  }

  // As asked, but inside the capture and no closer than anything can be told apart.
  /** @param {number} from @param {number} to */
  set_view(from, to) {
    const span = Math.min(this.detail.span, Math.max(kNarrowestView_ns, to - from)), middle = (from + to) / 2;
    const left = Math.min(Math.max(0, middle - span / 2), this.detail.span - span);
    this.view = { from: left, to: left + span };
    this.tell("view");
  }

  // The same, gliding there in a moment.
  /** @param {number} from @param {number} to */
  move(from, to) {
    if (reduced_motion()) return this.set_view(from, to);
    const start = performance.now(), { from: old_from, to: old_to } = this.view;
    const token = this.glide = {};
    /** @param {number} now */
    const step = now => {
      if (this.glide !== token) return;
      const share = Math.min(1, Math.max(0, (now - start) / kGlide_ms)), eased = 1 - (1 - share) ** 3;
      // Spans shrink by the same factor each frame, and the edges follow.
      const span = (old_to - old_from) * Math.pow((to - from) / (old_to - old_from), eased);
      const middle = share === 1 ? (from + to) / 2 : glide_middle(old_from, old_to, from, to, span);
      this.set_view(middle - span / 2, middle + span / 2);
      if (share < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  /** @param {number} factor @param {number} [at] */
  zoom(factor, at) {
    const { from, to } = this.view, middle = at === undefined ? (from + to) / 2 : at;
    this.move(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }

  /** @param {number} share */
  pan(share) {
    const by = (this.view.to - this.view.from) * share;
    this.move(this.view.from + by, this.view.to + by);
  }

  // With a margin, so that the ends are seen.
  /** @param {number} from @param {number} to */
  show(from, to) {
    const { from: left, to: right } = with_margin(from, to);
    this.move(left, right);
  }

  /** @param {number} from @param {number} to */
  select(from, to) {
    const inside = { from: Math.max(0, from), to: Math.min(this.detail.span, to) };
    this.selection = inside.to > inside.from ? inside : null;
    this.tell("selection");
  }

  // {lane, window, index} or null. Brought into view where it is not, or is a speck.
  /** @param {Pin | null} pin @param {boolean} [reveal] */
  pin_slice(pin, reveal) {
    this.pin = pin;
    if (pin && reveal) {
      const { start, duration } = this.slice(pin), { from, to } = this.view;
      const seen = start >= from && start + duration <= to && duration / (to - from) > 0.002;
      if (!seen) this.show(start - duration * 3, start + duration * 4);
    }
    this.tell("pin");
  }

  /** @param {Pin} pin */
  slice(pin) {
    const data = this.detail.slices_of(pin), { index } = pin;
    return { start: data.start[index], duration: data.duration[index], what: data.what[index], data };
  }

  // Another step's times lie this much later.
  get overlay_shift() {
    const { start } = this.detail.steps;
    return this.step >= 0 && this.other_step >= 0 ? start[this.other_step] - start[this.step] : 0;
  }

  get overlaid() {
    return this.step >= 0 && this.other_step >= 0 && this.other_step !== this.step;
  }
}

/** @param {number} from @param {number} to */
export function with_margin(from, to) {
  const margin = Math.max(kNarrowestView_ns, (to - from) * 0.1);
  return { from: from - margin, to: to + margin };
}

// While the span changes at an even pace, the middle moves in proportion to it; where it stays, evenly.
/** @param {number} old_from @param {number} old_to @param {number} from @param {number} to @param {number} span */
function glide_middle(old_from, old_to, from, to, span) {
  const old_span = old_to - old_from, new_span = to - from, a = (old_from + old_to) / 2, b = (from + to) / 2;
  const share = Math.abs(new_span - old_span) < 1e-6 * old_span ? 1 : (span - old_span) / (new_span - old_span);
  return a + (b - a) * Math.min(1, Math.max(0, share));
}
