"""SGLang's requests: those of its scheduler, which computes in its own process, and those of each batch.

Written after its public sources of August 2026, and tried with stand-ins of the same names and shapes only.

    tokenizer_manager    process of the API: a request has arrived
    scheduler            sglang::scheduler: queued, scheduled, first token, finished, and the requests of a batch
    schedule_batch       the same process: preempted, which SGLang calls retracted
"""

_REASONS = {"FINISH_LENGTH": "length", "FINISH_ABORT": "cancelled"}  # others: a token, a string or a pattern that ends it


def entries_of(batch):
    """batch: its ScheduleBatch. Of a batch of both kinds, those that decode come last."""
    mode, requests = batch.forward_mode.name, batch.reqs
    if mode in ("DECODE", "TARGET_VERIFY"):
        tokens = int(getattr(getattr(batch, "spec_info", None), "draft_token_num", 1)) if mode == "TARGET_VERIFY" else 1
        return [(request.rid, "decode", tokens) for request in requests]
    if mode not in ("EXTEND", "SPLIT_PREFILL", "MIXED"):
        return []
    decoding = {id(request) for request in batch.decoding_reqs or ()} if mode == "MIXED" else ()
    if len(batch.extend_lens) != len(requests):
        raise ValueError("extend_lens")
    return [(request.rid, "decode" if id(request) in decoding else "prefill", int(tokens))
            for request, tokens in zip(requests, batch.extend_lens)]


def _is_first_rank(scheduler):
    """Schedulers of one tensor- or pipeline-parallel group run the same batches: one of them marks them."""
    ranks = getattr(scheduler, "ps", scheduler)
    tensor = getattr(ranks, "attn_tp_rank", getattr(ranks, "tp_rank", 0))
    return tensor == 0 and getattr(ranks, "pp_rank", 0) == 0


class SglangRequests:
    members = None  # of the forward: the batch is marked before it, where its requests are known

    def __init__(self, hooks):
        self._hooks, self._marks = hooks, hooks.marks

    def modules(self):
        return {"sglang.srt.managers.tokenizer_manager": self._patch_tokenizer, "sglang.srt.managers.scheduler": self._patch_scheduler,
                "sglang.srt.managers.schedule_batch": self._patch_batch}

    def _patch_tokenizer(self, module):
        self._hooks.before(module, "TokenizerManager", "_send_one_request", self._arrived)
        self._hooks.before(module, "TokenizerManager", "_send_batch_request", self._several_arrived)

    def _patch_scheduler(self, module):
        self._hooks.after(module, "Scheduler", "_add_request_to_queue", self._queued)
        self._hooks.before(module, "Scheduler", "run_batch", self._runs)
        self._hooks.after(module, "Scheduler", "process_batch_result", self._processed)
        self._hooks.after(module, "Scheduler", "abort_request", self._aborted)

    def _patch_batch(self, module):
        self._hooks.after(module, "ScheduleBatch", "retract_decode", self._retracted)

    def _arrived(self, _, *arguments, **named):
        """The tokenized request is the first argument; it was the second until 2026."""
        for each in (*arguments, *named.values()):
            if hasattr(each, "input_ids") and hasattr(each, "sampling_params") and isinstance(getattr(each, "rid", None), str) \
                    and hasattr(each, "stream") and not hasattr(each, "text"):
                return self._arrived_one(each)
        raise AttributeError("tokenized request")

    def _several_arrived(self, _, *arguments, **named):
        for each in (*arguments, *named.values()):
            if isinstance(each, (list, tuple)) and each and hasattr(each[0], "rid") and not hasattr(each[0], "text"):
                return [self._arrived_one(one) for one in each]
        raise AttributeError("tokenized requests")

    def _arrived_one(self, request):
        prompt = request.input_ids
        self._marks.arrived(request.rid, len(prompt) if prompt is not None else None,
                            getattr(getattr(request, "sampling_params", None), "max_new_tokens", None), request.rid)

    def _queued(self, _, scheduler, req, *__, **___):
        if _is_first_rank(scheduler):
            self._marks.queued(req.rid)

    def _runs(self, scheduler, batch, *_, **__):
        if not _is_first_rank(scheduler):
            return
        entries = entries_of(batch)
        for key, _, _ in entries:
            self._marks.scheduled(key)
        self._marks.step(entries)

    def _processed(self, _, __, batch, *___, **____):
        for request in batch.reqs:
            if self._marks.follows(request.rid):
                self._marks.wrote(request.rid, len(request.output_ids))
                if request.finished():
                    self._marks.finished(request.rid, _REASONS.get(type(request.finished_reason).__name__, "stop"))

    def _aborted(self, _, scheduler, recv_req):
        """One that still waits leaves at once; one that runs is aborted by its next batch."""
        held = list(scheduler.waiting_queue) + [getattr(scheduler, "chunked_req", None)]
        for batch in (scheduler.running_batch, scheduler.cur_batch):
            held += getattr(batch, "reqs", None) or ()
        held = {getattr(request, "rid", None) for request in held}
        for key in self._marks.keys():
            if (getattr(recv_req, "abort_all", False) or key.startswith(recv_req.rid)) and key not in held:
                self._marks.finished(key, "cancelled")

    def _retracted(self, result, *_, **__):
        for request in result[0]:
            self._marks.preempted(request.rid, len(request.origin_input_ids) + len(request.output_ids))
