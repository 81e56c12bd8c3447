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

from .prompts import Prompt

NOT_BEGUN, PREFILL, DECODE = range(3)
_DOMAIN = "LLM"


class Request:
    __slots__ = ("ranges", "push", "open_step", "numbered", "open_sampling", "pop", "others", "silent_steps", "request_open", "stage_open", "inner_open",
                 "phase", "steps", "forward_done", "preparing", "in_vision", "thread", "finished", "deferred", "prompt_tokens", "batch", "beams", "search",
                 "given_tokens", "read_tokens", "calls", "held")
    first_stage = "prefill"

    def __init__(self, ranges, prompt, deferred):
        """prompt: prompts.Prompt; None: nothing is known yet."""
        self.ranges = ranges
        self.push, _ = ranges.functions()
        self.open_step, self.numbered, self.open_sampling, self.pop = ranges.functions_of_steps(_DOMAIN)
        self.others = self.steps = self.silent_steps = self.read_tokens = self.calls = 0
        # How many ranges are open: request, then prefill or decode_all, then those inside.
        self.request_open = self.stage_open = self.inner_open = 0
        self.phase = NOT_BEGUN
        self.forward_done = self.preparing = self.in_vision = self.finished = False
        self.held = None  # the thread's calls of models, which are part of the request
        self.deferred = deferred  # the request's range begins with the prefill
        self.thread = threading.get_ident()
        prompt = prompt or Prompt()
        self.batch, self.beams, self.search = prompt.batch, prompt.beams, prompt.search
        self.prompt_tokens, self.given_tokens = prompt.tokens, prompt.given
        if not deferred:
            self.request_open = self._open_request()

    def _open(self, name):
        if self.ranges.silent:
            return 0
        self.push(_DOMAIN, name, None)
        self.others += 1
        return 1

    def pushed(self):
        """How many ranges it opened."""
        return self.others + self.steps - self.silent_steps

    def _open_request(self):
        return self._open("request")

    def _open_decoding(self):
        return self._open("decode_all")

    def _close(self, count):
        for _ in range(count):
            self.pop()

    def close(self):
        """Closes all ranges. NVTX pops a thread's own: where another thread finishes the request, the next one here closes them."""
        self.finished = True
        if threading.get_ident() == self.thread:
            count = self.request_open + self.stage_open + self.inner_open
            self.request_open = self.stage_open = self.inner_open = 0
            self._close(count)

    def disown(self):
        """In a child of fork, whose parent closes them."""
        self.request_open = self.stage_open = self.inner_open = 0

    def begin_prefill(self, rows, tokens):
        """rows: of the first forward, where each beam is a row."""
        self.phase = PREFILL
        self.batch, self.prompt_tokens = self.batch or rows // self.beams, tokens or self.prompt_tokens
        if self.deferred:
            self.request_open = self._open_request()
        if self.batch:
            self.ranges.tokens(self.prompt_tokens, self.batch, self.beams)
        self.stage_open = self._open(self.first_stage)

    def begin_forward(self):
        """At a call of prepare_inputs_for_generation during prefill."""
        if self.forward_done:  # else another chunk of the prompt
            self._first_step()

    def prepared(self, tokens):
        """During prefill: how many tokens a sequence of this forward has."""
        self.calls += 1
        if self.calls > 1 and tokens == 1 and self.read_tokens >= self.prompt_tokens:
            self._first_step()  # a loop that does not tell when a forward is done
        self.read_tokens += tokens

    def _first_step(self):
        count = self.inner_open + self.stage_open
        self.inner_open = self.stage_open = 0
        self._close(count)
        self.stage_open = self._open_decoding()
        self.phase = DECODE
        self.next_step()

    def next_step(self):
        """At a call of prepare_inputs_for_generation during decoding. It runs once a token: nothing here that is not needed."""
        step, count, self.inner_open, self.forward_done = self.steps, self.inner_open, 0, False
        self.steps = step + 1
        if count == 2:  # the step before and its sampling
            pop = self.pop
            pop()
            pop()
        elif count:
            self._close(count)
        if self.ranges.silent:
            self.silent_steps += 1
            return
        if self.numbered:
            self.open_step(step)
        else:
            self.open_step()
        self.inner_open = 1

    def end_forward(self):
        """At the end of _update_model_kwargs_for_generation. It runs once a token, too."""
        if self.phase and not self.forward_done:
            self.forward_done = True
            if not self.ranges.silent:
                self.open_sampling()
                self.inner_open += 1
                self.others += 1

    def end_sampling(self):
        """Where an assistant drafts the next tokens."""
        if self.forward_done and self.inner_open == self.phase:  # during prefill it is the only one, during decoding in a step
            self.inner_open -= 1
            self.pop()

    def begin_vision(self):
        if self.phase == NOT_BEGUN:
            self.begin_prefill(0, 0)
        self.in_vision = True
        self.inner_open += self._open("vision")

    def end_vision(self, opened):
        """opened: what inner_open was before."""
        self.in_vision = False
        count = self.inner_open - opened
        self.inner_open = opened
        self._close(max(count, 0))
