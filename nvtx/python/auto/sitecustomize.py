"""Runs in every Python that nl-stage starts: hands on to the next sitecustomize, then marks the workload (nl_stage_auto).

Python imports the first sitecustomize on its path, which is this one. The next one runs as it would without this file: once, as the
module `sitecustomize`, and what it raises reaches the user.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_FOLDER = os.path.dirname(os.path.realpath(__file__))


def _next_spec():
    others = [entry for entry in sys.path if os.path.realpath(entry or ".") != _FOLDER]
    for finder in sys.meta_path:
        folders = others if finder is PathFinder else None
        spec = finder.find_spec("sitecustomize", folders) if hasattr(finder, "find_spec") else None
        if spec is not None and spec.loader is not None:
            return spec
    return None


def _execute(spec):
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)


def _hand_on():
    try:
        spec = _next_spec()
    except Exception:
        spec = None
    if spec is not None:
        _execute(spec)


def _mark():
    try:
        if os.environ.get("NL_STAGE_MARK") == "1" and "nl_stage_auto" not in sys.modules:
            _execute(PathFinder.find_spec("nl_stage_auto", [_FOLDER]))
    except Exception:
        pass  # nothing counts errors yet, and the workload must not be disturbed


try:
    _hand_on()
finally:
    _mark()
