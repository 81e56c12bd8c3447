// The capture as the page carries it (id detail-data: gzip, Base64): an overview in equal buckets of the whole capture, and
// windows in which every slice is listed. Nothing is unpacked before it is drawn: a window's columns stay packed until then.
import { device_of } from "./lane_layout.js";
import { Stacks } from "./stacks.js";

/** @param {string} base64 */
function bytes_of(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** @param {Bin[]} bins */
export async function read_detail(bins) {
  const block = document.getElementById("detail-data");
  if (!block) return null;
  const packed = new Blob([bytes_of(block.textContent || "")]).stream();
  const data = await new Response(packed.pipeThrough(new window.DecompressionStream("gzip"))).json();
  block.remove();
  return data.format === 1 ? new Detail(data, bins) : null;
}

// Starts are stored as differences to the start before.
/** @param {number[]} differences @param {number} start */
function running_sum(differences, start) {
  const out = new Float64Array(differences.length);
  let at = start;
  for (let i = 0; i < out.length; ++i) out[i] = at += differences[i];
  return out;
}

const kMostRows = 8;
const kBusyBins = new Set(["gpu_compute_ns", "communication_ns", "exposed_copy_ns"]);

// Ranges contain each other, and calls may: each slice goes into the first row that is free when it starts, so that the slices
// of a row follow each other and can be found by halving.
/** @param {Float64Array} start @param {Float64Array} duration */
function rows_of(start, duration) {
  /** @type {number[]} */
  const ends = [];
  /** @type {number[][]} */
  const rows = [];
  for (let i = 0; i < start.length; ++i) {
    let row = 0;
    while (row < ends.length && ends[row] > start[i]) ++row;
    if (row >= kMostRows) continue;
    if (row === rows.length) rows.push([]);
    rows[row].push(i);
    ends[row] = start[i] + duration[i];
  }
  return rows.map(row => Int32Array.from(row));
}

export class Detail {
  /** @param {DetailData} data @param {Bin[]} [bins] */
  constructor(data, bins = []) {
    this.start_ns = data.start_ns;
    this.timeline_only = Boolean(data.timeline_only);
    this.lanes_left_out = data.lanes_left_out || 0;
    this.slices_left_out = data.slices_left_out || 0;
    this.names = [...data.names, ...bins.map(bin => bin.title)];
    this.first_bin_name = data.names.length;
    this.bins = bins;
    this.sites = data.sites;
    this.sites_nearby = data.sites_nearby || [];
    this.sample_period_ns = data.sample_period_ns;
    this.operators = data.operators;
    this.layers = data.layers;
    this.kernels = data.kernels;
    this.kinds = data.kinds || [];
    this.unit = data.unit ?? -1;
    this.gaps = data.gaps || null;
    this.stacks = new Stacks(data.samples, data.names, data.sample_period_ns);
    this.devices = data.devices;
    /** @type {LaneInfo[]} */
    this.lanes = [...data.lanes, ...budget_lanes(data), ...sample_lanes(data)];  // the address counts them in this order
    this.stages = data.stages;
    this.steps = data.steps;
    this.windows = data.windows;
    this.span = Math.max(1, data.end_ns - data.start_ns);
    this.overview = data.overview.count === 0 ? overview_of_window(this) : data.overview;
    this.lane_buckets = new Map(data.overview.lanes.map(entry => [entry.lane, this.unpacked_buckets(entry)]));
    /** @type {Map<number, Map<number, LaneSlices>>} */
    this.unpacked = new Map();
    /** @type {Map<number, BinSlices[]>} */
    this.unpacked_bins = new Map();
    // Buckets name their largest kernel in full.
    /** @type {Map<number, Kernel>} */
    this.kernels_by_name = new Map();
    for (const kernel of data.kernels) this.kernels_by_name.set(kernel.name, kernel).set(kernel.short, kernel);
  }

  // The readable name for a name, where it is a kernel's.
  /** @param {number} id */
  short_name(id) {
    const kernel = this.kernels_by_name.get(id);
    return this.names[kernel ? kernel.short : id] || "";
  }

  /** @param {PackedBuckets} entry */
  unpacked_buckets(entry) {
    const count = this.overview.count, busy = new Float64Array(count), slices = new Float64Array(count), name = new Int32Array(count).fill(-1), kind = new Int8Array(count).fill(-1);
    let bucket = 0;
    entry.bucket.forEach((step, i) => {
      bucket += step;
      busy[bucket] = entry.busy[i];
      slices[bucket] = entry.slices[i];
      name[bucket] = entry.name[i];
      if (entry.kind) kind[bucket] = entry.kind[i];
    });
    return { busy, slices, name, kind };
  }

  // The slices of a window, by lane.
  /** @param {number} index */
  window_lanes(index) {
    let lanes = this.unpacked.get(index);
    if (!lanes) {
      const window = this.windows[index];
      lanes = new Map(window.lanes.map((lane, position) => [lane.lane, this.unpacked_lane(lane, position, window.start)]));
      for (const bins of this.window_bins(index)) lanes.set(this.budget_lane(bins.device), bins);
      this.unpacked.set(index, lanes);
    }
    return lanes;
  }

  /** @returns {LaneSlices} @param {PackedLane} lane @param {number} position @param {number} window_start */
  unpacked_lane(lane, position, window_start) {
    const start = running_sum(lane.d, window_start), duration = Float64Array.from(lane.dur);
    const what = Int32Array.from(lane.kernel || lane.name || []);
    return { start, duration, what, rows: rows_of(start, duration), position, launch: lane.launch, operator: lane.operator, layer: lane.layer, site: lane.site, merged: lane.merged };
  }

  // Of a slice that is listed.
  /** @param {Pin} pin */
  slices_of(pin) {
    const slices = this.is_sampled(pin.lane) ? this.samples_of(pin.lane) : this.window_lanes(pin.window).get(pin.lane);
    if (!slices) throw new Error("lane " + pin.lane + " has no slices in window " + pin.window);
    return slices;
  }

  /** @param {number} index */
  window_bins(index) {
    let bins = this.unpacked_bins.get(index);
    if (!bins) {
      const window = this.windows[index];
      bins = (window.bins || []).map(entry => {
        const start = new Float64Array(entry.d.length);
        let at = window.start;
        for (let i = 0; i < start.length; ++i) {
          start[i] = at + entry.d[i];
          at = start[i] + entry.dur[i];
        }
        const rows = start.length > 0 ? [Int32Array.from(start.keys())] : [];
        return { device: entry.device, start, duration: Float64Array.from(entry.dur), bin: entry.bin, what: Int32Array.from(entry.bin), rows, position: -1 };
      });
      this.unpacked_bins.set(index, bins);
    }
    return bins;
  }

  // What is listed of a lane in a range: windows in the order of time, each with its slices. Samples are listed over the whole capture.
  /** @param {number} lane @param {number} from @param {number} to @returns {[window: number, data: LaneSlices][]} */
  lists_of(lane, from, to) {
    if (this.is_sampled(lane)) return [[-1, this.samples_of(lane)]];
    return this.windows_in(from, to).flatMap(window => {
      const data = this.window_lanes(window).get(lane);
      /** @type {[window: number, data: LaneSlices][]} */
      const found = data ? [[window, data]] : [];
      return found;
    });
  }

  /** @param {number} lane */
  samples_of(lane) {
    return this.stacks.slices(this.lanes[lane].place || 0);
  }

  /** @param {number} lane */
  is_sampled(lane) {
    return this.lanes[lane]?.kind === "samples";
  }

  /** @param {number} device */
  budget_lane(device) {
    return this.lanes.findIndex(lane => lane.kind === "bins" && lane.place === device);
  }

  /** @param {number} bin */
  is_idle(bin) {
    const { key } = this.bins[bin] || {};
    return key !== undefined && !kBusyBins.has(key);
  }

  // Those that touch a range, as indices.
  /** @param {number} from @param {number} to */
  windows_in(from, to) {
    return [...this.windows.keys()].filter(index => this.windows[index].start < to && this.windows[index].end > from);
  }

  // The window that holds the whole range; -1: there is none, and sums come from buckets.
  /** @param {number} from @param {number} to */
  window_around(from, to) {
    return this.windows.findIndex(window => window.start <= from && window.end >= to);
  }

  /** @param {number} lane */
  is_gpu(lane) {
    return this.lanes[lane].kind === "gpu";
  }

  /** @param {number} lane @param {number} what */
  kernel_of(lane, what) {
    return this.is_gpu(lane) && what >= 0 ? this.kernels[what] : null;
  }

  // As an index of names: a kernel's readable name; copies, sets and graphs are stored as ~name, bins and functions by their place.
  /** @param {number} lane @param {number} what */
  name_id(lane, what) {
    if (this.lanes[lane].kind === "bins") return this.first_bin_name + what;
    if (this.is_sampled(lane)) return this.stacks.functions[what].name;
    const kernel = this.kernel_of(lane, what);
    return kernel ? kernel.short : what < 0 ? ~what : what;
  }

  /** @param {number} lane @param {number} what */
  name_of(lane, what) {
    return this.names[this.name_id(lane, what)] || "";
  }

  /** @param {number} index */
  stage_name(index) {
    return this.names[this.stages[index].name];
  }

  // How many rows a lane needs at its most crowded.
  /** @param {number} lane */
  most_rows(lane) {
    if (this.is_gpu(lane)) return 1;
    let most = 1;
    this.windows.forEach((window, index) => {
      const found = window.lanes.length && this.window_lanes(index).get(lane);
      if (found) most = Math.max(most, found.rows.length);
    });
    return most;
  }
}

/** @param {DetailData} data @returns {LaneInfo[]} */
function budget_lanes({ devices, overview, windows }) {
  return devices.flatMap(({ title, pid, device }, place) => {
    const known = overview.bins[place] || windows.some(window => (window.bins || []).some(bins => bins.device === place));
    /** @type {LaneInfo[]} */
    const lane = known ? [{ kind: "bins", title: "Budget of " + title, pid, device, place }] : [];
    return lane;
  });
}

/** @param {DetailData} data @returns {LaneInfo[]} */
function sample_lanes({ samples }) {
  const what = samples && samples.sampler === "python" ? "Python" : "stacks";
  return (samples ? samples.threads : []).map(({ title, pid, tid }, place) => ({ kind: "samples", title: title + ": " + what, pid, tid, place }));
}

// The first of a row's slices that ends after a moment.
/** @param {SliceTimes} data @param {ArrayLike<number>} row @param {number} moment */
export function first_ending_after(data, row, moment) {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1, i = row[middle];
    if (data.start[i] + data.duration[i] > moment) high = middle;
    else low = middle + 1;
  }
  return low;
}

