// How the reader laid out the lanes: folded, pinned to the top, moved. It stands in the page's address (fold=, top=, order=, each a list of
// lanes as the data count them), so that a link and a reload show them so.

/** @param {string | null} text @param {Set<number>} known */
function listed(text, known) {
  return [...new Set((text || "").split(".").filter(Boolean).map(Number))].filter(lane => known.has(lane));
}

export class LaneArrangement {
  /** @param {LaneEntry[]} entries */
  constructor(entries) {
    this.entries = entries;
    /** @type {Set<number>} */
    this.folded = new Set();
    /** @type {number[]} */
    this.pinned = [];
    /** @type {number[]} */
    this.order = entries.map(entry => entry.lane);
  }

  // In the order of drawing, as the reader wants them.
  arranged() {
    const by_lane = new Map(this.entries.map(entry => [entry.lane, entry])), pinned = new Set(this.pinned);
    return [...this.pinned, ...this.order.filter(lane => !pinned.has(lane))].flatMap(lane => {
      const entry = by_lane.get(lane);
      return entry ? [{ ...entry, folded: this.folded.has(lane), pinned: pinned.has(lane) }] : [];
    });
  }

  /** @param {number} lane */
  fold(lane) {
    if (!this.folded.delete(lane)) this.folded.add(lane);
  }

  /** @param {number} lane */
  pin(lane) {
    const at = this.pinned.indexOf(lane);
    at < 0 ? this.pinned.push(lane) : this.pinned.splice(at, 1);
  }

  // In front of or behind another lane, which is pinned where that one is.
  /** @param {number} lane @param {number} other @param {boolean} behind */
  move(lane, other, behind) {
    if (lane === other) return;
    const to_pinned = this.pinned.includes(other);
    this.pinned = this.pinned.filter(each => each !== lane);
    const list = to_pinned ? this.pinned : this.order;
    if (!to_pinned) list.splice(list.indexOf(lane), 1);
    list.splice(list.indexOf(other) + (behind ? 1 : 0), 0, lane);
  }

  reset() {
    this.folded.clear();
    this.pinned = [];
    this.order = this.entries.map(entry => entry.lane);
  }

  // What the address says of it; null: as the page opens.
  written() {
    const moved = this.order.some((lane, i) => lane !== this.entries[i].lane);
    /** @param {number[]} lanes */
    const text = lanes => lanes.length > 0 ? lanes.join(".") : null;
    return { fold: text([...this.folded].sort((a, b) => a - b)), top: text(this.pinned), order: moved ? text(this.order) : null };
  }

  /** @param {URLSearchParams | null} state */
  read(state) {
    const known = new Set(this.entries.map(entry => entry.lane)), order = listed(state && state.get("order"), known);
    this.folded = new Set(listed(state && state.get("fold"), known));
    this.pinned = listed(state && state.get("top"), known);
    const own = this.entries.map(entry => entry.lane);
    this.order = order.length > 0 ? [...order, ...own.filter(lane => !order.includes(lane))] : own;
  }
}
