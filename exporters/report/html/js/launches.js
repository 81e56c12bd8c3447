// Which call launched which kernel, both ways. A kernel names its call as position of the lane in the window * 2^24 + index.
const kLaunchPosition = 0x1000000;

/** @param {Detail} detail @param {number} window @param {number} position */
function lane_at_position(detail, window, position) {
  const lane = detail.windows[window].lanes[position];
  return lane ? lane.lane : -1;
}

/** @param {Detail} detail @param {Pin} pin */
function call_of(detail, pin) {
  const { launch } = detail.slices_of(pin);
  if (!launch || launch[pin.index] < 0) return null;
  const lane = lane_at_position(detail, pin.window, Math.floor(launch[pin.index] / kLaunchPosition));
  return lane < 0 ? null : { lane, window: pin.window, index: launch[pin.index] % kLaunchPosition };
}

/** @param {Map<number, LaneSlices>} lanes @param {number} window */
function launches_in(lanes, window) {
  /** @type {Map<number, Pin[]>} */
  const made = new Map();
  for (const [lane, data] of lanes)
    (data.launch || []).forEach((call, index) => {
      if (call < 0) return;
      const kernels = made.get(call) || [];
      kernels.push({ lane, window, index });
      made.set(call, kernels);
    });
  return made;
}

// call → kernels, made when the first call of a window is pinned. A graph's launch has many.
/** @type {WeakMap<Map<number, LaneSlices>, Map<number, Pin[]>>} */
const launched_of = new WeakMap();

/** @param {Detail} detail @param {Pin} pin */
function kernels_of(detail, pin) {
  const lanes = detail.window_lanes(pin.window), made = launched_of.get(lanes) || launches_in(lanes, pin.window);
  launched_of.set(lanes, made);
  return made.get(detail.slices_of(pin).position * kLaunchPosition + pin.index) || [];
}

// [call, kernel] for every launch that a pinned slice is part of.
/** @param {Explorer} explorer @param {Pin} pin @returns {[call: Pin, kernel: Pin][]} */
export function launch_pairs(explorer, pin) {
  const { detail } = explorer;
  if (detail.is_gpu(pin.lane)) {
    const call = call_of(detail, pin);
    return call ? [[call, pin]] : [];
  }
  return detail.lanes[pin.lane].kind === "api" ? kernels_of(detail, pin).slice(0, 64).map(kernel => [pin, kernel]) : [];
}
