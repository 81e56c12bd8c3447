"""Small programs, each with changes that can be made and taken back: what `nl-stage whatif` predicts is measured.

    pairs.py PROGRAM [FILE]      to be captured

The program and its changes run in one process, in turns: the speed of a host differs by a half between processes, and little within one. With FILE they are
measured before cudaProfilerStart and after cudaProfilerStop, which gate the capture, and FILE gets their times. The steps are marked stages: `step`, and one
for each change. Each program is a function that takes the set of changes and returns what one step does; changes.json has them as `whatif` does.
A step ends with a wait for its result.
"""

import concurrent.futures
import json
import pathlib
import random
import statistics
import sys
import time
import zlib

import nl_stage_nvtx as stage
import torch
import torch.nn.functional as F

DEVICE, HALF = "cuda", torch.bfloat16
WARMUP, TURNS, STEPS, STEPS_CHANGED = 5, 20, 40, 5


def audit_tokens(milliseconds):
    """The user's own code on the host."""
    until = time.perf_counter() + milliseconds / 1e3
    total = 0
    while time.perf_counter() < until:
        for value in range(200):
            total += value * value % 7
    return total


def own_code(changes, milliseconds):
    if "host" not in changes:
        audit_tokens(milliseconds)


def as_changed(function, changes):
    return graphed(function) if "graph" in changes else function


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        self.heads = width // 64

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, tokens, 3, self.heads, 64).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def graphed(function):
    """The function as a CUDA graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            function()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = function()

    def replay():
        graph.replay()
        return out

    return replay


def decoder(layers, width, tokens, host_ms):
    def make(changes):
        torch.manual_seed(0)
        model = torch.nn.Sequential(*[Block(width) for _ in range(layers)]).to(DEVICE, HALF).eval()
        x = torch.randn(1, tokens, width, device=DEVICE, dtype=HALF)
        forward = as_changed(lambda: model(x), changes)

        def step():
            out = forward()
            value = out[0, -1, 0].item()
            own_code(changes, host_ms)
            return value

        return step

    return make


def layer_by_layer(layers, x, host_ms, changes):
    """A wait after each of them."""

    def step():
        y = x
        for layer in layers:
            y = layer(y)
            if "wait" not in changes:
                torch.cuda.synchronize()
        own_code(changes, host_ms)
        torch.cuda.current_stream().synchronize()

    return step


def waits_each_layer(changes):
    """A model whose layers each look at a value on the host."""
    torch.manual_seed(0)
    blocks = [Block(1024).to(DEVICE, HALF).eval() for _ in range(8)]
    x = torch.randn(4, 256, 1024, device=DEVICE, dtype=HALF)

    return layer_by_layer(blocks, x, 1.5, changes)


def copies(changes):
    """Each step brings its batch from the host."""
    torch.manual_seed(0)
    model = Block(2048).to(DEVICE, HALF).eval()
    batches = [torch.randn(8, 512, 2048, dtype=HALF) for _ in range(4)]
    if "pinned" in changes:
        batches = [batch.pin_memory() for batch in batches]
    number = 0

    def step():
        nonlocal number
        number += 1
        x = batches[number % 4].to(DEVICE, non_blocking=True)
        out = model(model(x))
        own_code(changes, 0.5)
        return out[0, 0, 0].item()

    return step


def halves(changes):
    """Products on one stream, small work on another that it waits for; the change halves the products."""
    torch.manual_seed(0)
    other = torch.cuda.Stream()
    inner = 8192 if "kernel" not in changes else 4096
    left = torch.randn(2048, inner, device=DEVICE, dtype=HALF)
    right = torch.randn(inner, 2048, device=DEVICE, dtype=HALF)
    x = torch.zeros(1024, device=DEVICE)

    def step():
        done = torch.cuda.Event()
        for _ in range(6):
            out = left @ right
        with torch.cuda.stream(other):
            y = x
            for _ in range(10):
                y = y + 1
            done.record()
        torch.cuda.current_stream().wait_event(done)
        for _ in range(6):
            out = left @ right
        own_code(changes, 0.4)
        return out[0, 0].item()

    return step


def fp8(changes):
    """Products in 8 bits."""
    torch.manual_seed(0)
    width, count = 2048, 24
    one = torch.tensor(1.0, device=DEVICE)
    weights = [torch.randn(width, width, device=DEVICE, dtype=HALF).to(torch.float8_e4m3fn).t() for _ in range(count)]
    x = torch.randn(64, width, device=DEVICE, dtype=HALF)

    def forward():
        y = x
        for weight in weights:
            y = torch._scaled_mm((y * 0.02).to(torch.float8_e4m3fn), weight, scale_a=one, scale_b=one, out_dtype=HALF)
        return y

    run = as_changed(forward, changes)

    def step():
        out = run()
        own_code(changes, 0.3)
        return out[0, 0].item()

    return step


def huggingface(changes):
    """A model of transformers, called as it is."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 8, "num_attention_heads": 16, "vocab_size": 8192}
    config = LlamaConfig(**sizes, num_key_value_heads=16)
    model = LlamaForCausalLM(config).to(DEVICE, HALF).eval()
    ids = torch.randint(0, 8192, (1, 32), device=DEVICE)
    positions = torch.arange(32, device=DEVICE)[None]

    def forward():
        return model(ids, position_ids=positions, use_cache=False).logits

    def step():
        token = forward()[0, -1].argmax().item()
        own_code(changes, 2)
        return token

    return step


