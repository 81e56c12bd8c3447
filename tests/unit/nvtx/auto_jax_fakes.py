"""Stand-ins for JAX and diffusers, with their structure where the marks look at it.

What jax.jit returns is an object whose class is of C++: its attributes and its binding to instances are imitated here by a class of Python. It
traces a function once for each shape, compiles it by jax._src.compiler, and tells jax.monitoring.
"""

import pathlib

JAX = '''
__version__ = "0.11.1"
import jaxlib
import functools, types
from jax._src import core, compiler, xla_bridge
from jax import monitoring, stages


class PjitFunction:
    def __init__(self, fun):
        self.__dict__.update(getattr(fun, "__dict__", {}))
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            if hasattr(fun, name): self.__dict__[name] = getattr(fun, name)
        self.__wrapped__, self.known = fun, set()

    def __call__(self, *args, **kwargs):
        shape = tuple(getattr(arg, "shape", None) for arg in args)
        if not core.trace_state_clean():
            return self.__wrapped__(*args, **kwargs)
        if shape not in self.known:
            self.known.add(shape)
            core.tracing += 1
            try: self.__wrapped__(*args, **kwargs)
            finally: core.tracing -= 1
            compiler.compile_or_get_cached(self)
        core.tracing += 1  # its parts do not run in Python again; here their calls must not be seen
        try: return self.__wrapped__(*args, **kwargs)
        finally: core.tracing -= 1

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self):
        return jit, (self.__wrapped__,)

    def lower(self, *args):
        return stages.Lowered(self)

    def clear_cache(self):
        self.known.clear()

    def _cache_size(self):
        return len(self.known)


def jit(fun=None, /, *, static_argnums=None, donate_argnums=None):
    if fun is None: return lambda function: PjitFunction(function)
    return PjitFunction(fun)


def pmap(fun, axis_name=None):
    return PjitFunction(fun)


def vmap(fun):
    def mapped(*args):
        core.tracing += 1
        try: return fun(*args)
        finally: core.tracing -= 1
    return mapped


def value_and_grad(fun, argnums=0, has_aux=False):
    @functools.wraps(fun)
    def differentiated(*args): return fun(*args), args[0]
    return differentiated


def grad(fun, argnums=0):
    @functools.wraps(fun)
    def differentiated(*args): return args[0]
    return differentiated


class tree_util:
    @staticmethod
    def tree_leaves(tree):
        if isinstance(tree, dict): tree = list(tree.values())
        return [leaf for part in tree for leaf in tree_util.tree_leaves(part)] if isinstance(tree, (list, tuple)) else [tree]


def eval_shape(fun, *args):
    return type(fun) is PjitFunction


def devices():
    return [types.SimpleNamespace(platform="gpu", device_kind="NVIDIA H200")] * 2
'''

FILES = {
    "jax/__init__.py": JAX,
    "jax/_src/__init__.py": "",
    "jax/_src/core.py": "tracing = 0\n\n\ndef trace_state_clean():\n    return not tracing\n",
    "jax/_src/compiler.py": "from jax import monitoring\n\n\ndef compile_or_get_cached(fun):\n"
                            "    monitoring.tell('/jax/core/compile/backend_compile_duration', 0.25)\n    return fun\n",
    "jax/_src/xla_bridge.py": "def backends_are_initialized():\n    return True\n",
    "jax/monitoring.py": "heard = []\n\n\ndef register_event_duration_secs_listener(listener):\n    heard.append(listener)\n\n\n"
                         "def tell(event, duration):\n    for listener in heard: listener(event, duration, fun_name='x')\n",
    "jax/stages.py": "import types\n\n\nclass Lowered:\n    def __init__(self, fun): self.fun = fun\n    def compile(self): return Compiled(self.fun)\n\n\n"
                     "class Compiled:\n    def __init__(self, fun):\n        self.fun = fun\n"
                     "        self._executable = types.SimpleNamespace(unsafe_call=types.SimpleNamespace(name=f'jit({fun.__name__})'))\n"
                     "    def __call__(self, *args): return self.fun.__wrapped__(*args)\n",
    "jax/numpy.py": "import jax\n\n\ndef _dot(a, b): return a * b\n\n\ndot = jax.jit(_dot)\n",
    "jaxlib/__init__.py": "__version__ = '0.11.0'\n",
    "flax/__init__.py": "__version__ = '0.12.0'\nimport jax\n\n\ndef _apply(x): return x\n\n\napply = jax.jit(_apply)\n\n\n"
                        "def nnx_jit(function): return jax.jit(function)\n",
    "optax/__init__.py": "__version__ = '0.2.5'\n",
    "diffusers/__init__.py": "__version__ = '0.30.0'\n",
    "diffusers/pipelines/__init__.py": "",
    "diffusers/pipelines/pipeline_utils.py": "class DiffusionPipeline:\n    pass\n",
    "diffusers/schedulers/__init__.py": "",
    "diffusers/schedulers/scheduling_utils.py": "class SchedulerMixin:\n    pass\n",
}


def write_jax_fakes(folder):
    for name, text in FILES.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
