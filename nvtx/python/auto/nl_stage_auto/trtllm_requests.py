"""TensorRT-LLM's requests (its PyTorch backend): those of each step, and when each has its first.

Written after its public sources of August 2026, and tried with stand-ins of the same names and shapes only. Its requests are objects
of C++ that come and go in several ways, so there are no marks of their end.
"""


def entries_of(scheduled):
    """scheduled: its ScheduledRequests."""
    entries = [(request.py_request_id, "prefill", int(request.context_chunk_size)) for request in scheduled.context_requests]
    for request in scheduled.generation_requests:
        if not getattr(request, "is_attention_dp_dummy", False):
            entries.append((request.py_request_id, "decode", 1 + len(getattr(request, "py_draft_tokens", None) or ())))
    return entries


class TrtllmRequests:
    members = None  # its step always has a range

    def __init__(self, hooks):
        self._hooks, self._marks = hooks, hooks.marks

    def modules(self):
        return {"tensorrt_llm._torch.pyexecutor.py_executor": self._patch}

    def _patch(self, module):
        self._hooks.before(module, "PyExecutor", "_forward_step", self._step)

    def _step(self, executor, scheduled_requests, *_, **__):
        if getattr(getattr(executor, "dist", None), "rank", 0) != 0 and not getattr(executor, "enable_attention_dp", False):
            return  # the other ranks compute the same
        self._marks.step(entries_of(scheduled_requests))
