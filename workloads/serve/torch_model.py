"""The same decoder with PyTorch, as large as wanted: CUDA graphs for steps that only decode, eager for the others.

The weights are plain tensors: nl-stage marks calls of modules by itself, and these marks would hide the engine's own.
"""

from typing import NamedTuple

import torch
from torch.nn.functional import silu
from words import BYTES

HEAD = 64
EPSILON = 1e-5


class Layer(NamedTuple):
    attention_norm: torch.Tensor
    qkv: torch.Tensor
    out: torch.Tensor
    feed_norm: torch.Tensor
    gate_up: torch.Tensor
    down: torch.Tensor


class Prefill(NamedTuple):
    first: int  # where its tokens begin among those of the step
    positions: torch.Tensor
    table: torch.Tensor


class Batch(NamedTuple):
    ids: list  # of the requests that sample, in the order of the logits
    rows: torch.Tensor = None  # of requests that decode: token, position, slot, block table
    tokens: torch.Tensor = None  # the others, one after the other
    positions: torch.Tensor = None
    slots: torch.Tensor = None
    prefills: tuple = ()
    last: torch.Tensor = None  # of all tokens of the step, those that sample
    size: int = None  # of the graph to use


def rms_norm(hidden, weights):
    wide = hidden.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPSILON)).to(hidden.dtype) * weights


def rotate(heads, rotations):
    """RoPE; rotations: cosines and sines of each token's position."""
    cosines, sines = (part[:, None] for part in rotations.chunk(2, -1))
    first, second = heads.float().chunk(2, -1)
    return torch.cat((first * cosines - second * sines, first * sines + second * cosines), -1).to(heads.dtype)


