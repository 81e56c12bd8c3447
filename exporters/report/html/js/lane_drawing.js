// Draws lanes on a canvas. Where slices are narrower than a column of two pixels, the column is as high as the share of it that
// they fill: a GPU that is 7 % busy looks 7 % busy at every zoom.
import { plural } from "./count_text.js";
import { first_ending_after } from "./detail.js";
import { Columns, kColumn, shortened, Stacks } from "./merged_columns.js";
import { kKernelKinds } from "./palette.js";
import { share_text, time_text } from "./time_text.js";

const kRoomForName = 28;

export class LaneDrawing {
  // view: {from, to} in time, width in pixels; shift: added to the times of what is drawn (an overlaid step).
  /**
   * @param {CanvasRenderingContext2D} context @param {Detail} detail @param {Palette} palette @param {TimeRange} view
   * @param {number} width @param {number} shift @param {Matcher | null} matches @param {string[]} bin_titles
   */
  constructor(context, detail, palette, view, width, shift, matches, bin_titles) {
    this.context = context;
    this.detail = detail;
    this.palette = palette;
    this.view = view;
    this.width = width;
    this.shift = shift;
    this.matches = matches;
    this.bin_titles = bin_titles;
    this.scale = width / (view.to - view.from);
  }

  /** @param {number} time */
  x(time) {
    return (time - this.shift - this.view.from) * this.scale;
  }

  // Times of the capture that are in view.
  get from() { return this.view.from + this.shift; }
  get to() { return this.view.to + this.shift; }

  /** @param {LaneItem} item */
  lane(item) {
    if (item.kind === "samples") return this.rows(item, this.detail.samples_of(item.lane));
    const exact = this.detail.windows_in(this.from, this.to).filter(index => this.shows_slices(this.detail.windows[index]));
    for (const [from, to] of gaps_between(exact.map(index => this.detail.windows[index]), this.from, this.to))
      item.kind === "bins" ? this.bin_buckets(item, from, to) : this.buckets(item, from, to);
    for (const index of exact) item.kind === "bins" ? this.bin_slices(item, index) : this.window_slices(item, index);
  }

  // A window of a few pixels is no more than its bucket.
  /** @param {ListedWindow} window */
  shows_slices(window) {
    return window.whole || (window.end - window.start) * this.scale > 6;
  }

  /** @param {LaneItem} item @param {number} index */
  window_slices(item, index) {
    const data = this.detail.window_lanes(index).get(item.lane);
    if (data) this.rows(item, data);
  }

  // Of a folded lane all lie in one.
  /** @param {LaneItem} item @param {LaneSlices} data */
  rows(item, data) {
    data.rows.forEach((row, depth) => this.row(item, data, row, item.top + (item.folded ? 0 : depth) * item.row_height));
  }

  /** @param {LaneItem} item @param {LaneSlices} data @param {Int32Array} row @param {number} top */
  row(item, data, row, top) {
    const columns = new Columns(this, top, item.row_height - 1);
    for (let at = first_ending_after(data, row, this.from); at < row.length; ++at) {
      const i = row[at], start = data.start[i];
      if (start >= this.to) break;
      const left = this.x(start), wide = data.duration[i] * this.scale, what = data.what[i];
      if (wide < kColumn) {
        columns.add(left, wide, this.palette.of_slice(this.detail, item.lane, what), this.faded(item.lane, what, data, i));
        continue;
      }
      this.slice(left, wide, top, item.row_height - 1, item.lane, what, this.faded(item.lane, what, data, i));
    }
    columns.finish();
  }

  // While something is searched for, all else.
  /** @param {number} lane @param {number} what @param {LaneSlices} [data] @param {number} [index] */
  faded(lane, what, data, index) {
    return this.matches !== null && !(data ? this.matches.has(lane, data, index || 0) : this.matches.has_slice(lane, what));
  }

  /**
   * @param {number} left @param {number} wide @param {number} top @param {number} height @param {number} lane @param {number} what
   * @param {boolean} faded
   */
  slice(left, wide, top, height, lane, what, faded) {
    const from = Math.max(-2, left), to = Math.min(this.width + 2, left + wide), context = this.context;
    context.globalAlpha = faded ? 0.2 : 1;
    context.fillStyle = this.palette.of_slice(this.detail, lane, what);
    context.fillRect(from, top, Math.max(1, to - from - 0.5), height);
    if (to - from > kRoomForName && !faded) this.label(this.detail.name_of(lane, what), from, to, top, height);
    context.globalAlpha = 1;
  }

  // A name keeps to what is seen of its slice.
  /** @param {string} text @param {number} from @param {number} to @param {number} top @param {number} height */
  label(text, from, to, top, height) {
    const left = Math.max(from, 0) + 4, room = Math.min(to, this.width) - left - 3;
    if (room < kRoomForName - 8) return;
    this.context.fillStyle = this.palette.plain["on-bin"];
    this.context.fillText(shortened(this.context, text, room), left, top + height / 2 + 0.5);
  }

  /** @param {LaneItem} item @param {number} from @param {number} to */
  buckets(item, from, to) {
    const buckets = this.detail.lane_buckets.get(item.lane), size = this.detail.overview.bucket_ns;
    if (!buckets) return;
    const height = item.row_height - 1, columns = new Columns(this, item.top, height);
    for (let bucket = Math.floor(from / size); bucket < Math.min(this.detail.overview.count, Math.ceil(to / size)); ++bucket) {
      if (!buckets.busy[bucket]) continue;
      const start = Math.max(from, bucket * size), end = Math.min(to, (bucket + 1) * size), share = buckets.busy[bucket] / size;
      const what = this.detail.is_gpu(item.lane) ? ~buckets.name[bucket] : buckets.name[bucket];
      const colour = this.bucket_colour(item, buckets, bucket), wide = (end - start) * this.scale;
      if (wide < kColumn) columns.add(this.x(start), wide * share, colour, this.faded(item.lane, what), wide);
      else this.bucket(this.x(start), wide, share, item, colour, buckets, bucket);
    }
    columns.finish();
  }

