"""vLLM's requests (V1 engine): those of its scheduler, and those of each step.

Written after its public sources of August 2026, and tried with stand-ins of the same names and shapes only.

    output_processor    process of the API: a request has arrived
    scheduler           VLLM::EngineCore: queued, scheduled, preempted, first token, finished
    gpu_model_runner    VLLM::Worker, or VLLM::EngineCore where it computes itself: the requests of a step
"""

import sys

_REASONS = {"stop": "stop", "length": "length", "repetition": "stop"}  # others: it did not end by itself
_REASONS_OF_STATUS = {"FINISHED_STOPPED": "stop", "FINISHED_LENGTH_CAPPED": "length", "FINISHED_REPETITION": "stop"}


def entries_of(scheduled):
    """scheduled: its SchedulerOutput. What is read once more after a preemption is a prompt again."""
    cached = scheduled.scheduled_cached_reqs
    reading = {request.req_id for request in scheduled.scheduled_new_reqs} | set(getattr(cached, "resumed_req_ids", ()))
    in_context = getattr(cached, "is_context_phase", None)
    drafts = getattr(scheduled, "scheduled_spec_decode_tokens", None) or {}
    entries = []
    for key, tokens in scheduled.num_scheduled_tokens.items():
        prompt = key in reading or (in_context is not None and in_context(key)) or tokens > 1 + len(drafts.get(key, ()))
        entries.append((key, "prefill" if prompt else "decode", int(tokens)))
    return entries


def _is_first_rank():
    """Workers of one tensor- or pipeline-parallel group compute the same step: one of them marks it."""
    parallel = sys.modules.get("vllm.distributed.parallel_state")
    try:
        return all(getattr(parallel, group)().rank_in_group == 0 for group in ("get_tp_group", "get_pp_group"))
    except Exception:
        return True  # not parallel, or it does not say


class VllmRequests:
    def __init__(self, hooks):
        self._hooks, self._marks = hooks, hooks.marks
        self._first_rank = None
        self.members = hooks.guarded("GPUModelRunner.execute_model", self._step)

    def modules(self):
        return {"vllm.v1.engine.output_processor": self._patch_outputs, "vllm.v1.core.sched.scheduler": self._patch_scheduler}

    def _patch_outputs(self, module):
        self._hooks.before(module, "OutputProcessor", "add_request", self._arrived)

    def _patch_scheduler(self, module):
        self._hooks.after(module, "Scheduler", "add_request", self._queued)
        self._hooks.after(module, "Scheduler", "schedule", self._scheduled)
        self._hooks.before(module, "Scheduler", "_preempt_request", self._preempted)
        self._hooks.after(module, "Scheduler", "update_from_output", self._updated)
        self._hooks.after(module, "Scheduler", "finish_requests", self._ended)

    def _arrived(self, _, request, *__, **___):
        prompt, sampling = request.prompt_token_ids, request.sampling_params
        self._marks.arrived(request.request_id, len(prompt) if prompt is not None else None, getattr(sampling, "max_tokens", None),
                            getattr(request, "external_req_id", None) or request.request_id)

    def _queued(self, _, __, request):
        self._marks.queued(request.request_id)

    def _scheduled(self, output, *_, **__):
        for request in output.scheduled_new_reqs:
            self._marks.scheduled(request.req_id)
        for key in getattr(output.scheduled_cached_reqs, "resumed_req_ids", ()):
            self._marks.scheduled(key)

    def _preempted(self, _, request, *__, **___):
        self._marks.preempted(request.request_id, request.num_tokens)

    def _updated(self, result, *_, **__):
        for outputs in result.values() if isinstance(result, dict) else [result]:
            for output in outputs.outputs:
                self._marks.wrote_more(output.request_id, len(output.new_token_ids))
                if output.finish_reason is not None:
                    self._marks.finished(output.request_id, _REASONS.get(str(output.finish_reason), "cancelled"))

    def _ended(self, _, __, request_ids, finished_status):
        """From outside: the client has gone. An iterator was used up by the call; None stands for all."""
        reason = _REASONS_OF_STATUS.get(getattr(finished_status, "name", ""), "cancelled")
        keys = [request_ids] if isinstance(request_ids, str) else self._marks.keys() if request_ids is None else request_ids
        for key in keys if isinstance(keys, (list, tuple, set, frozenset)) else ():
            self._marks.finished(key, reason)

    def _step(self, _, scheduled):
        if self._first_rank is None:
            self._first_rank = _is_first_rank()
        if self._first_rank:
            self._marks.step(entries_of(scheduled))
