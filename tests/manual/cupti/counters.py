"""Our counters against ncu's, on the same kernels, caches and clocks left alone by both."""
import collections
import csv
import functools
import io
import shutil
import sqlite3
import statistics
import subprocess

from cupti.tracers import Failed, clean_env, problems_of, run_json

ONE_PASS = ["gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_bytes.sum",
            "sm__warps_active.avg.pct_of_peak_sustained_active", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
            "sm__cycles_active.avg", "gpc__cycles_elapsed.max"]
# Medians of so many launches of each shape, within 3 %, or within a floor: percentages that small are rounding.
LAUNCHES = 5
COMPARED = {"dram_bytes": 256 * 1024, "tensor_pct": 0.3, "occupancy_pct": 0.5}
NEAR = 0.03


def workloads(setting):
    yield "nl-llm-cuda", ["--set", "run.stages=[prefill,decode]"], [setting.llm, "--layers", "4", "--hidden", "2048", "--prompt", "256", "--steps", "8",
                                                                    "--iterations", "6"]
    if setting.torch:
        yield "gemm.py", ["--set", "run.stages=[gemm]"], [*setting.script("gemm.py"), "--size", "8192", "--repeats", "40"]


def profiled(setting, out, sets, argv):
    done = setting.nl_stage("run", "--config", "deep", "--quiet", "--set", "perturbation.repeats=0", "--set", "energy.enabled=off", *sets,
                            "--out", out, "--", *argv)
    if not (out / "run.json").exists():
        raise Failed(f"no bundle: {done.stdout} {done.stderr}")
    run = run_json(out)
    print(f"  captured by {run['provenance']['captured_by']}; {run['status']}; {problems_of(run)}")
    return run


def samples_of(run):
    """(mangled name, grid, block) → the samples of its launches."""
    found = collections.defaultdict(list)
    for kernel in run["kernels"] or []:
        for sample in kernel["ncu"]:
            found[kernel["mangled_name"], tuple(sample["grid"]), tuple(sample["block"])].append(sample)
    return found


def median_of(samples, field):
    values = [sample[field] for sample in samples if sample[field] is not None]
    return statistics.median(values) if values else None


def l2_bytes(bundle):
    with sqlite3.connect(bundle / "collector/run.sqlite") as database:
        return database.execute("SELECT max(l2CacheSize) FROM TARGET_INFO_GPU").fetchone()[0]


def metric(samples, name):
    return statistics.median(sample["metrics"][name] for sample in samples if name in sample["metrics"])


def excuse_bytes(ours, theirs, l2):
    """Of what a kernel reads, L2 holds nothing to all; half is the most that either profiler was seen to change. What it writes
    goes to DRAM while it runs or stays in L2 and goes later: all of it, or nothing; more than that cannot have been written."""
    reads, writes = ([metric(some, f"dram__bytes_{part}.sum") for some in (ours, theirs)] for part in ("read", "write"))
    if max(reads) + max(writes) >= l2 or max(reads) > 2 * min(reads) or max(writes) > metric(ours, "lts__t_bytes.sum"):
        return None
    return "fits into L2: what that still holds of its data was decided before it began, also by what the profiler does between launches"


def excuse_occupancy(a, b, flushed):
    """The longer memory takes, the more warps wait for it at once. How far that goes ncu itself tells: the same launches, with
    the caches flushed before each. Ours, whose caches are what the launch before left, must not lie beyond."""
    cold = median_of(flushed, "occupancy_pct")
    if cold is None or not min(b, cold) * (1 - NEAR) <= a <= max(b, cold) * (1 + NEAR):
        return None
    return f"goes by what the caches hold: flushed before each launch, ncu measures {cold:.6g}"


def dram_parts(samples):
    read, write = (metric(samples, f"dram__bytes_{part}.sum") for part in ("read", "write"))
    return f"{read / 1e6:.2f} read + {write / 1e6:.2f} written MB"


class Both:
    """Samples of both profilers, and by how much two measurements of a kernel may differ, with the reason."""

    def __init__(self, ours, theirs, flushed, l2):
        self.ours, self.theirs, self.flushed, self.l2 = ours, theirs, flushed, l2
        self.shared = sorted(ours.keys() & theirs.keys())

    def excuse(self, field, key, a, b):
        if field == "dram_bytes":
            return excuse_bytes(self.ours[key], self.theirs[key], self.l2)
        if field == "occupancy_pct":
            return excuse_occupancy(a, b, self.flushed()[key])
        return None


