"""Ranges of the domain LLM.lines around each call of torch: the line outside torch from which it came.

    modeling_qwen3.py:245 forward
"""

import os
import sys

_DOMAIN = "LLM.lines"
_OWN = __name__.rpartition(".")[0]


def _is_torchs(frame):
    name = frame.f_globals.get("__name__") or ""
    return name == "torch" or name.startswith(("torch.", _OWN))


def line_of(frame):
    """Of the innermost frame outside torch; None: there is none."""
    while frame is not None and _is_torchs(frame):
        frame = frame.f_back
    if frame is None:
        return None
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno} {frame.f_code.co_name}"


def compiler_was_used():
    """torch.compile guards its code by the modes that are on: ours would make it compile again, while a graph is captured."""
    backends = getattr(sys.modules.get("torch._dynamo.eval_frame"), "cached_backends", None)
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", None)
    return bool(backends) or bool(counters and counters.get("frames"))


def make_mode(torch, ranges):
    """A mode of torch.overrides that opens the ranges. It is off when it cannot be taken off its stack in order."""
    push, pop = ranges.functions()

    class Lines(torch.overrides.TorchFunctionMode):
        active = True

        def __torch_function__(self, function, types, args=(), kwargs=None):
            line = line_of(sys._getframe(1)) if self.active and getattr(function, "__name__", "") != "__get__" else None
            if line is None:
                return function(*args, **(kwargs or {}))
            push(_DOMAIN, line, None)
            try:
                return function(*args, **(kwargs or {}))
            finally:
                pop(_DOMAIN)

    return Lines()


class Lines:
    """On one thread, from on() to off()."""

    def __init__(self, torch, ranges):
        self._torch = torch
        self._mode = make_mode(torch, ranges)
        self._mode.__enter__()

    def off(self):
        self._mode.active = False
        innermost = getattr(self._torch.overrides, "_get_current_function_mode", lambda: self._mode)()
        if innermost is self._mode:
            self._mode.__exit__(None, None, None)
