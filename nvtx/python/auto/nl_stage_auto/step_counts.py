"""How many prefills and steps there were, by batch and tokens: a bounded histogram.

    {"kind": "decode", "batch": 2, "tokens": 2, "count": 96}      tokens of all sequences together
"""

_MOST = 1000


class StepCounts:
    def __init__(self):
        self._counts = {}
        self.left_out = 0

    def add(self, kind, batch, tokens, count=1):
        key = (kind, batch, tokens)
        if key in self._counts or len(self._counts) < _MOST:
            self._counts[key] = self._counts.get(key, 0) + count
        else:
            self.left_out += count

    def add_request(self, batch, prompt_tokens, steps):
        """Each step has a token of each sequence."""
        if batch and prompt_tokens:
            self.add("prefill", batch, batch * prompt_tokens)
        if batch and steps:
            self.add("decode", batch, batch, steps)

    def add_growing(self, batch, prompt_tokens, steps, longest):
        """Without a cache each step has the whole sequence, a token longer each time, up to the longest."""
        self.add("prefill", batch, batch * prompt_tokens)
        growing = min(steps, longest - prompt_tokens)
        for step in range(min(growing, _MOST)):
            self.add("decode", batch, batch * (prompt_tokens + 1 + step))
        self.left_out += growing - min(growing, _MOST)
        if steps > growing:
            self.add("decode", batch, batch * longest, steps - growing)

    def add_engine_step(self, step):
        self.add(step.kind(), step.batch, step.context_tokens + step.generation_tokens)

    def listed(self):
        return [dict(zip(("kind", "batch", "tokens", "count"), (*key, count))) for key, count in self._counts.items()]