def attend(queries, keys, values, allowed):
    """queries: (requests, tokens, heads, HEAD); keys and values: (requests, context, fewer heads, HEAD); allowed: (requests, tokens, context)."""
    requests, tokens, heads, _ = queries.shape
    groups = keys.shape[2]
    queries = queries.view(requests, tokens, groups, heads // groups, HEAD).permute(0, 2, 3, 1, 4).reshape(requests, groups, -1, HEAD)
    scores = (queries @ keys.permute(0, 2, 3, 1)).float() * HEAD**-0.5
    scores = scores.view(requests, groups, heads // groups, tokens, -1).masked_fill(~allowed[:, None, None], float("-inf"))
    weights = scores.softmax(-1).to(values.dtype).view(requests, groups, heads // groups * tokens, -1)
    attended = (weights @ values.permute(0, 2, 1, 3)).view(requests, groups, heads // groups, tokens, HEAD)
    return attended.permute(0, 3, 1, 2, 4).reshape(requests * tokens, heads * HEAD)


class TorchModel:
    def __init__(self, settings):
        torch.set_grad_enabled(False)
        torch.set_float32_matmul_precision("highest")  # an environment may ask for TF32: float32 is there to compare outputs
        self.device = torch.device(settings["torch_device"])
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)  # streams and graphs are made on the current one
        self.dtype = getattr(torch, settings["dtype"])
        self.block_tokens, self.scratch = settings["block_tokens"], settings["blocks"]  # padded rows write into a block more
        self.table_width = -(-settings["context_tokens"] // self.block_tokens)
        self.heads = settings["width"] // HEAD
        self.kv_heads = max(self.heads // 4, 1)
        if settings["width"] % HEAD or self.heads % self.kv_heads:
            raise SystemExit("nl-serve: --width wants 64, 128, 192 or a multiple of 256")
        self._make_weights(settings)
        slots = (settings["blocks"] + 1) * self.block_tokens
        self.caches = [[torch.zeros(slots, self.kv_heads, HEAD, dtype=self.dtype, device=self.device) for _ in range(2)] for _ in self.layers]
        self.graphs, self.rows = {}, None
        if settings["graphs"]:
            self._capture_graphs(settings["max_batch"])
        name = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else "cpu (torch)"
        self.facts = {"device": name, "vocabulary": settings["vocabulary"], "graphs": sorted(self.graphs), "torch": torch.__version__}

    def prepare(self, entries):
        decodes = [entry for entry in entries if entry.kind == "decode"]
        prefills = [entry for entry in entries if entry.kind == "prefill"]
        rows = [[entry.tokens[0], entry.start, self._slot(entry, entry.start), *self._padded_table(entry)] for entry in decodes]
        if not prefills and self.graphs:
            return self._prepare_graph([entry.id for entry in decodes], rows)
        context_width = max((len(entry.blocks) for entry in decodes), default=0)
        flat = [(token, at, self._slot(entry, at)) for entry in prefills for at, token in enumerate(entry.tokens, entry.start)]
        tokens, positions, slots = self._tensor(flat).reshape(len(flat), 3).unbind(1)
        ids, last, parts = [entry.id for entry in decodes], list(range(len(decodes))), []
        first = len(decodes)
        for entry in prefills:
            until = first + len(entry.tokens)
            parts.append(Prefill(first, positions[first - len(decodes) : until - len(decodes)], self._tensor([entry.blocks])))
            first = until
            if entry.samples:
                ids.append(entry.id)
                last.append(until - 1)
        rows = self._tensor(rows)[:, : 3 + context_width] if rows else None
        return Batch(ids, rows, tokens, positions, slots, tuple(parts), self._tensor(last))

    def forward(self, batch):
        """The ids and the logits of the requests that sample."""
        if batch.size:
            replay, logits = self.graphs[batch.size]
            replay()
            return batch.ids, logits[: len(batch.ids)]
        if not batch.prefills:
            return batch.ids, self._decode(batch.rows)
        tokens, positions, slots = batch.tokens, batch.positions, batch.slots
        if batch.rows is not None:
            mine = batch.rows[:, :3].unbind(1)
            tokens, positions, slots = (torch.cat(pair) for pair in zip(mine, (tokens, positions, slots)))

        def attention(queries, keys, values):
            parts = [] if batch.rows is None else [self._attend_rows(queries[: len(batch.rows)], keys, values, batch.rows)]
            parts += [self._attend_prefill(queries, keys, values, part) for part in batch.prefills]
            return torch.cat(parts)

        hidden = self._hidden(tokens, positions, slots, attention)
        return batch.ids, self._logits(hidden[batch.last])

    def sample(self, logits):
        ids, rows = logits
        # tolist() waits for the GPU.
        return dict(zip(ids, (rows.argmax(-1) + BYTES).tolist())) if ids else self._wait()

    @staticmethod
    def padded(batch):
        return batch.size

    def _make_weights(self, settings):
        generator = torch.Generator(self.device)
        generator.manual_seed(settings["seed"])

        def matrix(rows, columns, scale=None):
            values = torch.randn(rows, columns, generator=generator, device=self.device)
            return (values * (scale or rows**-0.5)).to(self.dtype)

        width, feed = settings["width"], settings["width"] * 11 // 4
        ones = torch.ones(width, dtype=self.dtype, device=self.device)
        qkv = (self.heads + 2 * self.kv_heads) * HEAD
        self.embedding = matrix(settings["vocabulary"], width, 1)
        self.layers = [
            Layer(ones, matrix(width, qkv), matrix(self.heads * HEAD, width), ones, matrix(width, 2 * feed), matrix(feed, width))
            for _ in range(settings["layers"])
        ]
        self.norm, self.head = ones, matrix(width, settings["vocabulary"] - BYTES)
        angles = torch.arange(settings["context_tokens"])[:, None] * 10000.0 ** (-torch.arange(0, HEAD, 2) / HEAD)
        self.rotations = torch.cat((angles.cos(), angles.sin()), -1).to(self.device)

    def _tensor(self, numbers):
        return torch.tensor(numbers, dtype=torch.long).to(self.device)

    def _slot(self, entry, position):
        return entry.blocks[position // self.block_tokens] * self.block_tokens + position % self.block_tokens

    def _padded_table(self, entry):
        return entry.blocks + [self.scratch] * (self.table_width - len(entry.blocks))

    def _hidden(self, tokens, positions, slots, attention):
        hidden, rotations = self.embedding[tokens], self.rotations[positions]
        for layer, (keys, values) in zip(self.layers, self.caches):
            projected = (rms_norm(hidden, layer.attention_norm) @ layer.qkv).view(len(tokens), -1, HEAD)
            query, key, value = projected.split((self.heads, self.kv_heads, self.kv_heads), 1)
            keys.index_copy_(0, slots, rotate(key, rotations))
            values.index_copy_(0, slots, value)
            hidden = hidden + attention(rotate(query, rotations), keys, values) @ layer.out
            gate, up = (rms_norm(hidden, layer.feed_norm) @ layer.gate_up).chunk(2, -1)
            hidden = hidden + (silu(gate) * up) @ layer.down
        return hidden

    def _logits(self, hidden):
        return (rms_norm(hidden, self.norm) @ self.head).float()

    def _gather(self, cache, tables):
        """The pages of each table, one after the other."""
        pages = cache.view(-1, self.block_tokens, self.kv_heads, HEAD)[tables]
        return pages.view(len(tables), -1, self.kv_heads, HEAD)

    def _attend_rows(self, queries, keys, values, rows):
        tables, positions = rows[:, 3:], rows[:, 1]
        places = torch.arange(tables.shape[1] * self.block_tokens, device=self.device)
        allowed = places[None, None] <= positions[:, None, None]
        return attend(queries[:, None], self._gather(keys, tables), self._gather(values, tables), allowed)

    def _attend_prefill(self, queries, keys, values, part):
        places = torch.arange(part.table.shape[1] * self.block_tokens, device=self.device)
        allowed = (places[None] <= part.positions[:, None])[None]
        mine = queries[part.first : part.first + len(part.positions)]
        return attend(mine[None], self._gather(keys, part.table), self._gather(values, part.table), allowed)

    def _decode(self, rows):
        tokens, positions, slots = rows[:, :3].unbind(1)
        hidden = self._hidden(tokens, positions, slots, lambda queries, keys, values: self._attend_rows(queries, keys, values, rows))
        return self._logits(hidden)

    def _prepare_graph(self, ids, rows):
        size = next(size for size in sorted(self.graphs) if size >= len(ids))
        rows += [self.idle_row] * (size - len(rows))
        staged = self.staging[:size]
        staged.copy_(torch.tensor(rows, dtype=torch.long))
        self.rows[:size].copy_(staged, non_blocking=True)  # sample() waits before the next step writes there
        return Batch(ids, size=size)

    def _capture_graphs(self, max_batch):
        """Decode steps of some batch sizes, largest first, in one pool of memory."""
        self.idle_row = [0, 0, self.scratch * self.block_tokens] + [self.scratch] * self.table_width
        sizes = sorted({1, 2, 4, *range(8, max_batch, 8), max_batch}, reverse=True)
        sizes = [size for size in sizes if size <= max_batch]
        idle = torch.tensor([self.idle_row] * max_batch, dtype=torch.long)
        self.staging = idle.pin_memory() if self.device.type == "cuda" else idle
        self.rows = self.staging.to(self.device, copy=True)
        pool = None
        for size in sizes:
            rows = self.rows[:size]
            if self.device.type != "cuda":  # for tests: what a graph would replay
                logits = self._decode(rows)
                self.graphs[size] = (lambda rows=rows, logits=logits: logits.copy_(self._decode(rows))), logits
                continue
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):  # loads every kernel before the capture
                self._decode(rows)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):  # a profiler's threads may call CUDA meanwhile
                logits = self._decode(rows)
            pool = pool or graph.pool()
            self.graphs[size] = graph.replay, logits

    def _wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return {}
