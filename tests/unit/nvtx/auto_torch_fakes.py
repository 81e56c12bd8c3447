"""What loops of one's own and the operator pass need of torch besides auto_fakes.py: modules with hooks, a compiler, CUDA graphs, modes, a profiler.

The profiler keeps PyTorch's rules: one for each thread, an error otherwise, and nothing that waits while a graph is captured.
"""

import pathlib

from auto_fakes import TORCH, write_fakes

MORE = '''
import functools
version.hip = None
skipped = []  # code that torch.compile does not look at
_C._dynamo = types.SimpleNamespace(eval_frame=types.SimpleNamespace(skip_code=skipped.append))
from torch import autograd, overrides
import torch.autograd.profiler
import torch.cuda.graphs


class Handle:
    def __init__(self, hooks, hook):
        self.hooks, self.hook = hooks, hook
        hooks.append(hook)

    def remove(self):
        self.hooks.remove(self.hook)


class Module(Module):
    training = True
    _compiled_call_impl = None

    def train(self, mode=True):
        vars(self)["training"] = mode
        for part in self._modules.values(): part.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def to(self, *_):
        return self

    def compile(self):
        self._compiled_call_impl = compile(self._call_impl)

    @property
    def _modules(self):
        return {name: value for name, value in vars(self).items() if isinstance(value, Module)}

    def _hooks(self, name):
        return vars(self).setdefault(name, [])

    def register_forward_pre_hook(self, hook):
        return Handle(self._hooks("before"), hook)

    def register_forward_hook(self, hook, always_call=False):
        assert always_call
        return Handle(self._hooks("after"), hook)

    def __call__(self, *args, **kwargs):
        return (self._compiled_call_impl or self._call_impl)(*args, **kwargs)

    def _call_impl(self, *args, **kwargs):
        for hook in list(self._hooks("before")): hook(self, args)
        try:
            return self.forward(*args, **kwargs)
        finally:
            for hook in list(self._hooks("after")): hook(self, args, None)


nn.Module = Module


class OptimizedModule(Module):
    def __init__(self, inside):
        self._orig_mod = inside
        self.forward = compile(inside.__call__)

    def __getattr__(self, name):
        return getattr(vars(self)["_orig_mod"], name)


def compile(model=None, **options):
    """Runs what it compiles as if it were traced each time."""
    if model is None: return lambda function: compile(function, **options)
    if isinstance(model, Module): return OptimizedModule(model)
    while getattr(model, "_torchdynamo_wrapper_id", None) == id(model): model = model._torchdynamo_orig_callable
    @functools.wraps(model)
    def run(*args, **kwargs):
        compiler.active = True
        try:
            return model(*args, **kwargs)
        finally:
            compiler.active = False
    assert not hasattr(run, "get_compiler_config")  # as torch 2.11 does for what is compiled already
    run._torchdynamo_orig_callable, run.get_compiler_config, run._torchdynamo_wrapper_id = model, dict, id(run)
    return run


class no_grad:
    on = 0

    def __enter__(self):
        no_grad.on += 1

    def __exit__(self, *_):
        no_grad.on -= 1


class inference_mode(no_grad):
    def __enter__(self):
        no_grad.on += 1

    def __exit__(self, *_):
        no_grad.on -= 1


def is_grad_enabled():
    return not no_grad.on


class Optimizer:
    def __init__(self, parameters):
        self.parameters = parameters


class SGD(Optimizer):
    def step(self, closure=None):
        if closure is not None: closure()
        return "stepped"


optim = types.SimpleNamespace(Optimizer=Optimizer, SGD=SGD)


class Sequential(Module):
    def __init__(self, *parts):
        self.parts = parts

    def forward(self, value):
        for part in self.parts: value = part(value)
        return value


Sequential.__module__ = "torch.nn.modules.container"
nn.Sequential = Sequential


class Linear(Module):
    def forward(self, *args):
        call("aten::mm", [[2, 8], [8, 8]])


def call(name, shapes=()):
    return overrides.handle(autograd.record, name, shapes)
'''

SCALER = '''
class GradScaler:
    def step(self, optimizer):
        return optimizer.step()
'''

LOADER = '''
class _BaseDataLoaderIter:
    def __init__(self, batches):
        self.batches = iter(batches)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.batches)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    pass


class DataLoader(list):
    def __iter__(self):
        return _SingleProcessDataLoaderIter(list.__iter__(self))
'''

