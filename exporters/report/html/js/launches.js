// Which call launched which kernel, both ways. A kernel names its call as position of the lane in the window * 2^24 + index.
const kLaunchPosition = 0x1000000;

function lane_at_position(detail, window, position) {
  const lane = detail.windows[window].lanes[position];
  return lane ? lane.lane : -1;
}

function call_of(detail, pin) {
  const { launch } = detail.window_lanes(pin.window).get(pin.lane);
  if (!launch || launch[pin.index] < 0) return null;
  const lane = lane_at_position(detail, pin.window, Math.floor(launch[pin.index] / kLaunchPosition));
  return lane < 0 ? null : { lane, window: pin.window, index: launch[pin.index] % kLaunchPosition };
}

// call → kernels, made when the first call of a window is pinned. A graph's launch has many.
function kernels_of(detail, pin) {
  const lanes = detail.window_lanes(pin.window);
  if (!lanes.launched) {
    lanes.launched = new Map();
    for (const [lane, data] of lanes)
      (data.launch || []).forEach((call, index) => {
        if (call < 0) return;
        if (!lanes.launched.has(call)) lanes.launched.set(call, []);
        lanes.launched.get(call).push({ lane, window: pin.window, index });
      });
  }
  return lanes.launched.get(lanes.get(pin.lane).position * kLaunchPosition + pin.index) || [];
}

// [call, kernel] for every launch that a pinned slice is part of.
function launch_pairs(explorer, pin) {
  const { detail } = explorer;
  if (detail.is_gpu(pin.lane)) {
    const call = call_of(detail, pin);
    return call ? [[call, pin]] : [];
  }
  return detail.lanes[pin.lane].kind === "api" ? kernels_of(detail, pin).slice(0, 64).map(kernel => [pin, kernel]) : [];
}
