"""Activity sampled beside the trace, and stalls: does the GPU look busy when it is, and idle when it is not?"""
import statistics

from cupti.tracers import kernels_named, problems_of, rows, run_json

SM = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"


def values_between(curve, spans, inside):
    """Values of steps that lie wholly inside one of the spans, or wholly outside all of them."""
    found = []
    for number, value in enumerate(curve["values"]):
        begin = curve["start_ns"] + number * curve["step_ns"]
        end = begin + curve["step_ns"]
        within = any(start <= begin and end <= stop for start, stop in spans)
        apart = all(end < start or stop < begin for start, stop in spans)
        if value is not None and (within if inside else apart):
            found.append(value)
    return found


def activity(setting):
    print("\n== sampling: 300 ms on all of the GPU between 300 ms of nothing")
    out = setting.fresh("sampling")
    done = setting.nl_stage("run", "--config", "sampling", "--quiet", "--out", out / "activity", "--", setting.loop, "1000", "--busy")
    if not (out / "activity/run.json").exists():
        setting.verdict("sampling", "a bundle", False, done.stderr[-500:])
        return
    run, sqlite = run_json(out / "activity"), out / "activity/collector/run.sqlite"
    curves = {curve["metric"]: curve for curve in run["activity"]}
    if not setting.verdict("sampling", "curves", SM in curves, f"{len(curves)}: {[c['title'] for c in curves.values()]}; {problems_of(run)}"):
        return
    every = rows(sqlite, "SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL")
    longest = max(kernels_named(sqlite, "spin"), key=lambda span: span[1] - span[0])
    busy, idle = values_between(curves[SM], [longest], True), values_between(curves[SM], every, False)
    setting.verdict("sampling", "SMs active during the long kernel", len(busy) > 10 and statistics.median(busy) > 90,
                    f"{statistics.median(busy):.1f} % of {len(busy)} steps" if busy else "no step")
    setting.verdict("sampling", "SMs idle where no kernel runs", len(idle) > 10 and max(idle) < 1,
                    f"at most {max(idle):.2f} % of {len(idle)} steps" if idle else "no step")
    print("  GPU metrics in the SQLite:", rows(sqlite, "SELECT count(*) FROM GPU_METRICS") or "no such table")


def stalls(setting):
    print("\n== sampling: where warps stall")
    out = setting.fresh("stalls") / "bundle"
    setting.nl_stage("run", "--config", "sampling", "--set", "capture.pc_sampling=12", "--quiet", "--out", out, "--", setting.llm,
                     "--layers", "4", "--hidden", "1024", "--prompt", "256", "--steps", "8", "--iterations", "2")
    run = run_json(out)
    told = [kernel for kernel in run["kernels"] or [] if kernel["stalls"]]
    setting.verdict("sampling", "kernels with stall reasons", bool(told), f"{len(told)} of {len(run['kernels'] or [])}; {problems_of(run)}")
    for kernel in told[:3]:
        print("   ", kernel["short_name"], [(stall["reason"], round(stall["share"], 3)) for stall in kernel["stalls"][:4]])
        total = sum(stall["share"] for stall in kernel["stalls"])
        setting.verdict("sampling", "shares are shares", 0 < total <= 1.0001, f"{total:.4f}")


def sampling(setting):
    setting.attempt("activity", activity)
    setting.attempt("stalls", stalls)
