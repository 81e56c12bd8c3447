#!/usr/bin/env python3
"""Compares a bundle of one of these scripts with what the script and PyTorch say about themselves.

    compare.py BUNDLE [OPERATORS.json]

Prints a line for each comparison and exits with 1 if one does not hold. The script's own times are the last line of the
traced pass' output; OPERATORS.json is what `generate.py --operators` printed.
"""

import json
import pathlib
import statistics
import sys

STOPWATCH_LIMIT = 0.02
GPU_TIME_LIMIT = 0.05
H200_DENSE_BF16 = 989.4e12


class Comparison:
    def __init__(self):
        self.failed = 0

    def row(self, what, ours, theirs, limit):
        if ours is None or theirs is None:
            self.failed += 1
            return print(f"  NOT  {what}: ours {ours}, theirs {theirs}")
        off = abs(ours - theirs) / theirs if theirs else abs(ours)
        self.failed += off > limit
        print(f"  {'ok ' if off <= limit else 'NOT'}  {what}: ours {ours:.6g}, theirs {theirs:.6g}, {100 * off:.2f} % off (at most {100 * limit:g} %)")


def stopwatch_of(bundle):
    rows = []
    for log in sorted((bundle / "logs").glob("*.stdout.log")):
        if log.name.split(".")[0] in ("nsys", "collector"):
            rows += [json.loads(line) for line in log.read_text(errors="replace").splitlines() if line.startswith('[{"request_s"')]
    return rows


def mean_ms(run, name):
    rows = [stage for stage in run["stages"] if stage["name"] == name]
    return rows[0]["mean_ns"] / 1e6 if rows else None


def compare_stages(run, watches, comparison):
    """Means, and without the first request: the report leaves it out as warm-up."""
    requests = [request for watch in watches for request in watch[1:]]

    def mean(values):
        return 1e3 * statistics.mean(values)

    by_generate = mean_ms(run, "request") is not None  # a loop of its own has no call around its request
    if by_generate:
        comparison.row("request, mean ms", mean_ms(run, "request"), mean(r["request_s"] for r in requests), STOPWATCH_LIMIT)
    steps = [step for r in requests for step in r["step_s"]]
    if steps:
        comparison.row("decode step, mean ms", mean_ms(run, "decode_step"), mean(steps), STOPWATCH_LIMIT)
    first = [r["first_token_s"] for r in requests if r["first_token_s"]]
    if first:
        ttft = run["latency"]["ttft"]
        ours = ttft["mean_ns"] / 1e6 if by_generate and ttft else mean_ms(run, "prefill")
        comparison.row("time to the first token, mean ms", ours, mean(first), STOPWATCH_LIMIT)


def compare_operators(run, theirs, comparison):
    prefill, both = theirs["prefill"], theirs["prefill and 8 steps"]
    steps = {name: [(row[0] - prefill.get(name, [0, 0])[0]) / 8, (row[1] - prefill.get(name, [0, 0])[1]) / 8] for name, row in both.items()}
    # A whole generate() of one token has a few operators before its prefill begins. Steps are the difference of two generate(): exact.
    for stage, expected, before in (("prefill", prefill, 2), ("decode_step", steps, 0)):
        found = [step for step in run["operator_steps"] if step["stage"] == stage]
        if not found:
            comparison.row(f"operators of {stage}", None, len(expected), 0)
            continue
        ours = {}
        for call in found[0]["calls"]:
            count, time = ours.get(call["op_name"], (0, 0))
            ours[call["op_name"]] = (count + 1, time + (call["gpu_ns"] or 0) / 1e3)
        top = sorted(expected, key=lambda name: -expected[name][1])[:6]
        for name in top:
            count, time = ours.get(name, (0, 0))
            comparison.row(f"{stage}: {name} calls", count, expected[name][0], before / expected[name][0])
            comparison.row(f"{stage}: {name} GPU µs", time, expected[name][1], GPU_TIME_LIMIT)


def flops_of_decode_step(config, batch, context):
    """Matrix products of one token through a Llama-like decoder, attention over `context` tokens, and the head."""
    hidden, inner, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
    heads, kv = config["num_attention_heads"], config["num_key_value_heads"]
    width = config.get("head_dim") or hidden // heads
    experts = config.get("num_experts_per_tok") or 1
    router = hidden * (config.get("num_local_experts") or 0)
    layer = hidden * width * (2 * heads + 2 * kv) + 3 * hidden * inner * experts + router
    return 2 * batch * (layers * (layer + 2 * heads * width * context) + hidden * config["vocab_size"])


def compare_efficiency(run, bundle, comparison):
    facts = [json.loads(file.read_text()) for file in (bundle / "facts").glob("facts-*.json")]
    models = [(f, m) for f in facts for m in f["models"]]
    row = next((row for row in run["efficiency"] if row["stage"] == "decode_step"), None)
    if not models or row is None:
        return comparison.row("MFU of decode_step", row and row["mfu"], None, 0)
    listed = models[0][0]["requests"]["listed"]
    config = models[0][1].get("config") or {}
    config = config.get("text_config", config)
    if not listed or "num_key_value_heads" not in config:
        return print("       MFU: no formula for this model here, ours", row["mfu"])
    request = listed[-1]
    context = request["prompt_tokens"] + request["new_tokens"] / 2
    seconds = next(stage["mean_ns"] for stage in run["stages"] if stage["name"] == "decode_step") / 1e9
    # The context grows within a request, and ours is its mean over the steps, a token or two from the middle.
    comparison.row("MFU of decode_step", row["mfu"], flops_of_decode_step(config, request["batch"], context) / seconds / H200_DENSE_BF16, 0.02)


def show_conclusions(run):
    print("  first finding:", run["findings"][0]["message"] if run["findings"] else "none")
    for stage in run["stages"]:
        host = stage.get("host_code")
        if not host:
            continue
        print(f"  {stage['name']}: {host['samples']} samples in {host['waited_ns'] / 1e6:.1f} ms of waiting")
        for line in host["lines"][:3]:
            frame = line["frame"] if "frame" in line else line
            print(f"    {100 * line['samples'] / max(host['samples'], 1):.0f} %  {pathlib.Path(frame['file']).name}:{frame['line']} "
                  f"{frame['function']}: {frame['source']}")


def main():
    bundle = pathlib.Path(sys.argv[1])
    run = json.loads((bundle / "run.json").read_text())
    comparison = Comparison()
    print(f"{bundle.name}: {run['status']}, {run['software']['backend'] or 'no backend'}, {run['model']['precision_text']}")
    for problem in run["problems"]:
        print("  problem:", problem["what"])
    watches = stopwatch_of(bundle)
    if len(watches) == 1:
        compare_stages(run, watches, comparison)
    else:
        print(f"       {len(watches)} stopwatches:", [[round(1e3 * r['request_s'], 3) for r in watch] for watch in watches])
        print("       stages:", {stage["name"]: [stage["count"], stage["median_ns"]] for stage in run["stages"]})
    if len(sys.argv) > 2:
        compare_operators(run, json.loads(pathlib.Path(sys.argv[2]).read_text().splitlines()[-1]), comparison)
    compare_efficiency(run, bundle, comparison)
    show_conclusions(run)
    sys.exit(comparison.failed > 0)


main()
