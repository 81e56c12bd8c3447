"""Two processes on one GPU, which add up their results over gloo after each step. Rank 1 is late: it runs a slow function before each step.

    late_rank.py                                  starts both itself
    torchrun --nproc-per-node 2 late_rank.py MEET, mpirun -n 2 python3 late_rank.py MEET      MEET: a file that is not there yet
"""

import json
import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

STEPS, WIDTH, DEPTH, SLOW_S = 200, 2048, 6, 0.012


def rebuild_neighbours(count):
    """12 ms of Python on the host."""
    end, order = time.perf_counter() + SLOW_S, list(range(count))
    while time.perf_counter() < end:
        order = sorted(order, key=lambda item: item * 7919 % 1009)
    return order


def work(rank, rendezvous):
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=2)
    torch.manual_seed(9)
    matrices = [torch.randn(WIDTH, WIDTH, device="cuda") / WIDTH ** 0.5 for _ in range(DEPTH)]
    field = torch.randn(512, WIDTH, device="cuda")
    waited = 0.0
    for _ in range(STEPS):
        if rank == 1:
            rebuild_neighbours(512)
        for matrix in matrices:
            field = torch.tanh(field @ matrix)
        share = field.mean(0).cpu()
        begin = time.perf_counter()
        dist.all_reduce(share)
        waited += time.perf_counter() - begin
        field = field + 0.01 * share.cuda()
    torch.cuda.synchronize()
    if rank == 0:
        print(json.dumps({"kind": "collective steps", "steps": STEPS, "unit": "step", "ranks": 2,
                          "cause": "rank 0 waits for rank 1, which runs rebuild_neighbours, 12 ms in every step",
                          "wait_ms": round(1e3 * waited / STEPS, 2)}), flush=True)
    dist.destroy_process_group()


def main():
    if len(sys.argv) > 1:
        work(int(os.environ.get("RANK") or os.environ["OMPI_COMM_WORLD_RANK"]), sys.argv[1])
        return
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(os.path.join(folder, "meet"),), nprocs=2)


if __name__ == "__main__":
    main()
