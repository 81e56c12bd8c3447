// Budget, kernels and operators of a range of time: exact where one window lists every slice of it, else of whole buckets. Times of
// kernels are added, also of those that run at once on several streams; busy is the time in which a GPU does anything.
import { device_of } from "./lane_layout.js";

/** @param {Detail} detail @param {number} from @param {number} to */
export function range_sums(detail, from, to) {
  const window = detail.window_around(from, to);
  return window >= 0 ? exact_sums(detail, window, from, to) : bucket_sums(detail, from, to);
}

// What shares are of: the time, once for each GPU. A process without GPU work has a budget of its own, which counts only where there is no GPU.
/** @param {Detail} detail */
function counted_devices({ devices }) {
  const gpus = [...devices.keys()].filter(i => devices[i].device !== undefined);
  return new Set(gpus.length > 0 ? gpus : devices.keys());
}

/** @param {Detail} detail @param {number} from @param {number} to @param {boolean} exact @returns {RangeSums} */
function empty_sums(detail, from, to, exact) {
  const whole = (to - from) * Math.max(1, counted_devices(detail).size);
  return { from, to, exact, whole, merged: 0, busy: 0, bins: [], kernels: new Map(), operators: new Map() };
}

/** @param {Map<number, Sum>} sums @param {number} key @param {number} ns @param {number} calls */
function add_to(sums, key, ns, calls) {
  const entry = sums.get(key) || { ns: 0, calls: 0 };
  entry.ns += ns;
  entry.calls += calls;
  sums.set(key, entry);
}

/** @param {number} start @param {number} duration @param {number} from @param {number} to */
function overlap(start, duration, from, to) {
  return Math.min(start + duration, to) - Math.max(start, from);
}

// A slice that reaches over an edge counts with what lies inside. One that stands for several, with the gaps between them, has no time
// of its own: where there is such a one, sums by name are not known.
/** @param {Detail} detail @param {number} window @param {number} from @param {number} to */
function exact_sums(detail, window, from, to) {
  const sums = empty_sums(detail, from, to, true);
  /** @type {Map<number, [number, number][]>} */
  const gpus = new Map();
  for (const [lane, data] of detail.window_lanes(window)) {
    if (!detail.is_gpu(lane)) continue;
    const gpu = device_of(detail, lane), spans = gpus.get(gpu) || [];
    gpus.set(gpu, spans);
    for (let i = 0; i < data.start.length && data.start[i] < to; ++i) {
      const inside = overlap(data.start[i], data.duration[i], from, to);
      if (inside <= 0) continue;
      spans.push([Math.max(data.start[i], from), Math.min(data.start[i] + data.duration[i], to)]);
      if (merged_count(data, i) > 1) sums.merged += merged_count(data, i);
      add_to(sums.kernels, detail.name_id(lane, data.what[i]), inside, 1);
      if (data.operator && data.operator[i] >= 0) add_to(sums.operators, detail.operators[data.operator[i]], inside, 1);
    }
  }
  for (const spans of gpus.values()) sums.busy += covered_time(spans);
  if (sums.merged > 0) for (const table of [sums.kernels, sums.operators]) table.clear();
  const counted = counted_devices(detail);
  for (const data of detail.window_bins(window).filter(each => counted.has(each.device)))
    for (let i = 0; i < data.start.length && data.start[i] < to; ++i) {
      const inside = overlap(data.start[i], data.duration[i], from, to);
      if (inside > 0) sums.bins[data.bin[i]] = (sums.bins[data.bin[i]] || 0) + inside;
    }
  return sums;
}

// The time that spans cover together.
/** @param {number[][]} spans */
function covered_time(spans) {
  let sum = 0, until = -Infinity;
  for (const [from, to] of spans.sort((a, b) => a[0] - b[0])) {
    sum += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return sum;
}

// How many neighbours a slice of a crowded lane stands for.
/** @param {LaneColumns} data @param {number} index */
export function merged_count(data, index) {
  return data.merged ? data.merged[index] : 1;
}

// A step's own budget, as the report's tables have it: a moment in two stages at once counts in each, by its own rules.
/** @param {Detail} detail @param {number} step */
export function step_bins(detail, step) {
  const { bins } = detail.steps;
  /** @type {number[]} */
  const out = [];
  for (const device of bins || [])
    device.forEach((column, bin) => out[bin] = (out[bin] || 0) + column[step]);
  return out.length > 0 ? out : null;
}

/** @param {Detail} detail @param {number} from @param {number} to */
function bucket_sums(detail, from, to) {
  // Kernels and operators may be summed in coarser buckets than the rest: all edges are theirs, so that all sums are of one range.
  const { overview } = detail, size = overview.bucket_ns, scale = Math.max(overview.kernels.scale || 1, overview.operators.scale || 1), wide = size * scale;
  const first = Math.floor(from / wide) * scale, last = Math.min(overview.count, Math.ceil(to / wide) * scale);
  const sums = empty_sums(detail, first * size, Math.min(detail.span, last * size), false);
  /** @param {SparseSums} entry @param {(i: number) => number} name @param {Map<number, Sum>} into */
  const add_sparse = (entry, name, into) => {
    const own = entry.scale || 1;
    let bucket = 0;
    entry.bucket.forEach((step, i) => {
      bucket += step;
      if ((bucket + 1) * own > first && bucket * own < last) add_to(into, name(i), entry.ns[i], entry.calls[i]);
    });
  };
  add_sparse(overview.kernels, i => detail.kernels[overview.kernels.kernel[i]].short, sums.kernels);
  add_sparse(overview.operators, i => detail.operators[overview.operators.operator[i]], sums.operators);
  for (const busy of overview.busy)
    for (let bucket = first; bucket < last; ++bucket) sums.busy += busy[bucket];
  const counted = counted_devices(detail);
  for (const device of overview.bins.filter((_, i) => counted.has(i)))
    device.forEach((bin, index) => {
      sums.bins[index] = sums.bins[index] || 0;
      for (let bucket = first; bucket < last; ++bucket) sums.bins[index] += bin[bucket];
    });
  return sums;
}
