"""The same workloads under nsys and under the collector: do both see the same?"""
import collections
import statistics

from cupti.tracers import json_line, kernels_named, notes_of, nsys_sqlite, our_bundle, rows, under_nsys, under_ours

KERNELS = """SELECT coalesce(m.value, d.value), k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ, k.registersPerThread,
  k.staticSharedMemory, k.dynamicSharedMemory, k.end - k.start, k.graphNodeId IS NOT NULL
  FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN StringIds m ON m.id = k.mangledName JOIN StringIds d ON d.id = k.demangledName
  ORDER BY k.correlationId, k.start"""
COPIES = "SELECT copyKind, srcKind, dstKind, bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY ORDER BY correlationId, start"
SETS = "SELECT bytes FROM CUPTI_ACTIVITY_KIND_MEMSET ORDER BY correlationId, start"
RANGES = """SELECT coalesce(s.value, n.text), n.eventType, count(*) FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId
  WHERE n.eventType IN (59, 60) GROUP BY 1, 2 ORDER BY 1, 2"""
# Kernels of each range: their launches lie inside it, on its thread.
INSIDE = """SELECT coalesce(s.value, n.text), count(*) FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId
  JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.globalTid = n.globalTid AND r.start >= n.start AND r.end <= n.end
  JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.correlationId = r.correlationId AND k.globalPid = (r.globalTid & -16777216)
  WHERE n.eventType = 59 AND (coalesce(s.value, n.text) LIKE '%prefill%' OR coalesce(s.value, n.text) LIKE '%decode_all%')
  GROUP BY 1 ORDER BY 1"""
# Kernels of graphs whose node, or the one that it is a clone of, was made within the capture. nsys writes the clones, our export does not.
JOINED = """SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k WHERE EXISTS (SELECT 1 FROM CUDA_GRAPH_NODE_EVENTS e
  WHERE (e.globalTid & -16777216) = k.globalPid AND e.originalGraphNodeId IS NULL AND e.graphNodeId = coalesce(
    (SELECT c.originalGraphNodeId FROM CUDA_GRAPH_NODE_EVENTS c WHERE (c.globalTid & -16777216) = k.globalPid
     AND c.graphNodeId = k.graphNodeId AND c.originalGraphNodeId IS NOT NULL), k.graphNodeId))"""


SHAPE = ["--layers", "4", "--hidden", "512", "--prompt", "64", "--steps", "32", "--iterations", "3"]


def workloads(setting):
    yield "nl-llm-cuda", [setting.llm, *SHAPE]
    yield "nl-llm-cuda graph", [setting.llm, *SHAPE, "--graph"]
    yield "nl-llm-cuda 4 streams", [setting.llm, *SHAPE, "--streams", "4", "--iterations", "12"]  # they differ more, see below
    yield "launch loop", [setting.loop, str(setting.launches)]
    if setting.torch:
        yield "hf_llm.py", [*setting.script("hf_llm.py"), "--arch", "llama", "--layers", "4", "--hidden", "1024", "--prompt", "256", "--steps", "32"]


def time_by_name(kernels):
    times = collections.Counter()
    for row in kernels:
        times[row[0]] += row[10]
    return times


def compare(setting, name, theirs, ours):
    a, b = rows(theirs, KERNELS), rows(ours, KERNELS)
    setting.verdict(name, "kernels", len(a) == len(b), f"{len(a)} {len(b)}")
    names_a, names_b = collections.Counter(r[0] for r in a), collections.Counter(r[0] for r in b)
    setting.verdict(name, "names and counts", names_a == names_b, str(dict(list(((names_a - names_b) + (names_b - names_a)).items())[:5]))[:300])
    setting.verdict(name, "launch order, grids, blocks …", [r[:10] for r in a] == [r[:10] for r in b],
                    next((f"row {i}: {x[:7]} {y[:7]}" for i, (x, y) in enumerate(zip(a, b)) if x[:10] != y[:10]), "")[:300])
    setting.verdict(name, "in graphs", sum(r[11] for r in a) == sum(r[11] for r in b), f"{sum(r[11] for r in a)} {sum(r[11] for r in b)}")
    if graphs := sum(r[11] for r in b):
        joined = [rows(export, JOINED)[0][0] for export in (theirs, ours)]
        setting.verdict(name, "kernels of graphs joined to their making", joined == [graphs, graphs], f"{joined} of {graphs}")
    times_a, times_b = time_by_name(a), time_by_name(b)
    total = sum(times_a.values()) or 1
    # Kernels of less than a thousandth of the time are a handful of launches: their spread between two runs is larger.
    # hold runs as long as the host lets it. Kernels of several streams share the SMs: how long one takes depends on which it
    # meets there, so that two unprofiled runs differ by some percent as well.
    limit = 0.05 if "streams" in name else 0.02
    off = {k[:60]: f"{times_b[k] / times_a[k] - 1:+.1%} of {times_a[k]} ns" for k in times_a
           if times_a[k] > total / 1000 and "hold" not in k and abs(times_b[k] / times_a[k] - 1) > limit}
    setting.verdict(name, f"time per kernel within {limit:.0%}", not off, f"total {sum(times_b.values()) / total - 1:+.2%} {off if off else ''}")
    for what, query in (("copies", COPIES), ("sets", SETS), ("ranges", RANGES), ("kernels inside the stages", INSIDE)):
        x, y = rows(theirs, query), rows(ours, query)
        setting.verdict(name, what, x == y, f"{len(x)} {len(y)}" if what in ("copies", "sets") else f"{x if x == y else (x, y)}"[:300])


