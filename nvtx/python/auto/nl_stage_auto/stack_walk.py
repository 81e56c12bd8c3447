"""Which threads are sampled, and the stacks they have."""

import os
import sys
import threading
import time

_MOST_THREADS = 8
_MOST_FRAMES = 64
_MOST_MARKED = 64
_MOST_KNOWN = 1 << 15  # places in code, and stacks
# A thread whose innermost Python frame is in one of these waits for work.
_WAITING = frozenset({"threading", "queue", "selectors", "concurrent.futures.thread", "concurrent.futures.process", "multiprocessing.connection",
                      "multiprocessing.queues"})
_OUR_MODULES = (__package__, "_nl_stage_nvtx_of_marks")
_OURS = -1  # frames of the marks, and stacks of nothing else: not shown


class StackWalk:
    """Reads the stacks of all threads into a file. A stack that was seen before costs a look at each of its frames, no more."""

    def __init__(self, file, ranges):
        self._file, self._ranges = file, ranges
        self._main = threading.main_thread().ident
        self._last_count, self._busy = 1, 1
        self._forget()

    def _forget(self):
        self._places = {}  # (id of the code, instruction) → frame
        self._lines = {}   # (id of the code, line) → frame
        self._codes = {}   # id → code: as long as it is here, no other code has its id
        self._stacks = {}  # frames, innermost first → stack

    def sample(self, own):
        """Returns how many threads do not plainly wait. own: the sampler's. Frames are let go on return: they hold the workload's tensors."""
        if self._file.full:
            self._file.lost += self._last_count
            return self._busy
        if len(self._places) > _MOST_KNOWN or len(self._stacks) > _MOST_KNOWN:
            self._forget()
        frames = sys._current_frames()
        now = time.monotonic_ns()
        frames.pop(own, None)  # this very frame: it would keep itself alive, and with it all others
        chosen = self._chosen(frames)
        self._last_count = len(chosen)
        self._file.lost += max(len(chosen) - _MOST_THREADS, 0)
        for ident, thread in chosen[:_MOST_THREADS]:
            stack = self._stack_of(frames[ident])
            if stack is None:
                self._file.lost += 1
            elif stack != _OURS:
                self._file.add_sample(now, thread, stack)
        return self._busy

    def _chosen(self, frames):
        """[(ident, native id)]: the main thread, those that opened ranges of ours, and those that do not plainly wait."""
        chosen, main, marked = [], self._main, self._ranges.threads
        if len(marked) > _MOST_MARKED:
            marked.intersection_update(frames)  # most have ended
        busy = 0
        for ident, frame in frames.items():
            works = frame.f_globals.get("__name__") not in _WAITING
            busy += works
            if ident == main:
                chosen.insert(0, (ident, os.getpid()))
            elif works or ident in marked:
                # Threads that threading does not know have no native id, without which a sample is of no use.
                native = getattr(threading._active.get(ident), "native_id", None)
                if native is not None:
                    chosen.append((ident, native))
        self._busy = busy
        if len(chosen) > _MOST_THREADS:
            chosen.sort(key=lambda thread: 0 if thread[0] == main else 1 if thread[0] in marked else 2)
        return chosen

    def _stack_of(self, innermost):
        """None: the thread went on while it was looked at."""
        places, frames, frame = self._places, [], innermost
        instruction, caller = innermost.f_lasti, innermost.f_back
        while frame is not None and len(frames) < _MOST_FRAMES:
            code = frame.f_code
            place = (id(code), frame.f_lasti)
            known = places.get(place)
            frames.append(self._add(place, frame, code) if known is None else known)
            frame = frame.f_back
        # No frame goes on or ends before the innermost one does.
        if innermost.f_lasti != instruction or innermost.f_back is not caller:
            return None
        key = tuple(frames)
        stack = self._stacks.get(key)
        if stack is None:
            shown = [known for known in reversed(key) if known != _OURS]
            stack = self._stacks[key] = self._file.add_stack(shown) if shown else _OURS
        return stack

    def _add(self, place, frame, code):
        line = frame.f_lineno or code.co_firstlineno
        known = self._lines.get((place[0], line))
        if known is None:
            module = frame.f_globals.get("__name__")
            module = module if isinstance(module, str) else ""
            known = _OURS if module.partition(".")[0] in _OUR_MODULES else self._file.add_frame(code, line, module)
            self._lines[(place[0], line)] = known
            self._codes[place[0]] = code
        self._places[place] = known
        return known
