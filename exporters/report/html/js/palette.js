// Colours of the canvas: those of the style sheet, read again whenever the theme changes.
import { on_theme_change } from "./theme.js";

/** @type {{ [kind: string]: string }} */
export const kKernelKinds = {
  gemm: "matrix products", attention: "attention", norm: "normalisation", reduce: "reductions", elementwise: "elementwise",
  copy: "copies", cache_copy: "KV cache", communication: "communication", other: "other kernels",
};
const kStageColours = 6;
const kPlainColours = ["bg", "panel", "line", "text", "muted", "accent", "on-bin", "idle", "host", "copy", "sync", "starved", "compute"];

function style_colours() {
  const style = getComputedStyle(document.documentElement);
  /** @param {string} name */
  return name => style.getPropertyValue("--" + name).trim();
}

export class Palette {
  // `colours` gives the colour of a name of the style sheet, as it is now.
  /** @param {Pick<PageData, "bins">} page_data @param {() => (name: string) => string} [colours] */
  constructor(page_data, colours = style_colours) {
    this.bin_classes = page_data.bins.map(bin => bin.colour);
    /** @type {{ [name: string]: string }} */
    this.plain = {};
    /** @type {{ [kind: string]: string }} */
    this.kinds = {};
    /** @type {string[]} */
    this.bins = [];
    /** @type {string[]} */
    this.stages = [];
    /** @type {Map<number, string>} */
    this.made = new Map();
    this.read(colours());
    on_theme_change(() => this.read(colours()));
  }

  /** @param {(name: string) => string} colour */
  read(colour) {
    this.plain = Object.fromEntries(kPlainColours.map(name => [name, colour(name)]));
    this.bins = this.bin_classes.map(name => colour(name.replace(/^b-/, "")) || this.plain.host);
    this.kinds = Object.fromEntries(Object.keys(kKernelKinds).map(kind => [kind, colour("kind-" + kind.replace("_", "-"))]));
    this.stages = Array.from({ length: kStageColours }, (_, i) => colour("s" + i));
    this.made = new Map();
  }

  /** @param {number} index */
  stage(index) {
    return this.stages[index % kStageColours];
  }

  // One colour for one name, for as long as the theme stays.
  /** @param {Detail} detail @param {number} lane @param {number} what */
  of_slice(detail, lane, what) {
    const key = lane * 0x1000000 + what;
    const colour = this.made.get(key) ?? this.chosen(detail, lane, what);
    this.made.set(key, colour);
    return colour;
  }

  /** @param {Detail} detail @param {number} lane @param {number} what */
  chosen(detail, lane, what) {
    const kernel = detail.kernel_of(lane, what);
    if (kernel) return this.kinds[kernel.kind] || this.kinds.other;
    const kind = detail.lanes[lane].kind, name = detail.name_of(lane, what);
    if (kind === "gpu") return this.kinds.copy;
    if (kind === "bins") return this.bins[what];
    if (kind === "samples") return this.stage(what);
    if (kind === "api") return this.of_call(name);
    return this.of_range(detail, name);
  }

  // A range that marks a stage ("LLM@decode_step") has the stage's colour: that of the longest name in it.
  /** @param {Detail} detail @param {string} name */
  of_range(detail, name) {
    let best = -1;
    detail.stages.forEach((_, stage) => {
      const known = detail.stage_name(stage);
      if (name.includes(known) && (best < 0 || known.length > detail.stage_name(best).length)) best = stage;
    });
    return best >= 0 ? this.stage(best) : this.plain.host;
  }

  // The three sorts of calls that matter when a GPU waits.
  /** @param {string} name */
  of_call(name) {
    if (/ynchronize/.test(name)) return this.plain.sync;
    if (/aunch/.test(name)) return this.plain.starved;
    return /emcpy|emset/.test(name) ? this.plain.copy : this.plain.host;
  }
}
