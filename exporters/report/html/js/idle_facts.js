// What the panel says of a slice in which the GPU is idle.
import { count_text, plural } from "./count_text.js";
import { button, make } from "./dom.js";
import { calls_around, idle_stretch, recurrence_of, watched_thread } from "./idle.js";
import { share_text, time_text } from "./time_text.js";

const kMostLines = 4;
const kNearlyAll = 0.995;  // what rounds to 100 % is the whole gap

// "4.102 ms a window, in 144 of 144 windows of decode_step: 590.688 ms in all, 28 % of the stage"
/** @param {Detail} detail @param {Recurrence} found */
export function recurrence_text(detail, found) {
  const stage = detail.stage_name(found.stage), share = share_text(found.permille, 1000) + " of the stage";
  const sums = time_text(found.total) + " in all, " + share;
  if (found.row < 0) return "not among the recurring gaps of " + stage + ". All that are not: " + plural(found.count, "gap") + ", " + time_text(found.mean) + " a window, " + sums;
  const each = found.count > found.windows ? ", " + count_text(Math.round(found.count / Math.max(1, found.windows))) + " in each" : "";
  return time_text(found.mean) + " a window, in " + count_text(found.windows) + " of " + plural(found.of_windows, "window") + " of " + stage + each + ": " + sums;
}

// "audit_tokens (serve.py:10): 131 of 140 samples"
/** @param {Detail} detail @param {Recurrence} found */
export function host_text(detail, found) {
  const { gaps } = detail, { row } = found;
  if (!gaps || row < 0 || gaps.host[row] < 0) return "";
  return detail.names[gaps.host[row]] + ": " + count_text(gaps.host_samples[row]) + " of " + plural(gaps.samples[row], "sample");
}

// One line for the tip.
/** @param {Explorer} explorer @param {Pin} pin */
export function idle_tip(explorer, pin) {
  const { detail } = explorer, found = recurrence_of(detail, idle_stretch(detail, pin));
  if (!found || found.row < 0) return "";
  const host = host_text(detail, found);
  return "\n" + recurrence_text(detail, found) + (host ? "\n" + host : "");
}

/** @param {Explorer} explorer @param {Pin} pin @param {Say} say @param {(pin: Pin) => void} go */
export function say_idle(explorer, pin, say, go) {
  const { detail } = explorer, { what, duration, start } = explorer.slice(pin), stretch = idle_stretch(detail, pin), { launch, before } = calls_around(explorer, stretch);
  say("Bin", detail.bins[what].title + (detail.bins[what].text ? ": " + detail.bins[what].text : ""));
  if (duration < kNearlyAll * (stretch.to - stretch.from)) say("Idle in one piece", time_text(stretch.to - stretch.from) + ", of which this is " + share_text(duration, stretch.to - stretch.from));
  const found = recurrence_of(detail, stretch);
  if (found) say(found.row < 0 ? "Comes again" : "Comes again, the whole gap", recurrence_text(detail, found));
  if (found) say("Host, in all of them", host_text(detail, found));
  say_samples(detail, say, watched_thread(detail, pin, launch), [{ from: start, to: start + duration }]);
  /** @param {string} title @param {Pin | null} each @param {string} more */
  const link = (title, each, more) => {
    if (!each) return;
    const name = detail.name_of(each.lane, explorer.slice(each).what);
    say(title, name + more, [button(name, "Go to " + name, () => go(each), { class: "link" }), more]);
  };
  link("Work before", stretch.before, "");
  link("Call before", before, before ? ", " + ended_text(explorer, before, stretch) : "");
  link("Call after", launch, launch ? ", " + begun_text(explorer, launch, stretch) : "");
  link("Work after", stretch.after, "");
}

/** @param {Explorer} explorer @param {Pin} call @param {IdleStretch} stretch */
function ended_text(explorer, call, stretch) {
  const { start, duration } = explorer.slice(call), by = start + duration - stretch.from;
  return "ends " + time_text(Math.abs(by)) + (by < 0 ? " before the gap" : " into the gap");
}

/** @param {Explorer} explorer @param {Pin} call @param {IdleStretch} stretch */
function begun_text(explorer, call, stretch) {
  const by = explorer.slice(call).start - stretch.from;
  return "begins " + time_text(Math.abs(by)) + (by < 0 ? " before the gap" : " into the gap");
}

// The lines that a thread was seen at, most samples first.
/** @param {Detail} detail @param {Say} say @param {number} thread @param {TimeRange[]} stretches */
function say_samples(detail, say, thread, stretches) {
  const { stacks } = detail;
  if (thread < 0) return;
  const { samples, lines } = stacks.lines_in(thread, stretches), shown = lines.slice(0, kMostLines);
  if (samples === 0) return say("Stack samples", "none falls into it (one about every " + time_text(stacks.period_ns) + ")");
  const texts = shown.map(([frame, count]) => stacks.frame_text(frame) + ": " + count_text(count) + " of " + plural(samples, "sample"));
  const more = lines.length > shown.length ? "and " + plural(lines.length - shown.length, "line") + " more" : "";
  const note = stacks.thinned_text ? "Listed: " + stacks.thinned_text + "." : "";
  say("Stack samples", [...texts, more, note].filter(Boolean).join("; "), make("ul", { class: "plain" }, ...[...texts, more, note].filter(Boolean).map(text => make("li", {}, text))));
}
