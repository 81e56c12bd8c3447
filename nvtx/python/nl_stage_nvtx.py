"""NVTX ranges for Python workloads, in the vocabulary that nl-stage understands.

    import nl_stage_nvtx as stage

    with stage.prefill():
        logits = model(prompt)
    with stage.decode_all():
        for i in range(steps):
            with stage.decode_step(i):
                token = model(token)

    @stage.op("sample")           # every scope is a decorator, too
    def sample(logits): ...

    stage.mark("first token")
    stage.tokens(prompt=256, batch=1)   # what the next iteration works on
    watch = stage.watch_modules(model)  # a range for each module's forward; watch.remove() ends it

Ranges go out by the first of these that is there: the nvtx package (a real LLM domain); an imported torch
with CUDA's NVTX (a literal "LLM@prefill" in the default domain, which nl-stage reads as the same); the
profiler's own injection library, named by NVTX_INJECTION64_PATH, by ctypes; else they cost next to nothing.
Nothing is chosen before the first range, so import this module as early as you like.
"""

import contextlib
import ctypes
import functools
import importlib
import os
import sys
import threading

STAGE_DOMAIN = "LLM"
OPERATOR_DOMAIN = "LLM.ops"
LAYER_DOMAIN = "LLM.layers"

__all__ = ["prefill", "decode_all", "decode_step", "stage", "op", "layer", "mark", "tokens", "start", "end", "watch_modules", "backend"]


class _Backend:
    """opener(), counter() and closer() give functions for a range that is opened often: they look up once what they can."""

    numbers = True  # a range can have a payload

    def opener(self, domain, text):
        return lambda: self.push(domain, text, None)

    def counter(self, domain, text):
        """Opens the range; its argument is the payload."""
        return lambda payload: self.push(domain, text, payload)

    def closer(self, domain):
        return lambda: self.pop(domain)


class _Nothing(_Backend):
    name = "none"

    def push(self, domain, text, payload):
        pass

    def pop(self, domain):
        pass

    def mark(self, domain, text):
        pass

    def start(self, domain, text):
        return None

    def end(self, domain, handle):
        pass


class _NvtxPackage(_Backend):
    name = "nvtx"

    def __init__(self):
        self._nvtx = importlib.import_module("nvtx")
        # A folder called nvtx on sys.path imports as an empty namespace package.
        self._push = self._nvtx.push_range
        self._pop = self._nvtx.pop_range
        self._takes_payload = True

    def push(self, domain, text, payload):
        if payload is not None and self._takes_payload:
            try:
                self._push(text, domain=domain, payload=payload)
                return
            except TypeError:  # before 0.2.6
                self._takes_payload = False
        self._push(text, domain=domain)

    def pop(self, domain):
        self._pop(domain=domain)

    def opener(self, domain, text):
        push = self._push
        return lambda: push(text, domain=domain)

    def counter(self, domain, text):
        push = self._push

        def open_range(payload):
            try:
                push(text, domain=domain, payload=payload)
            except TypeError:
                self.push(domain, text, payload)

        return open_range

    def closer(self, domain):
        pop = self._pop
        return lambda: pop(domain=domain)

    def mark(self, domain, text):
        self._nvtx.mark(text, domain=domain)

    def start(self, domain, text):
        return self._nvtx.start_range(text, domain=domain)

    def end(self, domain, handle):
        self._nvtx.end_range(handle)


class _Torch(_Backend):
    name = "torch"
    numbers = False

    def __init__(self):
        torch = sys.modules["torch"]
        native = importlib.import_module("torch._C")._nvtx  # absent from a torch built without CUDA
        self._nvtx = torch.cuda.nvtx
        # What torch.cuda.nvtx calls: marks that are made for a script watch the ranges of others there.
        push, pop = self._nvtx.range_push, self._nvtx.range_pop
        self._push = getattr(native, "rangePushA", getattr(push, "__wrapped__", push))
        self._pop = getattr(native, "rangePop", getattr(pop, "__wrapped__", pop))

    def push(self, domain, text, payload):
        self._push(f"{domain}@{text}")

    def pop(self, domain):
        self._pop()

    def opener(self, domain, text):
        return functools.partial(self._push, f"{domain}@{text}")

    def counter(self, domain, text):
        push, name = self._push, f"{domain}@{text}"
        return lambda _: push(name)

    def closer(self, domain):
        return self._pop

    def mark(self, domain, text):
        self._nvtx.mark(f"{domain}@{text}")

    def start(self, domain, text):
        return self._nvtx.range_start(f"{domain}@{text}")

    def end(self, domain, handle):
        self._nvtx.range_end(handle)


