"""Which requests a step works on, and in which blocks their keys and values lie. It knows no clock and no process."""

from collections import deque
from typing import NamedTuple


class Entry(NamedTuple):
    """What a step computes of one request."""

    id: int
    kind: str  # "prefill" or "decode"
    start: int  # position of the first of the tokens
    tokens: list
    blocks: list  # where the request's keys and values lie, its block table
    samples: bool  # the step's last token of this request is followed by a new one


class Step(NamedTuple):
    entries: list
    admitted: list  # requests that waited before
    preempted: list  # requests that wait again


class Request:
    def __init__(self, id, prompt, most, stop_tokens=()):
        self.id, self.prompt, self.most, self.stop_tokens = id, prompt, most, frozenset(stop_tokens)
        self.output = []
        self.blocks = []
        self.computed = 0  # tokens whose keys and values are in the blocks
        self.prefill_until = len(prompt)  # more after a preemption: what was written is read again
        self.queued_ns = self.scheduled_ns = self.first_token_ns = None
        self.preempted_ns = []

    @property
    def known(self):
        return len(self.prompt) + len(self.output)

    def tokens(self, start, count):
        prompt = len(self.prompt)
        if start >= prompt:
            return self.output[start - prompt : start - prompt + count]
        return (self.prompt[start : start + count] + self.output)[:count]


class BlockPool:
    """Each block is free or belongs to one request."""

    def __init__(self, count, block_tokens):
        self.count, self.block_tokens = count, block_tokens
        self._free = deque(range(count))

    @property
    def free(self):
        return len(self._free)

    def blocks_for(self, tokens):
        return -(-tokens // self.block_tokens)

    def extend(self, blocks, tokens):
        """Adds blocks until they hold so many tokens. False, and nothing changed, where too few are free."""
        missing = self.blocks_for(tokens) - len(blocks)
        if missing > len(self._free):
            return False
        blocks.extend(self._free.popleft() for _ in range(missing))
        return True

    def give_back(self, blocks):
        self._free.extend(blocks)
        blocks.clear()


class Batcher:
    """Continuous batching, first come first served: running requests first, then waiting ones, within chunk_tokens a step.

    Where blocks run out, the youngest running request gives its blocks back and computes its tokens again later.
    """

    def __init__(self, pool, max_batch, chunk_tokens):
        self.pool, self.max_batch, self.chunk_tokens = pool, max_batch, chunk_tokens
        self.waiting, self.running = deque(), []

    def __len__(self):
        return len(self.waiting) + len(self.running)

    def add(self, request):
        if request.most < 1 or not request.prompt:
            raise ValueError("a request has a prompt and writes at least one token")
        if self.pool.blocks_for(len(request.prompt) + request.most) > self.pool.count:
            raise ValueError("all blocks together do not hold this request")
        self.waiting.append(request)

    def cancel(self, id):
        """The request, which is gone then. None: there is no such request (any more)."""
        for queue in (self.running, self.waiting):
            for request in queue:
                if request.id == id:
                    queue.remove(request)
                    self.pool.give_back(request.blocks)
                    return request
        return None

    def plan(self):
        step = Step([], [], [])
        budget = self._plan_running(step, self.chunk_tokens)
        while self.waiting and len(self.running) < self.max_batch and budget > 0 and not step.preempted:
            request = self.waiting[0]
            count = min(request.known, budget)
            if not self.pool.extend(request.blocks, count):
                break  # those behind it do not overtake
            self.running.append(self.waiting.popleft())
            request.prefill_until = request.known
            step.admitted.append(request)
            step.entries.append(self._entry(request, count))
            budget -= count
        return step

    def complete(self, step, sampled):
        """sampled: the new token of each id. Returns (request, token, reason) of these; reason is None while the request goes on."""
        running = {request.id: request for request in self.running}
        written = []
        for entry in step.entries:
            request = running.get(entry.id)
            if request is None:  # cancelled meanwhile
                continue
            request.computed += len(entry.tokens)
            if entry.samples:
                token = sampled[entry.id]
                request.output.append(token)
                reason = "stop" if token in request.stop_tokens else "length" if len(request.output) >= request.most else None
                written.append((request, token, reason))
                if reason:
                    self.cancel(request.id)
        return written

    def _plan_running(self, step, budget):
        at = 0
        while at < len(self.running) and budget > 0:
            request = self.running[at]
            count = min(request.known - request.computed, budget)
            if self.pool.extend(request.blocks, request.computed + count):
                step.entries.append(self._entry(request, count))
                budget -= count
                at += 1
            else:
                step.preempted.append(self._preempt_youngest())
        return budget

    def _preempt_youngest(self):
        victim = self.running.pop()
        self.pool.give_back(victim.blocks)
        victim.computed = 0
        self.waiting.appendleft(victim)
        return victim

    @staticmethod
    def _entry(request, count):
        kind = "prefill" if request.computed < request.prefill_until else "decode"
        tokens = request.tokens(request.computed, count)
        return Entry(request.id, kind, request.computed, tokens, list(request.blocks), request.computed + count == request.known)
