// The titles beside the lanes, and what is done with a lane there: fold, pin to the top, move up and down, by mouse and by key.
import { announce, button, make } from "./dom.js";

export const kTitleKeysText = "Enter folds the lane, P pins it to the top, Alt with up and down moves it.";

const kTellsWhose = ["process", "main", "thread", "rank"];

// What is the same in all titles of threads says nothing: the name of the one program.
/** @param {LaneInfo[]} lanes */
export function shared_beginning(lanes) {
  const owners = lanes.flatMap(({ kind, title }) => kind === "gpu" || kind === "bins" || !title.includes(": ") ? [] : [title.slice(0, title.indexOf(": "))]);
  const named = owners.filter(owner => !kTellsWhose.includes(owner.split(" ")[0])), first = (named[0] || "").split(" ");
  const same = first.findIndex((word, i) => kTellsWhose.includes(word) || named.some(owner => owner.split(" ")[i] !== word));
  const words = first.slice(0, Math.max(0, same));
  return words.length > 0 ? words.join(" ") + " " : "";
}

// "python main thread 973: CUDA calls" → what it is first, because the end is cut off; a GPU's streams differ at the beginning. A budget's GPU
// goes without its model, which the tip has.
/** @param {{ kind: LaneKind, overlaid?: boolean }} item @param {string} text @param {string} shared @returns {[what: string, whose: string]} */
export function title_parts(item, text, shared) {
  if (item.kind === "bins" && !item.overlaid) return ["Budget", text.replace(/^Budget of /, "").replace(/ \([^)]*\)/, "")];
  const colon = item.kind === "gpu" || item.overlaid ? -1 : text.indexOf(": ");
  if (colon < 0) return [text, ""];
  const owner = text.slice(0, colon), short = owner.startsWith(shared) ? owner.slice(shared.length) : owner;
  return [text.slice(colon + 2), short];
}

export class LaneTitles {
  /** @param {LaneInfo[]} lanes @param {LaneArrangement} arrangement @param {() => void} changed */
  constructor(lanes, arrangement, changed) {
    this.shared = shared_beginning(lanes);
    this.arrangement = arrangement;
    this.changed = changed;
    this.element = make("div", { class: "lane-titles", role: "group", "aria-label": "Lanes" });
    /** @type {{ lane: number, element: HTMLElement }[]} */
    this.shown = [];
    this.dragged = -1;
  }

  /** @param {LaneItem[]} items @param {(item: LaneItem) => string} text_of @param {boolean} narrow @param {number} above @param {number} title_height */
  show(items, text_of, narrow, above, title_height) {
    const focused = this.shown.find(({ element }) => element.contains(document.activeElement));
    this.shown = [];
    this.element.replaceChildren(...items.map(item => {
      const made = this.title_of(item, text_of(item), narrow), top = narrow && !item.overlaid ? item.top - title_height : item.top;
      made.style.top = above + top + "px";
      made.style.height = (narrow ? title_height : item.height) + "px";
      made.hidden = narrow && item.overlaid;
      if (!item.overlaid) this.shown.push({ lane: item.lane, element: made });
      return made;
    }));
    if (focused) this.focus(focused.lane);
  }

  /** @param {number} lane */
  focus(lane) {
    const found = this.shown.find(each => each.lane === lane);
    if (found) found.element.focus({ preventScroll: true });
  }

