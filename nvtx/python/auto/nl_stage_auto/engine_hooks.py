"""mark.engine: hooks on the classes of an inference engine, where its requests and steps pass by.

A hook that does not find what it looks for is left out, says so once on stderr, and leaves the engine alone: engines change. Each hook
only looks at arguments and results, and what it raises never reaches the engine.
"""

import importlib.util
import os
import sys

_MOST_MISFITS = 3  # of one hook, before it is given up
_NEED_NVTX = ("VLLM_NVTX_SCOPES_FOR_PROFILING", "DYN_NVTX")  # with these the engine imports the package, and ends where it is not there


def say(text):
    try:
        sys.stderr.write(f"nl-stage: {text}\n")
        sys.stderr.flush()
    except Exception:
        pass  # closed, or none


def _has_nvtx():
    try:
        spec = importlib.util.find_spec("nvtx")
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None  # a folder called nvtx is a package without anything in it


def drop_unusable_switches(environ):
    """Switches that nl-stage set and that would end the engine; its children inherit the change."""
    ours = [name for name in environ.get("NL_STAGE_ENGINE_SWITCHES", "").split(",") if name]
    unusable = [name for name in ours if name in _NEED_NVTX and name in environ]
    if not unusable or _has_nvtx():
        return
    for name in unusable:
        del environ[name]
    environ["NL_STAGE_ENGINE_SWITCHES"] = ",".join(name for name in ours if name not in unusable)
    say(f"{' and '.join(unusable)} is taken back: the Python package nvtx is not installed. To have these ranges: pip install nvtx")


class _Hook:
    """One method that is looked at."""

    def __init__(self, hooks, place, look):
        self._hooks, self._place, self._look = hooks, place, look
        self._misfits = 0

    def __call__(self, *args, **kwargs):
        hooks = self._hooks
        if self._misfits >= _MOST_MISFITS or not hooks.marks.on:
            return
        try:
            self._look(*args, **kwargs)
        except Exception as error:
            self._misfits += 1
            if self._misfits == _MOST_MISFITS:
                hooks.give_up(self._place, error)


class Hooks:
    """name: of the engine, for what is said."""

    def __init__(self, process, name):
        self.marks, self._name = process.request_marks, name
        self._patches, self._faults = process.patches, process.faults

    def before(self, module, class_name, method, look):
        """look(object, *arguments), before each call."""
        def make(original, hook):
            def looked_at(*args, **kwargs):
                hook(*args, **kwargs)
                return original(*args, **kwargs)
            return looked_at
        self._hook(module, class_name, method, look, make)

    def after(self, module, class_name, method, look):
        """look(result, object, *arguments), after each call that returned."""
        def make(original, hook):
            def looked_at(*args, **kwargs):
                result = original(*args, **kwargs)
                hook(result, *args, **kwargs)
                return result
            return looked_at
        self._hook(module, class_name, method, look, make)

    def guarded(self, place, look):
        """For what is called from a method that is wrapped already."""
        return _Hook(self, place, look)

    def _hook(self, module, class_name, method, look, make):
        place = f"{class_name}.{method}"
        try:
            cls = getattr(module, class_name)
            hook = _Hook(self, place, look)
            if not self._patches.wrap_inherited(cls, method, lambda original: make(original, hook)):
                raise AttributeError(place)
        except Exception as error:
            self.give_up(place, error)

    def give_up(self, place, error):
        self._faults.note(f"{self._name} {place}", error)
        say(f"mark.engine: {place} of this {self._name} does not fit ({type(error).__name__}). "
            "Its marks are left out, the engine is not touched by it.")


def engine_requests(process, wanted):
    """{name of the engine: what follows its requests}, for each engine that `wanted`, the value of mark.engine, stands for."""
    from .sglang_requests import SglangRequests
    from .trtllm_requests import TrtllmRequests
    from .vllm_requests import VllmRequests
    drop_unusable_switches(os.environ)
    kinds = {"vllm": VllmRequests, "sglang": SglangRequests, "trtllm": TrtllmRequests}
    names = kinds if wanted in ("auto", "dynamo") else [wanted]  # Dynamo's workers are one of the others
    return {name: kinds[name](Hooks(process, name)) for name in names if name in kinds}