def training(changes):
    """Forward, backward and an optimizer, with the user's own preparation of each batch."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(12)]).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batches = [torch.randn(4096, 1024) for _ in range(4)]
    if "pinned" in changes:
        batches = [batch.pin_memory() for batch in batches]
    number = 0

    def step():
        nonlocal number
        number += 1
        own_code(changes, 2)
        x = batches[number % 4].to(DEVICE, non_blocking=True)
        loss = model(x).square().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def encoder(changes):
    """Sentences of a batch as vectors, each batch prepared by the user's own code."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[Block(384) for _ in range(10)]).to(DEVICE, HALF).eval()
    table = torch.randn(30000, 384, device=DEVICE, dtype=HALF)
    x = table[: 16 * 64].view(16, 64, 384)
    forward = as_changed(lambda: F.normalize(model(x).mean(1), dim=-1), changes)

    def step():
        own_code(changes, 0.9)
        return forward().float().sum().item()

    return step


def recurrent(changes):
    """Small products one after the other."""
    torch.manual_seed(1)
    cell = torch.nn.GRUCell(512, 512).to(DEVICE).eval()
    inputs = torch.randn(40, 32, 512, device=DEVICE)

    def forward():
        state = torch.zeros(32, 512, device=DEVICE)
        for each in inputs:
            state = cell(each, state)
        return state

    run = as_changed(forward, changes)

    def step():
        value = run().mean().item()
        own_code(changes, 0.4)
        return value

    return step


def logged(changes):
    """Convolutions whose size is looked at on the host after each of them."""
    torch.manual_seed(1)
    layers = [torch.nn.Conv2d(64, 64, 3, padding=1).to(DEVICE, HALF).eval() for _ in range(16)]
    x = torch.randn(8, 64, 128, 128, device=DEVICE, dtype=HALF)

    return layer_by_layer([lambda y, layer=layer: F.relu(layer(y)) for layer in layers], x, 0.7, changes)


def streams(changes):
    """Two chains of products, each on a separate stream; the change makes the products of both half as long."""
    torch.manual_seed(1)
    inner = 6144 if "kernel" not in changes else 3072
    chains = [(torch.cuda.Stream(), torch.randn(1536, inner, device=DEVICE, dtype=HALF), torch.randn(inner, 1536, device=DEVICE, dtype=HALF)) for _ in range(2)]

    def step():
        for stream, left, right in chains:
            with torch.cuda.stream(stream):
                for _ in range(12):
                    left @ right
        own_code(changes, 0.3)
        for stream, _, _ in chains:
            stream.synchronize()

    return step


def gathered(changes):
    """Rows of a table on the host, picked for each step."""
    torch.manual_seed(1)
    table = torch.randn(200000, 256)
    picked = torch.empty(32768, 256)
    if "pinned" in changes:
        picked = picked.pin_memory()
    rows = torch.randint(0, 200000, (32768,))
    model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(6)]).to(DEVICE).eval()

    def step():
        own_code(changes, 1.2)
        torch.index_select(table, 0, rows, out=picked)
        return model(picked.to(DEVICE, non_blocking=True)).mean().item()

    return step


def chains(changes):
    """Elementwise operators one after the other, or as one kernel."""
    torch.manual_seed(1)
    x, y = (torch.randn(8192, 2048, device=DEVICE) for _ in range(2))
    body = "for (int i = 0; i < 6; ++i) { T a = x * y + x; T b = (a > T(0) ? a : T(0)) * T(0.5) - y; x = b * b; } return x;"
    fused = torch.cuda.jiterator._create_jit_fn("template <typename T> T fused(T x, T y) { " + body + " }")

    def plain(a, b):
        for _ in range(6):
            c = torch.relu(a * b + a) * 0.5 - b
            a = c * c
        return a

    operation = fused if "fuse" in changes else plain

    def step():
        out = operation(x, y)
        own_code(changes, 0.5)
        return out[0, 0].item()

    return step


