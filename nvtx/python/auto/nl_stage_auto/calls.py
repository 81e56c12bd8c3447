"""A call of a model by a loop of the workload's own, or by a CUDA graph that was captured around such a call.

Of calls inside each other the outermost counts; inside generate() none does. Calls that are neither a prefill nor a step run as they are.
"""

import functools
import weakref

from . import prompts
from .compiling import is_compiling, never


class Calls:
    def __init__(self, process, loops):
        self._faults, self._loops, self._graphs = process.faults, loops, process.graphs
        self._generate = process.current_request
        self.compiling = self._grad_enabled = never
        self._tracing_state = lambda: None

    def bind(self, torch):
        """Whether calls can be told from those that torch.compile traces: since torch 2.2."""
        self.compiling = is_compiling() or never
        if self.compiling is never:
            return False
        self._grad_enabled = getattr(torch, "is_grad_enabled", None) or self._grad_enabled
        self._tracing_state = getattr(torch._C, "_get_tracing_state", None) or self._tracing_state
        self._graphs.follow(self._begin_replay)
        return True

    def around(self, original):
        """Of __call__ of a class of modules."""
        compiling, of_thread, generate, begin = self.compiling, self._loops.of_thread, self._generate, self._begin

        def __call__(*args, **kwargs):  # the module among args: a tuple that is handed on as it is costs less
            if compiling():
                return original(*args, **kwargs)
            state = of_thread.state
            finish = None if state.busy or generate.request is not None else begin(state, args[0], args, kwargs)
            if finish is None:
                return original(*args, **kwargs)
            failed = state.busy = True
            try:
                result = original(*args, **kwargs)
                failed = False
                return result
            finally:
                state.busy = False
                finish(state, failed)

        return __call__

    def around_function(self, compiled, inside, is_module):
        """inside: the model that it has; else one of its arguments has to be one."""
        inside = weakref.ref(inside) if inside is not None else lambda: None
        marked = self.around(lambda _, *args, **kwargs: compiled(*args, **kwargs))

        def function(*args, **kwargs):
            if self.compiling() or self._loops.of_thread.state.busy:
                return compiled(*args, **kwargs)
            module = inside() or next(filter(is_module, args), None)
            return compiled(*args, **kwargs) if module is None else marked(module, *args, **kwargs)

        return function

    def _begin(self, state, module, args, kwargs):
        """What is to be called after the call; None: the call is not marked."""
        try:
            if self._tracing_state() is not None:  # torch.jit.trace would record that we ask for a shape
                return None
            shape = prompts.shape_of_call(args, kwargs)
            if shape is None or self.trains(module):
                return None
            if self._graphs.is_capturing():
                return self._graphs.captured(module, shape)
            return self._loops.end if self._loops.begin(state, module, *shape) else None
        except Exception as error:
            self._faults.note("call of a model", error)
            return None

    def trains(self, module):
        # What torch.compile(module) returns is in training mode whatever the module is, before torch 2.2.
        return module.training and self._grad_enabled() and getattr(module, "_orig_mod", module).training

    def _begin_replay(self, step):
        """step: (reference to the model, batch, tokens) of the call that was captured. What is to be called after the replay, or None."""
        state, (reference, batch, length) = self._loops.of_thread.state, step
        if state.busy or self._generate.request is not None:
            return None
        try:
            return functools.partial(self._loops.end, state) if self._loops.begin(state, reference(), batch, length) else None
        except Exception as error:
            self._faults.note("replay of a graph", error)
            return None
