// Where each lane is drawn: ranges, then calls, then each device's budget and streams. An overlaid step repeats them below.
/** @type {{ [kind: string]: number }} */
const kRowHeight = { ranges: 18, api: 18, gpu: 34, bins: 22 };
export const kTitleHeight = 16, kMostLanes = 24;
const kLaneGap = 5;

/** @param {Pick<Detail, "lanes" | "devices">} detail @param {number} lane */
export function device_of(detail, lane) {
  const { device, pid } = detail.lanes[lane];
  return detail.devices.findIndex(each => each.device === device && (pid === undefined || each.pid === undefined || each.pid === pid));
}

// In the order of drawing. What is not a lane, or not of a device, has -1 there.
/** @param {Detail} detail */
export function lane_entries(detail) {
  /** @type {LaneEntry[]} */
  const all = detail.lanes.map(({ kind, title, stages }, lane) => ({ kind, title, lane, device: -1, stages }));
  const streams = all.filter(entry => entry.kind === "gpu");
  const out = [...all.filter(entry => entry.kind === "ranges"), ...all.filter(entry => entry.kind === "api")];
  detail.devices.forEach((device, index) => {
    const known = detail.overview.bins[index] || detail.windows.some(window => (window.bins || []).some(bins => bins.device === index));
    if (known) out.push({ kind: "bins", title: "Budget of " + device.title, lane: -1, device: index });
    out.push(...streams.filter(entry => device_of(detail, entry.lane) === index));
  });
  return out.concat(streams.filter(entry => device_of(detail, entry.lane) < 0));
}

// The emptiest lanes are hidden where there are more than `limit`; stages, streams and budgets never are.
/** @param {Detail} detail @param {LaneEntry[]} entries @param {number} limit */
export function busiest_entries(detail, entries, limit) {
  if (entries.length <= limit) return entries;
  /** @param {LaneEntry} entry */
  const busy = entry => {
    const buckets = detail.lane_buckets.get(entry.lane);
    return entry.kind === "bins" || entry.kind === "gpu" || entry.stages ? Infinity : buckets ? buckets.busy.reduce((sum, ns) => sum + ns, 0) : 0;
  };
  const weighted = entries.map(entry => ({ entry, ns: busy(entry) })).sort((a, b) => a.ns === b.ns ? 0 : b.ns - a.ns);
  const kept = new Set(weighted.filter(({ ns }, i) => i < limit || ns === Infinity).map(({ entry }) => entry));
  return entries.filter(entry => kept.has(entry));
}

// Narrow: titles stand above their lanes.
/** @param {Detail} detail @param {LaneEntry[]} entries @param {boolean} narrow @param {boolean} overlaid @returns {LaneLayout} */
export function lane_layout(detail, entries, narrow, overlaid) {
  /** @type {LaneItem[]} */
  const items = [];
  let top = 4;
  for (const entry of entries) {
    for (const second of overlaid ? [false, true] : [false]) {
      const row_height = kRowHeight[entry.kind], rows = entry.kind === "bins" ? 1 : detail.most_rows(entry.lane);
      if (narrow && !second) top += kTitleHeight;
      items.push({ ...entry, top, row_height, rows, height: rows * row_height, overlaid: second });
      top += rows * row_height + (overlaid && !second ? 1 : kLaneGap);
    }
  }
  return { items, height: top };
}