class _EventAttributes(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint16),
        ("size", ctypes.c_uint16),
        ("category", ctypes.c_uint32),
        ("color_type", ctypes.c_int32),
        ("color", ctypes.c_uint32),
        ("payload_type", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("payload", ctypes.c_int64),
        ("message_type", ctypes.c_int32),
        ("message", ctypes.c_char_p),
    ]


def _event(text, payload=None):
    event = _EventAttributes(version=3, size=ctypes.sizeof(_EventAttributes), message_type=1,
                             message=text.encode("utf-8", "replace"))
    if payload is not None:
        event.payload_type, event.payload = 2, int(payload)
    return event


class _Injection(_Backend):
    """What NVTX's header does in a C program: load the tool's library and let it fill in the functions."""

    name = "injection"
    _MODULE_SIZES = {1: 16, 2: 9, 3: 15, 4: 7, 5: 16, 6: 7}
    _CORE2 = 5

    def __init__(self):
        self._slots = {m: (ctypes.c_void_p * n)() for m, n in self._MODULE_SIZES.items()}
        self._tables = {m: self._table_of(slots) for m, slots in self._slots.items()}
        self._keep = []
        library = ctypes.CDLL(os.environ["NVTX_INJECTION64_PATH"])
        initialise = library.InitializeInjectionNvtx2
        initialise.restype = ctypes.c_int
        if not initialise(self._export_tables()):
            raise OSError("the injection library declined")
        self._lock = threading.Lock()
        self._domains = {}
        self._bind()

    @staticmethod
    def _table_of(slots):
        size = ctypes.sizeof(ctypes.c_void_p)
        base = ctypes.addressof(slots)
        return (ctypes.c_void_p * len(slots))(*[base + size * i for i in range(len(slots))])

    def _export_tables(self):
        @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint))
        def module_table(module, table, size):
            if module not in self._tables:
                return 0
            if table:
                table[0] = ctypes.addressof(self._tables[module])
            if size:
                size[0] = len(self._tables[module])
            return 1

        @ctypes.CFUNCTYPE(None, ctypes.c_uint32)
        def set_tool_version(_version):
            pass

        class Callbacks(ctypes.Structure):
            _fields_ = [("size", ctypes.c_size_t), ("module_table", ctypes.c_void_p)]

        class VersionInfo(ctypes.Structure):
            _fields_ = [("size", ctypes.c_size_t), ("version", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                        ("set_tool_version", ctypes.c_void_p)]

        def as_pointer(function):
            return ctypes.cast(function, ctypes.c_void_p)

        callbacks = Callbacks(ctypes.sizeof(Callbacks), as_pointer(module_table))
        version = VersionInfo(ctypes.sizeof(VersionInfo), 3, 0, as_pointer(set_tool_version))
        addresses = {1: ctypes.addressof(callbacks), 3: ctypes.addressof(version)}

        @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)
        def export_table(table_id):
            return addresses.get(table_id)

        self._keep += [module_table, set_tool_version, callbacks, version, export_table]
        return export_table

    def _bind(self):
        def bind(slot, result, *arguments):
            address = self._slots[self._CORE2][slot]
            return ctypes.CFUNCTYPE(result, *arguments)(address) if address else lambda *_: None

        handle, event = ctypes.c_void_p, ctypes.POINTER(_EventAttributes)
        self._mark = bind(1, None, handle, event)
        self._start = bind(2, ctypes.c_uint64, handle, event)
        self._end = bind(3, None, handle, ctypes.c_uint64)
        self._push = bind(4, ctypes.c_int, handle, event)
        self._pop = bind(5, ctypes.c_int, handle)
        self._create_domain = bind(12, handle, ctypes.c_char_p)

    def _domain(self, name):
        domain = self._domains.get(name)
        if domain is None:
            with self._lock:
                if name not in self._domains:
                    self._domains[name] = self._create_domain(name.encode())
                domain = self._domains[name]
        return domain

    def push(self, domain, text, payload):
        self._push(self._domain(domain), ctypes.byref(_event(text, payload)))

    def pop(self, domain):
        self._pop(self._domain(domain))

    def mark(self, domain, text):
        self._mark(self._domain(domain), ctypes.byref(_event(text)))

    def start(self, domain, text):
        return self._start(self._domain(domain), ctypes.byref(_event(text)))

    def end(self, domain, handle):
        self._end(self._domain(domain), handle)


_chosen = None
_choosing = threading.Lock()


