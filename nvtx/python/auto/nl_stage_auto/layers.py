"""A range of the domain LLM.layers around the forward of each module, on one thread and for as long as it is wanted.

    model.layers.0.mlp|Qwen3MLP
"""

import sys
import threading

_DOMAIN = "LLM.layers"
_MOST = 20_000


def is_compiled(module):
    """Whether torch.compile has what runs the module's hooks: they would be traced, and would not run."""
    own = vars(module)
    forward = own.get("forward")
    return own.get("_compiled_call_impl") is not None or (forward is not None and hasattr(forward, "_torchdynamo_orig_callable"))


def _compiled_inside(module):
    """What torch.compile(module) wraps: the hooks of the wrapper run outside compiled code."""
    return module._modules.get("_orig_mod")


def eager_modules(model):
    """(path, module, class), each module once and none that is inside compiled code."""
    seen, waiting = set(), [("", model)]
    while waiting and len(seen) < _MOST:
        path, module = waiting.pop()
        if module is None or id(module) in seen:
            continue
        seen.add(id(module))
        inside = _compiled_inside(module)
        if inside is not None:
            yield path, module, type(inside)
        elif not is_compiled(module):
            yield path, module, type(module)
            waiting += [(f"{path}.{name}" if path else name, child) for name, child in reversed(list(module._modules.items()))]


class Watch:
    """The hooks of one window. They do nothing on other threads and in code that torch.compile traces."""

    def __init__(self, ranges, model, compiling):
        self._push, self._pop = ranges.functions()
        self._thread = threading.get_ident()
        self._compiling = compiling
        self._open = []  # modules, innermost last
        self._handles = []  # (module, handle)
        self._compiler = None
        try:
            self._follow_compiler()
            for path, module, cls in eager_modules(model):
                self._hook(module, f"{path or '(model)'}|{cls.__name__}")
        except BaseException:
            self.remove()
            raise

    def _hook(self, module, label):
        compiling, thread, ident = self._compiling, self._thread, threading.get_ident

        def before(module, *_):
            if not compiling() and ident() == thread:
                self._enter(module, label)

        def after(module, *_):
            if not compiling() and ident() == thread:
                self._leave(module)

        self._handles.append((module, module.register_forward_pre_hook(before)))
        try:
            # Since torch 2.1 a hook can ask to be called when forward raises, too.
            handle = module.register_forward_hook(after, always_call=True)
        except TypeError:
            handle = module.register_forward_hook(after)
        self._handles.append((module, handle))

    def _follow_compiler(self):
        """Code that is compiled while hooks are there would contain them, and older compilers break the graph at them."""
        handler = getattr(sys.modules.get("torch._dynamo.callback"), "callback_handler", None)
        if hasattr(handler, "register_start_callback"):
            handler.register_start_callback(self._before_compiling)
            self._compiler = handler

    def _enter(self, module, label):
        self._open.append(module)
        self._push(_DOMAIN, label, None)

    def _leave(self, module):
        if not any(opened is module for opened in self._open):
            return
        while self._open:
            innermost = self._open.pop()
            self._pop(_DOMAIN)
            if innermost is module:
                return

    def _before_compiling(self, *_):
        """Modules whose forward runs now are outside of what is compiled, and their ranges have to end."""
        running = {id(module) for module in self._open}
        handles, self._handles = self._handles, []
        for module, handle in handles:
            if id(module) in running:
                self._handles.append((module, handle))
            else:
                handle.remove()

    def disown(self):
        """In a child of fork: the ranges that are open are the parent's."""
        self._open = []
        self.remove()

    def remove(self):
        """On the thread that made it, whose ranges these are; elsewhere nothing happens."""
        if threading.get_ident() != self._thread:
            return
        while self._handles:
            self._handles.pop()[1].remove()
        if self._compiler is not None and self._before_compiling in self._compiler.start_callbacks:
            self._compiler.remove_start_callback(self._before_compiling)
        while self._open:
            self._open.pop()
            self._pop(_DOMAIN)
