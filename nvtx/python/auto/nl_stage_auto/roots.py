"""The models that a loop of the workload's own calls: found where the workload moves, loads, trains, evaluates or compiles a module.

Their class's __call__ is wrapped, which is outside of what torch.compile compiles; code that it traces runs the original. calls.py says what a
call means.
"""

import threading
import types
import weakref

from .calls import Calls
from .kinds import Kinds, generates
from .loops import Loops
from .patches import hide_from_compiler, imitate
from .training import Training

_FOUND_BY = ("to", "cuda", "eval", "half", "bfloat16", "float", "load_state_dict", "requires_grad_", "compile")
_MOST_CLASSES = 64
_ENGINES = ("torch.", "vllm.", "sglang.", "tensorrt_llm.")  # whose steps have ranges of their own


def _part(owner, path):
    for name in path.split("."):
        owner = getattr(owner, name, None)
    return owner


def _values_of(function):
    """What a function closes over, and the globals that it names."""
    for cell in getattr(function, "__closure__", None) or ():
        try:
            yield cell.cell_contents
        except ValueError:  # empty
            continue
    names = getattr(getattr(function, "__code__", None), "co_names", ())
    yield from map(getattr(function, "__globals__", {}).get, names)


def _may_call_models(function):
    name, module = getattr(function, "__name__", "_call_impl"), getattr(function, "__module__", None) or ""
    return name != "_call_impl" and not (module.startswith("torch.") and name != "_wrapped_call_impl")


class _OfThread(threading.local):
    inside = False  # train() of a module, which calls that of each part


class Roots:
    def __init__(self, process):
        self._of_thread = _OfThread()
        self._faults, self._patches, self._vision, self._ranges = process.faults, process.patches, process.vision, process.ranges
        self.loops = Loops(process)
        self.kinds = Kinds(process)
        self.training = Training(process, self.loops)
        self._calls = Calls(process, self.loops, self.kinds, self.training)
        self._classes = weakref.WeakSet()
        self._sequentials = set()  # ids of those that are models, not parts

    def patch(self, torch):
        self._module_class, wrap = torch.nn.Module, self._patches.wrap_of_torch
        if not self._calls.bind(torch):
            return
        for name in _FOUND_BY:
            wrap(torch.nn.Module, name, self._around_method)
        wrap(torch.nn.Module, "train", self._around_train)  # transformers 5 has an eval() of its own, which calls it
        self._sequential = _part(torch, "nn.Sequential")
        self.training.patch(torch, self._find_beside_optimizer)
        for owner in ("cuda", "cuda.Event", "cuda.Stream"):
            wrap(_part(torch, owner), "synchronize", self.loops.around_wait)
        for owner in ("no_grad", "inference_mode"):
            wrap(_part(torch, owner), "__enter__", self.loops.around_enter)
            wrap(_part(torch, owner), "__exit__", self.loops.around_exit)
        self._ranges.before_others = self.loops.pause
        for name in ("range_push", "range_pop"):
            wrap(_part(torch, "cuda.nvtx"), name, self._ranges.around_others)
        wrap(torch, "compile", self._around_compile)

    def may_mark(self, module):
        return not self._calls.trains(module)

    def _safely(self, work, *args):
        try:
            return work(*args)
        except Exception as error:
            self._faults.note("finding models", error)
            return None

    def _around_method(self, original):
        compiling = self._calls.compiling

        def method(module, /, *args, **kwargs):
            if not compiling():
                self._safely(self._find, module)
            return original(module, *args, **kwargs)

        return method

    def _around_train(self, original):
        compiling, of_thread = self._calls.compiling, self._of_thread

        def train(module, /, *args, **kwargs):
            if of_thread.inside or compiling():
                return original(module, *args, **kwargs)
            of_thread.inside = True
            try:
                self._safely(self._find, module)
                return original(module, *args, **kwargs)
            finally:
                of_thread.inside = False

        return train

    def _around_compile(self, original):
        def compile(*args, **kwargs):
            compiled = original(*args, **kwargs)
            return self._safely(self._compiled, args[0] if args else kwargs.get("model"), compiled) or compiled

        return compile

    def _compiled(self, model, compiled):
        """A compiled function that calls a model is as good as the model; Module.compile() has __call__ around it."""
        if isinstance(compiled, self._module_class):
            self._wrap(type(compiled)) if type(compiled).__name__ == "OptimizedModule" else self._find(compiled)
        elif isinstance(compiled, types.FunctionType) and _may_call_models(model):
            def is_module(value):
                return isinstance(value, self._module_class)

            function = getattr(compiled, "_torchdynamo_orig_callable", model)  # model may be compiled already
            inside = next(filter(is_module, [getattr(function, "__self__", None), *_values_of(function)]), None)
            wrapper = imitate(self._calls.around_function(compiled, inside, is_module), compiled)
            hide_from_compiler(wrapper)
            return wrapper
        return None

    def _find(self, module):
        cls = type(module)
        if cls is self._sequential:
            self._find_sequential(module)
        elif not cls.__module__.startswith(_ENGINES):  # classes of torch are parts of every model
            self.kinds.found(module)
            if cls not in self._classes:
                self._wrap(cls)
                if generates(module) is not False:
                    self._vision.patch(module)

    def _find_beside_optimizer(self, module):
        if type(module) not in self._classes:
            self._find(module)

    def _find_sequential(self, module):
        """A model that is nothing but a list of layers."""
        self.kinds.found(module)
        self._sequentials.add(id(module))
        if self._sequential not in self._classes:
            self._classes.add(self._sequential)
            self._patches.override(self._sequential, "__call__", lambda inherited: self._calls.around_some(inherited, self._sequentials))

    def _wrap(self, cls):
        if cls in self._classes or len(self._classes) >= _MOST_CLASSES:
            return
        self._classes.add(cls)
        if "__call__" in vars(cls):
            self._patches.wrap_of_torch(cls, "__call__", self._calls.around)
        else:
            self._patches.override(cls, "__call__", self._calls.around)