def _backend():
    global _chosen
    if _chosen is None:
        with _choosing:
            if _chosen is None:
                _chosen = _choose()
    return _chosen


def _choose():
    candidates = [_NvtxPackage]
    if "torch" in sys.modules:
        candidates.append(_Torch)
    if os.environ.get("NVTX_INJECTION64_PATH"):
        candidates.append(_Injection)
    for candidate in candidates:
        try:
            return candidate()
        except (ImportError, AttributeError, OSError):
            continue
    return _Nothing()


def backend():
    """By what ranges go out: "nvtx", "torch", "injection" or "none"."""
    return _backend().name


class _Scope(contextlib.ContextDecorator):
    __slots__ = ("_domain", "_text", "_payload")

    def __init__(self, domain, text, payload=None):
        self._domain, self._text, self._payload = domain, text, payload

    def __enter__(self):
        _backend().push(self._domain, self._text, self._payload)
        return self

    def __exit__(self, *_):
        _backend().pop(self._domain)
        return False


def prefill():
    return _Scope(STAGE_DOMAIN, "prefill")


def decode_all():
    return _Scope(STAGE_DOMAIN, "decode_all")


def decode_step(index=None):
    return _Scope(STAGE_DOMAIN, "decode_step", index)


def stage(name):
    """Any other stage."""
    return _Scope(STAGE_DOMAIN, name)


def op(name, payload=None):
    """An operator inside a stage."""
    return _Scope(OPERATOR_DOMAIN, name, payload)


def layer(name, kind=""):
    """A module of the model, for those that watch_modules() cannot see."""
    return _Scope(LAYER_DOMAIN, f"{name}|{kind}" if kind else name)


def mark(name):
    _backend().mark(STAGE_DOMAIN, name)


def tokens(prompt=None, batch=1, beams=None, decode=None):
    """Says how many tokens the iteration that follows works on. batch: sequences that it returns; beams: of each of them; None: not known."""
    counts = (("prompt", prompt), ("batch", batch), ("beams", beams), ("decode", decode))
    mark(" ".join(["tokens", *(f"{name}={int(count)}" for name, count in counts if count is not None)]))


def start(name):
    """Opens a stage that end() closes, on this thread or another."""
    return _backend().start(STAGE_DOMAIN, name)


def end(handle):
    _backend().end(STAGE_DOMAIN, handle)


class ModuleWatch:
    """What watch_modules() returns: remove() takes the hooks off again, as does leaving a with block."""

    def __init__(self):
        self._handles = []

    def __len__(self):
        return len(self._handles) // 2

    def remove(self):
        while self._handles:
            self._handles.pop().remove()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()
        return False


class _LayerStack(threading.local):
    """The layers of this thread that are open, innermost last."""

    def __init__(self):
        self.open = []


def _hook_pair(stack, label, whole_model):
    def before(module, *_):
        while whole_model and stack.open:  # of an earlier forward that raised
            stack.open.pop()
            _backend().pop(LAYER_DOMAIN)
        stack.open.append(module)
        _backend().push(LAYER_DOMAIN, label, None)

    def after(module, *_):
        # Before torch 2.1 a forward that raises leaves its range open: it ends with the layer around it.
        if not any(opened is module for opened in stack.open):
            return
        while stack.open:
            innermost = stack.open.pop()
            _backend().pop(LAYER_DOMAIN)
            if innermost is module:
                return

    return before, after


def _register(handles, module, before, after):
    handles.append(module.register_forward_pre_hook(before))
    try:
        # Since torch 2.1 a hook can ask to be called when forward raises, too.
        handles.append(module.register_forward_hook(after, always_call=True))
    except TypeError:
        handles.append(module.register_forward_hook(after))


def watch_modules(model, depth=4, name="(model)"):
    """Opens a range of the domain LLM.layers around the forward of each module whose name has at most `depth` parts.

    model.layers.0.mlp has four; None: all modules. Ranges are named "model.layers.0.mlp|LlamaMLP".
    Modules that do not run forward themselves, such as a ModuleList, make none. A compiled or captured model runs hooks
    only while it is compiled or captured.
    """
    watch, stack, seen = ModuleWatch(), _LayerStack(), set()
    try:
        for path, module in model.named_modules():
            if id(module) in seen or (depth is not None and path and path.count(".") + 1 > depth):
                continue
            seen.add(id(module))
            _register(watch._handles, module, *_hook_pair(stack, f"{path or name}|{type(module).__name__}", not path))
    except BaseException:
        watch.remove()
        raise
    return watch