def compare_field(setting, name, both, field, floor):
    off, excused, worst = [], [], 0.0
    for key in both.shared:
        a, b = median_of(both.ours[key], field), median_of(both.theirs[key], field)
        if a is None or b is None:
            off.append(f"{key[0][:50]} {key[1]}: ours {a}, ncu {b}")
            continue
        apart = abs(a - b) / max(abs(b), 1e-9) if abs(a - b) > floor else 0
        if apart <= NEAR:
            worst = max(worst, apart)
            continue
        why = both.excuse(field, key, a, b)
        text = f"{key[0][:50]} {key[1]}: ours {a:.6g}, ncu {b:.6g} ({a / b - 1 if b else 0:+.1%})"
        if field == "dram_bytes":
            text += f"; ours {dram_parts(both.ours[key])}, ncu {dram_parts(both.theirs[key])}"
        (excused if why else off).append(text + (f": {why}" if why else ""))
    count = len(both.shared)
    setting.verdict(name, f"{field} within 3 %", not off and count > 0, f"{count - len(off) - len(excused)} of {count}, worst {worst:.2%}")
    for line in [*off, *excused][:20]:
        print("     ", line)


def compare(setting, name, both):
    shared = both.shared
    setting.verdict(name, "kernels measured by both", bool(shared),
                    f"{len(shared)}; only ours {len(both.ours) - len(shared)}, only ncu's {len(both.theirs) - len(shared)}")
    for field, floor in COMPARED.items():
        compare_field(setting, name, both, field, floor)
    # Weighted by the launches of each shape, what one kernel finds in L2 and the next does not evens out.
    sums = [sum(median_of(some[key], "dram_bytes") * (some[key][0]["nsys_calls"] or 0) for key in shared) for some in (both.ours, both.theirs)]
    if not shared or sums[1] == 0:
        return
    setting.verdict(name, "DRAM bytes of all launches within 3 %", abs(sums[0] - sums[1]) <= NEAR * sums[1],
                    f"ours {sums[0] / 1e6:.1f} MB, ncu {sums[1] / 1e6:.1f} MB ({sums[0] / sums[1] - 1:+.2%})")


def prefill_by_ncu(argv, windows):
    """DRAM bytes of one prefill, as the sum over its kernels."""
    said = subprocess.run([shutil.which("ncu"), "--cache-control", "none", "--clock-control", "none", "--nvtx", "--nvtx-include", "LLM@prefill/", "--metrics",
                           "dram__bytes_read.sum,dram__bytes_write.sum", "--csv", "--page", "raw", "--print-units", "base", *argv],
                          env=clean_env(LC_ALL="C"), capture_output=True, text=True).stdout
    table = list(csv.DictReader(io.StringIO(said[said.find('"ID"'):])))[1:]  # after the row of units
    return sum(float(row["dram__bytes_read.sum"]) + float(row["dram__bytes_write.sum"]) for row in table) / windows, len(table) / windows


def stages(run, argv):
    for stage in run["stages"]:
        counters = stage["counters"]
        if not counters or counters["dram_read_bytes"] is None:
            continue
        print(f"  stage {stage['name']}: {counters['windows']} windows of {counters['duration_ns'] / 1e6:.3f} ms (trace {stage['median_ns'] / 1e6:.3f} ms), "
              f"DRAM {(counters['dram_read_bytes'] + counters['dram_write_bytes']) / 1e6:.2f} MB, {counters['dram_pct']} %, SM {counters['sm_active_pct']} %, "
              f"tensor {counters['tensor_pct']} %")
        if stage["name"] == "prefill":
            summed, kernels = prefill_by_ncu(argv, 6)
            print(f"    for information, ncu's sum over {kernels:.0f} kernels: {summed / 1e6:.2f} MB")


def by_ncu(setting, out, caches, sets, argv):
    return samples_of(profiled(setting, out, ["--set", "capture.prefer=cupti", "--set", "capture.counters=auto", "--set", "ncu.set=",
                                              "--set", "ncu.sections=[]", "--set",
                                              f"ncu.metrics=[{','.join(ONE_PASS)}]", "--set", f"ncu.cache_control={caches}", "--set",
                                              f"ncu.launch_count={LAUNCHES}", *sets], argv))


def count_workload(setting, name, sets, argv):
    print(f"\n== counters: {name}")
    out = setting.fresh(f"counters/{name}")
    ours = profiled(setting, out / "ours", ["--set", "capture.prefer=cupti", "--set", "capture.counters=cupti", "--set",
                                                f"capture.counter_launches={LAUNCHES}", *sets], argv)
    found = samples_of(ours)
    setting.verdict(name, "kernels counted", bool(found), str(len(found)))
    replayed = [key for key in found if median_of(found[key], "sm_pct") is not None]
    setting.verdict(name, "of them with replayed metrics", len(replayed) == len(found), str(len(replayed)))
    setting.verdict(name, "the stages counted", any(stage["counters"] for stage in ours["stages"]))
    if not shutil.which("ncu"):
        print("  there is no ncu here to compare with")
        return
    theirs = by_ncu(setting, out / "ncu", "none", sets, argv)
    flushed = functools.cache(lambda: by_ncu(setting, out / "ncu-flushed", "all", sets, argv))  # only where it is needed
    compare(setting, name, Both(found, theirs, flushed, l2_bytes(out / "ours")))
    stages(ours, argv)


def counters(setting):
    for name, sets, argv in workloads(setting):
        setting.attempt(name, count_workload, name, sets, argv)
