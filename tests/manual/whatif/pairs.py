"""Small programs, each with changes that can be made and taken back: what `nl-stage whatif` predicts is measured.

    pairs.py run PROGRAM [CHANGE...]      its steps as marked stages, to be captured
    pairs.py measure [PROGRAM...]         every change against the program as it is, unprofiled and in turns; JSON

Each program is a function that takes the set of changes and returns what one step does; changes.json has them as `whatif` does.
A step ends with a wait for its result.
"""

import json
import pathlib
import random
import statistics
import sys
import time

import nl_stage_nvtx as stage
import torch
import torch.nn.functional as F

DEVICE, HALF = "cuda", torch.bfloat16
WARMUP, STEPS = 5, 800


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


def waits_each_layer(changes):
    """A model whose layers each look at a value on the host."""
    torch.manual_seed(0)
    blocks = [Block(1024).to(DEVICE, HALF).eval() for _ in range(8)]
    x = torch.randn(4, 256, 1024, device=DEVICE, dtype=HALF)

    def step():
        y = x
        for block in blocks:
            y = block(y)
            if "wait" not in changes:
                torch.cuda.synchronize()
        own_code(changes, 1.5)
        torch.cuda.current_stream().synchronize()

    return step


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
}
CHANGES = json.loads(pathlib.Path(__file__).with_name("changes.json").read_text(encoding="utf-8"))
TRAINS = {"training"}


def measure(names):
    """Medians of the steps of every variant, each in ten turns in random order."""
    results = {}
    for name in names:
        torch.set_grad_enabled(name in TRAINS)
        make = PROGRAMS[name]
        variants = {"": make(set())}
        for change in CHANGES[name]:
            try:
                variants[change] = make(set(change.split()))
            except RuntimeError as error:
                print(f"{name} {change}: {str(error)[:300]}", file=sys.stderr)
        times = {variant: [] for variant in variants}
        for step in variants.values():
            for _ in range(WARMUP):
                step()
        for _ in range(10):
            for variant in random.sample(list(variants), len(variants)):
                for number in range(12):
                    began = time.perf_counter()
                    variants[variant]()
                    if number >= 2:
                        times[variant].append(time.perf_counter() - began)
        results[name] = {variant: statistics.median(all_of) * 1e3 for variant, all_of in times.items()}
        del variants
        torch.cuda.empty_cache()
    return results


def main():
    mode, *words = sys.argv[1:]
    if mode == "measure":
        print(json.dumps(measure(words or list(PROGRAMS))))
        return
    torch.set_grad_enabled(words[0] in TRAINS)
    step = PROGRAMS[words[0]](set(words[1:]))
    for _ in range(WARMUP):
        step()
    for _ in range(STEPS):
        with stage.stage("step"):
            step()


if __name__ == "__main__":
    main()
