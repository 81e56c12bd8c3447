"""A decoder written by hand whose step is one CUDA graph. Its weights are read from memory in every step: that is what the time is for."""

import json
import time

import torch
from torch import nn

WIDTH, BLOCKS, BATCH, NEW, REQUESTS, PROMPT = 4096, 10, 2, 70, 5, 64


class Mixer(nn.Module):
    """A block without attention: a decaying memory of the past, and a wide layer."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.keep, self.wide, self.narrow = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, memory):
        memory.mul_(0.9).add_(self.keep(self.norm(x)))
        return x + self.narrow(nn.functional.gelu(self.wide(x + memory)))


def main():
    torch.manual_seed(2)
    table, out = nn.Embedding(32000, WIDTH), nn.Linear(WIDTH, 32000, bias=False)
    blocks = nn.ModuleList(Mixer() for _ in range(BLOCKS))
    for part in (table, out, blocks):
        part.to("cuda", torch.float16).requires_grad_(False)
    memories = [torch.zeros(BATCH, WIDTH, device="cuda", dtype=torch.float16) for _ in range(BLOCKS)]
    token = torch.zeros(BATCH, dtype=torch.long, device="cuda")

    def step():
        x = table(token)
        for block, memory in zip(blocks, memories):
            x = block(x, memory)
        token.copy_(out(x).argmax(-1))

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    begin = time.perf_counter()
    for _ in range(REQUESTS):
        x = table(torch.randint(0, 32000, (BATCH * PROMPT,), device="cuda"))
        for block in blocks:
            x = x + block.narrow(nn.functional.gelu(block.wide(x)))
        token.copy_(out(x[:BATCH]).argmax(-1))
        written = []
        for _ in range(NEW):
            graph.replay()
            written.append(token.clone())
        torch.stack(written).tolist()
    print(json.dumps({"kind": "generation", "steps": REQUESTS * NEW, "requests": REQUESTS, "unit": "token", "batch": BATCH,
                      "cause": "weights are read from the GPU's memory in every step",
                      "step_ms": round(1e3 * (time.perf_counter() - begin) / REQUESTS / NEW, 2)}))


if __name__ == "__main__":
    main()
