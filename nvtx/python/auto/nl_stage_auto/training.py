"""What a workload that trains does, one after the other on the thread that does it.

    load_data   the wait for the next batch of a DataLoader
    forward     the outermost call of a model in training mode, with gradients
    backward    torch.autograd.backward, which Tensor.backward calls
    optimizer   step() of any optimizer, with what GradScaler does around it

Nothing is marked around a whole step: with gradients that add up, several of these belong to one. A step() that calls a function of the workload to compute
the loss begins behind the last call of it.
"""

import functools
import sys
import threading

from .compiling import is_compiling, never

_MOST_FRAMES = 12


class Training:
    def __init__(self, process, loops):
        self._process, self._loops = process, loops
        self._faults, self._patches, self._ranges = process.faults, process.patches, process.ranges
        self._compiling = is_compiling() or never
        self._found = None
        self._lock = threading.Lock()
        self._backwards = 0  # that run now, on whatever thread
        self.seen = False  # an optimizer or a backward

    def patch(self, torch, found):
        """found(module): a module beside an optimizer."""
        self._found, self._module_class = found, torch.nn.Module
        wrap = self._patches.wrap_of_torch
        wrap(getattr(torch, "autograd", None), "backward", self._around_backward)
        wrap(getattr(getattr(torch, "optim", None), "Optimizer", None), "__init__", self._around_new_optimizer)

    def patch_loader(self, module):
        """module: torch.utils.data.dataloader"""
        self._patches.wrap_of_torch(module._BaseDataLoaderIter, "__next__", self._around_next)

    def patch_scaler(self, module):
        """module: torch.amp.grad_scaler, or torch.cuda.amp.grad_scaler"""
        self._patches.wrap_of_torch(module.GradScaler, "step", self._around_scaler)

    def forget(self):
        """In a child of fork."""
        self._lock = threading.Lock()
        self._backwards = 0

    def _open(self, state, name):
        """What closes it; None: there is none."""
        try:
            self._loops.finish(state)
            return self._ranges.open(name)
        except Exception as error:
            self._faults.note(name, error)
            return None

    def _close(self, close, name):
        if close is not None:
            try:
                close()
            except Exception as error:
                self._faults.note(f"end of {name}", error)

    def begin_forward(self, state, module, kind, shape):
        """shape: (batch, tokens of a sequence, …) of what it gets; None: no tensor."""
        if self._backwards:  # what is computed again for the sake of memory
            return None
        self._loops.finish(state)
        close = self._ranges.open("forward")
        kind.training_calls += 1
        kind.trains = True
        if shape is not None:
            self._process.facts.add_training_call(shape)
        kind.place = self._process.facts.note_model(module, kind)
        return close and (lambda state, failed: self._close(close, "forward"))

    def _around_backward(self, original):
        compiling, of_thread = self._compiling, self._loops.of_thread

        def backward(*args, **kwargs):
            if compiling():
                return original(*args, **kwargs)
            self.seen, state = True, of_thread.state
            if state.busy:
                return original(*args, **kwargs)
            close = self._open(state, "backward")
            state.busy = True
            with self._lock:
                self._backwards += 1
            try:
                return original(*args, **kwargs)
            finally:
                with self._lock:
                    self._backwards -= 1
                state.busy = False
                self._close(close, "backward")

        return backward

    def _around_new_optimizer(self, original):
        compiling = self._compiling

        def __init__(optimizer, *args, **kwargs):
            original(optimizer, *args, **kwargs)
            if not compiling():
                self.seen = True
                try:
                    self._wrap_step(type(optimizer))
                    self._find_models(sys._getframe(1))
                except Exception as error:
                    self._faults.note("optimizer", error)

        return __init__

    def _wrap_step(self, cls):
        holder = next((base for base in cls.__mro__ if "step" in vars(base)), None)
        self._patches.wrap_of_torch(holder, "step", self._around_step)

    def _find_models(self, frame):
        """Models that were made where they run are never moved, but the code that makes their optimizer has them."""
        for _ in range(_MOST_FRAMES):
            if frame is None:
                return
            if not (frame.f_globals.get("__name__") or "").startswith("torch."):
                values = list(frame.f_locals.values())
                for value in [*values, *getattr(frame.f_locals.get("self"), "__dict__", {}).values()]:
                    if isinstance(value, self._module_class):
                        self._found(value)
                if frame.f_code.co_name == "<module>":
                    return
            frame = frame.f_back

    def _around_scaler(self, original):
        compiling, of_thread = self._compiling, self._loops.of_thread

        def step(*args, **kwargs):
            state = of_thread.state
            if compiling() or state.busy or state.optimizer:
                return original(*args, **kwargs)
            return self._run_optimizer(state, original, args, kwargs)

        return step

    def _around_step(self, original):
        compiling, of_thread = self._compiling, self._loops.of_thread

        def step(*args, **kwargs):
            state = of_thread.state
            if compiling() or state.busy or state.optimizer:
                return original(*args, **kwargs)
            closure = args[1] if len(args) > 1 else kwargs.get("closure")
            if callable(closure):
                return self._run_with_closure(state, original, args, kwargs, closure)
            return self._run_optimizer(state, original, args, kwargs)

        return step

    def _run_optimizer(self, state, original, args, kwargs):
        close = self._open(state, "optimizer")
        state.optimizer = True
        try:
            return original(*args, **kwargs)
        finally:
            state.optimizer = False
            self._close(close, "optimizer")

    def _run_with_closure(self, state, original, args, kwargs, closure):
        opened = []

        @functools.wraps(closure)
        def between(*inputs, **named):
            self._close(opened.pop() if opened else None, "optimizer")
            state.optimizer = False
            try:
                return closure(*inputs, **named)
            finally:
                state.optimizer = True
                opened.append(self._open(state, "optimizer"))

        changed = (args[0], between, *args[2:]) if len(args) > 1 else args
        named = kwargs if len(args) > 1 else {**kwargs, "closure": between}
        state.optimizer = True
        try:
            return original(*changed, **named)
        finally:
            state.optimizer = False
            self._close(opened.pop() if opened else None, "optimizer")

    def _around_next(self, original):
        compiling, of_thread = self._compiling, self._loops.of_thread

        def __next__(*args):
            state = of_thread.state
            if compiling() or state.busy or state.loading or state.optimizer:
                return original(*args)
            self._loops.pause_of(state)
            close = self._open_load()
            state.loading = True
            try:
                return original(*args)
            finally:
                state.loading = False
                self._close(close, "load_data")

        return __next__

    def _open_load(self):
        try:
            return self._ranges.open("load_data")
        except Exception as error:
            self._faults.note("load_data", error)
            return None