  /** @param {LaneItem} item @param {string} text @param {boolean} narrow */
  title_of(item, text, narrow) {
    const [what, whose] = title_parts(item, text, this.shared), { lane } = item;
    const label = make("span", { class: narrow || item.height < 30 ? "one-line" : "" }, whose ? make("b", {}, what) : what, whose ? " " + whose : "");
    if (item.overlaid) return make("div", { class: "lane-title", "data-tip": text }, label);
    const made = make("div", {
      class: "lane-title" + (item.pinned ? " pinned" : ""), tabindex: 0, role: "group", "data-tip": text, "data-lane": lane, "aria-label": text + (item.folded ? ", folded" : "") + (item.pinned ? ", pinned" : ""),
      "aria-description": kTitleKeysText, keydown: (/** @type {KeyboardEvent} */ event) => this.pressed(event, lane),
      pointerdown: (/** @type {PointerEvent} */ event) => this.begin(event, lane),
    }, button(item.folded ? "\u25b8" : "\u25be", (item.folded ? "Unfold " : "Fold ") + text, () => this.fold(lane), { class: "lane-fold", "aria-expanded": String(!item.folded), tabindex: -1 }),
       label, button(item.pinned ? "\u2715" : "\u2191", (item.pinned ? "Unpin " : "Pin to the top: ") + text, () => this.pin(lane), { class: "lane-pin", "aria-pressed": String(Boolean(item.pinned)), tabindex: -1, "data-tip": item.pinned ? "Unpin" : "Pin to the top" }));
    return made;
  }

  /** @param {number} lane */
  fold(lane) {
    this.arrangement.fold(lane);
    this.changed();
    announce(this.arrangement.folded.has(lane) ? "Lane folded" : "Lane unfolded");
  }

  /** @param {number} lane */
  pin(lane) {
    this.arrangement.pin(lane);
    this.changed();
    announce(this.arrangement.pinned.includes(lane) ? "Lane pinned to the top" : "Lane unpinned");
  }

  /** @param {KeyboardEvent} event @param {number} lane */
  pressed(event, lane) {
    const up = event.key === "ArrowUp", down = event.key === "ArrowDown", at = this.shown.findIndex(each => each.lane === lane);
    const next = this.shown[at + (down ? 1 : -1)];
    if (event.ctrlKey || event.metaKey) return;
    if ((up || down) && event.altKey) next && this.move(lane, next.lane, down);
    else if (up || down) next && next.element.focus({ preventScroll: true });
    else if (event.key === "Enter" || event.key === " ") this.fold(lane);
    else if (event.key === "p" || event.key === "P") this.pin(lane);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {number} lane @param {number} other @param {boolean} behind */
  move(lane, other, behind) {
    this.arrangement.move(lane, other, behind);
    this.changed();
    announce("Lane moved " + (behind ? "down" : "up"));
  }

  // A title that is dragged goes where it is let go.
  /** @param {PointerEvent} event @param {number} lane */
  begin(event, lane) {
    if (event.button || event.pointerType === "touch" || (event.target instanceof Element && event.target.closest("button"))) return;
    const from = event.clientY, owner = event.currentTarget;
    if (!(owner instanceof HTMLElement)) return;
    owner.setPointerCapture(event.pointerId);
    /** @param {PointerEvent} moved */
    const drag = moved => {
      owner.classList.toggle("dragged", Math.abs(moved.clientY - from) > 4);
      owner.style.transform = "translateY(" + (moved.clientY - from) + "px)";
    };
    /** @param {PointerEvent} ended */
    const end = ended => {
      owner.removeEventListener("pointermove", drag);
      owner.classList.remove("dragged");
      owner.style.transform = "";
      if (ended.type === "pointercancel" || Math.abs(ended.clientY - from) <= 4) return;
      const target = this.target_at(ended.clientY, lane);
      if (target) this.move(lane, target.lane, ended.clientY > from);
    };
    owner.addEventListener("pointermove", drag);
    owner.addEventListener("pointerup", end, { once: true });
    owner.addEventListener("pointercancel", end, { once: true });
  }

  /** @param {number} y @param {number} lane */
  target_at(y, lane) {
    const others = this.shown.filter(each => each.lane !== lane);
    /** @param {HTMLElement} element */
    const away = element => {
      const box = element.getBoundingClientRect();
      return Math.abs((box.top + box.bottom) / 2 - y);
    };
    return others.sort((a, b) => away(a.element) - away(b.element))[0];
  }
}