def same_workload(setting, name, argv):
    print(f"\n== same: {name}")
    theirs, ours = setting.fresh(f"same/{name}/nsys"), setting.fresh(f"same/{name}/ours")
    ran = under_nsys(argv, theirs)
    if ran.returncode != 0:
        print(ran.stdout[-500:], ran.stderr[-1500:])
    mine = under_ours(setting, argv, ours)
    if mine.returncode != 0 or mine.stderr:
        print(f"  status {mine.returncode}", mine.stderr[-1500:])
    sqlite, run = our_bundle(setting, ours)
    compare(setting, name, nsys_sqlite(theirs), sqlite)
    kernels = len(rows(sqlite, KERNELS))
    size = sum(f.stat().st_size for f in (ours / "trace").glob("*.nltrace"))
    # A file grows by 64 KiB; below ten thousand kernels that is what it shows.
    setting.verdict(name, "at most 64 bytes a kernel", size <= 64 * kernels or kernels < 10000, f"{size / max(kernels, 1):.1f} ({kernels} kernels)")
    for note in notes_of(run):
        print("  note:", note)
    print("  damaged:", run["import_stats"]["rows_damaged"], " clock:", run.get("clock"))
    if name == "launch loop":
        spun = json_line(mine.stdout)["spin_event_us"]
        traced = max(end - start for start, end in kernels_named(sqlite, "spin")) / 1000
        # Events lie just outside of the kernel: they may show a few microseconds more, never less.
        setting.verdict(name, "spin kernel against CUDA events", 0 <= spun - traced < 20, f"events {spun:.1f} us, trace {traced:.1f} us")


def whole_graphs(setting):
    """CUDA graphs without their nodes, under both: as many of them, in the same time, and what is outside of graphs as it was."""
    name = "nl-llm-cuda, graphs at graph level"
    print(f"\n== same: {name}")
    theirs, ours = setting.fresh("same/whole/nsys"), setting.fresh("same/whole/ours")
    under_nsys([setting.llm, *SHAPE, "--graph"], theirs, graphs="graph")
    under_ours(setting, [setting.llm, *SHAPE, "--graph"], ours, NL_STAGE_CUDA_GRAPHS="graph")
    found = nsys_sqlite(theirs), our_bundle(setting, ours)[0]
    a, b = (rows(sqlite, "SELECT end - start FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE ORDER BY correlationId") for sqlite in found)
    times = [statistics.median(row[0] for row in some) for some in (a, b) if some]
    setting.verdict(name, "graphs", len(a) == len(b) > 0, f"{len(a)} {len(b)}")
    # How long the GPU takes for tens of small kernels in a row depends on its clocks, which are not locked here.
    setting.verdict(name, "median time within 5%", len(times) == 2 and abs(times[1] / times[0] - 1) < 0.05, f"{times} ns")
    a, b = (rows(sqlite, KERNELS) for sqlite in found)
    setting.verdict(name, "kernels outside of graphs", [r[:10] for r in a] == [r[:10] for r in b], f"{len(a)} {len(b)}")


def same(setting):
    for name, argv in workloads(setting):
        setting.attempt(name, same_workload, name, argv)
    setting.attempt("graphs at graph level", whole_graphs)
