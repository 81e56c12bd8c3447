"""Two processes train one model on one GPU and average its gradients over gloo: the averaging on the host takes most of a step."""

import json
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

STEPS, WIDTH, BATCH = 50, 1536, 512


def average_gradients(model):
    for weight in model.parameters():
        gradient = weight.grad.cpu()
        dist.all_reduce(gradient)
        weight.grad.copy_(gradient / 2)


def work(rank, rendezvous):
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=2)
    torch.manual_seed(rank)
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    spent, begin = 0.0, time.perf_counter()
    for _ in range(STEPS):
        inputs, labels = torch.randn(BATCH, WIDTH, device="cuda"), torch.randint(0, 10, (BATCH,), device="cuda")
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        start = time.perf_counter()
        average_gradients(model)
        spent += time.perf_counter() - start
        optimizer.step()
    torch.cuda.synchronize()
    if rank == 0:
        print(json.dumps({"kind": "training", "steps": STEPS, "unit": "training step", "ranks": 2, "batch": BATCH,
                          "cause": "average_gradients: gradients are averaged on the host in every step",
                          "step_ms": round(1e3 * (time.perf_counter() - begin) / STEPS, 2), "averaging_ms": round(1e3 * spent / STEPS, 2)}), flush=True)
    dist.destroy_process_group()


def main():
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(os.path.join(folder, "meet"),), nprocs=2)


if __name__ == "__main__":
    main()
