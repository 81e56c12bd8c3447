"""The ranges of one generate().

    request
      prefill                   from the first prepare_inputs_for_generation (or the encoder, or the vision tower) …
        vision
        sampling                from the end of _update_model_kwargs_for_generation …
      decode_all                … to the next prepare_inputs_for_generation
        decode_step 0
          sampling
        decode_step 1
"""

import threading

NOT_BEGUN, PREFILL, DECODE = range(3)


class Request:
    __slots__ = ("ranges", "open", "phase", "steps", "forward_done", "preparing", "in_vision", "thread",
                 "finished", "deferred", "prompt_tokens", "batch", "given_tokens", "read_tokens", "calls")

    def __init__(self, ranges, prompt, deferred):
        self.ranges = ranges
        self.open = []  # innermost last
        self.phase = NOT_BEGUN
        self.steps = self.read_tokens = self.calls = 0
        self.forward_done = self.preparing = self.in_vision = self.finished = False
        self.deferred = deferred  # the request's range begins with the prefill
        self.thread = threading.get_ident()
        self.batch, self.prompt_tokens, self.given_tokens = prompt
        if not deferred:
            self.open_range("request")

    def open_range(self, name, payload=None):
        if not self.ranges.silent:
            self.ranges.push(name, payload)
            self.open.append(name)

    def close_range(self, name):
        if self.open and self.open[-1] == name:
            self.open.pop()
            self.ranges.pop()

    def close(self):
        """Closes all ranges. NVTX pops a thread's own: where another thread finishes the request, a later request of ours does it."""
        self.finished = True
        if threading.get_ident() != self.thread:
            return
        while self.open:
            self.open.pop()
            self.ranges.pop()

    def begin_prefill(self, batch, tokens):
        self.phase = PREFILL
        self.batch, self.prompt_tokens = batch or self.batch, tokens or self.prompt_tokens
        if self.deferred:
            self.open_range("request")
        if self.prompt_tokens and self.batch:
            self.ranges.tokens(self.prompt_tokens, self.batch)
        self.open_range("prefill")

    def begin_forward(self):
        """At the second and later calls of prepare_inputs_for_generation."""
        # Chunks of a prompt come without _update_model_kwargs_for_generation between them.
        if self.forward_done or self.phase == DECODE:
            self._next_step()

    def prepared(self, tokens):
        """During prefill only: how many tokens a sequence of this forward has."""
        self.calls += 1
        if self.calls > 1 and tokens == 1 and self.read_tokens >= self.prompt_tokens:
            self._next_step()  # a model whose loop does not tell when a forward is done
        self.read_tokens += tokens

    def _next_step(self):
        self.close_range("sampling")
        if self.phase == DECODE:
            self.close_range("decode_step")
        else:
            self.close_range("prefill")
            self.open_range("decode_all")
            self.phase = DECODE
        self.open_range("decode_step", self.steps)
        self.steps += 1
        self.forward_done = False

    def end_forward(self):
        if self.phase != NOT_BEGUN and not self.forward_done:
            self.forward_done = True
            self.open_range("sampling")

    def begin_vision(self):
        if self.phase == NOT_BEGUN:
            self.begin_prefill(0, 0)
        self.in_vision = True
        self.open_range("vision")

    def end_vision(self):
        self.in_vision = False
        self.close_range("vision")