def sampled(changes):
    """One token of eight answers: a model, a choice among its logits, and the user's own text of it."""
    torch.manual_seed(2)
    model = torch.nn.Sequential(*[Block(512) for _ in range(6)]).to(DEVICE, HALF).eval()
    table = torch.randn(16000, 512, device=DEVICE, dtype=HALF)
    x = table[:8, None]
    forward = as_changed(lambda: model(x)[:, -1] @ table.t(), changes)

    def step():
        best, which = forward().float().topk(40)
        chosen = which.gather(1, (best + torch.rand_like(best)).argmax(-1, keepdim=True)).tolist()
        own_code(changes, 0.8)
        return chosen

    return step


def experts(changes):
    """Tokens that go to eight experts: how many each gets is looked at on the host."""
    torch.manual_seed(2)
    inner = 4096 if "kernel" not in changes else 2048
    x = torch.randn(2048, 1024, device=DEVICE, dtype=HALF)
    router = torch.randn(1024, 8, device=DEVICE, dtype=HALF)
    into = [torch.randn(1024, inner, device=DEVICE, dtype=HALF) for _ in range(8)]
    back = [torch.randn(inner, 1024, device=DEVICE, dtype=HALF) for _ in range(8)]

    def step():
        expert = (x @ router).argmax(-1)
        out = torch.zeros_like(x)
        for i in range(8):
            rows = (expert == i).nonzero()[:, 0]
            out[rows] = (x[rows] @ into[i]) @ back[i]
        own_code(changes, 0.6)
        return out[0, 0].item()

    return step


