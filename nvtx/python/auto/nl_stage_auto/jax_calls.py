"""JAX 0.4 to 0.11: a range around each call of a function that the workload compiled by jax.jit or jax.pmap, named after the function.

    train_step              the outermost call on a thread; calls that JAX traces have none
      compile               what compiles it: in the first call, and where shapes change
    kind training function=train_step   a mark after the first call of a function that computes gradients of its parameters

jax.jit returns an object of C++, whose class cannot be wrapped. So what it returns is imitated: attributes, binding to instances and pickling are those of
the original. Functions that JAX and its libraries compile for themselves stay as they are. Written after JAX's public sources; tried with stand-ins.
"""

import functools
import os
import re
import sys
import threading
import types

from .patches import _OURS, bracketed, closes_nothing

_LIBRARIES = ("jax", "jaxlib", "flax", "optax", "haiku", "chex", "orbax", "equinox", "jaxopt", "tensorstore")
_COMPILERS = (("jax._src.compiler", "compile_or_get_cached"), ("jax._src.dispatch", "compile_or_get_cached"),
              ("jax._src.compiler", "backend_compile_and_load"), ("jax._src.compiler", "backend_compile"), ("jax._src.dispatch", "backend_compile"))
_COMPILE_EVENT = "backend_compile_duration"
_GRADIENTS = ("grad", "value_and_grad")
_FEWEST_PARAMETERS = 2  # arrays: the gradient of one alone may be a force, or an image that is changed
_MOST_FUNCTIONS = 64
_MOST_FLAGS = 64
_PLAIN_VALUE = re.compile(r"(true|false|-?\d{1,12})$", re.IGNORECASE)


def _is_library(module):
    return isinstance(module, str) and module.partition(".")[0] in _LIBRARIES


def name_of(function):
    """The function's own name, as an identifier; "" where it has none."""
    for _ in range(16):
        inside = getattr(function, "func", None)  # functools.partial
        if inside is None or getattr(function, "__name__", None):
            break
        function = inside
    name = getattr(function, "__name__", None) or type(function).__name__
    return re.sub(r"\W+", "_", name).strip("_")[:80] if isinstance(name, str) else ""


def module_of(function):
    while not getattr(function, "__name__", None) and getattr(function, "func", None) is not None:
        function = function.func
    return getattr(function, "__module__", None)


def xla_flags(text):
    """Flags of XLA by name, with a value where it is a number or a truth value: others may name the user's folders."""
    found = []
    for word in text.split():
        name, _, value = word.partition("=")
        if re.fullmatch(r"--xla_\w+", name) and len(found) < _MOST_FLAGS:
            found.append(f"{name}={value}" if _PLAIN_VALUE.match(value) else name)
    return sorted(set(found))


class Jitted:
    """Imitates what jax.jit returned."""

    def __init__(self, compiled, calls, name):
        own = {each: getattr(compiled, each) for each in functools.WRAPPER_ASSIGNMENTS if hasattr(compiled, each)}  # else those of this class
        self.__dict__.update(own, _nl_stage_compiled=compiled, _nl_stage_call=calls.around(compiled, name))

    def __call__(self, /, *args, **kwargs):
        return self._nl_stage_call(*args, **kwargs)

    # Methods, because the protocol jax.stages.Wrapped does not ask __getattr__.
    def lower(self, /, *args, **kwargs):
        return self._nl_stage_compiled.lower(*args, **kwargs)

    def trace(self, /, *args, **kwargs):
        return self._nl_stage_compiled.trace(*args, **kwargs)

    def eval_shape(self, /, *args, **kwargs):
        return self._nl_stage_compiled.eval_shape(*args, **kwargs)

    def __getattr__(self, name):
        if name.startswith("_nl_stage_"):  # while it is copied
            raise AttributeError(name)
        return getattr(self._nl_stage_compiled, name)

    def __setattr__(self, name, value):
        setattr(self._nl_stage_compiled, name, value)
        if name in self.__dict__:
            self.__dict__[name] = value

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self):
        return repr(self._nl_stage_compiled)

    def __reduce_ex__(self, protocol):
        return self._nl_stage_compiled.__reduce_ex__(protocol)

    def __copy__(self):
        return self

    def __deepcopy__(self, _memo):
        return self


