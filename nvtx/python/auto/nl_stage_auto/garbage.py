"""Garbage collections that are long enough to matter."""

import gc
import threading
import time

_LEAST_NS = 50_000


class Garbage:
    def __init__(self, file, faults):
        self._file, self._faults = file, faults
        self._begin_ns = None

    def start(self):
        gc.callbacks.append(self._called)

    def stop(self):
        if self._called in gc.callbacks:
            gc.callbacks.remove(self._called)

    def _called(self, phase, info):
        """On the thread that collects; Python runs one collection at a time."""
        try:
            now = time.monotonic_ns()
            begin, self._begin_ns = self._begin_ns, now if phase == "start" else None
            if phase == "stop" and begin is not None and now - begin >= _LEAST_NS and not self._file.full:
                self._file.add_collection(begin, now, threading.get_native_id(), info["generation"])
        except Exception as error:
            self._faults.note("garbage collection", error)