def attention(changes):
    """Attention written out: the scores of all pairs are written and read again."""
    torch.manual_seed(3)
    width, heads = 1024, 16
    layers = [(torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)) for _ in range(4)]
    layers = [tuple(part.to(DEVICE, HALF).eval() for part in layer) for layer in layers]
    x = torch.randn(4, 1024, width, device=DEVICE, dtype=HALF)

    def attend(q, k, v):
        if "attention" in changes:
            return F.scaled_dot_product_attention(q, k, v)
        scores = (q @ k.transpose(-1, -2)) * (width // heads) ** -0.5
        return scores.softmax(-1) @ v

    def step():
        y = x
        for qkv, out in layers:
            q, k, v = qkv(y).view(4, 1024, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            y = y + out(attend(q, k, v).transpose(1, 2).reshape(4, 1024, width))
        own_code(changes, 0.5)
        return y[0, 0, 0].item()

    return step


def batched(changes):
    """One token of each sequence; the change has four times the sequences."""
    torch.manual_seed(3)
    model = torch.nn.Sequential(*[Block(2048) for _ in range(8)]).to(DEVICE, HALF).eval()
    x = torch.randn(8 if "batch" in changes else 2, 16, 2048, device=DEVICE, dtype=HALF)

    def step():
        value = model(x)[0, 0, 0].item()
        own_code(changes, 0.4)
        return value

    return step


def prefetched(changes):
    """Each step brings its batch from pinned memory; the change brings the next one meanwhile."""
    torch.manual_seed(3)
    model = Block(2048).to(DEVICE, HALF).eval()
    batches = [torch.randn(8, 1024, 2048, dtype=HALF).pin_memory() for _ in range(4)]
    side, number = torch.cuda.Stream(), 0

    def load():
        nonlocal number
        number += 1
        return batches[number % 4].to(DEVICE, non_blocking=True)

    def load_beside():
        with torch.cuda.stream(side):
            batch = load()
        return batch

    following = load_beside()

    def step():
        nonlocal following
        if "overlap" in changes:
            torch.cuda.current_stream().wait_stream(side)
            x, following = following, load_beside()
            x.record_stream(torch.cuda.current_stream())
        else:
            x = load()
        out = model(model(x))
        own_code(changes, 0.2)
        return out[0, 0, 0].item()

    return step


def compress_log(data):
    """Releases Python's lock."""
    return len(zlib.compress(data, 3))


def beside(changes):
    """A function of the user that needs nothing of the GPU; the change calls it on another thread."""
    torch.manual_seed(3)
    model = torch.nn.Sequential(*[Block(1024) for _ in range(6)]).to(DEVICE, HALF).eval()
    x = torch.randn(2, 64, 1024, device=DEVICE, dtype=HALF)
    data = random.Random(1).randbytes(40000)
    pool, running = concurrent.futures.ThreadPoolExecutor(1), None

    def step():
        nonlocal running
        value = model(x)[0, 0, 0].item()
        if "async" in changes:
            if running is not None:
                running.result()
            running = pool.submit(compress_log, data)
        elif "host" not in changes:
            compress_log(data)
        return value

    return step


def vision(changes):
    """Convolutions with their norms, and the user's own look at the classes."""
    torch.manual_seed(4)
    layers = []
    for _ in range(12):
        layers += [torch.nn.Conv2d(96, 96, 3, padding=1), torch.nn.BatchNorm2d(96), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(96, 1000)).to(DEVICE, HALF).eval()
    x = torch.randn(4, 96, 28, 28, device=DEVICE, dtype=HALF)
    forward = as_changed(lambda: model(x), changes)

    def step():
        best = forward().argmax(-1).tolist()
        own_code(changes, 0.5)
        return best

    return step


def reads(changes):
    """A value is read on the host after each layer."""
    torch.manual_seed(4)
    layers = [torch.nn.Linear(3072, 3072).to(DEVICE, HALF).eval() for _ in range(10)]
    x = torch.randn(512, 3072, device=DEVICE, dtype=HALF)

    def step():
        y, largest = x, 0.0
        for layer in layers:
            y = layer(y)
            if "wait" not in changes:
                largest = max(largest, y[0, 0].item())
        own_code(changes, 0.5)
        torch.cuda.synchronize()
        return largest

    return step


def denoiser(changes):
    """Four passes over an image that becomes clearer, with the arithmetic of a sampler between them."""
    torch.manual_seed(4)
    model = torch.nn.Sequential(*[Block(512) for _ in range(4)]).to(DEVICE, HALF).eval()
    image = torch.randn(1, 256, 512, device=DEVICE, dtype=HALF)

    def passes():
        x = image
        for sigma in (1.0, 0.5, 0.25, 0.1):
            noise = model(x * (1 + sigma**2) ** -0.5)
            x = x - noise * sigma * 0.1
        return x

    run = as_changed(passes, changes)

    def step():
        value = run().float().mean().item()
        own_code(changes, 0.7)
        return value

    return step


PROGRAMS = {
    "small": decoder(12, 768, 1, 0.6),
    "medium": decoder(8, 2048, 128, 0.6),
    "large": decoder(6, 4096, 1024, 1.0),
    "waits": waits_each_layer,
    "copies": copies,
    "halves": halves,
    "fp8": fp8,
    "huggingface": huggingface,
    "training": training,
    "encoder": encoder,
    "recurrent": recurrent,
    "logged": logged,
    "streams": streams,
    "gathered": gathered,
    "chains": chains,
    "sampled": sampled,
    "experts": experts,
    "attention": attention,
    "batched": batched,
    "prefetched": prefetched,
    "beside": beside,
    "vision": vision,
    "reads": reads,
    "denoiser": denoiser,
}
CHANGES = json.loads(pathlib.Path(__file__).with_name("changes.json").read_text(encoding="utf-8"))
TRAINS = {"training"}


def variants_of(name):
    variants = {"": PROGRAMS[name](set())}
    for change in CHANGES[name]:
        try:
            variants[change] = PROGRAMS[name](set(change.split()))
        except RuntimeError as error:
            print(f"{name} {change}: {str(error)[:300]}", file=sys.stderr)
    return variants


def shuffled(variants):
    return random.sample(list(variants), len(variants))


def measure(variants):
    """Medians of the steps of every variant, in milliseconds."""
    times = {variant: [] for variant in variants}
    for _ in range(TURNS):
        for variant in shuffled(variants):
            for number in range(12):
                began = time.perf_counter()
                variants[variant]()
                if number >= 2:
                    times[variant].append(time.perf_counter() - began)
    return {variant: statistics.median(all_of) * 1e3 for variant, all_of in times.items()}


def main():
    name, *file = sys.argv[1:]
    torch.set_grad_enabled(name in TRAINS)
    variants = variants_of(name)
    for step in variants.values():
        for _ in range(WARMUP):
            step()
    measured = [measure(variants)] if file else []
    torch.cuda.profiler.start()
    for _ in range(TURNS):
        for variant in shuffled(variants):
            for _ in range(STEPS if not variant else STEPS_CHANGED):
                with stage.stage("_".join(["step", *variant.split()])):
                    variants[variant]()
    torch.cuda.profiler.stop()
    if file:
        measured.append(measure(variants))
        means = {variant: statistics.geometric_mean(each[variant] for each in measured) for variant in variants}
        pathlib.Path(file[0]).write_text(json.dumps(means), encoding="utf-8")


if __name__ == "__main__":
    main()
