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
from .request import Request
from .vision import Vision


def _sampler(folder, faults, ranges):
    if not os.environ.get("NL_STAGE_HOST_SAMPLES_HZ"):
        return None
    from .sampler import sampler_of
    return sampler_of(os.environ, folder, faults, ranges)


class Process:
    def __init__(self, facts_folder, operators_folder=None):
        self.faults = Faults(self.remove)
        self.patches = Patches()
        self.ranges = Ranges()
        self._created = Created(self.faults, self.patches)
        self.facts = Facts(facts_folder, self.faults, self.ranges, self._created)
        self._finder = Finder(self.faults)
        self.operators = self._new_operators(operators_folder) if operators_folder else None
        self._generation = Generation(self)
        self.current_request = self._generation.current  # of this thread's generate()
        self.vision = Vision(self)
        self.graphs = self._roots = self._diffusion = self._jax = self.request_marks = None
        self._sampler = _sampler(facts_folder, self.faults, self.ranges)

    def _new_operators(self, folder):
        from .operators import Operators  # most Pythons of a run have no use for it
        return Operators(self, folder)

    def start(self):
        atexit.register(self.end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)
        self._finder.add("transformers.generation.utils", self._generation.patch)
        self._finder.add("transformers.modeling_utils", self._created.patch)
        self._finder.add("nl_stage_nvtx", self.ranges.watch_workload)
        self._finder.add("multiprocessing.util", self._follow_forks)
        self._follow_engines(os.environ.get("NL_STAGE_ENGINE"))
        self._finder.add("torch", self._patch_torch)
        self._finder.add("jax", self._patch_jax)
        self._finder.add("diffusers.pipelines.pipeline_utils", lambda module: self._new_diffusion().patch_pipelines(module))
        self._finder.add("diffusers.schedulers.scheduling_utils", lambda module: self._new_diffusion().patch_schedulers(module))
        if self.operators is not None:
            atexit.register(self.operators.dtypes.write)
            self.operators.patch(self._finder)
        if self._sampler is not None:
            self._start_sampler(self._sampler)

    def _follow_engines(self, wanted):
        """wanted: mark.engine, where the requests of each step are to be marked."""
        requests = {}
        if wanted:
            from .engine_hooks import engine_requests
            from .request_marks import RequestMarks
            self.request_marks = RequestMarks(self.ranges)
            requests = self.faults.safely("mark.engine", engine_requests, self, wanted) or {}
        for module, engine in engines(self):
            engine.members = getattr(requests.get(engine.name), "members", None)
            self._finder.add(module, engine.patch)
        for each in requests.values():
            for module, patch in each.modules().items():
                self._finder.add(module, patch)

    def _start_sampler(self, sampler):
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=sampler.pause, after_in_parent=sampler.resume)
        for package in ("torch", "jax", "cupy"):
            self._finder.add(package, sampler.begin)

    def _patch_torch(self, torch):
        from .graphs import Graphs
        from .roots import Roots
        self.graphs = Graphs(self)
        self._roots = Roots(self)
        self._roots.patch(torch)
        atexit.register(self._roots.loops.finish_safely)
        self._finder.add("torch.utils.data.dataloader", self._roots.training.patch_loader)
        for module in ("torch.amp.grad_scaler", "torch.cuda.amp.grad_scaler"):
            self._finder.add(module, self._roots.training.patch_scaler)
        if hasattr(torch.cuda, "graphs"):
            self.graphs.patch(torch.cuda.graphs)

    def _patch_jax(self, jax):
        from .jax_calls import JaxCalls
        self._jax = JaxCalls(self)
        self._jax.patch(jax)
        self.facts.add_part("jax", self._jax.as_json)

    def _new_diffusion(self):
        if self._diffusion is None:
            from .diffusion import Diffusion
            self._diffusion = Diffusion(self)
        return self._diffusion

    def end_loop(self):
        """Where something else begins: generate(), or a step of an engine."""
        if self._roots is not None:
            self._roots.loops.finish_safely()

    def end_step(self):
        """Is called where what runs next does not belong to the step before."""
        if self._roots is not None:
            self._roots.loops.pause()

    def may_mark_call(self, module):
        """Outside generate(): a module that is trained is not marked."""
        return self._roots is not None and self._roots.may_mark(module)

    def kind_of(self, model):
        return self._roots.kinds.of(model) if self._roots is not None else None

    def hold_calls(self):
        """Until release(), calls of models on this thread are not marked: something around them is. What to give to release()."""
        state = self._roots.loops.of_thread.state if self._roots is not None else None
        if state is None or state.busy:
            return None
        state.busy = True
        return state

    def release(self, held):
        if held is not None:
            held.busy = False

    def new_loop(self, model, length, generates):
        if self.operators is not None:
            return self.operators.new_loop(model, self.ranges, length, generates)
        from .loops import LoopRequest
        return LoopRequest(self.ranges, length, generates)

    def new_request(self, model, prompt, deferred):
        if self.operators is not None:
            return self.operators.new_request(model, self.ranges, prompt, deferred)
        return Request(self.ranges, prompt, deferred)

    def remove(self):
        """Takes everything off again. Ranges that are open still close."""
        self.ranges.silent = self.facts.removed = True
        self._finder.remove()
        self.patches.remove()
        if self.operators is not None:
            self.operators.remove()
        if self._sampler is not None:
            self._sampler.end()

    def _forked(self):
        try:
            self.faults.forget()
            self.ranges.forget()
            self.facts.forget()
            self._generation.forget()
            self.vision.forget()
            if self.request_marks is not None:
                self.request_marks.forget()
            if self._diffusion is not None:
                self._diffusion.forget()
            if self._jax is not None:
                self._jax.forget()
            if self._roots is not None:
                self._roots.loops.forget()
                self._roots.training.forget()
                self._roots.kinds.forget()
                self.graphs.forget()
            if self.operators is not None:
                self.operators.forget()
            if self._sampler is not None:
                self._sampler.forget()
        except Exception as error:
            self.faults.note("fork", error)

    def _follow_forks(self, util):
        """Children that multiprocessing forks leave by _exit, which skips atexit but not multiprocessing's own finalizers."""
        util.register_after_fork(self, lambda process: util.Finalize(None, process.end, exitpriority=0))

    def end(self):
        """The facts come last: they count the sampler's errors."""
        if self._sampler is not None:
            self._sampler.end()
        self.facts.write_at_exit()
