// Where each lane is drawn: ranges, then calls, then each device's budget and streams. An overlaid step repeats them below.
const kRowHeight = { ranges: 18, api: 18, gpu: 34, bins: 22 };
const kLaneGap = 5, kTitleHeight = 16, kMostLanes = 24;

function device_of(detail, lane) {
  const { device, pid } = detail.lanes[lane];
  return detail.devices.findIndex(each => each.device === device && (pid === undefined || each.pid === undefined || each.pid === pid));
}

// In the order of drawing: {kind, title, lane | device, stages}.
function lane_entries(detail) {
  const order = { ranges: 0, api: 1 };
  const host = detail.lanes.map((lane, index) => ({ kind: lane.kind, title: lane.title, lane: index, stages: lane.stages })).filter(entry => entry.kind !== "gpu");
  host.sort((a, b) => order[a.kind] - order[b.kind] || a.lane - b.lane);
  const streams = detail.lanes.map((lane, index) => ({ kind: lane.kind, title: lane.title, lane: index })).filter(entry => entry.kind === "gpu");
  const out = host;
  detail.devices.forEach((device, index) => {
    if (detail.overview.bins[index] || detail.windows.some(window => (window.bins || []).some(bins => bins.device === index))) out.push({ kind: "bins", title: "Budget of " + device.title, device: index });
    out.push(...streams.filter(entry => device_of(detail, entry.lane) === index));
  });
  return out.concat(streams.filter(entry => device_of(detail, entry.lane) < 0));
}

// The emptiest lanes give way where there are more than anybody looks at: stages, streams and budgets never.
function busiest_entries(detail, entries, limit) {
  if (entries.length <= limit) return entries;
  const busy = entry => {
    const buckets = detail.lane_buckets.get(entry.lane);
    return entry.kind === "bins" || entry.kind === "gpu" || entry.stages ? Infinity : buckets ? buckets.busy.reduce((sum, ns) => sum + ns, 0) : 0;
  };
  const kept = new Set(entries.map(entry => [busy(entry), entry]).sort((a, b) => a[0] === b[0] ? 0 : b[0] - a[0]).filter((pair, i) => i < limit || pair[0] === Infinity).map(pair => pair[1]));
  return entries.filter(entry => kept.has(entry));
}

// {items: [{...entry, top, row_height, rows, height, overlaid}], height}. Narrow: titles stand above their lanes.
function lane_layout(detail, entries, narrow, overlaid) {
  const items = [];
  let top = 4;
  for (const entry of entries) {
    for (const second of overlaid ? [false, true] : [false]) {
      const row_height = kRowHeight[entry.kind], rows = entry.lane === undefined ? 1 : detail.most_rows(entry.lane);
      if (narrow && !second) top += kTitleHeight;
      items.push({ ...entry, top, row_height, rows, height: rows * row_height, overlaid: second });
      top += rows * row_height + (overlaid && !second ? 1 : kLaneGap);
    }
  }
  return { items, height: top };
}
