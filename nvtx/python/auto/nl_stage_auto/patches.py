"""Methods of the workload's classes, wrapped once each and unwrapped again."""

import functools
import types

_OURS = "__nl_stage__"


class Patches:
    def __init__(self):
        self._made = []
        self._removed = False

    def wrap(self, owner, name, make):
        """Replaces owner.name by make(original). Only plain functions that the owner itself defines, and only once."""
        original = vars(owner).get(name)
        if self._removed or not isinstance(original, types.FunctionType) or getattr(original, _OURS, False):
            return False
        # wraps() keeps the signature, which transformers inspects, and the name, by which methods are pickled.
        wrapper = functools.wraps(original)(make(original))
        setattr(wrapper, _OURS, True)
        setattr(owner, name, wrapper)
        self._made.append((owner, name, original, wrapper))
        return True

    def wrap_inherited(self, cls, name, make):
        """Wraps what instances of cls really call, in the class that defines it."""
        for base in cls.__mro__:
            if name in vars(base):
                # nn.Sequential's forward, say, belongs to every model.
                return not base.__module__.startswith("torch.") and self.wrap(base, name, make)
        return False

    def remove(self):
        self._removed = True
        while self._made:
            owner, name, original, wrapper = self._made.pop()
            if vars(owner).get(name) is wrapper:  # else somebody has wrapped ours
                setattr(owner, name, original)
