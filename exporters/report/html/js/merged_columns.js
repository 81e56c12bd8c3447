export const kColumn = 2;  // pixels

// Slices too narrow to draw, gathered in columns of kColumn pixels. A column's height is the share of it that is filled, and
// its colour the one that most of it has: of kernels that is a kind, not one kernel.
export class Columns {
  /** @param {Pick<LaneDrawing, "context">} drawing @param {number} top @param {number} height */
  constructor(drawing, top, height) {
    this.drawing = drawing;
    this.top = top;
    this.height = height;
    this.at = -1;
    this.filled = 0;
    /** @type {Map<string, number>} */
    this.colours = new Map();
    this.faded = true;
  }

  // A part that reaches into the next column is shared between them.
  /** @param {number} left @param {number} wide @param {string} colour @param {boolean} faded @param {number} [room] */
  add(left, wide, colour, faded, room) {
    const column = Math.floor(left / kColumn), inside = Math.min(room || wide, (column + 1) * kColumn - left);
    const part = room ? wide * inside / room : inside;
    this.add_to(column, part, colour, faded);
    if (wide > part) this.add_to(column + 1, wide - part, colour, faded);
  }

  /** @param {number} column @param {number} wide @param {string} colour @param {boolean} faded */
  add_to(column, wide, colour, faded) {
    if (column !== this.at) {
      this.finish();
      this.at = column;
    }
    this.filled += wide;
    this.faded = this.faded && faded;
    this.colours.set(colour, (this.colours.get(colour) || 0) + wide);
  }

  main_colour() {
    let most = -1, main = "";
    for (const [colour, wide] of this.colours) {
      if (wide <= most) continue;
      most = wide;
      main = colour;
    }
    return main;
  }

  finish() {
    if (this.filled > 0) {
      const { context } = this.drawing, high = Math.max(0.75, this.height * Math.min(1, this.filled / kColumn));
      context.globalAlpha = this.faded ? 0.2 : 1;
      context.fillStyle = this.main_colour();
      context.fillRect(this.at * kColumn, this.top + this.height - high, kColumn, high);
      context.globalAlpha = 1;
    }
    this.filled = 0;
    this.colours.clear();
    this.faded = true;
  }
}

// The same for the bins of a budget: on top of each other, in their order, each as high as its share.
export class Stacks {
  /** @param {Pick<LaneDrawing, "context" | "palette" | "width">} drawing @param {number} top @param {number} height */
  constructor(drawing, top, height) {
    this.drawing = drawing;
    this.top = top;
    this.height = height;
    /** @type {Map<number, number[]>} */
    this.shares = new Map();
  }

  /** @param {number} left @param {number} wide @param {number} bin */
  add(left, wide, bin) {
    const column = Math.floor(left / kColumn), part = Math.min(wide, (column + 1) * kColumn - left);
    this.add_to(column, part / kColumn, bin);
    if (wide > part) this.add_to(column + 1, (wide - part) / kColumn, bin);
  }

  // `share` of each of the columns from left on, `wide` pixels long.
  /** @param {number} left @param {number} wide @param {number} bin @param {number} share */
  add_share(left, wide, bin, share) {
    for (let x = left; x < left + wide - 1e-9;) {
      const column = Math.floor(x / kColumn + 1e-9), part = Math.min(left + wide, (column + 1) * kColumn) - x;
      if (column >= 0 && column * kColumn <= this.drawing.width) this.keep(column, share * part / kColumn, bin);
      x += part;
    }
  }

  /** @param {number} column @param {number} share @param {number} bin */
  add_to(column, share, bin) {
    if (column >= 0) this.keep(column, share, bin);
  }

  /** @param {number} column @param {number} share @param {number} bin */
  keep(column, share, bin) {
    const shares = this.shares.get(column) || [];
    this.shares.set(column, shares);
    shares[bin] = (shares[bin] || 0) + share;
  }

  finish() {
    const { context, palette } = this.drawing;
    for (const [column, shares] of this.shares) {
      let foot = this.top + this.height;
      shares.forEach((share, bin) => {
        const high = this.height * Math.min(1, share);
        context.fillStyle = palette.bins[bin];
        context.fillRect(column * kColumn, foot - high, kColumn, high);
        foot -= high;
      });
    }
  }
}

// A text as long as there is room for; measured once per name and cut in proportion, which is near enough.
/** @type {Map<string, number>} */
const text_widths = new Map();

/** @param {CanvasRenderingContext2D} context @param {string} text @param {number} room */
export function shortened(context, text, room) {
  const wide = text_widths.get(text) ?? context.measureText(text).width;
  text_widths.set(text, wide);
  if (wide <= room) return text;
  const letters = Math.floor(text.length * (room - 8) / wide);
  return letters < 2 ? "" : text.slice(0, letters) + "\u2026";
}
