"""The operator pass: in which prefills and steps operators, layers and types are marked.

                prefill of request       decode step, of requests 0 to 2
    operators   0, 1 and 3               2, 3 and 4
    types       2                        6, once

Warm-up is behind then. Where engines mix requests, the number of a step of its kind takes the request's place.
"""

import sys
import threading
import weakref

from .compiling import is_compiling, never
from .layers import Watch
from .loops import LoopRequest
from .profiler import RANGES, TYPES
from .request import Request

_PREFILLS, _TYPED_PREFILL = (0, 1, 3), 2
_REQUESTS, _STEPS, _TYPED_STEP = 3, (2, 3, 4), 6
PREFILL, DECODE = "prefill", "decode"


class Windows:
    def __init__(self, process, profiler, dtypes):
        self._ranges, self._faults = process.ranges, process.faults
        self._profiler, self._dtypes = profiler, dtypes
        self.forget()

    def forget(self):
        """At the start, and in a child of fork."""
        self._lock = threading.Lock()
        self._begun = {}  # requests, or an engine's steps by kind
        self._typed = set()

    def next_number(self, kind):
        with self._lock:
            number = self._begun.get(kind, 0)
            self._begun[kind] = number + 1
            return number

    def of_prefill(self, number):
        """What to switch on: RANGES, TYPES or None."""
        if number >= _TYPED_PREFILL and self._claim_types(PREFILL):
            return TYPES
        return RANGES if number in _PREFILLS else None

    def of_step(self, request, step):
        if step == _TYPED_STEP and self._claim_types(DECODE):
            return TYPES
        return RANGES if request < _REQUESTS and step in _STEPS else None

    def _claim_types(self, kind):
        with self._lock:
            if kind in self._typed:
                return False
            self._typed.add(kind)
            return True

    def watch(self, what, model):
        """The layers of a window; before its range, since a model may have thousands of modules."""
        # None: hooks could not tell whether they are traced.
        compiling = is_compiling() or (None if "torch._dynamo" in sys.modules else never)
        if what != RANGES or model is None or compiling is None:
            return None
        try:
            return Watch(self._ranges, model, compiling)
        except Exception as error:
            self._faults.note("layers", error)
            return None

    def open(self, what):
        if what is not None:
            self._profiler.on(what)

    def close(self, what, watch):
        result = self._profiler.off_if(what)
        if result is not None and what == TYPES:
            self._dtypes.add(result)
        if watch is not None:
            try:
                watch.remove()
            except Exception as error:
                self._faults.note("layers", error)


class _Watched:
    """A request of the operator pass."""

    __slots__ = ()

    def _begin_windows(self, windows, model):
        self.windows, self.model = windows, weakref.ref(model)
        self.what = self.watch = None
        self.number = windows.next_number("request")

    def begin_prefill(self, batch, tokens):
        what = self._prepare(self.windows.of_prefill(self.number))
        super().begin_prefill(batch, tokens)
        self.windows.open(what)

    def _first_step(self):
        self._close_window()
        super()._first_step()

    def next_step(self):
        self._close_window()
        what = self._prepare(self.windows.of_step(self.number, self.steps))
        super().next_step()
        self.windows.open(what)

    def _prepare(self, what):
        self.what = what
        # In generate(), a decode that is compiled for a static cache is not called through the model.
        model = self.model()
        compiled = self.steps and getattr(model, "_compiled_call", None) is not None
        self.watch = None if compiled else self.windows.watch(what, model)
        return what

    def _close_window(self):
        what, watch, self.what, self.watch = self.what, self.watch, None, None
        if what is not None:
            self.windows.close(what, watch)

    def close(self):
        if threading.get_ident() == self.thread:
            self._close_window()
        super().close()

    def disown(self):
        if self.watch is not None:
            self.watch.disown()
        self.what = self.watch = None
        super().disown()


class WatchedRequest(_Watched, Request):
    __slots__ = ("windows", "number", "model", "what", "watch")

    def __init__(self, windows, model, *more):
        self._begin_windows(windows, model)
        super().__init__(*more)


class WatchedLoop(_Watched, LoopRequest):
    __slots__ = ("windows", "number", "model", "what", "watch")

    def __init__(self, windows, model, *more):
        self._begin_windows(windows, model)
        super().__init__(*more)

    def pause(self):
        self._close_window()
        super().pause()


class EngineWindow:
    """One step of an engine, in the operator pass."""

    def __init__(self, windows, step, model):
        kind = step.kind()
        number = windows.next_number(kind)
        self._windows = windows
        self._what = windows.of_step(0, number) if kind == DECODE else windows.of_prefill(number)
        self._watch = windows.watch(self._what, model)

    def open(self):
        self._windows.open(self._what)

    def close(self):
        self._windows.close(self._what, self._watch)
