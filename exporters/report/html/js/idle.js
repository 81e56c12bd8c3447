// Idle time of a GPU: the stretch around a slice of its budget, what ran before and after, which thread launched next, and whether the same
// comes again in the other windows of the stage.
import { device_of } from "./lane_layout.js";
import { launch_pairs } from "./launches.js";
import { step_at } from "./steps.js";

const kRecurring = 0;        // GapKind, as run.json orders it
const kAboutAsLong = 8;      // times: what differs more is another gap between the same work

/** @param {Detail} detail @param {Pin} pin */
export function is_idle_pin(detail, pin) {
  return detail.lanes[pin.lane].kind === "bins" && detail.is_idle(detail.slices_of(pin).what[pin.index]);
}

// As long as the GPU does nothing, and not beyond the innermost step.
/** @param {Detail} detail @param {Pin} pin @returns {IdleStretch} */
export function idle_stretch(detail, pin) {
  const { start, duration, what } = detail.slices_of(pin), { steps } = detail, step = step_at(steps, start[pin.index]);
  /** @param {number} i */
  const end = i => start[i] + duration[i];
  let first = pin.index, last = pin.index;
  while (first > 0 && detail.is_idle(what[first - 1]) && end(first - 1) === start[first]) --first;
  while (last + 1 < start.length && detail.is_idle(what[last + 1]) && end(last) === start[last + 1]) ++last;
  const step_from = step < 0 ? -Infinity : steps.start[step], step_to = step < 0 ? Infinity : steps.start[step] + steps.wall[step];
  const from = Math.max(start[first], step_from), to = Math.min(end(last), step_to);
  const device = detail.lanes[pin.lane].place ?? -1;
  return { from, to, step, at_edge: from === step_from || to === step_to, before: work_beside(detail, pin.window, device, start[first], false), after: work_beside(detail, pin.window, device, end(last), true) };
}

// The GPU's latest work that ended by a moment, or the first that starts from it on.
/** @param {Detail} detail @param {number} window @param {number} device @param {number} moment @param {boolean} after @returns {Pin | null} */
function work_beside(detail, window, device, moment, after) {
  /** @type {FoundPin | null} */
  let best = null;
  for (const [lane, data] of detail.window_lanes(window)) {
    if (!detail.is_gpu(lane) || device_of(detail, lane) !== device) continue;
    for (const row of data.rows) {
      const at = first_starting_from(data, row, moment) - (after ? 0 : 1), index = row[at];
      if (at < 0 || at >= row.length) continue;
      const start = after ? data.start[index] : data.start[index] + data.duration[index];
      if (!best || (after ? start < best.start : start > best.start)) best = { lane, window, index, start };
    }
  }
  return best && { lane: best.lane, window, index: best.index };
}

/** @param {SliceTimes} data @param {ArrayLike<number>} row @param {number} moment */
function first_starting_from(data, row, moment) {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data.start[row[middle]] >= moment) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The call that ends the wait, the call of its thread before it, and the thread: of a stretch without a launch, the thread of the step.
/** @param {Explorer} explorer @param {IdleStretch} stretch */
export function calls_around(explorer, stretch) {
  const { detail } = explorer, pair = stretch.after ? launch_pairs(explorer, stretch.after)[0] : undefined, launch = pair ? pair[0] : null;
  return { launch, before: launch && call_before(detail, launch) };
}

/** @param {Detail} detail @param {Pin} call @returns {Pin | null} */
function call_before(detail, call) {
  const data = detail.slices_of(call), start = data.start[call.index];
  for (let index = call.index - 1; index >= 0; --index)
    if (data.start[index] + data.duration[index] <= start) return { ...call, index };
  return null;
}

// The thread whose samples tell what the GPU waits for: the one that launches next, else one of the process that makes calls.
/** @param {Detail} detail @param {Pin} pin @param {Pin | null} launch */
export function watched_thread(detail, pin, launch) {
  const { threads } = detail.stacks.data, owner = detail.lanes[launch ? launch.lane : pin.lane];
  /** @param {number | undefined} tid */
  const thread_of = tid => threads.findIndex(thread => thread.tid === tid && (owner.pid === undefined || thread.pid === owner.pid));
  const launching = launch ? thread_of(owner.tid) : -1;
  if (launching >= 0) return launching;
  const working = detail.lanes.filter(lane => lane.pid === owner.pid && (lane.stages || lane.kind === "api")).map(lane => thread_of(lane.tid));
  return working.find(thread => thread >= 0) ?? -1;
}

// The full name of work, as the gaps of run.json have it.
/** @param {Detail} detail @param {Pin | null} pin */
function full_name(detail, pin) {
  if (!pin) return -1;
  const what = detail.slices_of(pin).what[pin.index], kernel = detail.kernel_of(pin.lane, what);
  return kernel ? kernel.name : ~what;
}

// The row of the gaps that an idle stretch belongs to: of its stage, between the same work, and about as long. Where there is none, all that
// has no row of its own.
/** @param {Detail} detail @param {IdleStretch} stretch @returns {Recurrence | null} */
export function recurrence_of(detail, stretch) {
  const { gaps, steps } = detail;
  if (!gaps || stretch.step < 0) return null;
  const stage = steps.stage[stretch.step], before = full_name(detail, stretch.before), after = full_name(detail, stretch.after), length = stretch.to - stretch.from;
  const rows = [...gaps.stage.keys()].filter(i => gaps.stage[i] === stage);
  if (rows.length === 0) return null;
  let best = -1, least = kAboutAsLong;
  for (const i of rows) {
    const alike = gaps.kind[i] === kRecurring && Boolean(gaps.at_edge[i]) === stretch.at_edge && (before < 0 || gaps.before[i] === before) && (after < 0 || gaps.after[i] === after);
    const each = gaps.mean[i] * gaps.windows[i] / Math.max(1, gaps.count[i]), ratio = Math.max(each / length, length / Math.max(1, each));
    if (!alike || ratio >= least) continue;
    least = ratio;
    best = i;
  }
  return best >= 0 ? row_of(gaps, best) : rest_of(gaps, rows, stage);
}

/** @param {GapData} gaps @param {number} row @returns {Recurrence} */
function row_of(gaps, row) {
  return { row, stage: gaps.stage[row], of_windows: gaps.of_windows[row], windows: gaps.windows[row], count: gaps.count[row], mean: gaps.mean[row], total: gaps.total[row], permille: gaps.permille[row] };
}

/** @param {GapData} gaps @param {number[]} rows @param {number} stage @returns {Recurrence | null} */
function rest_of(gaps, rows, stage) {
  const rest = rows.filter(i => gaps.kind[i] !== kRecurring);
  if (rest.length === 0) return null;
  /** @param {number[]} column */
  const sum = column => rest.reduce((all, i) => all + column[i], 0);
  const of_windows = gaps.of_windows[rest[0]], total = sum(gaps.total);
  return { row: -1, stage, of_windows, windows: of_windows, count: sum(gaps.count), mean: total / Math.max(1, of_windows), total, permille: sum(gaps.permille) };
}
