"""Methods of the workload's classes, wrapped once each and unwrapped again."""

import functools
import sys
import types
import weakref

_OURS = "__nl_stage__"  # its value is the wrapper's id: who wraps our wrapper copies the attribute


def imitate(wrapper, original):
    """The signature stays, which transformers inspects, and the name, by which methods are pickled."""
    functools.update_wrapper(wrapper, original)
    if hasattr(wrapper, "_torchdynamo_wrapper_id"):  # by which torch.compile finds what is inside, to compile it once only
        wrapper._torchdynamo_wrapper_id = id(wrapper)
    return wrapper


def hide_from_compiler(wrapper):
    """Where torch.compile compiles what is called, it looks at the frames inside, as it would without us."""
    torch = sys.modules.get("torch")
    skip = getattr(getattr(getattr(getattr(torch, "_C", None), "_dynamo", None), "eval_frame", None), "skip_code", None)
    if skip is not None:
        skip(wrapper.__code__)


def bracketed(original, begin, end):
    """A callable that runs begin(args, kwargs) before the original. What it returns goes to end() afterwards; None: the call is not marked."""
    def call(*args, **kwargs):
        opened = begin(args, kwargs)
        if opened is None:
            return original(*args, **kwargs)
        try:
            return original(*args, **kwargs)
        finally:
            end(opened)

    return call


def closes_nothing():
    """For a call that is marked, but whose range could not be opened."""


class Patches:
    def __init__(self):
        self._made = []  # (reference to the owner, name, whether it was inherited): nothing here keeps a model alive
        self._removed = False

    def wrap(self, owner, name, make):
        """Replaces owner.name by make(original). Only plain functions that the owner itself defines, and only once."""
        original = vars(owner).get(name)
        if not isinstance(original, types.FunctionType):
            return False
        return self._replace(owner, name, original, make(original))

    def wrap_of_torch(self, owner, name, make):
        """The same, for what may be called while torch.compile compiles."""
        wrapped = owner is not None and self.wrap(owner, name, make)
        if wrapped:
            hide_from_compiler(vars(owner)[name])
        return wrapped

    def wrap_inherited(self, cls, name, make):
        """Wraps what instances of cls really call, in the class that defines it."""
        for base in cls.__mro__:
            if name in vars(base):
                # nn.Sequential's forward, say, belongs to every model.
                return not base.__module__.startswith("torch.") and self.wrap(base, name, make)
        return False

    def override(self, cls, name, make):
        """Wraps what cls inherits, for cls alone."""
        holder = next((base for base in cls.__mro__ if name in vars(base)), None)
        inherited = vars(holder).get(name) if holder is not None else None
        if not isinstance(inherited, types.FunctionType):
            return False
        overridden = self._replace(cls, name, inherited, make(inherited), inherits=True)
        if overridden:
            hide_from_compiler(vars(cls)[name])
        return overridden

    def wrap_own(self, instance, name, make):
        """Wraps a method that was put into the instance itself, as accelerate and model.forward = torch.compile(…) do."""
        own = vars(instance).get(name)
        if not callable(own):
            return False
        around = make(lambda _, *args, **kwargs: own(*args, **kwargs))
        return self._replace(instance, name, own, lambda *args, **kwargs: around(None, *args, **kwargs))

    def _replace(self, owner, name, original, wrapper, inherits=False):
        if self._removed or hasattr(original, _OURS):
            return False
        setattr(imitate(wrapper, original), _OURS, id(wrapper))
        setattr(owner, name, wrapper)
        self._made.append((weakref.ref(owner), name, inherits))
        return True

    def remove(self):
        self._removed = True
        while self._made:
            reference, name, inherits = self._made.pop()
            owner = reference()
            current = vars(owner).get(name) if owner is not None else None
            if getattr(current, _OURS, None) == id(current):  # otherwise other code has wrapped ours
                delattr(owner, name) if inherits else setattr(owner, name, current.__wrapped__)
