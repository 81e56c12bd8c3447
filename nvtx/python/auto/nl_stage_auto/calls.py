"""A call of a model by a loop of the workload's own, or by a CUDA graph that was captured around such a call.

    training mode, with gradients, in a process that trains     forward
    a time step and a latent among the arguments                denoise_step; guidance where it is the same step again
    all others that get a tensor                                loops.py says which

Of calls inside each other the outermost counts; inside generate() none does. Calls without a tensor run as they are.
"""

import functools
import weakref

from . import prompts
from .compiling import is_compiling, never
from .kinds import unwrapped
from .request import DECODE


class Calls:
    def __init__(self, process, loops, kinds, training):
        self._faults, self._loops, self._graphs = process.faults, loops, process.graphs
        self._kinds, self._training, self._ranges, self._facts = kinds, training, process.ranges, process.facts
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
        self._graphs.follow(self._begin_replay, self._loops.of_thread)
        return True

    def around_some(self, original, ids):
        """Of __call__ of a class of torch itself, whose modules are parts of most models. ids: of those that are models."""
        compiling, marked = self.compiling, self.around(original)

        def __call__(*args, **kwargs):
            return original(*args, **kwargs) if compiling() or id(args[0]) not in ids else marked(*args, **kwargs)

        return __call__

    def around(self, original):
        """Of __call__ of a class of modules."""
        compiling, of_thread, generate, begin = self.compiling, self._loops.of_thread, self._generate, self._begin

        def __call__(*args, **kwargs):  # the module among args: a tuple that is handed on as it is costs less
            if compiling():
                return original(*args, **kwargs)
            state = of_thread.state
            if state.busy or generate.request is not None:
                return original(*args, **kwargs)
            finish = begin(state, args[0], args, kwargs)
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
            request = state.request
            if request is not None and request.phase == DECODE and request.module == id(module) and not module.training and not state.capturing:
                # Once a token: nothing here that is not needed.
                ids = args[1] if len(args) > 1 else kwargs.get("input_ids")
                if getattr(ids, "shape", None) == (request.batch, 1) and getattr(ids.dtype, "is_floating_point", True) is False:
                    state.calls += 1
                    request.next_step()
                    return self._loops.end
            return self._begin_other(state, module, args, kwargs)
        except Exception as error:
            self._faults.note("call of a model", error)
            return None

    def _begin_other(self, state, module, args, kwargs):
        kind = self._kinds.of(module)
        if self.trains(module):
            return self._training.begin_forward(state, module, kind, prompts.shape_of_call(args, kwargs))
        if kind.skipped:
            return None
        step = kind.step_of_diffusion(args, kwargs)
        if step is not None:
            if state.capturing:
                return self._graphs.captured(module, None)
            name = "guidance" if kind.repeats(step, args, kwargs) else "denoise_step"
            if kind.begins_image(step[0]):
                self._ranges.mark("image")
            return self._open_denoising(state, module, kind, name)
        shape = prompts.shape_of_call(args, kwargs)
        if shape is None:
            return None
        if state.capturing:
            return self._graphs.captured(module, shape)
        return self._loops.end if self._loops.begin(state, kind, module, shape, kwargs) else None

    def _open_denoising(self, state, module, kind, name):
        self._loops.finish(state)
        close = self._ranges.open(name)
        kind.denoises = True
        kind.eval_calls += 1
        kind.place = self._facts.note_model(module, kind)
        return close and (lambda state, failed: self._end_flat(close))

    def _end_flat(self, close):
        try:
            close()
        except Exception as error:
            self._faults.note("end of a call", error)

    def trains(self, module):
        """A module in training mode, with gradients; without an optimizer or a backward() somewhere, eval() was forgotten."""
        # What torch.compile(module) returns is in training mode whatever the module is, before torch 2.2.
        return module.training and self._training.seen and self._grad_enabled() and unwrapped(module).training

    def _begin_replay(self, step):
        """step: (reference to the model, shape) of the call that was captured; no shape: a step of a diffusion. What is to be called after the replay."""
        state, (reference, shape) = self._loops.of_thread.state, step
        module = reference()
        if state.busy or self._generate.request is not None or module is None:
            return None
        try:
            kind = self._kinds.of(module)
            if shape is None:
                return functools.partial(self._open_denoising(state, module, kind, "denoise_step") or never_ends, state)
            return functools.partial(self._loops.end, state) if self._loops.begin(state, kind, module, shape, {}) else None
        except Exception as error:
            self._faults.note("replay of a graph", error)
            return None


def never_ends(_state, _failed):
    """Where nothing was opened."""