AUTOGRAD = '''
import threading, nvtx


def backward(*tensors):
    pass


class State(threading.local):
    on, events = None, ()


state = State()


def _profiler_enabled():
    return state.on is not None


class Event:
    def __init__(self, name, shapes):
        self.name, self.shapes = (lambda: name), (lambda: shapes)
        self.dtypes = lambda: ["c10::BFloat16"] * len(shapes) + ["Scalar", ""]


def record(name, shapes):
    if state.on == "nvtx":
        nvtx.push_range(name)
        nvtx.pop_range()
    elif state.on == "kineto":
        state.events.append(Event(name, shapes))
    return name
'''

PROFILER = '''
import types
from torch.autograd import state
ProfilerState, ProfilerActivity = types.SimpleNamespace(NVTX="nvtx", KINETO="kineto"), types.SimpleNamespace(CPU="cpu")
_ExperimentalConfig = dict
_is_profiler_enabled = False


def ProfilerConfig(state, shapes, memory, stack, flops, modules, experimental):
    assert shapes and not (memory or stack or flops or modules)
    return state


def _prepare_profiler(config, activities):
    assert config == "kineto" and activities == {"cpu"}


def _enable_profiler(config, activities, scopes=()):
    if state.on is not None: raise RuntimeError("Profiler is already enabled on this thread")
    state.on, state.events = config, []


def _disable_profiler():
    if state.on is None: raise RuntimeError("Can't disable")
    events, state.on = state.events, None
    return types.SimpleNamespace(events=lambda: events)


def _run_on_profiler_start():
    global _is_profiler_enabled
    _is_profiler_enabled = True


def _run_on_profiler_stop():
    global _is_profiler_enabled
    _is_profiler_enabled = False


class profile:
    def __enter__(self):
        _prepare_profiler("kineto", {"cpu"})
        _run_on_profiler_start()
        _enable_profiler("kineto", {"cpu"})

    def __exit__(self, *_):
        _disable_profiler()
        _run_on_profiler_stop()
'''

CUDA = '''
import nvtx


def synchronize(device=None):
    nvtx.mark("wait")


class Event:
    def synchronize(self):
        nvtx.mark("wait")
'''

GRAPHS = '''
import nvtx


class CUDAGraph:
    def capture_begin(self, pool=None, capture_error_mode="global"):
        if pool == "bad": raise RuntimeError("no capture")
        nvtx.push_range("capture")

    def capture_end(self):
        nvtx.pop_range()

    def replay(self):
        nvtx.push_range("replay")
        nvtx.pop_range()
'''

OVERRIDES = '''
_stack = []


def _get_current_function_mode():
    return _stack[-1] if _stack else None


class TorchFunctionMode:
    def __enter__(self):
        _stack.append(self)
        return self

    def __exit__(self, *_):
        assert _stack.pop() is self


def handle(function, *args):
    if not _stack: return function(*args)
    mode = _stack.pop()
    try:
        return mode.__torch_function__(function, (), args, {})
    finally:
        _stack.append(mode)
'''

MODEL = '''

class Block(torch.Module):
    def __init__(self):
        self.mlp = torch.Linear()

    def forward(self):
        self.mlp()


class LayeredForCausalLM(TinyForCausalLM):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, **inputs):
        self.block()
        torch.call("aten::add", [[2, 8]])
'''


def write_torch_fakes(folder):
    write_fakes(folder)
    torch = pathlib.Path(folder, "torch")
    cuda = 'class cuda:\n    nvtx = types.ModuleType("torch.cuda.nvtx")\n    nvtx.range_push, nvtx.range_pop, nvtx.mark = _nvtx, _nvtx, _nvtx\n'
    assert cuda in TORCH
    files = {
        "__init__.py": TORCH.replace(cuda, "") + MORE, "autograd/__init__.py": AUTOGRAD, "autograd/profiler.py": PROFILER,
        "cuda/__init__.py": CUDA, "cuda/graphs.py": GRAPHS, "overrides.py": OVERRIDES, "_inductor/__init__.py": "",
        "_inductor/cudagraph_trees.py": "def record(graph, work):\n    graph.capture_begin()\n    work()\n    graph.capture_end()\n",
        "amp/__init__.py": "", "amp/grad_scaler.py": SCALER, "utils/__init__.py": "", "utils/data/__init__.py": "", "utils/data/dataloader.py": LOADER,
        "_dynamo/__init__.py": "", "_dynamo/utils.py": "counters = {}\n",
    }
    for name, text in files.items():
        path = torch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    models = pathlib.Path(folder, "transformers", "models.py")
    models.write_text(models.read_text() + MODEL)
