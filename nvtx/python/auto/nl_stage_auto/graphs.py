"""CUDA graphs that the workload captures: which of them are a model's step when they are replayed, and from where their kernels come.

A graph's kernels run without any of the code that made them. In the operator pass operators are marked while a graph is captured, and lines where they can
be had: what was open when a node was made says where it came from.
"""

import sys
import threading
import weakref

from . import lines

_TREES = "torch._inductor.cudagraph_trees"  # captures for torch.compile
_STEP = "_nl_stage_step"
_MOST = 512  # with operators


class _OfThread(threading.local):
    capture = None


class _Capture:
    step = None  # of the first call of a model: (reference to it, shape)
    operators_on = False
    lines = None


def _by_compiler():
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == _TREES:
            return True
        frame = frame.f_back
    return False


class Graphs:
    def __init__(self, process):
        self._process = process
        self._faults, self._patches, self._ranges = process.faults, process.patches, process.ranges
        self._of_thread = _OfThread()
        self._captures = 0
        self._begin_replay = None
        self._of_loops = None

    def patch(self, module):
        """module: torch.cuda.graphs"""
        self._patches.wrap_of_torch(module.CUDAGraph, "capture_begin", self._around_begin)
        self._patches.wrap_of_torch(module.CUDAGraph, "capture_end", self._around_end)
        self._patches.wrap_of_torch(module.CUDAGraph, "replay", self._around_replay)

    def follow(self, begin_replay, of_loops):
        """begin_replay(step): what is to be called after the replay, with whether it failed, or None. of_loops: each thread's state, which says that a graph
        is captured."""
        self._begin_replay, self._of_loops = begin_replay, of_loops

    def forget(self):
        """In a child of fork."""
        self._of_thread.capture = None

    def captured(self, model, shape):
        """At a call of a model while a graph is captured. What is to be called after it."""
        capture, operators = self._of_thread.capture, self._process.operators
        if capture.step is None:
            capture.step = (weakref.ref(model), shape)
        watch = operators.watch(model) if operators is not None else None
        return lambda state, failed: watch is not None and watch.remove()

    def _around_begin(self, original):
        def capture_begin(graph, /, *args, **kwargs):
            self._begin()
            try:
                return original(graph, *args, **kwargs)
            except BaseException:
                self._end()
                raise

        return capture_begin

    def _around_end(self, original):
        def capture_end(graph, /, *args, **kwargs):
            try:
                return original(graph, *args, **kwargs)
            finally:
                self._end(graph)

        return capture_end

    def _around_replay(self, original):
        def replay(graph, /, *args, **kwargs):
            step = getattr(graph, _STEP, None)
            finish = self._begin_replay(step) if step is not None and self._begin_replay is not None else None
            if finish is None:
                return original(graph, *args, **kwargs)
            failed = True
            try:
                result = original(graph, *args, **kwargs)
                failed = False
                return result
            finally:
                finish(failed)

        return replay

    def _say(self, capturing):
        if self._of_loops is not None:
            self._of_loops.state.capturing = capturing

    def _begin(self):
        self._end()  # of a capture that was not ended
        try:
            capture = self._of_thread.capture = _Capture()
            self._say(True)
            self._captures += 1
            operators = self._process.operators
            if operators is not None and self._captures <= _MOST:
                capture.operators_on = operators.begin_capture()
                if not _by_compiler() and not lines.compiler_was_used():
                    capture.lines = lines.Lines(sys.modules["torch"], self._ranges)
        except Exception as error:
            self._faults.note("capture of a graph", error)

    def _end(self, graph=None):
        """graph: what was captured."""
        capture, self._of_thread.capture = self._of_thread.capture, None
        if capture is None:
            return
        self._say(False)
        try:
            if graph is not None:
                setattr(graph, _STEP, capture.step)
            if capture.lines is not None:
                capture.lines.off()
            if capture.operators_on:
                self._process.operators.end_capture()
        except Exception as error:
            self._faults.note("end of a capture", error)
