// Where each lane is drawn: ranges, then sampled stacks, then calls, then each device's budget and streams. An overlaid step repeats them below.
/** @type {{ [kind: string]: number }} */
const kRowHeight = { ranges: 18, api: 18, samples: 18, gpu: 34, bins: 22 };
const kFoldedHeight = 15;
export const kTitleHeight = 16, kMostLanes = 24;
const kLaneGap = 5;
const kNearSamples = 20;  // periods: a thread that is sampled around a view was seldom sampled, not idle

/** @param {Pick<Detail, "lanes" | "devices">} detail @param {number} lane */
export function device_of(detail, lane) {
  const { device, pid } = detail.lanes[lane];
  return detail.devices.findIndex(each => each.device === device && (pid === undefined || each.pid === undefined || each.pid === pid));
}

// In the order of drawing. What is not of a device has -1 there.
/** @param {Detail} detail */
export function lane_entries(detail) {
  /** @type {LaneEntry[]} */
  const all = detail.lanes.map(({ kind, title, stages, bands, place }, lane) => ({ kind, title, lane, device: kind === "bins" && place !== undefined ? place : -1, stages, bands }));
  /** @param {LaneKind} kind */
  const of_kind = kind => all.filter(entry => entry.kind === kind);
  const streams = of_kind("gpu"), out = [...of_kind("ranges"), ...of_kind("samples"), ...of_kind("api")];
  detail.devices.forEach((_, index) => {
    out.push(...of_kind("bins").filter(entry => entry.device === index), ...streams.filter(entry => device_of(detail, entry.lane) === index));
  });
  return out.concat(streams.filter(entry => device_of(detail, entry.lane) < 0));
}

// Whether a thread has ranges of stages or makes calls: its samples say what the GPU waits for.
/** @param {Detail} detail @param {number} lane */
function works(detail, lane) {
  const { pid, tid } = detail.lanes[lane];
  return detail.lanes.some(each => each.tid === tid && each.pid === pid && (each.stages || each.kind === "api"));
}

// The emptiest lanes are hidden where there are more than `limit`; stages, collectives of ranks, streams and budgets never are.
/** @param {Detail} detail @param {LaneEntry[]} entries @param {number} limit */
export function busiest_entries(detail, entries, limit) {
  if (entries.length <= limit) return entries;
  /** @param {LaneEntry} entry */
  const busy = entry => {
    const buckets = detail.lane_buckets.get(entry.lane);
    if (entry.kind === "bins" || entry.kind === "gpu" || entry.stages || entry.bands || entry.pinned) return Infinity;
    if (entry.kind === "samples") return works(detail, entry.lane) ? Infinity : 0;
    return buckets ? buckets.busy.reduce((sum, ns) => sum + ns, 0) : 0;
  };
  const weighted = entries.map(entry => ({ entry, ns: busy(entry) })).sort((a, b) => a.ns === b.ns ? 0 : b.ns - a.ns);
  const kept = new Set(weighted.filter(({ ns }, i) => i < limit || ns === Infinity).map(({ entry }) => entry));
  return entries.filter(entry => kept.has(entry));
}

// Whether a lane has anything in a range of time: by its slices where they are listed, else by its buckets.
/** @param {Detail} detail @param {LaneEntry} entry @param {number} from @param {number} to */
export function has_anything(detail, entry, from, to) {
  if (entry.kind === "bins") return true;
  if (entry.kind === "samples") [from, to] = [from - kNearSamples * detail.sample_period_ns, to + kNearSamples * detail.sample_period_ns];
  const buckets = detail.lane_buckets.get(entry.lane), size = detail.overview.bucket_ns;
  for (const [, data] of detail.lists_of(entry.lane, from, to))
    if (data.rows.some(row => row.length > 0 && touches(data, row, from, to))) return true;
  if (!buckets || detail.window_around(from, to) >= 0) return false;
  for (let i = Math.max(0, Math.floor(from / size)); i < Math.min(detail.overview.count, Math.ceil(to / size)); ++i)
    if (buckets.name[i] >= 0) return true;
  return false;
}

/** @param {SliceTimes} data @param {ArrayLike<number>} row @param {number} from @param {number} to */
function touches(data, row, from, to) {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data.start[row[middle]] + data.duration[row[middle]] >= from) high = middle;
    else low = middle + 1;
  }
  return low < row.length && data.start[row[low]] < to;
}

// Narrow: titles stand above their lanes. Pinned lanes come first.
/** @param {Detail} detail @param {LaneEntry[]} entries @param {boolean} narrow @param {boolean} overlaid @returns {LaneLayout} */
export function lane_layout(detail, entries, narrow, overlaid) {
  /** @type {LaneItem[]} */
  const items = [];
  let top = 4, pinned_height = 0;
  for (const entry of entries) {
    for (const second of overlaid ? [false, true] : [false]) {
      const row_height = entry.folded ? kFoldedHeight : kRowHeight[entry.kind], rows = entry.folded ? 1 : detail.most_rows(entry.lane);
      if (narrow && !second) top += kTitleHeight;
      items.push({ ...entry, top, row_height, rows, height: rows * row_height, overlaid: second });
      top += rows * row_height + (overlaid && !second ? 1 : kLaneGap);
    }
    if (entry.pinned) pinned_height = top;
  }
  return { items, height: top, pinned_height };
}
