"""What one process of the workload has of us."""

import atexit
import os

from .created import Created
from .engines import engines
from .facts import Facts
from .faults import Faults
from .generation import Generation
from .imports import Finder
from .patches import Patches
from .ranges import Ranges


class Process:
    def __init__(self, facts_folder):
        self.faults = Faults(self.remove)
        self.patches = Patches()
        self.ranges = Ranges()
        self._created = Created(self.faults, self.patches)
        self.facts = Facts(facts_folder, self.faults, self.ranges, self._created)
        self._finder = Finder(self.faults)
        self._generation = Generation(self)

    def start(self):
        atexit.register(self.facts.write_at_exit)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)
        self._finder.add("transformers.generation.utils", self._generation.patch)
        self._finder.add("transformers.modeling_utils", self._created.patch)
        self._finder.add("nl_stage_nvtx", self.ranges.watch_workload)
        self._finder.add("multiprocessing.util", self._follow_forks)
        for module, engine in engines(self):
            self._finder.add(module, engine.patch)

    def remove(self):
        """Takes everything off again. Ranges that are open still close."""
        self.ranges.silent = self.facts.removed = True
        self._finder.remove()
        self.patches.remove()

    def _forked(self):
        try:
            self.faults.forget()
            self.ranges.forget()
            self.facts.forget()
            self._generation.forget()
        except Exception as error:
            self.faults.note("fork", error)

    def _follow_forks(self, util):
        """Children that multiprocessing forks leave by _exit, which skips atexit but not multiprocessing's own finalizers."""
        util.register_after_fork(self, lambda process: util.Finalize(None, process.facts.write_at_exit, exitpriority=0))
