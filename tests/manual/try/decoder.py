"""A decoder with a cache of fixed size, with PyTorch alone: eager or as a CUDA graph, its attention unfused or fused. Prints its tokens.

    python3 decoder.py [--graphs] [--attention unfused|fused] [--steps 200] [--context 2048] [--batch 1]
"""

import argparse
import contextlib

import torch
from torch import nn
from torch.nn import functional

try:
    from nl_stage_nvtx import decode_step, prefill
except ImportError:
    decode_step = prefill = contextlib.nullcontext

HIDDEN, HEADS, LAYERS, VOCABULARY, PROMPT = 1024, 16, 8, 32000, 128


class Block(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.fused = options.attention == "fused"
        self.norm1, self.norm2 = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)
        self.qkv, self.out = nn.Linear(HIDDEN, 3 * HIDDEN, bias=False), nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.up, self.down = nn.Linear(HIDDEN, 4 * HIDDEN), nn.Linear(4 * HIDDEN, HIDDEN)
        shape = (options.batch, HEADS, options.context, HIDDEN // HEADS)
        self.register_buffer("keys", torch.zeros(shape))
        self.register_buffer("values", torch.zeros(shape))

    def attend(self, q, mask):
        if self.fused:
            return functional.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask)
        scores = q @ self.keys.transpose(-1, -2) / (HIDDEN // HEADS) ** 0.5
        return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1) @ self.values

    def forward(self, x, places, mask):
        batch, tokens, _ = x.shape
        q, k, v = (part.view(batch, tokens, HEADS, -1).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        self.keys.index_copy_(2, places, k)
        self.values.index_copy_(2, places, v)
        x = x + self.out(self.attend(q, mask).transpose(1, 2).reshape(batch, tokens, HIDDEN))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class Decoder(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, HIDDEN)
        self.blocks = nn.ModuleList(Block(options) for _ in range(LAYERS))
        self.head = nn.Linear(HIDDEN, VOCABULARY, bias=False)
        self.register_buffer("all_places", torch.arange(options.context))

    def forward(self, tokens, places):
        x = self.embedding(tokens)
        mask = self.all_places[None, :] <= places[:, None]
        for block in self.blocks:
            x = block(x, places, mask)
        return self.head(x[:, -1:]).argmax(-1)


def captured(model, token, place):
    """One step as a CUDA graph; a call replays it."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            model(token, place)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = model(token, place)
    return lambda: (graph.replay(), result)[1]


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphs", action="store_true")
    parser.add_argument("--attention", choices=["unfused", "fused"], default="fused")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--context", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(0)
    model = Decoder(options).cuda().half().eval()
    prompt = torch.randint(VOCABULARY, (options.batch, PROMPT), device="cuda")
    token, place = torch.zeros_like(prompt[:, :1]), torch.full((1,), PROMPT, device="cuda")
    step = captured(model, token, place) if options.graphs else lambda: model(token, place)
    written = []
    for _ in range(2):
        with prefill():
            token.copy_(model(prompt, torch.arange(PROMPT, device="cuda")))
            torch.cuda.synchronize()
        written = []
        for number in range(options.steps):
            with decode_step(number):
                place.fill_(PROMPT + number)
                token.copy_(step())
                written.append(int(token[0, 0]))
    print(*written[:32])


main()
