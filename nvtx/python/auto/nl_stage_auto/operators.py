"""The operator pass of one process: what NL_STAGE_OPERATORS_DIR switches on. windows.py says when, docs/marks.md what it is for."""

from .dtypes import Dtypes
from .graphs import Graphs
from .profiler import Profiler
from .windows import EngineWindow, WatchedRequest, Windows


class Operators:
    def __init__(self, process, folder):
        self._profiler = Profiler(process.faults)
        self.dtypes = Dtypes(folder, process.faults)
        self.windows = Windows(process, self._profiler, self.dtypes)
        self.graphs = Graphs(process, self._profiler)

    def patch(self, finder):
        finder.add("torch.autograd.profiler", self._profiler.patch)
        finder.add("torch.cuda.graphs", self.graphs.patch)

    def new_request(self, model, *more):
        return WatchedRequest(self.windows, model, *more)

    def new_step(self, step, model):
        return EngineWindow(self.windows, step, model)

    def remove(self):
        self._profiler.block()

    def forget(self):
        """In a child of fork."""
        self._profiler.forget()
        self.dtypes.forget()
        self.windows.forget()
        self.graphs.forget()
