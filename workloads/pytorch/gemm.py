"""One matrix product, again and again, in the stage `gemm`: the yardstick for nl-stage's MFU.

    python3 workloads/pytorch/gemm.py --size 8192 --repeats 20

Prints what it measured itself: the time between two synchronisations around each product, and the FLOP/s
that follow. Profile it with --set model.stage_flops='{gemm: 1099511627776}' (2·8192³).
"""

import argparse
import pathlib
import statistics
import sys
import time

import torch

HERE = pathlib.Path(__file__).resolve().parent
for folder in (HERE.parents[1] / "nvtx" / "python", HERE.parent / "python"):
    if folder.is_dir():
        sys.path.append(str(folder))
import nl_stage_nvtx as stage  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=5, help="products before the measured ones, in no stage")
    parser.add_argument("--dtype", choices=["bfloat16", "float16", "float32"], default="bfloat16")
    arguments = parser.parse_args()
    shape = (arguments.size, arguments.size)
    a, b = (torch.randn(shape, device="cuda", dtype=getattr(torch, arguments.dtype)) for _ in range(2))
    out = torch.empty_like(a)
    for _ in range(arguments.warmup):
        torch.mm(a, b, out=out)
    torch.cuda.synchronize()
    seconds = []
    for _ in range(arguments.repeats):
        begin = time.perf_counter()
        with stage.stage("gemm"):
            torch.mm(a, b, out=out)
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    flops = 2 * arguments.size**3
    mean = statistics.fmean(seconds)
    print(f"gemm {arguments.size} {arguments.dtype}: mean {mean * 1e6:.1f} us, {flops / mean / 1e12:.1f} TFLOP/s, flops {flops}")


if __name__ == "__main__":
    main()
