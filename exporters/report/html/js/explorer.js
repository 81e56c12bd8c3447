// The timeline one digs in: what is seen (view), chosen (selection), pinned, searched for, and which steps are compared.
// Parts listen for what changes; drawing waits for the next frame, sums and the address for a pause.
const kNarrowestView_ns = 40, kGlide_ms = 160;

class Explorer {
  constructor(detail, page_data) {
    Object.assign(this, { detail, page_data, palette: new Palette(page_data), selection: null, pin: null, matches: null, step: -1, other_step: -1 });
    this.view = { from: 0, to: detail.span };
    this.listeners = [];
    this.after_pause = later(180, () => this.tell("pause"));
    this.frame = 0;
    theme_listeners.push(() => root.classList.contains("printing") ? this.tell_drawing() : this.redraw());  // paper does not wait for a frame
  }

  on(topic, act) {
    this.listeners.push([topic, act]);
  }

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
  set_view(from, to) {
    const span = Math.min(this.detail.span, Math.max(kNarrowestView_ns, to - from)), middle = (from + to) / 2;
    const left = Math.min(Math.max(0, middle - span / 2), this.detail.span - span);
    this.view = { from: left, to: left + span };
    this.tell("view");
  }

  // The same, gliding there in a moment.
  move(from, to) {
    if (reduced_motion()) return this.set_view(from, to);
    const start = performance.now(), { from: old_from, to: old_to } = this.view;
    const token = this.glide = {};
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

  zoom(factor, at) {
    const { from, to } = this.view, middle = at === undefined ? (from + to) / 2 : at;
    this.move(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }

  pan(share) {
    const by = (this.view.to - this.view.from) * share;
    this.move(this.view.from + by, this.view.to + by);
  }

  // With a margin, so that the ends are seen.
  show(from, to) {
    const margin = Math.max(kNarrowestView_ns, (to - from) * 0.1);
    this.move(from - margin, to + margin);
  }

  select(from, to) {
    const inside = { from: Math.max(0, from), to: Math.min(this.detail.span, to) };
    this.selection = inside.to > inside.from ? inside : null;
    this.tell("selection");
  }

  // {lane, window, index} or null. Brought into view where it is not, or is a speck.
  pin_slice(pin, reveal) {
    this.pin = pin;
    if (pin && reveal) {
      const { start, duration } = this.slice(pin), { from, to } = this.view;
      const seen = start >= from && start + duration <= to && duration / (to - from) > 0.002;
      if (!seen) this.show(start - duration * 3, start + duration * 4);
    }
    this.tell("pin");
  }

  slice({ lane, window, index }) {
    const data = this.detail.window_lanes(window).get(lane);
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

// While the span changes at an even pace, the middle moves in proportion to it; where it stays, evenly.
function glide_middle(old_from, old_to, from, to, span) {
  const old_span = old_to - old_from, new_span = to - from, a = (old_from + old_to) / 2, b = (from + to) / 2;
  const share = Math.abs(new_span - old_span) < 1e-6 * old_span ? 1 : (span - old_span) / (new_span - old_span);
  return a + (b - a) * Math.min(1, Math.max(0, share));
}
