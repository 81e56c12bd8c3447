"""Trains low-rank adapters of a frozen transformer, each block checkpointed. The GPU is busy all the time: its matrix kernels are the cause."""

import json
import time

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

WIDTH, BLOCKS, HEADS, BATCH, LENGTH, STEPS, RANK = 2048, 6, 16, 16, 1024, 36, 16


class Adapted(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.base = nn.Linear(inputs, outputs, bias=False).requires_grad_(False)
        self.down, self.up = nn.Linear(inputs, RANK, bias=False), nn.Linear(RANK, outputs, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mix, self.join = Adapted(WIDTH, 3 * WIDTH), Adapted(WIDTH, WIDTH)
        self.wide, self.narrow = Adapted(WIDTH, 4 * WIDTH), Adapted(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (part.view(batch, length, HEADS, -1).transpose(1, 2) for part in self.mix(self.first(x)).chunk(3, -1))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.join(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.narrow(nn.functional.gelu(self.wide(self.second(x))))


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(32000, WIDTH).requires_grad_(False)
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))
        self.out = nn.Linear(WIDTH, 32000, bias=False).requires_grad_(False)

    def forward(self, ids):
        x = self.table(ids).requires_grad_(True)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.out(x)


def main():
    torch.manual_seed(6)
    model = Writer().to("cuda", torch.bfloat16)
    optimizer = torch.optim.AdamW([weight for weight in model.parameters() if weight.requires_grad], lr=1e-4, fused=True)
    begin = time.perf_counter()
    for _ in range(STEPS):
        ids = torch.randint(0, 32000, (BATCH, LENGTH + 1), device="cuda")
        loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    torch.cuda.synchronize()
    print(json.dumps({"kind": "training", "steps": STEPS, "unit": "training step", "batch": BATCH,
                      "cause": "nothing on the host: matrix kernels of bfloat16 keep the GPU busy",
                      "step_ms": round(1e3 * (time.perf_counter() - begin) / STEPS, 1)}))


if __name__ == "__main__":
    main()
