"""The operator pass of one process: what NL_STAGE_OPERATORS_DIR switches on. windows.py says when, docs/marks.md what it is for."""

from .dtypes import Dtypes
from .profiler import RANGES, TYPES, Profiler
from .windows import EngineWindow, WatchedLoop, WatchedRequest, Windows


class Operators:
    def __init__(self, process, folder):
        self._profiler = Profiler(process.faults)
        self.dtypes = Dtypes(folder, process.faults)
        self._windows = Windows(process, self._profiler, self.dtypes)

    def patch(self, finder):
        finder.add("torch.autograd.profiler", self._profiler.patch)

    def new_request(self, model, *more):
        return WatchedRequest(self._windows, model, *more)

    def new_loop(self, model, *more):
        return WatchedLoop(self._windows, model, *more)

    def new_step(self, step, model):
        return EngineWindow(self._windows, step, model)

    def begin_capture(self):
        """Whether operators have to be switched off at its end. A graph is captured once, types can be had later."""
        self._profiler.off_if(TYPES)
        return self._profiler.on(RANGES)

    def end_capture(self):
        self._profiler.off_if(RANGES)

    def watch(self, model):
        """The layers of a call that is captured."""
        return self._windows.watch(RANGES, model)

    def remove(self):
        self._profiler.block()

    def forget(self):
        """In a child of fork."""
        self._profiler.forget()
        self.dtypes.forget()
        self._windows.forget()
