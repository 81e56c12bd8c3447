"""Patches modules right after the workload imported them."""

import sys


class _PatchingLoader:
    """Stands in for a module's loader until the module was executed."""

    def __init__(self, loader, executed):
        self._loader, self._executed = loader, executed

    def __getattr__(self, name):
        if name == "_loader":  # while it is copied
            raise AttributeError(name)
        return getattr(self._loader, name)

    def create_module(self, spec):
        create = getattr(self._loader, "create_module", None)
        return create(spec) if create is not None else None

    def exec_module(self, module):
        # Code that looks at the module later must not find us: inspect, pickle, importlib.resources.
        spec = getattr(module, "__spec__", None)
        if spec is not None:
            spec.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._executed(module)


class Finder:
    """Looks up nothing by itself: it only sees which modules are imported, for the few names that have a patch."""

    def __init__(self, faults):
        self._faults = faults
        self._patches = {}  # by the module's name

    def add(self, name, patch):
        """patch(module) is called once, now if the module is there."""
        module = sys.modules.get(name)
        if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
            self._patch(name, patch, module)
            return
        self._patches.setdefault(name, []).append(patch)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def remove(self):
        self._patches.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name, path=None, target=None):
        if name not in self._patches:
            return None
        try:
            spec = self._spec_of_others(name, path, target)
            if spec is not None and hasattr(spec.loader, "exec_module"):
                spec.loader = _PatchingLoader(spec.loader, lambda module: self._executed(name, module))
            return spec
        except Exception as error:
            self._faults.note("import", error)
            return None

    def _spec_of_others(self, name, path, target):
        for finder in list(sys.meta_path):
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                return spec
        return None

    def _executed(self, name, module):
        for patch in self._patches.pop(name, ()):
            self._patch(name, patch, module)
        if not self._patches:
            self.remove()

    def _patch(self, name, patch, module):
        try:
            # A lazy loader may have put another object in its place.
            patch(sys.modules.get(name, module))
        except Exception as error:
            self._faults.note(f"patch {name}", error)
