"""The vision towers of models: `vision` inside a prefill, or before it where the workload calls a tower by itself."""

import threading
import weakref

from .compiling import is_compiling, never

_TOWERS = ("vision_tower", "visual", "vision_model", "vision_encoder", "sam_model")
_DOMAIN = "LLM"


def _towers_of(model):
    for holder in (model, getattr(model, "model", None), getattr(model, "base_model", None)):
        for name in _TOWERS:
            tower = getattr(holder, name, None)
            if callable(getattr(tower, "forward", None)):
                yield tower


class _OfThread(threading.local):
    inside = False  # a tower that is called outside generate()


class Vision:
    def __init__(self, process):
        self._process = process
        self._faults, self._patches, self._ranges = process.faults, process.patches, process.ranges
        self._of_thread = _OfThread()
        self._towers = weakref.WeakSet()

    def is_tower(self, module):
        return module in self._towers

    def patch(self, model):
        """Wraps the towers that the model has."""
        for tower in _towers_of(model):
            self._towers.add(tower)
            self._patches.wrap_own(tower, "forward", self._around)
            self._patches.wrap_inherited(type(tower), "forward", self._around)

    def forget(self):
        """In a child of fork."""
        self._of_thread.inside = False

    def _around(self, original):
        compiling, current, of_thread = is_compiling() or never, self._process.current_request, self._of_thread

        def forward(tower, /, *args, **kwargs):
            if compiling():
                return original(tower, *args, **kwargs)
            request = current.request
            if of_thread.inside if request is None else request.in_vision:  # a tower inside a tower
                return original(tower, *args, **kwargs)
            if request is None:
                return self._alone(original, tower, args, kwargs)
            opened = request.inner_open
            self._safely(request.begin_vision)
            try:
                return original(tower, *args, **kwargs)
            finally:
                self._safely(request.end_vision, opened)

        return forward

    def _alone(self, original, tower, args, kwargs):
        """Of a pipeline that encodes its images first, or inside a call of a model that a loop of the workload's own makes."""
        opened = self._safely(self._open_alone, tower)
        try:
            return original(tower, *args, **kwargs)
        finally:
            if opened:
                self._of_thread.inside = False
                self._safely(opened, _DOMAIN)

    def _open_alone(self, tower):
        """What closes the range; None: there is none."""
        if self._ranges.silent or not self._process.may_mark_call(tower):
            return None
        self._process.end_step()
        push, pop = self._ranges.functions()
        push(_DOMAIN, "vision", None)
        self._of_thread.inside = True
        self._ranges.count(1)
        return pop

    def _safely(self, work, *args):
        try:
            return work(*args)
        except Exception as error:
            self._faults.note("vision", error)
            return None