const kDerivedBuckets = 512;

// A run.json alone has a window and no overview; how busy its devices are can still be seen from above.
/** @param {Detail} detail @returns {Overview} */
function overview_of_window(detail) {
  /** @type {SparseSums & { kernel: number[], operator: number[] }} */
  const none = { bucket: [], ns: [], calls: [], kernel: [], operator: [] };
  const bucket_ns = Math.ceil(detail.span / kDerivedBuckets);
  const busy = detail.devices.map(() => new Float64Array(kDerivedBuckets));
  detail.windows.forEach(window => window.lanes.forEach(lane => {
    const device = device_of(detail, lane.lane), start = running_sum(lane.d, window.start);
    if (detail.lanes[lane.lane].kind === "gpu" && device >= 0) start.forEach((from, i) => add_busy(busy[device], bucket_ns, from, from + lane.dur[i]));
  }));
  return { bucket_ns, count: kDerivedBuckets, busy, bins: [], kernels: none, operators: none, lanes: [] };
}

/** @param {Float64Array} busy @param {number} bucket_ns @param {number} from @param {number} to */
function add_busy(busy, bucket_ns, from, to) {
  for (let bucket = Math.max(0, Math.floor(from / bucket_ns)); bucket < busy.length && bucket * bucket_ns < to; ++bucket)
    busy[bucket] += Math.min(to, (bucket + 1) * bucket_ns) - Math.max(from, bucket * bucket_ns);
}