def _around_eval_shape(original):
    """jax.eval_shape asks for the class of what it gets: it knows the static arguments of what jax.jit returned."""
    def eval_shape(fun, *args, **kwargs):
        return original(fun._nl_stage_compiled if isinstance(fun, Jitted) else fun, *args, **kwargs)

    return eval_shape


class _OfThread(threading.local):
    inside = False


class _Function:
    __slots__ = ("name", "calls", "compiled", "trains", "told")

    def __init__(self, name):
        self.name, self.calls, self.compiled = name, 0, 0
        self.trains = self.told = False  # it computes gradients of parameters; the mark was made


class JaxCalls:
    def __init__(self, process):
        self._process, self._faults, self._ranges = process, process.faults, process.ranges
        self._of_thread = _OfThread()
        self._functions = {}  # by name
        self._clean = None
        self._jax = self._devices = None
        self.forget()

    def forget(self):
        """At the start, and in a child of fork."""
        self._of_thread.inside = False
        self._compiles, self._compile_s = 0, 0.0
        for function in self._functions.values():
            function.calls = function.compiled = 0
            function.told = False

    def patch(self, jax):
        """module: jax, right after it was imported."""
        self._jax = jax
        self._clean = getattr(sys.modules.get("jax._src.core") or getattr(jax, "core", None), "trace_state_clean", None)
        for name in ("jit", "pmap"):
            original = vars(jax).get(name)
            if isinstance(original, types.FunctionType) and not hasattr(original, _OURS):
                setattr(jax, name, self._around_transform(original))
        for name in _GRADIENTS:
            self._safely(self._process.patches.wrap, jax, name, self._around_gradient)
        self._safely(self._process.patches.wrap, jax, "eval_shape", _around_eval_shape)
        self._safely(self._patch_compiler)
        self._safely(self._patch_stages)
        self._safely(self._listen)

    def _safely(self, work, *args):
        return self._faults.safely("jax", work, *args)

    def _around_transform(self, original):
        """Of jax.jit and jax.pmap. Without a function they return a decorator."""
        @functools.wraps(original)
        def transform(*args, **kwargs):
            result = original(*args, **kwargs)
            caller = sys._getframe(1).f_globals.get("__name__")
            if args or "fun" in kwargs:
                return self._imitated(args[0] if args else kwargs["fun"], result, caller)
            if not callable(result):
                return result

            @functools.wraps(result)
            def decorate(*functions, **named):
                compiled = result(*functions, **named)
                return self._imitated(functions[0], compiled, caller) if functions else compiled

            return decorate

        setattr(transform, _OURS, id(transform))
        return transform

    def _imitated(self, function, compiled, caller):
        try:
            name = name_of(function)
            if self._process.facts.removed or isinstance(compiled, Jitted) or not callable(compiled) or not name:
                return compiled
            if _is_library(caller) and _is_library(module_of(function)):
                return compiled
            return Jitted(compiled, self, name)
        except Exception as error:
            self._faults.note("jax.jit", error)
            return compiled

    def _function(self, name):
        function = self._functions.get(name)
        if function is None:
            function = _Function(name)
            if len(self._functions) < _MOST_FUNCTIONS:
                self._functions[name] = function
        return function

    def around(self, compiled, name):
        of_thread, clean, ranges = self._of_thread, self._clean, self._ranges
        function = self._function(name)

        def begin(_args, _kwargs):
            if of_thread.inside or ranges.silent or not (clean is None or clean()):
                return None
            of_thread.inside = function
            function.calls += 1
            return self._safely(ranges.open, function.name) or closes_nothing

        def end(close):
            of_thread.inside = False
            self._safely(self._end, function, close)

        return bracketed(compiled, begin, end)

    def _end(self, function, close):
        close()
        if function.trains and not function.told:
            function.told = True
            self._ranges.mark(f"kind training function={function.name}")
        if self._devices is None:
            self._devices = self._safely(self._read_devices) or {}  # now: when the process exits, JAX has let them go
        self._process.facts.write_sometimes()

    def _around_gradient(self, original):
        """Of jax.grad and jax.value_and_grad: what they return runs where JAX traces the workload's function."""
        def transform(*args, **kwargs):
            result = original(*args, **kwargs)
            if not isinstance(result, types.FunctionType):
                return result
            places = args[1] if len(args) > 1 else kwargs.get("argnums", 0)

            @functools.wraps(result)
            def gradient(*given, **named):
                function = self._of_thread.inside
                if function and not function.trains:
                    function.trains = bool(self._safely(self._has_parameters, places, given))
                return result(*given, **named)

            return gradient

        return transform

    def _has_parameters(self, places, given):
        chosen = [given[place] for place in (places if isinstance(places, (tuple, list)) else [places])]
        return "optax" in sys.modules or len(self._jax.tree_util.tree_leaves(chosen)) >= _FEWEST_PARAMETERS

    def _patch_compiler(self):
        """The first of its names that this JAX has; pxla looks it up at each call."""
        for module, name in _COMPILERS:
            original = vars(sys.modules[module]).get(name) if module in sys.modules else None
            if isinstance(original, types.FunctionType):
                self._process.patches.wrap(sys.modules[module], name, self._around_compile)
                return

    def _around_compile(self, original):
        of_thread = self._of_thread

        def begin(_args, _kwargs):
            close = self._safely(self._ranges.open, "compile") if of_thread.inside else None
            return close and (of_thread.inside, close)

        def end(opened):
            function, close = opened
            function.compiled += 1
            self._safely(close)

        return bracketed(original, begin, end)

    def _patch_stages(self):
        """jit(f).lower(…).compile() returns an object whose call is a plain method."""
        compiled = getattr(sys.modules.get("jax.stages") or getattr(self._jax, "stages", None), "Compiled", None)
        if isinstance(compiled, type):
            self._process.patches.wrap(compiled, "__call__", self._around_compiled_call)

    def _around_compiled_call(self, original):
        def __call__(compiled, *args, **kwargs):
            name = None if self._of_thread.inside else self._name_of_executable(compiled)
            if not name:
                return original(compiled, *args, **kwargs)
            return self.around(functools.partial(original, compiled), name)(*args, **kwargs)

        return __call__

    def _name_of_executable(self, compiled):
        """"decode" of "jit_decode" or "jit(decode)"."""
        try:
            name = re.match(r"(?:p?jit|pmap)[_(](.*)", compiled._executable.unsafe_call.name).group(1)
        except Exception:  # not what this JAX calls it
            return None
        return re.sub(r"\W+", "_", name).strip("_")[:80]

    def _listen(self):
        """JAX tells how long it compiled, also what ran outside of the workload's functions."""
        try:
            from jax import monitoring
        except ImportError:
            return

        def heard(event, duration, **_):
            if event.endswith(_COMPILE_EVENT):
                self._compiles += 1
                self._compile_s += float(duration)

        monitoring.register_event_duration_secs_listener(heard)

    def as_json(self):
        """Part of the facts."""
        flags = xla_flags(os.environ.get("XLA_FLAGS", ""))
        functions = [{"name": function.name, "calls": function.calls, "compiled": function.compiled, "trains": function.trains}
                     for function in self._functions.values()]
        return {"xla_flags": flags, "compiles": self._compiles, "compile_s": round(self._compile_s, 3), "functions": functions, **(self._devices or {})}

    def _read_devices(self):
        """A JAX that has not touched its devices yet is not asked for them."""
        bridge = sys.modules.get("jax._src.xla_bridge")
        ready = getattr(bridge, "backends_are_initialized", None)
        if ready is None or not ready():
            return {}
        devices = self._jax.devices()
        kinds = [str(getattr(device, "device_kind", "")) for device in devices]
        return {"platform": str(devices[0].platform) if devices else "", "devices": [{"kind": kind, "count": kinds.count(kind)} for kind in sorted(set(kinds))]}
