"""PyTorch's own profiler on one thread: as NVTX ranges of its operators, or as a record of their types.

    aten::mm, seq = 5, op_id = 12, sizes = [[1, 2048], [2048, 2048]]      a range

torch.autograd.profiler.emit_nvtx does the first as well, but waits for the device, which is not allowed while a CUDA graph is captured.
"""

import sys
import threading

RANGES, TYPES = "ranges", "types"


class _OfThread(threading.local):
    on = None


class Profiler:
    def __init__(self, faults):
        self._faults = faults
        self._module = None
        self._blocked = False  # the workload profiles itself, or we were removed
        self._failed = set()  # RANGES or TYPES: what failed once fails the next time, too
        self._of_thread = _OfThread()
        self._lock = threading.Lock()
        self._threads = 0  # on which it is on

    def patch(self, module):
        """module: torch.autograd.profiler"""
        self._prepare, self._enable, self._disable = module._prepare_profiler, module._enable_profiler, module._disable_profiler
        self._module = module
        # Everything of torch that profiles calls these two: a second profiler on a thread would raise.
        module._prepare_profiler, module._enable_profiler = self._giving_way(self._prepare), self._giving_way(self._enable)

    def _giving_way(self, original):
        def profile(*args, **kwargs):
            self.block()
            return original(*args, **kwargs)

        return profile

    def block(self):
        """Blocks until the process ends: a profiler of the workload may be prepared long before it records."""
        self._blocked = True
        self.off()

    def forget(self):
        """In a child of fork. Kineto's threads are not there to end a record of types."""
        self._lock = threading.Lock()
        self._threads = 0
        if self._of_thread.on == RANGES:
            self._disable()
        self._of_thread.on = None

    def on(self, what):
        """Whether it is on now, and was not before."""
        try:
            if what in self._failed or not self._is_free() or (what == RANGES and not self._has_nvtx()):
                return False
            self._switch_on(what)
            return True
        except Exception as error:
            self._failed.add(what)
            self._faults.note(f"operators: {what} on", error)
            return False

    def off(self):
        """What was recorded: where types were, PyTorch's result."""
        if self._of_thread.on is None:
            return None
        self._of_thread.on = None
        try:
            return self._disable()
        except Exception as error:
            self._faults.note("operators: off", error)
            return None
        finally:
            self._count(-1)

    def off_if(self, what):
        return self.off() if what is not None and self._of_thread.on == what else None

    def _is_free(self):
        module = self._module
        if module is None or self._blocked or self._of_thread.on is not None:
            return False
        enabled_here = getattr(sys.modules["torch"].autograd, "_profiler_enabled", None)
        if enabled_here is not None and enabled_here():
            return False
        return self._threads > 0 or not getattr(module, "_is_profiler_enabled", False)

    def _has_nvtx(self):
        version = sys.modules["torch"].version
        return bool(version.cuda or getattr(version, "hip", None))

    def _switch_on(self, what):
        module = self._module
        state = module.ProfilerState.NVTX if what == RANGES else module.ProfilerState.KINETO
        activities = set() if what == RANGES else {module.ProfilerActivity.CPU}
        config = module.ProfilerConfig(state, True, False, False, False, False, module._ExperimentalConfig())
        if what == TYPES:
            self._prepare(config, activities)
        self._enable(config, activities)
        self._of_thread.on = what
        self._count(1)

    def _count(self, change):
        """Inductor's launchers ask a flag of the whole process whether they shall name their kernels."""
        with self._lock:
            self._threads = max(self._threads + change, 0)
            name = "_run_on_profiler_start" if self._threads else "_run_on_profiler_stop"
            getattr(self._module, name, lambda: None)()
