// The sampled stacks of the threads: who ran when, and what a stretch of time was spent on. A stack is a way up a tree of frames; it is told
// by one of them, the program's own code or the line that makes the call.
import { count_text, plural } from "./count_text.js";

const kMostPeriods = 2.5;    // without a sample for so long, a thread was not sampled
const kShownFrames = 6;

export class Stacks {
  /** @param {SampleData | undefined} data @param {string[]} names @param {number} period_ns */
  constructor(data, names, period_ns) {
    /** @type {SampleData} */
    const none = { sampler: "none", every: 1, in_all: 0, function: [], file: [], line: [], up: [], frame: [], node: [], named: [], threads: [] };
    this.data = data || none;
    this.names = names;
    this.period_ns = period_ns;
    /** @type {Map<string, number>} */
    const numbers = new Map();
    /** @type {CodeFunction[]} */
    this.functions = [];
    // Frames are lines; a function is what several of them have in common.
    this.function_of_frame = this.data.function.map((name, i) => {
      const key = name + " " + this.data.file[i], known = numbers.get(key);
      if (known !== undefined) return known;
      numbers.set(key, this.functions.length);
      return this.functions.push({ name, file: this.data.file[i] }) - 1;
    });
    /** @type {(number[] | undefined)[]} */
    this.known_frames = [];
    /** @type {(ThreadSlices | undefined)[]} */
    this.known_slices = [];
    /** @type {{ samples: number, stacks: Set<number> }[] | null} */
    this.tally = null;
  }

  // Frames of a stack, innermost first.
  /** @param {number} stack @returns {number[]} */
  frames_of(stack) {
    const known = this.known_frames[stack];
    if (known) return known;
    const { node, up, frame } = this.data, out = [];
    for (let at = node[stack]; ; at -= up[at]) {
      out.push(frame[at]);
      if (up[at] === 0) break;
    }
    this.known_frames[stack] = out;
    return out;
  }

  // "audit_tokens (serve.py:10)"; of native code the library.
  /** @param {number} frame */
  frame_text(frame) {
    const { function: names, file, line } = this.data, place = this.names[file[frame]] + (line[frame] > 0 ? ":" + line[frame] : "");
    return this.names[names[frame]] + (place ? " (" + place + ")" : "");
  }

  /** @param {number} index */
  function_text(index) {
    const { name, file } = this.functions[index];
    return this.names[name] + (this.names[file] ? " (" + this.names[file] + ")" : "");
  }

  /** @param {number} stack */
  told_by(stack) {
    return this.function_of_frame[this.data.named[stack]];
  }

  // The innermost frames, from the one that tells the stack outwards: "audit_tokens (serve.py:10) < put (serve.py:22) < …".
  /** @param {number} stack @returns {string[]} */
  lines_of(stack) {
    const frames = this.frames_of(stack), at = Math.max(0, frames.indexOf(this.data.named[stack]));
    const inner = frames.slice(Math.max(0, at - 1), at), outer = frames.slice(at, at + kShownFrames), more = frames.length - at - outer.length;
    return [...inner, ...outer].map(frame => this.frame_text(frame)).concat(more > 0 ? ["and " + plural(more, "caller")] : []);
  }

  // A thread as slices: neighbouring samples that are told by the same function are one.
  /** @param {number} thread @returns {ThreadSlices} */
  slices(thread) {
    const known = this.known_slices[thread];
    if (known) return known;
    const made = merged_samples(this, this.data.threads[thread]);
    this.known_slices[thread] = made;
    return made;
  }

  // The samples of a thread in a stretch of time, as the places [first, last) in its list.
  /** @param {number} thread @param {number} from @param {number} to @returns {[number, number]} */
  samples_between(thread, from, to) {
    const { times } = this.slices(thread);
    return [first_from(times, from), first_from(times, to)];
  }

  // The lines that the samples of some stretches are told by, most samples first.
  /** @param {number} thread @param {TimeRange[]} stretches @returns {{ samples: number, lines: [frame: number, samples: number][] }} */
  lines_in(thread, stretches) {
    /** @type {Map<number, number>} */
    const counts = new Map();
    let samples = 0;
    for (const { from, to } of stretches) {
      const [first, last] = this.samples_between(thread, from, to);
      samples += last - first;
      for (let i = first; i < last; ++i) {
        const frame = this.data.named[this.data.threads[thread].stack[i]];
        counts.set(frame, (counts.get(frame) || 0) + 1);
      }
    }
    return { samples, lines: [...counts].sort((a, b) => b[1] - a[1]) };
  }

  // By function: in how many samples it is anywhere in the stack, and in which stacks.
  by_function() {
    if (this.tally) return this.tally;
    const of_stack = new Array(this.data.node.length).fill(0);
    for (const { stack } of this.data.threads) for (const each of stack) ++of_stack[each];
    /** @type {{ samples: number, stacks: Set<number> }[]} */
    const tally = this.functions.map(() => ({ samples: 0, stacks: new Set() }));
    of_stack.forEach((samples, stack) => {
      for (const each of new Set(this.frames_of(stack).map(frame => this.function_of_frame[frame]))) {
        tally[each].samples += samples;
        tally[each].stacks.add(stack);
      }
    });
    this.tally = tally;
    return tally;
  }

  get thinned_text() {
    const { every, in_all } = this.data;
    return every > 1 ? "one of " + count_text(every) + " of " + plural(in_all, "sample") : "";
  }
}

/** @param {ArrayLike<number>} times @param {number} moment */
function first_from(times, moment) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] >= moment) high = middle;
    else low = middle + 1;
  }
  return low;
}

// A sample stands for the time until the next one, where that comes soon enough.
/** @param {Stacks} stacks @param {ThreadData} thread @returns {ThreadSlices} */
function merged_samples(stacks, thread) {
  const times = new Float64Array(thread.d.length);
  thread.d.reduce((at, step, i) => times[i] = at + step, 0);
  const period = Math.max(1, stacks.period_ns), most = period * kMostPeriods * stacks.data.every;
  /** @type {{ start: number[], duration: number[], what: number[], first: number[], count: number[] }} */
  const { start, duration, what, first, count } = { start: [], duration: [], what: [], first: [], count: [] };
  times.forEach((time, i) => {
    const told = stacks.told_by(thread.stack[i]), last = start.length - 1, next = i + 1 < times.length ? times[i + 1] : Infinity;
    const until = next - time <= most ? next : time + period;
    if (last >= 0 && what[last] === told && start[last] + duration[last] >= time) {
      duration[last] = until - start[last];
      ++count[last];
      return;
    }
    start.push(time);
    duration.push(until - time);
    what.push(told);
    first.push(i);
    count.push(1);
  });
  return {
    times, start: Float64Array.from(start), duration: Float64Array.from(duration), what: Int32Array.from(what), first, count, stack: thread.stack,
    rows: start.length > 0 ? [Int32Array.from(start.keys())] : [], position: -1,
  };
}
