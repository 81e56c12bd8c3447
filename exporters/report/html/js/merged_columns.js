// Slices too narrow to draw, gathered in columns of kColumn pixels. A column's height is the share of it that is filled, and
// its colour that of the slice with most of it.
class Columns {
  constructor(drawing, top, height) {
    Object.assign(this, { drawing, top, height, at: -1, filled: 0, largest: 0, colour: "", faded: true });
  }

  // A part that reaches into the next column is shared between them.
  add(left, wide, colour, faded, room) {
    const column = Math.floor(left / kColumn), inside = Math.min(room || wide, (column + 1) * kColumn - left);
    const part = room ? wide * inside / room : inside;
    this.add_to(column, part, colour, faded);
    if (wide > part) this.add_to(column + 1, wide - part, colour, faded);
  }

  add_to(column, wide, colour, faded) {
    if (column !== this.at) {
      this.finish();
      this.at = column;
    }
    this.filled += wide;
    this.faded = this.faded && faded;
    if (wide <= this.largest) return;
    this.largest = wide;
    this.colour = colour;
  }

  finish() {
    if (this.filled > 0) {
      const { context } = this.drawing, high = Math.max(0.75, this.height * Math.min(1, this.filled / kColumn));
      context.globalAlpha = this.faded ? 0.2 : 1;
      context.fillStyle = this.colour;
      context.fillRect(this.at * kColumn, this.top + this.height - high, kColumn, high);
      context.globalAlpha = 1;
    }
    this.filled = this.largest = 0;
    this.faded = true;
  }
}

// The same for the bins of a budget: on top of each other, in their order, each as high as its share.
class Stacks {
  constructor(drawing, top, height) {
    Object.assign(this, { drawing, top, height, at: -1, shares: new Map() });
  }

  add(left, wide, bin) {
    const column = Math.floor(left / kColumn), part = Math.min(wide, (column + 1) * kColumn - left);
    this.add_to(column, part / kColumn, bin);
    if (wide > part) this.add_to(column + 1, (wide - part) / kColumn, bin);
  }

  // `share` of each of the columns from left on, `wide` pixels long.
  add_share(left, wide, bin, share) {
    for (let x = left; x < left + wide - 1e-9;) {
      const column = Math.floor(x / kColumn + 1e-9), part = Math.min(left + wide, (column + 1) * kColumn) - x;
      if (column >= 0 && column * kColumn <= this.drawing.width) this.keep(column, share * part / kColumn, bin);
      x += part;
    }
  }

  add_to(column, share, bin) {
    if (column >= 0) this.keep(column, share, bin);
  }

  keep(column, share, bin) {
    if (!this.shares.has(column)) this.shares.set(column, []);
    const shares = this.shares.get(column);
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
const text_widths = new Map();

function shortened(context, text, room) {
  if (!text_widths.has(text)) text_widths.set(text, context.measureText(text).width);
  const wide = text_widths.get(text);
  if (wide <= room) return text;
  const letters = Math.floor(text.length * (room - 8) / wide);
  return letters < 2 ? "" : text.slice(0, letters) + "\u2026";
}
