"""A decoder and its loop written by hand, with PyTorch alone: nothing here knows nl-stage. Its own times go to stdout as JSON."""

import json
import time

import torch
from torch import nn
from torch.nn import functional

HIDDEN, HEADS, LAYERS, VOCABULARY, PROMPT, NEW = 1024, 16, 6, 32000, 384, 48


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN, bias=False)
        self.out = nn.Linear(HIDDEN, HIDDEN, bias=False)

    def forward(self, x, cache):
        batch, tokens, _ = x.shape
        q, k, v = (part.view(batch, tokens, HEADS, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        if cache:
            k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=tokens > 1)
        return self.out(mixed.transpose(1, 2).reshape(batch, tokens, HIDDEN)), (k, v)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)
        self.attention = Attention()
        self.mlp = nn.Sequential(nn.Linear(HIDDEN, 4 * HIDDEN), nn.GELU(), nn.Linear(4 * HIDDEN, HIDDEN))

    def forward(self, x, cache):
        mixed, cache = self.attention(self.norm1(x), cache)
        x = x + mixed
        return x + self.mlp(self.norm2(x)), cache


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, HIDDEN)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(HIDDEN)
        self.head = nn.Linear(HIDDEN, VOCABULARY, bias=False)

    def forward(self, tokens, caches):
        x = self.tokens(tokens)
        grown = []
        for block, cache in zip(self.blocks, caches):
            x, cache = block(x, cache)
            grown.append(cache)
        return self.head(self.norm(x[:, -1:])), grown


@torch.inference_mode()
def answer(model, prompt):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    logits, caches = model(prompt, [None] * LAYERS)
    token = logits[:, -1].argmax(-1, keepdim=True)
    answered = [token.item()]
    first = time.perf_counter()
    for _ in range(NEW - 1):
        logits, caches = model(token, caches)
        token = logits[:, -1].argmax(-1, keepdim=True)
        answered.append(token.item())
    torch.cuda.synchronize()
    end = time.perf_counter()
    return {"request_s": end - begin, "first_token_s": first - begin, "step_s": [(end - first) / (NEW - 1)]}


def main():
    torch.manual_seed(0)
    model = Decoder().to("cuda", torch.bfloat16).eval()
    prompt = torch.randint(0, VOCABULARY, (1, PROMPT), device="cuda")
    print(json.dumps([answer(model, prompt) for _ in range(5)]))


main()
