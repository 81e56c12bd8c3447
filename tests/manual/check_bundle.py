#!/usr/bin/env python3
"""Asserts what a bundle of any model family must hold, and prints the figures to look at.

    check_bundle.py BUNDLE
"""

import json
import pathlib
import sys

FILES = ["run.json", "kernels.md", "operators.md", "report.md", "report.html", "stakeholder_summary.md", "env.json",
         "config.yaml", "inputs.yaml", "trace.pftrace", "manifest.json"]
BINS = ["gpu_compute_ns", "communication_ns", "exposed_copy_ns", "queue_wait_ns", "sync_blocked_ns", "launch_starved_ns", "launch_latency_ns", "other_host_ns",
        "residual_ns"]


def percent(part):
    return "not known" if part is None else f"{100 * part:.1f} %"


def show_stage(stage, efficiency, require):
    mean = stage["mean_ns"]
    print(f"  {stage['name']}: {stage['count']} windows, mean {mean / 1e6 if mean else 0:.3f} ms, warm-up {stage['warmup_windows']}")
    budget = stage["budget"]
    if budget:
        require(sum(budget[name] for name in BINS) == budget["wall_ns"], f"the budget of {stage['name']} closes")
        whole = max(budget["wall_ns"], 1)
        print("    " + ", ".join(f"{name[:-3]} {100 * budget[name] / whole:.1f} %" for name in BINS))
    for row in efficiency:
        if row["stage"] == stage["name"]:
            print(f"    MFU {percent(row['mfu'])}, MBU {percent(row['mbu'])}, limit {row['limit']} {row['note'] or ''}")


def main():
    bundle = pathlib.Path(sys.argv[1])
    failures = []

    def require(condition, what):
        if not condition:
            failures.append(what)

    for name in FILES:
        require((bundle / name).is_file() and (bundle / name).stat().st_size > 0, f"{name} is there")
    run = json.loads((bundle / "run.json").read_text())
    names = [stage["name"] for stage in run["stages"]]
    for name in ("prefill", "decode", "decode_step"):
        require(name in names, f"stage {name} was found")
    require(int(run["model"]["attributes"].get("layers", 0)) > 0, "the model's shape is in run.json")
    print(f"{run['model']['name']}: {run['status']}, captured by {run['provenance']['captured_by']}")
    for problem in run["problems"]:
        print("  problem:", problem["what"])
    for stage in run["stages"]:
        show_stage(stage, run["efficiency"], require)
    latency = run["latency"]
    for key in ("ttft", "prefill", "tpot"):
        if latency[key]:
            print(f"  {key} {latency[key]['median_ns'] / 1e6:.3f} ms")
    if run["kernels"]:
        captures = [file for folder in ("nsys", "collector") for file in (bundle / folder).glob("run.sqlite")]
        require(captures, "the trace is there, as SQLite")
        if any(sample["measured_by"] == "ncu" for kernel in run["kernels"] for sample in kernel["ncu"]):
            require((bundle / "ncu" / "raw.csv").is_file(), "the counters are there, as CSV")
        require(run["findings"] or run["abstentions"], "rules were judged")
        require(any(row["mfu"] for row in run["efficiency"]), "an MFU was computed")
    for finding in run["findings"]:
        gain = finding["gain_share"]
        print(f"  finding {finding['severity']} {finding['rule']} ({finding['subject']}), confidence {finding['confidence']:.2f}, "
              f"gain {percent(gain)}: {finding['message']}")
    print(f"  {len(run['abstentions'])} rules abstained")
    for row in run["perturbation"]["stages"]:
        print(f"  {row['profiler']} on {row['stage']}: {percent(row['slowdown'])} [{percent(row['low'])}, {percent(row['high'])}] "
              f"{row['verdict']} {row['note'] or ''}")
    for row in run["energy"]["stages"]:
        print(f"  energy {row['stage']}: {row['joules_per_window']} J a window, {row['joules_per_token']} J a token, "
              f"{row['mean_power_w']} W {row['note'] or ''}")
    for what in failures:
        print("FAILED:", what)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
