"""Do CPU and GPU times of the collector lie on one clock? Kernels that the host sees begin and lets end."""
import statistics

from cupti.tracers import HOLDS, file_start_ns, json_line, kernels_named, our_bundle, under_ours


def clock(setting):
    print("\n== clock: kernels that say when they begin, and end when they are told to")
    out = setting.fresh("clock")
    ran = under_ours(setting, [setting.loop, "2000"], out)
    said = json_line(ran.stdout)
    sqlite, run = our_bundle(setting, out)
    origin = file_start_ns(out / "trace")
    holds = kernels_named(sqlite, "hold")
    if not setting.verdict("clock", "every hold kernel is there", len(holds) == HOLDS, str(len(holds))):
        return
    begins = [(seen - origin - start) / 1000 for seen, (start, _) in zip(said["hold_seen_ns"], holds)]
    ends = [(end - (release - origin)) / 1000 for release, (_, end) in zip(said["hold_release_ns"], holds)]
    for what, values in (("begins before it is seen to", begins), ("ends after it is let go", ends)):
        # What the GPU writes is seen by the host, and the other way round, within a few microseconds. A microsecond the
        # wrong way is what CUPTI's conversion of clocks may err by.
        good = min(values) > -1 and statistics.median(values) < 15
        setting.verdict("clock", what, good, f"by {statistics.median(values):.1f} us, {min(values):.1f} … {max(values):.1f}")
    spun, traced = said["spin_event_us"], max(end - start for start, end in kernels_named(sqlite, "spin")) / 1000
    setting.verdict("clock", "spin kernel against CUDA events", 0 <= spun - traced < 20, f"events {spun:.1f} us, trace {traced:.1f} us")
    print("  run.json says:", run.get("clock"))