  /**
   * @param {number} left @param {number} wide @param {number} share @param {LaneItem} item @param {string} colour
   * @param {Buckets} buckets @param {number} bucket
   */
  bucket(left, wide, share, item, colour, buckets, bucket) {
    const height = Math.max(1, (item.row_height - 1) * share), context = this.context;
    context.fillStyle = colour;
    context.fillRect(left, item.top + item.row_height - 1 - height, wide - (wide > 6 ? 1 : 0), height);
    if (wide < 90) return;
    context.fillStyle = share > 0.5 ? this.palette.plain["on-bin"] : this.palette.plain.text;
    context.fillText(shortened(context, bucket_text(this.detail, item, buckets, bucket), wide - 8), left + 4, item.top + 9);
  }

  // A bucket of the GPU knows the kind with most of its time; older data only the name of its longest.
  /** @param {LaneItem} item @param {Buckets} buckets @param {number} bucket */
  bucket_colour(item, buckets, bucket) {
    if (!this.detail.is_gpu(item.lane)) return this.palette.of_slice(this.detail, item.lane, buckets.name[bucket]);
    return this.palette.kinds[bucket_kind(this.detail, buckets, bucket)] || this.palette.kinds.other;
  }

  /** @param {LaneItem} item @param {number} index */
  bin_slices(item, index) {
    const data = this.detail.window_bins(index).find(entry => entry.device === item.device);
    if (!data) return;
    const stacks = new Stacks(this, item.top, item.row_height - 1);
    for (let i = first_after(data, this.from); i < data.start.length && data.start[i] < this.to; ++i) {
      const left = this.x(data.start[i]), wide = data.duration[i] * this.scale;
      if (wide < kColumn) {
        stacks.add(left, wide, data.bin[i]);
        continue;
      }
      const from = Math.max(-2, left), to = Math.min(this.width + 2, left + wide);
      this.context.fillStyle = this.palette.bins[data.bin[i]];
      this.context.fillRect(from, item.top, to - from, item.row_height - 1);
      if (to - from > 60) this.label(this.bin_titles[data.bin[i]] + " " + time_text(data.duration[i]), from, to, item.top, item.row_height - 1);
    }
    stacks.finish();
  }

  /** @param {LaneItem} item @param {number} from @param {number} to */
  bin_buckets(item, from, to) {
    const bins = this.detail.overview.bins[item.device], size = this.detail.overview.bucket_ns, stacks = new Stacks(this, item.top, item.row_height - 1);
    if (!bins) return;
    for (let bucket = Math.floor(from / size); bucket < Math.min(this.detail.overview.count, Math.ceil(to / size)); ++bucket) {
      const start = Math.max(from, bucket * size), end = Math.min(to, (bucket + 1) * size), wide = (end - start) * this.scale;
      for (let bin = 0; bin < bins.length; ++bin) {
        const share = bins[bin][bucket] / size;
        if (share > 0) stacks.add_share(this.x(start), wide, bin, share);
      }
    }
    stacks.finish();
  }
}

// "31 slices, 12 % busy, most: nvjet_…"; of ranges, which are always busy, the name says all.
/** @param {Detail} detail @param {LaneItem} item @param {Buckets} buckets @param {number} bucket */
export function bucket_text(detail, item, buckets, bucket) {
  const name = detail.short_name(buckets.name[bucket]), count = buckets.slices[bucket];
  if (item.kind === "ranges") return name;
  const kind = buckets.kind[bucket] >= 0 ? "mostly " + kKernelKinds[bucket_kind(detail, buckets, bucket)] + ", longest: " : "most: ";
  return (count > 0 ? plural(count, "slice") + ", " : "") + share_text(buckets.busy[bucket], detail.overview.bucket_ns) + " busy, " + kind + name;
}

/** @param {Detail} detail @param {Buckets} buckets @param {number} bucket */
function bucket_kind(detail, buckets, bucket) {
  if (buckets.kind[bucket] >= 0) return detail.kinds[buckets.kind[bucket]];
  const kernel = detail.kernels_by_name.get(buckets.name[bucket]);
  return kernel ? kernel.kind : "copy";
}

// "93 % launch-starved, 7.0 % GPU compute" of a bucket of a budget.
/** @param {Detail} detail @param {number} device @param {number} bucket */
export function bins_text(detail, device, bucket) {
  const bins = detail.overview.bins[device] || [], size = detail.overview.bucket_ns;
  const parts = [...bins.keys()].filter(bin => bins[bin][bucket] > 0).sort((a, b) => bins[b][bucket] - bins[a][bucket]);
  return parts.map(bin => share_text(bins[bin][bucket], size) + " " + detail.bins[bin].title).join(", ");
}

// What the windows leave out of a range.
/** @param {ListedWindow[]} windows @param {number} from @param {number} to */
export function gaps_between(windows, from, to) {
  /** @type {[number, number][]} */
  const out = [];
  let at = from;
  for (const window of [...windows].sort((a, b) => a.start - b.start)) {
    if (window.start > at) out.push([at, Math.min(window.start, to)]);
    at = Math.max(at, window.end);
  }
  if (at < to) out.push([at, to]);
  return out;
}

/** @param {SliceTimes} data @param {number} moment */
export function first_after(data, moment) {
  let low = 0, high = data.start.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data.start[middle] + data.duration[middle] > moment) high = middle;
    else low = middle + 1;
  }
  return low;
}
