"""What tells code that torch.compile traces it: our wrappers and hooks vanish from such code."""

import sys


def is_compiling():
    """torch.compiler.is_compiling of the torch that is loaded; None: it has none, before torch 2.2."""
    return getattr(getattr(sys.modules.get("torch"), "compiler", None), "is_compiling", None)


def never():
    return False
