"""NVTX ranges of the domain LLM, through nl_stage_nvtx.py of the folder above."""

import functools
import os
import sys
import threading
import time

_HELPER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "nl_stage_nvtx.py")
_CLOCK_DOMAIN = "LLM.clock"
_DOMAIN = "LLM"
_KINDS = frozenset({"request", "prefill", "decode_all", "decode", "decode_step", "sampling", "vision", "model_call", "forward", "backward", "optimizer",
                    "load_data", "denoise_step", "guidance", "scheduler", "image"})


def _load_helper():
    import importlib.util  # slow, and most Pythons of a run make no range

    # Under a name of its own: `import nl_stage_nvtx` is the workload's, whichever file it finds.
    spec = importlib.util.spec_from_file_location("_nl_stage_nvtx_of_marks", _HELPER)
    helper = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = helper
    spec.loader.exec_module(helper)
    return helper


class Ranges:
    def __init__(self):
        self._helper = self._backend = None
        self.silent = False
        self.by_workload = False
        self.at_first = None  # called at the next range, once
        self.before_others = None  # called before the workload opens or closes one of its ranges: what lies on top must be gone by then
        self.forget()

    def forget(self):
        """At the start, and in a child of fork."""
        self._lock = threading.RLock()
        self.pushed = 0
        self.threads = set()  # those that open ranges

    def count(self, pushed):
        with self._lock:
            self.pushed += pushed

    def _bind(self):
        """Not before the first range or mark: by then the workload has imported torch."""
        with self._lock:
            if self._backend is None:
                self._helper = _load_helper()
                self._backend = self._helper._backend()

    def _note_thread(self):
        self.threads.add(threading.get_ident())
        if self.at_first is not None:
            begin, self.at_first = self.at_first, None
            begin()

    def functions(self):
        """push(domain, name, payload) and pop(domain), without a detour: a step takes no more than 2 µs."""
        if self._backend is None:
            self._bind()
        self._note_thread()
        return self._backend.push, self._backend.pop

    def functions_of_steps(self, domain):
        """What opens decode_step; whether it takes its number; what opens sampling; what closes either."""
        self.functions()
        backend = self._backend
        step = (backend.counter if backend.numbers else backend.opener)(domain, "decode_step")
        return step, backend.numbers, backend.opener(domain, "sampling"), backend.closer(domain)

    def tokens(self, prompt, batch, beams=1):
        """Zero or None: not known."""
        if self._backend is None:
            self._bind()
        if not self.silent:
            self._helper.tokens(prompt or None, batch or None, beams if beams > 1 else None)

    def mark(self, text):
        if self._backend is None:
            self._bind()
        if not self.silent:
            self._backend.mark(_DOMAIN, text)

    def records(self):
        """Whether anything records what is marked."""
        if self._backend is None:
            self._bind()
        return not self.silent and self._backend.name != "none"

    def open(self, name):
        """A range by itself. What closes it; None: there is none."""
        if self.silent:
            return None
        push, _ = self.functions()
        push(_DOMAIN, name, None)
        self.count(1)
        return self._close_one

    def _close_one(self):
        self._backend.pop(_DOMAIN)

    def mark_clock(self):
        """Joins our clock to that of the profiler which records the marks."""
        if self._backend is None:
            self._bind()
        self._backend.mark(_CLOCK_DOMAIN, f"monotonic_ns={time.monotonic_ns()}")

    def push_step(self, engine, name):
        """A range with an engine's own name: PyTorch's NVTX would put the domain before it."""
        if self._backend is None:
            self._bind()
        self._note_thread()
        if self._backend.name == "torch":
            self._backend._push(name)
        else:
            self._backend.push(engine, name, None)
        self.count(1)

    def pop_step(self, engine):
        self._backend.pop(engine)

    def through(self):
        return self._backend.name if self._backend is not None else None

    def make_way(self):
        """The workload is about to open or close a range: on one stack, its range would end with ours."""
        if self.before_others is not None:
            self.before_others()

    def around_others(self, original):
        """Of torch.cuda.nvtx.range_push and range_pop, which share a stack with our ranges where these go through torch."""

        @functools.wraps(original)
        def others(*args, **kwargs):
            if self.through() == "torch":
                self.make_way()
            return original(*args, **kwargs)

        return others

    def watch_workload(self, helper):
        """helper: nl_stage_nvtx as the workload imported it. Its first range of one of our kinds silences us for good."""
        enter, leave, start = helper._Scope.__enter__, helper._Scope.__exit__, helper.start

        def look(domain, name):
            if domain == _DOMAIN and name in _KINDS:
                self.silent = self.by_workload = True

        @functools.wraps(enter)
        def watched_enter(scope):
            self.make_way()
            look(getattr(scope, "_domain", None), getattr(scope, "_text", None))
            return enter(scope)

        @functools.wraps(leave)
        def watched_exit(scope, *args):
            self.make_way()
            return leave(scope, *args)

        @functools.wraps(start)
        def watched_start(name):
            look(_DOMAIN, name)
            return start(name)

        helper._Scope.__enter__, helper._Scope.__exit__, helper.start = watched_enter, watched_exit, watched_start
