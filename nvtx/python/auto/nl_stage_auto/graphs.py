"""CUDA graphs: operators, and lines where they can be had, are marked while a graph is captured.

Its kernels run later, without any of the code that made them. What was open when a node was made says where it came from.
"""

import sys
import threading

from . import lines
from .profiler import RANGES, TYPES

_TREES = "torch._inductor.cudagraph_trees"  # captures for torch.compile
_MOST = 512


class _OfThread(threading.local):
    capture = None


class _Capture:
    def __init__(self, operators_on):
        self.operators_on = operators_on
        self.lines = None


def _by_compiler():
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == _TREES:
            return True
        frame = frame.f_back
    return False


class Graphs:
    def __init__(self, process, profiler):
        self._faults, self._patches, self._ranges, self._profiler = process.faults, process.patches, process.ranges, profiler
        self._of_thread = _OfThread()
        self._captures = 0

    def patch(self, module):
        """module: torch.cuda.graphs"""
        self._patches.wrap(module.CUDAGraph, "capture_begin", self._around_begin)
        self._patches.wrap(module.CUDAGraph, "capture_end", self._around_end)

    def forget(self):
        """In a child of fork."""
        self._of_thread.capture = None

    def is_capturing(self):
        return self._of_thread.capture is not None

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
                self._end()

        return capture_end

    def _begin(self):
        self._end()  # of a capture that nobody ended
        try:
            self._captures += 1
            if self._captures > _MOST:
                return
            self._profiler.off_if(TYPES)  # a graph is captured once, types can be had later
            capture = self._of_thread.capture = _Capture(self._profiler.on(RANGES))
            torch = sys.modules["torch"]
            if not _by_compiler() and not lines.compiler_was_used():
                capture.lines = lines.Lines(torch, self._ranges)
        except Exception as error:
            self._faults.note("capture of a graph", error)

    def _end(self):
        capture, self._of_thread.capture = self._of_thread.capture, None
        if capture is None:
            return
        try:
            if capture.lines is not None:
                capture.lines.off()
        except Exception as error:
            self._faults.note("end of a capture", error)
        if capture.operators_on:
            self._profiler.off_if(RANGES)
