#!/usr/bin/env python3
"""An inference engine that serves OpenAI's API, small enough to read: three kinds of processes, continuous batching, a paged cache.

    python3 workloads/serve/serve.py --port 0

Prints one line of JSON when it is ready. Runs on the CPU with nothing but Python, and on a GPU with PyTorch. SIGTERM and SIGINT end it.
"""

import argparse
import contextlib
import signal
import sys
import time

import wire


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000, help="0: any that is free, which the line of JSON names")
    parser.add_argument("--model", default="nl-serve", help="the name that clients see")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda", "torch-cpu"], default="auto", help="auto: cuda where torch can use it, else cpu")
    parser.add_argument("--workers", type=int, default=1, help="each with a model and blocks of its own, and a GPU where there are several")
    parser.add_argument("--max-batch", type=int, help="requests in a step")
    parser.add_argument("--chunk-tokens", type=int, help="tokens in a step: longer prompts are read in several")
    parser.add_argument("--blocks", type=int, help="of the cache; too few, and requests are preempted")
    parser.add_argument("--block-tokens", type=int)
    parser.add_argument("--context-tokens", type=int, help="the longest request, prompt and output")
    parser.add_argument("--width", type=int, help="of the model, with torch")
    parser.add_argument("--layers", type=int, help="of the model, with torch")
    parser.add_argument("--dtype", choices=["bfloat16", "float16", "float32"], help="of the model, with torch")
    parser.add_argument("--seed", type=int, default=0, help="of the weights")
    parser.add_argument("--no-graphs", dest="graphs", action="store_false", help="no CUDA graphs")
    parser.add_argument("--no-marks", dest="marks", action="store_false", help="no NVTX ranges and marks")
    parser.add_argument("--records", metavar="FILE", help="JSON lines of every request and step")
    parser.add_argument("--slow-schedule", type=float, default=0, metavar="MS", help="planted fault: the scheduler tidies its queue in each step")
    parser.add_argument("--slow-detokenise", type=float, default=0, metavar="MS", help="planted fault: each token takes so long to become text")
    parser.add_argument("--role", choices=["scheduler", "worker"], help=argparse.SUPPRESS)
    parser.add_argument("--number", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--descriptors", type=int, nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for name in ("workers", "max_batch", "chunk_tokens", "blocks", "block_tokens", "context_tokens", "width", "layers"):
        value = getattr(options, name)
        if value is not None and value < 1:
            parser.error(f"--{name.replace('_', '-')} wants at least 1")
    return options


def set_title(title):
    """As ps -e and top show it. The kernel keeps 15 bytes."""
    with open("/proc/self/comm", "w") as file:
        file.write(title[:15])


def run_child(options):
    """The scheduler or a worker: it ends when its channel does, so signals to the whole group are left to the API."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    set_title(f"nl-serve {options.role}")
    channels = [wire.Channel(descriptor) for descriptor in options.descriptors]
    with contextlib.suppress(ConnectionError):  # the process behind a channel is gone: the API tells which, and ends with a fault
        if options.role == "worker":
            import worker

            worker.run(options, channels[0], options.number)
        else:
            import scheduler

            scheduler.run(options, channels[0], channels[1:])
    return 0


def main():
    begin = time.monotonic()
    options = parse()
    if options.role:
        return run_child(options)
    set_title("nl-serve API")
    from processes import run_engine  # asyncio takes as long to import as all the rest of a child

    return run_engine(options, begin)


if __name__ == "__main__":
    sys.exit(main())
