"""vLLM and SGLang: a range around each step of the runner, named as the engines name their own, with the tokens of prefill and decoding.

    execute_context_2(512)_generation_6(6)      vLLM
    step[EXTEND bs=1 toks=512], step[DECODE bs=8], step[MIXED bs=9]      SGLang

Written after their public sources and tried with stand-ins only: neither engine has been run with it.
"""


class _Step:
    """What one step of an engine works on."""

    def __init__(self, name, contexts=0, context_tokens=0, generations=0, generation_tokens=0):
        self.name = name
        self.batch, self.contexts, self.generations = contexts + generations, contexts, generations
        self.context_tokens, self.generation_tokens = context_tokens, generation_tokens
        self.window = self.held = None

    def kind(self):
        if not self.contexts:
            return "decode"
        return "prefill" if self.context_tokens and not self.generations else "mixed"


def vllm_step(scheduled):
    """scheduled: vLLM's SchedulerOutput. A request is in its context until it has generated a token."""
    new = {request.req_id for request in scheduled.scheduled_new_reqs}
    in_context = getattr(scheduled.scheduled_cached_reqs, "is_context_phase", None)
    counts = [0, 0, 0, 0]
    for request_id, tokens in scheduled.num_scheduled_tokens.items():
        context = request_id in new or (in_context(request_id) if in_context else tokens > 1)
        counts[0 if context else 2] += 1
        counts[1 if context else 3] += tokens
    if not counts[1] and not counts[3]:
        return None
    return _Step("execute_context_{}({})_generation_{}({})".format(*counts), *counts)


def sglang_step(batch):
    """batch: SGLang's ForwardBatch."""
    mode, size = batch.forward_mode.name, int(batch.batch_size)
    if mode == "DECODE":
        return _Step(f"step[DECODE bs={size}]", generations=size, generation_tokens=size)
    if mode == "EXTEND":
        tokens = int(batch.extend_num_tokens)
        return _Step(f"step[EXTEND bs={size} toks={tokens}]", contexts=size, context_tokens=tokens)
    return _Step(f"step[MIXED bs={size}]", contexts=size) if mode == "MIXED" else None


class Engine:
    """name: its domain; class_name.method: its step; step_of: from that method's first argument, called `argument`."""

    def __init__(self, process, name, class_name, method, argument, step_of):
        self._process, self.name = process, name
        self.members = None  # with mark.engine: marks the requests of a step
        self._class_name, self._method, self._argument, self._step_of = class_name, method, argument, step_of

    def patch(self, module):
        self._process.patches.wrap_inherited(getattr(module, self._class_name), self._method, self._around_step)

    def _around_step(self, original):
        def step(runner, /, *args, **kwargs):
            warms_up = kwargs.get("dummy_run")  # of vLLM's newer runner, with requests that no client sent
            begun = self._begin(runner, None if warms_up else args[0] if args else kwargs.get(self._argument))
            try:
                return original(runner, *args, **kwargs)
            finally:
                if begun is not None:
                    self._end(begun, runner)

        return step

    def _begin(self, runner, scheduled):
        ranges, operators = self._process.ranges, self._process.operators
        try:
            step = None if ranges.silent or scheduled is None else self._step_of(scheduled)
            if step is not None:
                self._process.end_loop()
                step.held = self._process.hold_calls()
                if self.members is not None:
                    self.members(runner, scheduled)
                step.window = operators and operators.new_step(step, getattr(runner, "model", None))
                ranges.push_step(self.name, step.name)
                if step.window:
                    step.window.open()
            return step
        except Exception as error:
            self._process.faults.note(self.name, error)
            return None

    def _end(self, step, runner):
        self._process.release(step.held)
        try:
            if step.window:
                step.window.close()
            self._process.ranges.pop_step(self.name)
            self._process.facts.add_step(self.name, runner, step)
        except Exception as error:
            self._process.faults.note(self.name, error)


def engines(process):
    """[(module, its engine)]"""
    return [
        ("vllm.v1.worker.gpu_model_runner", Engine(process, "vllm", "GPUModelRunner", "execute_model", "scheduler_output", vllm_step)),
        ("vllm.v1.worker.gpu.model_runner", Engine(process, "vllm", "GPUModelRunner", "execute_model", "scheduler_output", vllm_step)),
        ("sglang.srt.model_executor.model_runner", Engine(process, "sglang", "ModelRunner", "forward", "forward_batch", sglang_step)),
    ]
